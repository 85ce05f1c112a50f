/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - the data cut into pieces, and an H3M for each: the first half of hierarchical estimation, paper
 * Section 4.1 and Conclusion. */
#ifndef VH_ANNOTATE_PIECES_H
#define VH_ANNOTATE_PIECES_H

#include "annotate/classes.h"
#include "annotate/store.h"
#include "annotate/things.h"

typedef struct {
    int *thing; /* [n]  ascending */
    int n;
    vh_key key;
} vh_piece;

typedef struct {
    int n;
    vh_piece *piece; /* [n]  each key once */
    size_t cap;
    vh_names keys;
    int *of; /* [things]  the piece of each when every thing is one; else NULL */
} vh_pieces;

/* The pieces of all classes, which are added to the classes: every thing that has a class; or chunks of the
 * things of a class in their order; or subsamples of the things of each class. */
vhem_status vh_pieces_cut(vhem_ctx *ctx, const vhem_data *data, const vh_things *things,
                          const vhem_tags *members, vhem_classes *classes, vh_pieces *out);
/* The prior of the pieces, k->opt.piece.prior, becomes its own JSON text: that of the store, if there is one
 * from before, or learnt from the things in the data, without their classes.  So pieces that come later have
 * the same prior as the first. */
vhem_status vh_pieces_prior(vhem_ctx *ctx, const vhem_data *data, vh_store *store, vhem_classes *k);

/* Fits what is not in the store, as the classes say, side by side, and puts each there as soon as it is done.
 * Memory: the data of one piece for each thread. */
vhem_status vh_pieces_fit(vhem_ctx *ctx, const vhem_data *data, const vh_things *things,
                          const vhem_classes *classes, const vh_pieces *pieces, vh_store *store);
void vh_pieces_free(vh_pieces *pieces);

/* The fingerprint of the sequences of n things goes into the hash. */
void vh_hash_things(vh_hash *hash, const vhem_data *data, const vh_things *things, const int *thing, int n);

#endif
