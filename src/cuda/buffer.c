/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.c - see buffer.h. */
#include "cuda/buffer.h"

#include "cuda/device.h"

#include <string.h>

typedef struct { /* an allocator */
    const char *(*make)(size_t bytes, void *out);
    void (*drop)(void *p);
} source;

static vhem_status grow_buffer(vhem_ctx *ctx, const source *from, size_t bytes, size_t *have, void *p)
{
    void *now = NULL;

    if (bytes <= *have)
        return VHEM_OK;
    memcpy(&now, p, sizeof now);
    from->drop(now);
    memset(p, 0, sizeof now);
    *have = 0;
    VH_DEVICE(from->make(bytes, p));
    *have = bytes;
    return VHEM_OK;
}

vhem_status vh_cuda_room(vhem_ctx *ctx, size_t bytes, size_t *have, void *p)
{
    static const source device = { vh_device_new, vh_device_free };
    return grow_buffer(ctx, &device, bytes, have, p);
}

vhem_status vh_cuda_pinned_room(vhem_ctx *ctx, size_t bytes, size_t *have, void *p)
{
    static const source pinned = { vh_device_new_pinned, vh_device_free_pinned };
    return grow_buffer(ctx, &pinned, bytes, have, p);
}
