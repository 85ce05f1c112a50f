/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c - see scratch.h. */
#include "parallel/scratch.h"

#include "core/alloc.h"
#include "os/system.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

double *vh_scratch_get(vhem_ctx *ctx, vh_scratch *scratch, int slot, size_t n)
{
    assert(slot >= 0 && slot < VH_SCRATCH_SLOTS);
    if (n <= scratch->size[slot] && scratch->buffer[slot])
        return scratch->buffer[slot];
    size_t want = n + n / 4 + 8; /* headroom: slowly growing sequences do not reallocate each time */
    free(scratch->buffer[slot]);
    scratch->size[slot] = 0;
    scratch->buffer[slot] = NULL;
    if (want < n || want > SIZE_MAX / sizeof(double) - VH_ALIGN) {
        vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not get %zu times 8 bytes", n);
        return NULL;
    }
    size_t bytes = (want * sizeof(double) + VH_ALIGN - 1) / VH_ALIGN * VH_ALIGN;
    scratch->buffer[slot] = vh_memory_aligned(bytes);
    if (!scratch->buffer[slot]) {
        vh_fail(ctx, VHEM_ENOMEM, "out of memory: could not get %zu times 8 bytes", n);
        return NULL;
    }
    scratch->size[slot] = want;
    return scratch->buffer[slot];
}

void vh_scratch_free(vh_scratch *scratch)
{
    for (int i = 0; i < VH_SCRATCH_SLOTS; i++) {
        free(scratch->buffer[i]);
        scratch->buffer[i] = NULL;
        scratch->size[i] = 0;
    }
}

vhem_status vh_workers_new(vhem_ctx *ctx, int n, vh_workers *out)
{
    VH_NEW(out->scratch, n);
    out->n = n;
    return VHEM_OK;
}

void vh_workers_free(vh_workers *workers)
{
    for (int i = 0; i < workers->n; i++)
        vh_scratch_free(&workers->scratch[i]);
    free(workers->scratch);
    *workers = (vh_workers){ 0 };
}
