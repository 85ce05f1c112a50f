/* SPDX-License-Identifier: BSD-3-Clause */
/* blas.h - process-wide state of BLAS: its threads. */
#ifndef VH_MATH_BLAS_H
#define VH_MATH_BLAS_H

#include "core/own.h"

#include <stdbool.h>

/* BLAS must use one thread inside our own threads.  The setting is process-wide: the first computation to
 * enter sets it, the last to leave restores the old value.  Calls come in pairs. */
void vh_blas_enter(void);
void vh_blas_leave(void);
/* The kernel that BLAS chose for this processor, such as "Haswell"; other kernels round products
 * differently.  "" if unknown. */
const char *vh_blas_kernel(void);

/* If memory is limited, makes OpenBLAS allocate its buffers for this many threads now; later it would retry
 * forever instead of failing.  False if the limit leaves no room. */
bool vh_blas_reserve(int threads);

/* As a declaration: BLAS uses one thread until the end of the block. */
#define VH_BLAS_SERIAL VH_CLEANUP(vh_blas_serial_end) const bool blas_serial_ = vh_blas_serial_begin()

static inline bool vh_blas_serial_begin(void)
{
    vh_blas_enter();
    return true;
}

static inline void vh_blas_serial_end(const bool *begun)
{
    (void)begun;
    vh_blas_leave();
}

#endif
