/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.h - many arrays in one block of memory, so that one copy moves all of them.  A plan gives each its
 * place, as if the block began at 0; the same places then hold wherever the block is. */
#ifndef VH_CUDA_ARENA_H
#define VH_CUDA_ARENA_H

#include <stddef.h>
#include <stdint.h>

enum { VH_PLACE_ALIGN = 256 }; /* bytes */

/* Where the next n elements begin, after so many bytes. */
static inline size_t vh_place_next(size_t *bytes, size_t n, size_t size)
{
    size_t at = *bytes;
    *bytes += (n * size + VH_PLACE_ALIGN - 1) / VH_PLACE_ALIGN * VH_PLACE_ALIGN;
    return at;
}

#define VH_PLACE(bytes, p, n) ((p) = (void *)(uintptr_t)vh_place_next(&(bytes), (size_t)(n), sizeof *(p)))

/* What lies at p in the block `from` lies here in the block `to`. */
static inline void *vh_place_in(char *to, const char *from, const void *p)
{
    return to + ((uintptr_t)p - (uintptr_t)from);
}

#endif
