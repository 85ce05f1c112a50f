/* SPDX-License-Identifier: BSD-3-Clause */
/* blas.c - see blas.h. */
#include "math/blas.h"

#include "math/openblas.h"

#include <stddef.h>

/* Weak: the function may be missing. */
extern char *openblas_get_corename(void) __attribute__((weak));

/* Global, because the BLAS setting it guards is. */
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

const char *vh_blas_kernel(void)
{
    const char *name = openblas_get_corename ? openblas_get_corename() : NULL;
    return name ? name : "";
}
