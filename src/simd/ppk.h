/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.h - parts of the probability product kernel between one HMM and a group of HMMs of one shape, one per
 * vector lane.  distance/ppk_pair.c has the equations. */
#ifndef VH_SIMD_PPK_H
#define VH_SIMD_PPK_H

#include "simd/simd.h"
#include "simd/vec.h"

enum { VH_PRODUCT_ROWS = 4 }; /* components of a processed together */

/* ppk_gauss.c: x [n][Cb] = log_wa + log_wb - log |Sigma_a + Sigma_b| / 2 - lambda/2 (mu_a - mu_b)'
 * (Sigma_a + Sigma_b)^-1 (mu_a - mu_b) for n components of a, a multiple of VH_PRODUCT_ROWS, and the Cb
 * components of the group.  NaN where Sigma_a + Sigma_b is not positive definite. */
typedef struct {
    int d, n, Cb;
    double lambda;
    const double *a, *log_wa; /* [n][size] [n] */
    const vec *b, *log_wb;    /* [Cb][size] [Cb] */
    int block;                /* diag: dimensions that share one division */
    vec *work;                /* full: VH_NAME(vh_product_work)(d) vectors */
    vec *x;
} vh_product_table;

/* Diagonal covariances: size = 2 d, the mean and variance of each dimension interleaved. */
void VH_NAME(vh_product_diag)(vh_product_table *t);
/* Full covariances: size = d + d(d+1)/2, the mean, then the lower triangle of the covariance by rows. */
void VH_NAME(vh_product_full)(vh_product_table *t);
size_t VH_NAME(vh_product_work)(int d);

/* ppk_chain.c: log k~ of one HMM of a and each HMM of the group. */
typedef struct {
    vhem_ctx *ctx; /* polled for a stop in long chains; the result is then invalid */
    int Sa, Ma, Sb, Mb, tau;
    const double *pi_a, *A_a;         /* [Sa] [Sa][Sa]  raised to the power lambda, like all chains here */
    const vec *pi_b, *A_b;            /* [Sb] [Sb][Sb] */
    const vec *x;                     /* [Sa Ma][Sb Mb]  from vh_product_table */
    vec *Psi, *F, *next, *before, *g; /* [Sa][Sb] each, g [Sa], scratch */
    vec log_k;
    bool good[VH_LANES]; /* false: the fast path failed, use the reference */
} vh_product_chain;

void VH_NAME(vh_product_walk)(vh_product_chain *c);

#endif
