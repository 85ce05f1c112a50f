/* SPDX-License-Identifier: BSD-3-Clause */
/* windows_memory.c - malloc() and its like on Windows, where free() must also take memory that is aligned to
 * 64 bytes, as arrays must be.  The C library has memory so aligned, but its free() does not take that.
 *
 * The linker prefers these functions to those of the C library's DLL for all that is linked statically.
 * Compiled with -fno-builtin: calloc() must not become a call of itself. */
#define WIN32_LEAN_AND_MEAN
#include "os/system.h"

#include <windows.h>

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, LEAST = 16 }; /* what is asked for, and what the heap gives */

/* In front of all memory that is handed out. */
typedef struct {
    void *block; /* of the heap */
    size_t n;
} block_head;
_Static_assert(sizeof(block_head) == LEAST, "the head keeps the alignment of the heap");

static block_head *head_of(void *p)
{
    return (block_head *)p - 1;
}

static void *aligned(size_t n, size_t align)
{
    size_t more = sizeof(block_head) + align - LEAST;
    char *block = n <= PTRDIFF_MAX - more ? HeapAlloc(GetProcessHeap(), 0, n + more) : NULL;
    if (!block) {
        errno = ENOMEM;
        return NULL;
    }
    void *p = (void *)(((uintptr_t)block + sizeof(block_head) + align - 1) / align * align);
    *head_of(p) = (block_head){ block, n };
    return p;
}

void *malloc(size_t n)
{
    return aligned(n, LEAST);
}

void *vh_memory_aligned(size_t n)
{
    return aligned(n, ALIGN);
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

void free(void *p)
{
    if (p)
        HeapFree(GetProcessHeap(), 0, head_of(p)->block);
}

/* A large block grows without a copy where the heap can. */
static void *grown(void *p, size_t n)
{
    block_head *old = head_of(p);
    if (old->block != old || n > PTRDIFF_MAX - sizeof *old)
        return NULL;
    block_head *new = HeapReAlloc(GetProcessHeap(), 0, old, n + sizeof *old);
    if (new)
        *new = (block_head){ new, n };
    return new ? new + 1 : NULL;
}

void *realloc(void *p, size_t n)
{
    void *new = p ? grown(p, n) : malloc(n);
    if (new || !p)
        return new;
    new = malloc(n);
    if (new) {
        memcpy(new, p, n < head_of(p)->n ? n : head_of(p)->n);
        free(p);
    }
    return new;
}

char *strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, text, n) : NULL;
}
