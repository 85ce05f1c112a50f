/* SPDX-License-Identifier: BSD-3-Clause */
/* without_blas_buffers.c - vh_blas_reserve() where the linker does not see the buffers of OpenBLAS, and
 * memory is never limited. */
#include "math/blas.h"

bool vh_blas_reserve(int threads)
{
    (void)threads;
    return true;
}
