/* SPDX-License-Identifier: BSD-3-Clause */
/* blas.c - see blas.h. */
#include "math/blas.h"

#include <cblas.h>

/* The only state outside of objects in the library, because what it guards is outside of them too. */
static int blas_users, blas_threads;

void vh_blas_enter(void)
{
#pragma omp critical(vh_blas)
    if (blas_users++ == 0) {
        blas_threads = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
}

void vh_blas_leave(void)
{
#pragma omp critical(vh_blas)
    if (--blas_users == 0)
        openblas_set_num_threads(blas_threads);
}
