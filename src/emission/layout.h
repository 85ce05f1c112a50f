/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h - what the columns of frames are called, the symbols they have, and which of them are a channel.
 *
 * A layout belongs to all models that were made with it and is never changed once it is closed. */
#ifndef VH_EMISSION_LAYOUT_H
#define VH_EMISSION_LAYOUT_H

#include "core/ctx.h"
#include "emission/background.h"
#include "emission/emission.h"

#include <stdatomic.h>

typedef struct {
    const vh_emission *family;
    vh_shape shape; /* its columns and symbols; without a layout */
    int column;     /* the first of its columns in a frame */
    int at;         /* where its parameters begin among those of a component of the product */
    char **symbol;  /* [V] */
} vh_channel;

struct vh_layout {
    atomic_int owners;
    const vh_emission *family;
    int d, V;                  /* of all channels */
    int size;                  /* numbers of a component, of all channels */
    int n_channel;             /* 1 for all families but products */
    vh_channel *channel;       /* [n_channel] */
    char **column;             /* [d]; NULL: they have no names */
    vh_background *background; /* of gaussian-tied; else NULL */
};

/* One owner, the caller.  Set the family, family and shape.d of each channel, then symbols and names of
 * columns, then close. */
vhem_status vh_layout_new(vhem_ctx *ctx, int n_channel, vh_layout **out);
/* Copies of the names of n symbols; refuses two of one name, and those that mean a missing cell. */
vhem_status vh_layout_symbols(vhem_ctx *ctx, vh_layout *layout, int channel, const char *const *symbol,
                              int n);
/* Copies of the names of all columns [d]; refuses two of one name. */
vhem_status vh_layout_columns(vhem_ctx *ctx, vh_layout *layout, const char *const *column);
/* The background of the only channel, copied from mu and cov [G][d]; its family is tied, its d is set. */
vhem_status vh_layout_background(vhem_ctx *ctx, vh_layout *layout, int G, const double *mu,
                                 const double *cov);
/* Settles what follows from the channels. */
void vh_layout_close(vh_layout *layout);
/* The channel of column k < d. */
const vh_channel *vh_layout_channel(const vh_layout *layout, int k);
/* The shape of components of this layout, which stays its owners'. */
vh_shape vh_layout_shape(const vh_layout *layout);

const vh_layout *vh_layout_keep(const vh_layout *layout); /* one owner more; NULL is no layout */
void vh_layout_drop(const vh_layout *layout);             /* one less */
VH_OWNED(vh_layout, vh_layout_drop)

/* "" when frames of one are frames of the other; else why not: "channel 1 is gamma, must be von-mises".
 * Where both know the names of their columns these must be the same, in the same order. */
const char *vh_layout_differs(const vh_shape *a, const vh_shape *must, char *why, size_t size);

const vh_emission *vh_product_family(void);
/* The parameters of a channel of a component, of which all are all[0]. */
void vh_channel_par(const vh_channel *c, double *const *all, double **par);

#endif
