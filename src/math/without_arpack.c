/* SPDX-License-Identifier: BSD-3-Clause */
/* without_arpack.c - replaces lanczos.c in builds without ARPACK (VHEM_ARPACK=OFF): computes the eigenvectors
 * by LAPACK, slower for many models but with the same result. */
#include "core/alloc.h"
#include "core/array2.h"
#include "math/lanczos.h"
#include "math/linalg.h"

#include <string.h>

vhem_status vh_lanczos(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w, double *V)
{
    VH_AUTOFREE double *copy = NULL;
    (void)bound;

    vh_log(ctx, VHEM_LOG_INFO, "the eigenvectors of %d models by LAPACK: this vhem was built without ARPACK",
           n);
    VH_NEW(copy, vh_cells(n, n));
    memcpy(copy, A, sizeof *copy * vh_cells(n, n));
    VH_CHECK(vh_eigen_leading(n, copy, k, w, V), VHEM_ENUMERIC,
             "the eigenvectors of %d models could not be found; perhaps memory is short", n);
    return VHEM_OK;
}
