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

#endif
