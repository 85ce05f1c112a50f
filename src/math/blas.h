/* SPDX-License-Identifier: BSD-3-Clause */
/* blas.h - what of BLAS belongs to the whole process: its threads. */
#ifndef VH_MATH_BLAS_H
#define VH_MATH_BLAS_H

#include "core/own.h"

#include <stdbool.h>

/* BLAS must run with one thread inside our own threads.  The setting is the process's: the first computation
 * to enter takes it, the last to leave gives back what was there.  Calls come in pairs. */
void vh_blas_enter(void);
void vh_blas_leave(void);
/* Which of its kernels BLAS has chosen for this processor, "Haswell": products have other last bits with
 * others.  "" where it does not say. */
const char *vh_blas_kernel(void);

/* Where the memory of the process is limited, OpenBLAS is made to take now what so many threads will need: it
 * does not fail later, but tries again without end.  False where the limit leaves no room. */
bool vh_blas_reserve(int threads);

/* As a declaration: BLAS has one thread up to the end of the block. */
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
