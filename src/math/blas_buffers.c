/* SPDX-License-Identifier: BSD-3-Clause */
/* blas_buffers.c - see vh_blas_reserve() in blas.h. */
#include "math/blas.h"
#include "os/system.h"

#include <stddef.h>
#include <stdlib.h>

/* OpenBLAS maps a buffer when a thread multiplies and none is free, and never unmaps it.  These are its own
 * functions; NULL if the library names them otherwise. */
extern void *blas_memory_alloc(int) __attribute__((weak));
extern void blas_memory_free(void *) __attribute__((weak));

bool vh_blas_reserve(int threads)
{
    enum { MOST = 128, BUFFER = 128 << 20 }; /* bytes per buffer */
    void *buffer[MOST + 1];
    int n = (threads < MOST ? threads : MOST) + 1; /* one more, as some functions call others */

    if (!blas_memory_alloc || !blas_memory_free || !vh_memory_is_limited())
        return true;
    void *room = vh_memory_aligned((size_t)n * BUFFER);
    if (!room)
        return false;
    free(room);
    vh_blas_enter(); /* permanently: otherwise each OpenBLAS thread would have a buffer too */
    for (int i = 0; i < n; i++)
        buffer[i] = blas_memory_alloc(0);
    for (int i = 0; i < n; i++)
        blas_memory_free(buffer[i]);
    return true;
}
