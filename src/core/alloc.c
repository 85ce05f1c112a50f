/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c - see alloc.h. */
#include "core/alloc.h"

#include "os/system.h"

#include <stdint.h>
#include <string.h>

void *vh_alloc(vhem_ctx *ctx, size_t n, size_t size)
{
    void *p = NULL;
    if (size == 0 || n <= (SIZE_MAX - VH_ALIGN) / size) {
        size_t bytes = (n * size + VH_ALIGN - 1) / VH_ALIGN * VH_ALIGN;
        p = vh_memory_aligned(bytes ? bytes : VH_ALIGN);
        if (p)
            memset(p, 0, bytes ? bytes : VH_ALIGN);
    }
    if (!p)
        vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not get %zu times %zu bytes", n, size);
    return p;
}

vhem_status vh_grow(vhem_ctx *ctx, void *p, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return VHEM_OK;
    size_t want = *cap < 8 ? 8 : *cap;
    while (want < n && want <= SIZE_MAX / 2)
        want *= 2;
    void *old, *new = NULL;
    memcpy(&old, p, sizeof old); /* p is the address of a pointer of any type */
    if (want >= n && want <= SIZE_MAX / size)
        new = realloc(old, want * size);
    if (!new)
        return vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not get %zu times %zu bytes", n, size);
    memcpy(p, &new, sizeof new);
    *cap = want;
    return VHEM_OK;
}

char *vh_strndup(vhem_ctx *ctx, const char *text, size_t n)
{
    char *copy = malloc(n + 1);
    if (!copy) {
        vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not get %zu bytes", n + 1);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

char *vh_strdup(vhem_ctx *ctx, const char *text)
{
    return vh_strndup(ctx, text, strlen(text));
}
