/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.h - memory for arrays: overflow-checked, zeroed, aligned for vector loads, released with free(). */
#ifndef VH_CORE_ALLOC_H
#define VH_CORE_ALLOC_H

#include "core/ctx.h"

#include <stddef.h>
#include <stdlib.h>

#define VH_ALIGN 64

/* Returns n zeroed elements of the given size, 64-byte aligned; non-NULL even for n = 0.  NULL and an error
 * when out of memory. */
void *vh_alloc(vhem_ctx *ctx, size_t n, size_t size);

/* Grows *p (*cap elements from malloc/realloc, or NULL) to hold at least n.  Keeps the contents; new elements
 * are not zeroed.  Doubles the size, so appending is linear. */
vhem_status vh_grow(vhem_ctx *ctx, void *p, size_t *cap, size_t n, size_t size);

char *vh_strdup(vhem_ctx *ctx, const char *text);
char *vh_strndup(vhem_ctx *ctx, const char *text, size_t n);

/* Sets p to n zeroed elements, or returns VHEM_ENOMEM. */
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
