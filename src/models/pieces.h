/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - data in pieces, and models of each: the first half of hierarchical estimation, paper Section 4.1
 * and Conclusion. */
#ifndef VH_MODELS_PIECES_H
#define VH_MODELS_PIECES_H

#include "core/names.h"
#include "fit/fit.h"
#include "models/items.h"
#include "models/store.h"

typedef struct { /* what is fitted, and how */
    const vhem_data *data;
    const vh_items *items;
    const vhem_fit_options *opt; /* of a piece, by vh_piece_options */
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
    vh_piece *piece; /* [n]  each key once */
    size_t cap;
    vh_names keys;
} vh_pieces; /* zeroed is empty */

/* The options of a piece with their defaults: a mixture of at least one model. */
vhem_fit_options vh_piece_options(const vhem_fit_options *asked);
/* The prior of all pieces as JSON text, learnt from n of the items, without their classes; a store that holds
 * the prior of the same items and options already has it.  "none" when there is to be none; NULL for
 * textures; free() it. */
vhem_status vh_pieces_prior(vhem_ctx *ctx, const vh_piecework *work, const int64_t *item, int64_t n,
                            vh_store *store, char **out);
/* A new piece of n items; it is *out, or the one with the same key that is there already: of equal sequences
 * without a name one is fitted.  It stays in place until the next is added. */
vhem_status vh_pieces_add(vhem_ctx *ctx, const vh_piecework *work, const int64_t *item, int64_t n,
                          vh_pieces *all, const vh_piece **out);
/* Fits what is not in the store, side by side, and puts each there as soon as it is done.  Memory: the data
 * of one piece for each thread. */
vhem_status vh_pieces_fit(vhem_ctx *ctx, const vh_piecework *work, const vh_pieces *all, vh_store *store);
void vh_pieces_free(vh_pieces *pieces);

/* Columns and symbols, and the sequences of n items, go into the hash. */
void vh_hash_items(vh_hash *hash, const vhem_data *data, const vh_items *items, const int64_t *item,
                   int64_t n);

#endif
