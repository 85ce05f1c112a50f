/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - splits data into pieces and fits models to each: the first stage of hierarchical estimation,
 * paper Section 4.1 and Conclusion. */
#ifndef VH_MODELS_PIECES_H
#define VH_MODELS_PIECES_H

#include "core/names.h"
#include "fit/fit.h"
#include "fit/sets.h"
#include "models/store.h"

typedef struct { /* data and options of the fits */
    const vhem_data *data;
    const vh_sets *items;
    const vhem_fit_options *opt; /* for one piece, from vh_piece_options */
    uint64_t seed;
    bool by_group; /* items are groups */
} vh_piecework;

typedef struct {
    int64_t *item; /* [n]  ascending */
    int64_t n;
    vh_key key;
} vh_piece;

typedef struct {
    int64_t n;
    vh_piece *piece; /* [n]  keys are unique */
    size_t cap;
    vh_names keys;
} vh_pieces; /* all zero: empty */

/* Options of a piece, with defaults: a mixture of at least one model. */
vhem_fit_options vh_piece_options(const vhem_fit_options *asked);
/* Returns the prior shared by all pieces as JSON text, learnt from n items without their classes, or read
 * from the store if it was learnt there from the same items and options.  "none": no prior; NULL: textures. 
 * The caller frees it. */
vhem_status vh_pieces_prior(vhem_ctx *ctx, const vh_piecework *work, const int64_t *item, int64_t n,
                            vh_store *store, char **out);
/* Adds a piece of n items.  *out is the new piece or an existing one with the same key, so that equal unnamed
 * sequences are fitted once; it is valid until the next call. */
vhem_status vh_pieces_add(vhem_ctx *ctx, const vh_piecework *work, const int64_t *item, int64_t n,
                          vh_pieces *all, const vh_piece **out);
/* Fits the pieces missing from the store in parallel, and stores each as soon as it is done.  Memory: the
 * data of one piece per thread. */
vhem_status vh_pieces_fit(vhem_ctx *ctx, const vh_piecework *work, const vh_pieces *all, vh_store *store);
void vh_pieces_free(vh_pieces *pieces);

/* Hashes columns, symbols and the sequences of n items. */
void vh_hash_items(vh_hash *hash, const vhem_data *data, const vh_sets *items, const int64_t *item,
                   int64_t n);

#endif
