/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_pair.h - reference implementation of the kernel of two HMMs, also the fallback of faster kernels. */
#ifndef VH_DISTANCE_PPK_PAIR_H
#define VH_DISTANCE_PPK_PAIR_H

#include "distance/ppk_kernel.h"

/* Computes log k~ of HMM i of a and HMM j of b.  Uses scratch slots 0 to 3. */
vhem_status vh_ref_product_pair(vhem_ctx *ctx, const vh_product *p, int i, int j, vh_scratch *scratch,
                                double *log_k);
/* The `kernel` function of vh_product_ref. */
vhem_status vh_ref_product(vhem_ctx *ctx, const vh_product *p, const void *prepared, const vh_rectangle *r,
                           vh_scratch *scratch, double *log_k);
/* Replaces all that a backend lacks. */
extern const vh_product_kernels vh_product_ref;

#endif
