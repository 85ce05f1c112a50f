/* SPDX-License-Identifier: BSD-3-Clause */
/* eigen.h - leading eigenvectors of a large symmetric matrix, known by its products with vectors. */
#ifndef VH_MATH_EIGEN_H
#define VH_MATH_EIGEN_H

#include "core/ctx.h"

typedef struct { /* a symmetric matrix A [n][n] */
    int n;
    double bound; /* > 0; all its eigenvalues lie in [-bound, bound] */
    /* Y [rows][m] = rows first .. first+rows-1 of A X, with X [n][m].  Several threads call it at a
     * time. */
    void (*multiply)(const void *arg, int first, int rows, int m, const double *X, double *Y);
    const void *arg;
} vh_operator;

/* Computes the k largest eigenvalues w [k], descending, 1 <= k <= n, and their eigenvectors, the rows of
 * V [k][n].  On entry the rows of V are vectors to start from, those of a similar matrix for instance,
 * which save most of the work; a row of zeros stands for none.
 *
 * A repeated eigenvalue is found as often as it occurs.  Residuals |A v - w v| are below 1e-9 times the
 * largest |eigenvalue|, unless the k-th eigenvalue and the next few are all but equal: then V holds the
 * best vectors of a bounded search.  The same bits for any number of threads. */
vhem_status vh_eigen_find(vhem_ctx *ctx, const vh_operator *A, int k, double *w, double *V);

/* The same for a matrix A [n][n] in memory, without vectors to start from. */
vhem_status vh_eigen_find_dense(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w,
                                double *V);

/* Fixes the signs of k vectors, the rows of V [k][n]: the entry of largest magnitude becomes positive. */
void vh_eigen_fix_signs(int n, int k, double *V);

#endif
