/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.h - many arrays in one block of memory, moved by a single copy.  A plan computes the offset of each
 * array, as a pointer into a block that starts at 0; the offsets hold for every copy of the block. */
#ifndef VH_CUDA_ARENA_H
#define VH_CUDA_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { VH_PLACE_ALIGN = 256 }; /* bytes */

/* Returns the offset of the next n elements and advances *bytes past them. */
static inline size_t vh_place_next(size_t *bytes, size_t n, size_t size)
{
    size_t at = *bytes;
    *bytes += (n * size + VH_PLACE_ALIGN - 1) / VH_PLACE_ALIGN * VH_PLACE_ALIGN;
    return at;
}

#define VH_PLACE(bytes, p, n) ((p) = (void *)(uintptr_t)vh_place_next(&(bytes), (size_t)(n), sizeof *(p)))

/* Translates p, a pointer into block `from`, to block `to`. */
static inline void *vh_place_in(char *to, const char *from, const void *p)
{
    return to + ((uintptr_t)p - (uintptr_t)from);
}

#endif
