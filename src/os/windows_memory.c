/* SPDX-License-Identifier: BSD-3-Clause */
/* windows_memory.c - malloc() and its like on Windows: all memory is aligned to 64 bytes, as arrays must be,
 * and free() takes all of it.  The C library has memory so aligned, but free() does not take that.
 *
 * The linker prefers these functions to those of the C library's DLL for all that is linked statically.
 * Compiled with -fno-builtin: calloc() must not become a call of itself. */
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64 };

void *malloc(size_t n)
{
    return _aligned_malloc(n ? n : 1, ALIGN);
}

void *calloc(size_t n, size_t size)
{
    if (size > 0 && n > SIZE_MAX / size)
        return NULL;
    void *p = malloc(n * size);
    if (p)
        memset(p, 0, n * size);
    return p;
}

void *realloc(void *p, size_t n)
{
    return _aligned_realloc(p, n ? n : 1, ALIGN);
}

void free(void *p)
{
    _aligned_free(p);
}

char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}
