/* SPDX-License-Identifier: BSD-3-Clause */
/* lanczos.h - leading eigenvectors of a large symmetric matrix, by ARPACK. */
#ifndef VH_MATH_LANCZOS_H
#define VH_MATH_LANCZOS_H

#include "core/ctx.h"

/* Computes the k largest eigenvalues w [k] of the symmetric A [n][n], descending, and their eigenvectors, the
 * rows of V [k][n]; 1 <= k <= n / 4.  All eigenvalues of A must lie in [-bound, bound].  The start is fixed,
 * so the result is deterministic. */
vhem_status vh_lanczos(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w, double *V);

#endif
