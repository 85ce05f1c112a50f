/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the kernel table: everything that is worth doing differently on different hardware.
 *
 * A backend starts as a copy of `ref`, which defines the right answer, and
 * replaces the entries it speeds up. */
#ifndef VH_BACKEND_BACKEND_H
#define VH_BACKEND_BACKEND_H

#include "backend/product.h"
#include "backend/reduce.h"
#include "backend/sequences.h"

typedef struct vh_backend {
    const char *name;
    bool (*usable)(void); /* CPU flag or device present */

    vh_seq_kernels sequences;

    /* The variational E-step (paper, Appendix A).  L [n][Kr]: the bound
     * L_hmm of base HMMs first .. first+n-1. */
    vhem_status (*score)(vhem_ctx *, const vh_estep *, int first, int n, vh_scratch *, double *L);
    /* Adds the summary statistics nu1, nu, xi of the same pairs, each times w_ij, w [n][Kr];
     * pairs of weight zero cost nothing. */
    vhem_status (*accumulate)(vhem_ctx *, const vh_estep *, int first, int n, const double *w, vh_scratch *,
                              vh_stats *);

    vh_product_kernels product;
} vh_backend;

extern const vh_backend vh_backend_ref;

#endif
