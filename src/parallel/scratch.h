/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.h - per-thread working memory: a few numbered buffers that grow and are reused. */
#ifndef VH_PARALLEL_SCRATCH_H
#define VH_PARALLEL_SCRATCH_H

#include "core/ctx.h"

#include <stddef.h>

enum { VH_SCRATCH_SLOTS = 20 };

typedef struct {
    double *buffer[VH_SCRATCH_SLOTS];
    size_t size[VH_SCRATCH_SLOTS];
} vh_scratch; /* zero it before use */

/* Returns at least n doubles, 64-byte aligned, uninitialised; the old contents of the slot are lost.  NULL
 * and an error when out of memory. */
double *vh_scratch_get(vhem_ctx *ctx, vh_scratch *scratch, int slot, size_t n);
void vh_scratch_free(vh_scratch *scratch);

typedef struct { /* scratch memory of each thread */
    int n;
    vh_scratch *scratch; /* [n] */
} vh_workers;

vhem_status vh_workers_new(vhem_ctx *ctx, int n, vh_workers *out);
void vh_workers_free(vh_workers *workers);

#define VH_SCRATCH(p, slot, n)                                   \
    do {                                                         \
        (p) = vh_scratch_get(ctx, scratch, (slot), (size_t)(n)); \
        if (!(p))                                                \
            return VHEM_ENOMEM;                                  \
    } while (0)

#endif
