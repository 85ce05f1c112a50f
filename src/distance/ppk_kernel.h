/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_kernel.h - HMMs against HMMs: the probability product kernel.  Paper, Section 4.2; distance/ppk_pair.c
 * has the equations.
 *
 * Two sets of HMMs are opened once; then any part of the table between them can be computed.  A backend
 * replaces the kernel (prepare, kernel, release); devices take that of the CPU. */
#ifndef VH_DISTANCE_PPK_KERNEL_H
#define VH_DISTANCE_PPK_KERNEL_H

#include "core/own.h"
#include "parallel/scratch.h"
#include "hmm/pack.h"

typedef struct {                   /* owned by the caller; must not change before close */
    const vh_packed *a, *b;        /* from vh_pack_base, HMMs of the same shape adjacent; may be the same */
    const double *self_a, *self_b; /* [n_comp]  log int p^2 of each component, which yields |Sigma| */
    int tau;
    double lambda;       /* > 0 */
    vh_workers *workers; /* the threads and their scratch memory */
} vh_product;

typedef struct { /* HMMs a0 .. a0+na-1 of a against b0 .. b0+nb-1 of b */
    int a0, na, b0, nb;
    bool upper; /* a set against itself: pairs with a > b need not be computed */
} vh_rectangle;

typedef struct vh_opened_pair vh_opened_pair;

vhem_status vh_product_open(vhem_ctx *ctx, const vh_product *p, vh_opened_pair **out);
/* Computes log k~ of each pair into log_k [na][nb].  Bit-identical for any number of workers, and for any
 * rectangle whose edges are multiples of VH_PRODUCT_TILE.  VHEM_ESTOPPED after a stop. */
vhem_status vh_product_run(vhem_ctx *ctx, vh_opened_pair *opened, const vh_rectangle *r, double *log_k);
void vh_product_close(vh_opened_pair *opened); /* NULL is allowed */
VH_OWNED(vh_opened_pair, vh_product_close)

enum { VH_PRODUCT_TILE = 64 };

typedef struct vh_product_kernels {
    /* Converts both sets once to the kernel's layout, *prepared (may stay NULL).  prepare NULL: not
     * needed. */
    vhem_status (*prepare)(vhem_ctx *, const vh_product *, void **prepared);
    void (*release)(void *prepared);
    /* At most VH_PRODUCT_TILE HMMs of each set: log_k [na][nb].  scratch belongs to the calling thread.
     * NULL: the kernel of `ref`. */
    vhem_status (*kernel)(vhem_ctx *, const vh_product *, const void *prepared, const vh_rectangle *,
                          vh_scratch *, double *log_k);
} vh_product_kernels;

#endif
