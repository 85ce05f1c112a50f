/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - columns whose cells are symbols: texts become numbers in the order in which they are met. */
#ifndef VH_DATA_FORMATS_SYMBOLS_H
#define VH_DATA_FORMATS_SYMBOLS_H

#include "data/data.h"
#include "core/names.h"
#include "data/formats/table.h"

/* Does the option ask for columns of text, "?" or "??"? */
bool vh_finds_symbols(const char *list);
/* Only where no column holds numbers, "??"? */
bool vh_finds_symbols_alone(const char *list);
/* Is the column in the list of an option, "place,state" or "*"?  NULL: none is. */
bool vh_is_symbols(const char *list, const char *column);
/* Is a number a code, whose text is its name?  It is written as nobody writes a quantity, 007, or is a whole
 * one with more digits than a double holds. */
bool vh_is_code(const char *s, size_t n);
/* The number of the symbol in a cell, NaN when it is missing (vh_cell_parse); "1.0" is "1", but "007" is a
 * symbol of its own. */
vhem_status vh_symbol_code(vhem_ctx *ctx, vh_names *names, const vh_field *cell, const char *missing,
                           double *out);
/* The symbols become those of column k of a set; names is empty afterwards. */
vhem_status vh_symbols_hand_over(vh_names *names, vh_builder *b, int k);

#endif
