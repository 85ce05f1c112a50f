/* SPDX-License-Identifier: BSD-3-Clause */
/* frames.h - sequences as models see them: columns by their names, cells of symbols as numbers of symbols.
 *
 * Data that has a layout already is left as it is, and so is data whose columns stand where they should and
 * have no symbols: a copy is made only where one is needed. */
#ifndef VH_FIT_FRAMES_H
#define VH_FIT_FRAMES_H

#include "data/data.h"
#include "hmm/hmm_set.h"
#include "emission/layout.h"
#include "core/number.h"
#include "core/names.h"

typedef struct {
    const vhem_data *data;   /* with the layout of the models, or without one when they have none */
    vhem_data *own;          /* the same when it is not the caller's; it needs the caller's to live */
    const vh_layout *layout; /* one of its owners */
} vh_frames;                 /* zero it before use */

/* Frames to fit models of an emission to: the name of a family, or names by column,
 * "x+y:gaussian-full,n:poisson".  With a start: those of its models.  known: a layout whose symbols the
 * columns of the same names take, whichever of them they have; NULL: those they have. */
vhem_status vh_frames_to_fit(vhem_ctx *ctx, const vhem_data *data, const char *emission, const vh_h3m *start,
                             const vh_layout *known, vh_frames *out);
/* Frames for models that are there, of sequences seq [n] (NULL: all of them) alone. */
vhem_status vh_frames_for(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          const vh_h3m *h3m, vh_frames *out);
void vh_frames_free(vh_frames *frames);

/* Frames that have a layout as a file would have them: names of columns, names or numbers for symbols. */
vhem_status vh_frames_detach(vhem_ctx *ctx, vhem_data *data);

/* Gives new models, which have no layout, the names of the columns they were fitted to, if those have
 * names. */
vhem_status vh_frames_name(vhem_ctx *ctx, const vhem_data *data, vh_h3m *h3m);

/* ---- symbols of the data ------------------------------------------------------------------------------- */

/* Finds the symbol of models that a cell of data is: by its text, else by its number. */

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
