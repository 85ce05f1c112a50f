/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol_index.h - finds the symbol of models that a cell of data is: by its text, else by its number. */
#ifndef VH_FIT_SYMBOL_INDEX_H
#define VH_FIT_SYMBOL_INDEX_H

#include "core/number.h"
#include "data/data.h"
#include "core/names.h"
#include "emission/layout.h"

typedef struct {
    vh_names text;   /* symbol v is text v */
    vh_names number; /* as vh_number_short writes it, */
    int *of;         /* [number.n]  of this symbol; -1: of none for certain */
} vh_symbol_index;   /* zeroed is empty */

vhem_status vh_symbol_index_make(vhem_ctx *ctx, const vh_channel *c, vh_symbol_index *index);
void vh_symbol_index_free(vh_symbol_index *index);
/* The symbol of a cell, -1 for none: that of the same text, else that of the same number, so that `1.0` is
 * `1`, and `07` is `7` where the models have no `07`.  A code of many digits is the number that it is rounded
 * to, as models of earlier versions have it, where they have no other code that is rounded so. */
int vh_symbol_find(const vh_symbol_index *index, const char *name);
/* Is a symbol the number that it is written as, so that data can have it without a text?  Not x1, nor 007. */
bool vh_symbol_is_plain(const char *name, char number[VH_NUMBER_SIZE]);
/* Refuses column k of data that holds numbers without texts, as an array does, where a symbol of the channel
 * is not plain. */
vhem_status vh_symbol_check_texts(vhem_ctx *ctx, const vhem_data *data, int k, const vh_channel *ch);

#endif
