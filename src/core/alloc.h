/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.h - memory for arrays: overflow-checked, zeroed, aligned for vector loads, released with free(). */
#ifndef VH_CORE_ALLOC_H
#define VH_CORE_ALLOC_H

#include "core/ctx.h"

#include <stddef.h>
#include <stdlib.h>

#define VH_ALIGN 64

/* n zeroed elements of the given size, 64-byte aligned; never NULL for n = 0; NULL and a sentence when there
 * is no memory. */
void *vh_alloc(vhem_ctx *ctx, size_t n, size_t size);

/* Grows *p (an array of *cap elements from malloc/realloc or NULL) to hold at least n; contents kept, new
 * elements not zeroed.  Doubles, so that appending is linear. */
vhem_status vh_grow(vhem_ctx *ctx, void *p, size_t *cap, size_t n, size_t size);

/* Gives free memory back to the system where the C library can: of large arrays that come and go while small
 * ones stay in between, it keeps the gaps, and the next array does not fit into any of them. */
void vh_alloc_trim(void);

char *vh_strdup(vhem_ctx *ctx, const char *text);
char *vh_strndup(vhem_ctx *ctx, const char *text, size_t n);

/* p = n zeroed elements, or return VHEM_ENOMEM. */
#define VH_NEW(p, n)                                   \
    do {                                               \
        (p) = vh_alloc(ctx, (size_t)(n), sizeof *(p)); \
        if (!(p))                                      \
            return VHEM_ENOMEM;                        \
    } while (0)

#define VH_DUP(p, text)               \
    do {                              \
        (p) = vh_strdup(ctx, (text)); \
        if (!(p))                     \
            return VHEM_ENOMEM;       \
    } while (0)

#endif
