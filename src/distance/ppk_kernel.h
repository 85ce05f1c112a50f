/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_kernel.h - HMMs against HMMs: the probability product kernel.  Paper, Section 4.2; distance/ppk_pair.c
 * has the equations.
 *
 * Two sets of HMMs are opened once, and any part of the table between them may then be asked for.  A backend
 * either does all of it (open, table, close: a device, whose memory the sets move into), or it only replaces
 * the kernel that CPU backends share a driver around: lay, tile, drop. */
#ifndef VH_DISTANCE_PPK_KERNEL_H
#define VH_DISTANCE_PPK_KERNEL_H

#include "core/own.h"
#include "parallel/scratch.h"
#include "hmm/pack.h"

typedef struct {                   /* all of it stays the caller's, and must not change before close */
    const vh_packed *a, *b;        /* from vh_pack_base, HMMs of one shape side by side; may be the same */
    const double *self_a, *self_b; /* [n_comp]  log int p^2 of each component, which tells |Sigma| */
    int tau;
    double lambda;       /* > 0 */
    vh_workers *workers; /* the threads that may work, and their scratch memory */
} vh_product;

typedef struct { /* HMMs a0 .. a0+na-1 of a against b0 .. b0+nb-1 of b */
    int a0, na, b0, nb;
    bool upper; /* of a set against itself: pairs with a > b need not be filled in */
} vh_rectangle;

typedef struct vh_opened_pair vh_opened_pair;

vhem_status vh_product_open(vhem_ctx *ctx, const vh_product *p, vh_opened_pair **out);
/* log k~ of each pair into log_k [na][nb].  The same bits at any number of workers, and in any rectangle
 * whose edges are multiples of VH_PRODUCT_TILE.  A stop ends it, with VHEM_ESTOPPED. */
vhem_status vh_product_run(vhem_ctx *ctx, vh_opened_pair *job, const vh_rectangle *r, double *log_k);
void vh_product_close(vh_opened_pair *job); /* NULL is allowed */
VH_OWNED(vh_opened_pair, vh_product_close)

enum { VH_PRODUCT_TILE = 64 };

typedef struct vh_product_kernels {
    /* Whole jobs.  open NULL, or one that leaves *state NULL: the driver for CPUs, around the next three. */
    vhem_status (*open)(vhem_ctx *, const vh_product *, void **state);
    vhem_status (*run)(vhem_ctx *, void *state, const vh_rectangle *, double *log_k);
    void (*close)(void *state);
    /* Both sets in the layout of the kernel, made once: *laid, which may stay NULL.  prepare NULL:
     * there is none. */
    vhem_status (*prepare)(vhem_ctx *, const vh_product *, void **laid);
    void (*release)(void *laid);
    /* At most VH_PRODUCT_TILE HMMs of each set: log_k [na][nb].  scratch belongs to the calling thread. 
     * NULL: that of `ref`. */
    vhem_status (*kernel)(vhem_ctx *, const vh_product *, const void *laid, const vh_rectangle *,
                          vh_scratch *, double *log_k);
} vh_product_kernels;

#endif
