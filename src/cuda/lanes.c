/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c - see lanes.h.
 *
 *   1. lanes      2. statistics of the frames      3. to the device */
#include "cuda/lanes.h"

#include "cuda/device.h"
#include "cuda/arena.h"
#include "cuda/buffer.h"
#include "core/alloc.h"
#include "math/order.h"
#include "parallel/map.h"

#include <string.h>

enum {
    LANES = VH_CUDA_LANES,
    CHUNK_STEPS = 64 /* minimum steps per chunk, in whole lane blocks; never change it: sums depend on it */
};

#define PINNED_BYTES ((size_t)256 << 20) /* most bytes filled at a time, unless a lane block is larger */
#define OWN_SHARE    0.6                 /* of the free memory: frames that need more stream */

/* ---- 1. lanes ------------------------------------------------------------------------------------------ */

static vhem_status deal(vhem_ctx *ctx, vh_cuda_lanes *x)
{
    VH_AUTOFREE vh_ranked *all = NULL;

    VH_NEW(all, x->in.n);
    for (int64_t i = 0; i < x->in.n; i++)
        all[i] = (vh_ranked){ (double)vh_data_length(x->in.data, x->in.seq[i]), i };
    vh_rank_descending((size_t)x->in.n, all);
    for (int i = 0; i < x->n_lane; i++) {
        x->place[i] = i < x->in.n ? (int)all[i].i : -1;
        x->length[i] = i < x->in.n ? (int)all[i].value : 0;
        x->weight[i] = i < x->in.n ? vh_data_weight(x->in.data, x->in.seq[x->place[i]]) : 0;
    }
    for (int b = 0; b < x->n_lane_block; b++) {
        x->step0[b + 1] = x->step0[b] + (size_t)x->length[b * LANES];
        if (b + 1 == x->n_lane_block || x->step0[b + 1] - x->step0[x->chunk0[x->n_chunk]] >= CHUNK_STEPS)
            x->chunk0[++x->n_chunk] = b + 1;
    }
    return VHEM_OK;
}

vhem_status vh_cuda_lanes_new(vhem_ctx *ctx, const vh_sequences *in, vh_cuda_lanes *out)
{
    VH_CLEANUP(vh_cuda_lanes_free)
    vh_cuda_lanes x = { .in = *in, .n_stat = in->family->n_stat(&in->x.shape) };

    x.n_lane_block =
        ((int)in->n + LANES - 1) / LANES; /* fits an int: see MOST_SEQUENCES of forward_backward.c */
    x.n_lane = x.n_lane_block * LANES;
    VH_NEW(x.place, x.n_lane);
    VH_NEW(x.length, x.n_lane);
    VH_NEW(x.weight, x.n_lane);
    VH_NEW(x.step0, x.n_lane_block + 1);
    VH_NEW(x.chunk0, x.n_lane_block + 1);
    VH_TRY(deal(ctx, &x));
    *out = x;
    x = (vh_cuda_lanes){ 0 };
    return VHEM_OK;
}

void vh_cuda_lanes_free(vh_cuda_lanes *x)
{
    free(x->place);
    free(x->length);
    free(x->weight);
    free(x->step0);
    free(x->chunk0);
    vh_device_free(x->memory);
    vh_device_free(x->T);
    for (int k = 0; k < VH_CUDA_BUFFERS; k++)
        vh_device_free(x->buffer[k]);
    vh_device_free_pinned(x->pinned);
    *x = (vh_cuda_lanes){ 0 };
}

/* ---- 2. statistics ------------------------------------------------------------------------------------- */

typedef struct {
    const vh_cuda_lanes *x;
    int first; /* lane block */
    double *to;
} filling;

/* Fills lane block first + b: [steps][n_stat][LANES]. */
static vhem_status fill_lane_block(vhem_ctx *ctx, void *arg, int64_t b, int worker)
{
    const filling *f = arg;
    const vh_cuda_lanes *x = f->x;
    const vh_sequences *in = &x->in;
    vh_scratch *scratch = &in->workers->scratch[worker];
    int lane_block = f->first + (int)b;
    size_t n_stat = (size_t)x->n_stat, steps = x->step0[lane_block + 1] - x->step0[lane_block];
    double *to = f->to + (x->step0[lane_block] - x->step0[f->first]) * n_stat * LANES, *T;

    memset(to, 0, sizeof *to * steps * n_stat * LANES);
    VH_SCRATCH(T, 0, steps * n_stat);
    for (int l = 0; l < LANES; l++) {
        int at = lane_block * LANES + l, length = x->length[at];
        if (length == 0)
            continue;
        in->family->stats_of_obs(&in->x, vh_data_frames(in->data, in->seq[x->place[at]]), length, T);
        vh_data_release(in->data, &in->seq[x->place[at]], 1);
        for (size_t e = 0; e < (size_t)length * n_stat; e++)
            to[e * LANES + (size_t)l] = T[e];
    }
    return VHEM_OK;
}

static vhem_status fill_lanes(vhem_ctx *ctx, const vh_cuda_lanes *x, int first, int n, double *to)
{
    filling f = { x, first, to };
    const vh_work all = {
        .n = n, .threads = x->in.workers->n, .finishes = true, .late = true, .run = fill_lane_block, .arg = &f
    };
    return vh_map(ctx, &all, NULL);
}

static size_t bytes_of(const vh_cuda_lanes *x, int first, int end)
{
    return (x->step0[end] - x->step0[first]) * (size_t)x->n_stat * LANES * sizeof(double);
}

/* Copies lane blocks first .. end-1 to the device through pinned memory, a few at a time.  The last copy may
 * still be running on return. */
static vhem_status send(vhem_ctx *ctx, vh_cuda_lanes *x, int first, int end, double *to)
{
    for (int b = first, next; b < end; b = next) {
        next = b + 1;
        while (next < end && bytes_of(x, b, next + 1) <= PINNED_BYTES)
            next++;
        VH_DEVICE(vh_device_put_wait()); /* until the previous copy is done */
        VH_TRY(vh_cuda_pinned_room(ctx, bytes_of(x, b, next), &x->pinned_bytes, &x->pinned));
        VH_TRY(fill_lanes(ctx, x, b, next - b, x->pinned));
        VH_DEVICE(vh_device_put_begin((char *)to + bytes_of(x, first, b), x->pinned, bytes_of(x, b, next)));
    }
    return VHEM_OK;
}

/* ---- 3. to the device ---------------------------------------------------------------------------------- */

static vhem_status send_plan(vhem_ctx *ctx, vh_cuda_lanes *x)
{
    size_t bytes = 0, n = (size_t)x->n_lane;
    int *length, *chunk0;
    size_t *step0;
    double *weight;
    VH_AUTOFREE char *host = NULL;

    VH_PLACE(bytes, length, n);
    VH_PLACE(bytes, chunk0, x->n_chunk + 1);
    VH_PLACE(bytes, step0, x->n_lane_block + 1);
    VH_PLACE(bytes, weight, n);
    VH_NEW(host, bytes);
    memcpy(vh_place_in(host, NULL, length), x->length, sizeof *length * n);
    memcpy(vh_place_in(host, NULL, chunk0), x->chunk0, sizeof *chunk0 * (size_t)(x->n_chunk + 1));
    memcpy(vh_place_in(host, NULL, step0), x->step0, sizeof *step0 * (size_t)(x->n_lane_block + 1));
    memcpy(vh_place_in(host, NULL, weight), x->weight, sizeof *weight * n);
    VH_DEVICE(vh_device_new(bytes, &x->memory));
    VH_DEVICE(vh_device_put(x->memory, host, bytes));
    x->far_length = vh_place_in(x->memory, NULL, length);
    x->far_chunk0 = vh_place_in(x->memory, NULL, chunk0);
    x->far_step0 = vh_place_in(x->memory, NULL, step0);
    x->far_weight = vh_place_in(x->memory, NULL, weight);
    return VHEM_OK;
}

vhem_status vh_cuda_lanes_load(vhem_ctx *ctx, vh_cuda_lanes *x)
{
    size_t bytes = bytes_of(x, 0, x->n_lane_block), unused, whole;

    if (x->loaded)
        return VHEM_OK;
    VH_DEVICE(vh_device_memory(&unused, &whole));
    x->streams = (double)bytes > OWN_SHARE * (double)unused;
    VH_TRY(send_plan(ctx, x));
    if (!x->streams) {
        VH_DEVICE(vh_device_new(bytes, &x->T));
        VH_TRY(send(ctx, x, 0, x->n_lane_block, x->T));
        VH_DEVICE(vh_device_put_wait());
        vh_device_free_pinned(x->pinned);
        x->pinned = NULL;
        x->pinned_bytes = 0;
    }
    vh_log(ctx, VHEM_LOG_INFO, "%lld sequences on the GPU, %s%s", (long long)x->in.n, vh_device_name(),
           x->streams ? ", a part at a time" : "");
    x->loaded = true;
    return VHEM_OK;
}

vh_cuda_frames vh_cuda_lanes_tile(const vh_cuda_lanes *x, int first, int n)
{
    int b0 = x->chunk0[first], b1 = x->chunk0[first + n];
    return (vh_cuda_frames){ .lane_blocks = b1 - b0,
                             .lanes = (b1 - b0) * LANES,
                             .n_chunk = n,
                             .steps = x->step0[b1] - x->step0[b0],
                             .length = x->far_length + b0 * LANES,
                             .step0 = x->far_step0 + b0,
                             .chunk0 = x->far_chunk0 + first,
                             .before = x->step0[b0],
                             .block0 = b0,
                             .weight = x->far_weight + b0 * LANES };
}

vhem_status vh_cuda_lanes_begin(vhem_ctx *ctx, vh_cuda_lanes *x, int t, vh_cuda_frames *tile)
{
    int b0 = tile->block0, which = t % VH_CUDA_BUFFERS;
    size_t bytes = bytes_of(x, b0, b0 + tile->lane_blocks);

    if (!x->streams) {
        tile->T = x->T + x->step0[b0] * (size_t)x->n_stat * LANES;
        return VHEM_OK;
    }
    VH_TRY(vh_cuda_room(ctx, bytes, &x->buffer_bytes[which], &x->buffer[which]));
    VH_TRY(send(ctx, x, b0, b0 + tile->lane_blocks, x->buffer[which]));
    tile->T = x->buffer[which];
    return VHEM_OK;
}

vhem_status vh_cuda_lanes_wait(vhem_ctx *ctx, const vh_cuda_lanes *x)
{
    if (x->streams)
        VH_DEVICE(vh_device_put_wait());
    return VHEM_OK;
}
