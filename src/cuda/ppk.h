/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.h - the probability product kernel on a GPU.  First the jobs of distance/ppk_kernel.h; then, in plain
 * C, the kernels and their data.  Every pointer in those records is a device pointer. */
#ifndef VH_CUDA_PPK_H
#define VH_CUDA_PPK_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits: dimensions per division; HMMs and components of a, and components of an HMM of b, at a time. */
enum {
    VH_CUDA_PRODUCT_BLOCK = 40,
    VH_CUDA_PRODUCT_HMMS = 8000,
    VH_CUDA_PRODUCT_ROWS = 1 << 19,
    VH_CUDA_PRODUCT_COMPONENTS = 1 << 12,
};

typedef struct { /* HMMs first .. first+n-1 of a set, all of one shape */
    int first, n, S, M;
    /* As rows, for the left side, and as lanes, for the right side: */
    double *row_par, *lane_par;     /* [n][S M][d][2]  [S M][d][2][n]  mean and variance of each dimension */
    double *row_log_w, *lane_log_w; /* [n][S M]  [S M][n] */
    double *row_pi, *lane_pi;       /* [n][S]  [S][n]  raised to the power lambda */
    double *row_A, *lane_A;         /* [n][S][S]  [S][S][n] */
} vh_cuda_run;

typedef struct { /* HMMs a0 .. a0+na-1 of run a against b0 .. b0+nb-1 of run b, as indices within the runs */
    vh_cuda_run a, b;
    int a0, na, b0, nb;
    int d, tau, block; /* block: dimensions that share one division */
    bool upper;        /* pairs of an HMM and an earlier one may be skipped */
    double lambda, constant;
    double *table; /* [na][S M of a][S M of b][nb]  scratch */
    double *work;  /* [vh_cuda_product_work][slots]  scratch */
    int slots;     /* a multiple of 128 */
    double *out;   /* entry (0, 0); rows are `width` apart */
    size_t width;
    int *not_finite; /* [1]  nonzero if some pair has no finite result */
} vh_cuda_product;

/* lane [size][n] := transpose of row [n][size]. */
const char *vh_cuda_product_transpose(const double *row, double *lane, int n, size_t size);
size_t vh_cuda_product_work(int Sa, int Sb);
const char *vh_cuda_product_run(const vh_cuda_product *job);

#ifdef __cplusplus
}
#else
#include "distance/ppk_kernel.h"

vhem_status vh_cuda_product_open(vhem_ctx *ctx, const vh_product *p, void **state);
vhem_status vh_cuda_product_part(vhem_ctx *ctx, void *state, const vh_rectangle *r, double *log_k);
void vh_cuda_product_close(void *state);
#endif

#endif
