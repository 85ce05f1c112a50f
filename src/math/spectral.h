/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral.h - points for things of which only their affinities are known. */
#ifndef VH_MATH_SPECTRAL_H
#define VH_MATH_SPECTRAL_H

#include "core/ctx.h"

/* More things than this, and their eigenvectors come from ARPACK instead of LAPACK. */
enum { VH_SPECTRAL_DENSE = 2000 };

typedef enum { VH_EIGEN_AUTO, VH_EIGEN_DENSE, VH_EIGEN_LANCZOS } vh_eigen_solver;

/* log_A [n][n], symmetric: logarithms of the affinities of n things, -infinity for none; its diagonal counts
 * only when keep_diagonal says so.  X [n][k], 1 <= k <= n: a point of length 1 for each thing, by its place
 * in the k leading eigenvectors; a thing that has no affinity to any other may be at 0. */
vhem_status vh_spectral_embed(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, double *X);

typedef struct { /* the eigenvectors, for things that come later */
    int n, k;
    double *log_d; /* [n]  logarithms of the sums of affinities */
    double *w, *V; /* [k]  [k][n] */
} vh_spectrum;     /* zero it first */

/* The same, and the eigenvectors. */
vhem_status vh_spectral_solve(vhem_ctx *ctx, int n, const double *log_A, bool keep_diagonal, int k,
                              vh_eigen_solver solver, vh_spectrum *out, double *X);
void vh_spectrum_free(vh_spectrum *s);
/* The point x [k] of a thing that was not among them, from the logarithms log_a [n] of its affinities to
 * those that were (Nystrom): where one of them had these affinities, it would be at the same place. */
void vh_spectral_place(const vh_spectrum *s, const double *log_a, double *x);

#endif
