/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral.h - spectral embedding of items given by their affinities. */
#ifndef VH_MATH_SPECTRAL_H
#define VH_MATH_SPECTRAL_H

#include "core/ctx.h"

/* Above this number of items, eigenvectors are iterated for (math/eigen.h) instead of left to LAPACK. */
enum { VH_SPECTRAL_DENSE = 2000 };

typedef enum { VH_EIGEN_AUTO, VH_EIGEN_DENSE, VH_EIGEN_ITERATED } vh_eigen_solver;

/* log_A [n][n], symmetric: log-affinities of n items, -infinity for none; the diagonal counts only if
 * keep_diagonal.  Computes X [n][k], 1 <= k <= n: a unit vector for each item, its row of the k leading
 * eigenvectors; isolated items may be at 0. */
vhem_status vh_spectral_embed(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, double *X);

typedef struct { /* the eigenvectors, for embedding new items */
    int n, k;
    double *log_d; /* [n]  log row sums of the affinities */
    double *w, *V; /* [k]  [k][n] */
} vh_spectrum;     /* zero it before use */

/* The same, and also returns the eigenvectors. */
vhem_status vh_spectral_solve(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, vh_spectrum *out, double *X);
void vh_spectrum_free(vh_spectrum *s);
/* Nystrom extension: embeds a new item, x [k], from its log-affinities log_a [n] to the training items; a
 * training item lands on itself. */
void vh_spectral_place(const vh_spectrum *s, const double *log_a, double *x);

#endif
