/* SPDX-License-Identifier: BSD-3-Clause */
/* tile.c - see tile.h. */
#include "cuda/tile.h"

#include "cuda/arena.h"
#include "core/alloc.h"
#include "parallel/parallel.h"

#include <string.h>

enum { SOME = 256 }; /* lanes per thread and item */

static int shape_of(const vh_cuda_lay *lay, int S, int M)
{
    for (int q = 0; q < lay->n_shape; q++)
        if (lay->shape[q].S == S && lay->shape[q].M == M)
            return q;
    return -1;
}

static vhem_status count_shapes(vhem_ctx *ctx, const vh_packed *chunk, vh_cuda_lay *lay)
{
    size_t cap = 0;
    for (int c = 0; c < lay->n_chunk; c++)
        for (int k = 0; k < chunk[c].K; k++) {
            int q = shape_of(lay, chunk[c].S[k], chunk[c].M[k]);
            if (q < 0) {
                q = lay->n_shape;
                VH_TRY(vh_grow(ctx, &lay->shape, &cap, (size_t)q + 1, sizeof *lay->shape));
                lay->shape[q] = (vh_cuda_base){ .S = chunk[c].S[k], .M = chunk[c].M[k] };
                lay->n_shape++;
            }
            lay->shape[q].n++;
        }
    return VHEM_OK;
}

vhem_status vh_cuda_lay_plan(vhem_ctx *ctx, const vh_packed *chunk, vh_cuda_lay *lay)
{
    size_t bytes = 0, n_stat = (size_t)chunk[0].n_stat;

    lay->rows = 0;
    for (int c = 0; c < lay->n_chunk; c++)
        lay->rows += chunk[c].K;
    VH_TRY(count_shapes(ctx, chunk, lay));
    VH_PLACE(bytes, lay->omega, lay->rows);
    VH_PLACE(bytes, lay->number, lay->rows);
    for (int q = 0; q < lay->n_shape; q++) {
        vh_cuda_base *b = &lay->shape[q];
        size_t n = (size_t)b->n, S = (size_t)b->S, C = S * (size_t)b->M;
        VH_PLACE(bytes, b->pi, S * n);
        VH_PLACE(bytes, b->A, S * S * n);
        VH_PLACE(bytes, b->c, C * n);
        VH_PLACE(bytes, b->T, C * n * n_stat);
        VH_PLACE(bytes, b->row, n);
        VH_PLACE(bytes, b->lane0, lay->n_chunk + 1);
    }
    lay->bytes = bytes;
    return VHEM_OK;
}

static void list_rows(const vh_cuda_base *b, const vh_packed *chunk, int n_chunk, int *row, int *lane0)
{
    int lane = 0, first = 0;
    for (int c = 0; c < n_chunk; c++) {
        lane0[c] = lane;
        for (int k = 0; k < chunk[c].K; k++)
            if (chunk[c].S[k] == b->S && chunk[c].M[k] == b->M)
                row[lane++] = first + k;
        first += chunk[c].K;
    }
    lane0[n_chunk] = lane;
}

typedef struct { /* the arrays of a shape, in host memory */
    double *pi, *A, *c, *T;
    const vh_cuda_base *base;
    const vh_packed *chunk; /* source HMMs */
    const int *row;         /* [n]  index of the HMM in each lane */
} lanes;

static void fill_lane(const lanes *to, size_t lane)
{
    const vh_cuda_base *b = to->base;
    const vh_packed *chunk = &to->chunk[to->row[lane] / VH_REDUCE_CHUNK];
    int k = to->row[lane] % VH_REDUCE_CHUNK;
    size_t n = (size_t)b->n, S = (size_t)b->S, C = S * (size_t)b->M, n_stat = (size_t)chunk->n_stat;
    for (size_t s = 0; s < S; s++)
        to->pi[s * n + lane] = chunk->pi[(size_t)chunk->state0[k] + s];
    for (size_t e = 0; e < S * S; e++)
        to->A[e * n + lane] = chunk->A[chunk->trans0[k] + e];
    for (size_t m = 0; m < C; m++) {
        size_t from = (size_t)chunk->comp0[k] + m;
        to->c[m * n + lane] = chunk->c[from];
        memcpy(to->T + (m * n + lane) * n_stat, chunk->mean + from * n_stat, sizeof *to->T * n_stat);
    }
}

static void fill_some(void *arg, int64_t item, int worker)
{
    const lanes *to = arg;
    (void)worker;
    for (int lane = (int)item * SOME; lane < to->base->n && lane < ((int)item + 1) * SOME; lane++)
        fill_lane(to, (size_t)lane);
}

void vh_cuda_lay_fill(vhem_ctx *ctx, const vh_cuda_lay *lay, const vh_base_source *source,
                      const vh_packed *chunk, char *to)
{
    memcpy(vh_place_in(to, lay->memory, lay->omega), source->omega + lay->first,
           sizeof(double) * (size_t)lay->rows);
    memcpy(vh_place_in(to, lay->memory, lay->number), source->number + lay->first,
           sizeof *lay->number * (size_t)lay->rows);
    for (int q = 0; q < lay->n_shape; q++) {
        const vh_cuda_base *b = &lay->shape[q];
        int *row = vh_place_in(to, lay->memory, b->row), *lane0 = vh_place_in(to, lay->memory, b->lane0);
        lanes out = { vh_place_in(to, lay->memory, b->pi),
                      vh_place_in(to, lay->memory, b->A),
                      vh_place_in(to, lay->memory, b->c),
                      vh_place_in(to, lay->memory, b->T),
                      b,
                      chunk,
                      row };
        list_rows(b, chunk, lay->n_chunk, row, lane0);
        vh_parallel(ctx, (b->n + SOME - 1) / SOME, ctx->threads, true, fill_some, &out);
    }
}

void vh_cuda_lay_move(vh_cuda_lay *lay, char *memory)
{
    const char *from = lay->memory;
    lay->omega = vh_place_in(memory, from, lay->omega);
    lay->number = vh_place_in(memory, from, lay->number);
    for (int q = 0; q < lay->n_shape; q++) {
        vh_cuda_base *b = &lay->shape[q];
        b->pi = vh_place_in(memory, from, b->pi);
        b->A = vh_place_in(memory, from, b->A);
        b->c = vh_place_in(memory, from, b->c);
        b->T = vh_place_in(memory, from, b->T);
        b->row = vh_place_in(memory, from, b->row);
        b->lane0 = vh_place_in(memory, from, b->lane0);
    }
    lay->memory = memory;
}

void vh_cuda_lay_clear(vh_cuda_lay *lay)
{
    free(lay->shape);
    *lay = (vh_cuda_lay){ 0 };
}
