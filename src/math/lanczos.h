/* SPDX-License-Identifier: BSD-3-Clause */
/* lanczos.h - leading eigenvectors of a large symmetric matrix, by ARPACK. */
#ifndef VH_MATH_LANCZOS_H
#define VH_MATH_LANCZOS_H

#include "core/ctx.h"

/* The k largest eigenvalues w [k] of the symmetric A [n][n], descending, and their eigenvectors, the rows of
 * V [k][n]; 1 <= k <= n / 4.  No eigenvalue of A may be smaller than -bound or larger than bound.  The start
 * is fixed, so that the answer is too. */
vhem_status vh_lanczos(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w, double *V);

#endif
