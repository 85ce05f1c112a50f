/* SPDX-License-Identifier: BSD-3-Clause */
/* row_blocks.c - see row_blocks.h. */
#include "distance/row_blocks.h"

#include "core/alloc.h"
#include "parallel/map.h"
#include "parallel/ranks.h"

typedef struct {
    vhem_ctx *ctx; /* of the caller */
    const vh_row_blocks *of;
    double *own, *other; /* rows computed here; received from another process */
    size_t size;         /* numbers in own */
    int64_t compared;    /* rows up to the last computed here */
} block_table;

static int64_t rows_of(const vh_row_blocks *s, int64_t k)
{
    int64_t left = s->n - k * s->rows;
    return left < s->rows ? left : s->rows;
}

/* Estimates the progress of all processes when this one has finished row block k. */
static void tell_progress(const block_table *j, int64_t k)
{
    int64_t done = (k + vh_ranks(j->ctx)) * j->of->rows;
    vh_progress(j->ctx, j->of->what, done < j->of->n ? done : j->of->n, j->of->n);
}

static vhem_status make(vhem_ctx *ctx, void *arg, int64_t k, int worker)
{
    block_table *j = arg;
    const vh_row_blocks *s = j->of;
    (void)worker;
    int64_t first = k * s->rows, n = rows_of(s, k);
    VH_TRY(s->make(ctx, s->arg, first, n, j->own, &j->size));
    if (vh_rank(j->ctx) == 0)
        s->take(s->arg, first, n, j->own);
    j->compared = first + n;
    tell_progress(j, k);
    return VHEM_OK;
}

/* Sends row block k to process 0, which puts it into the table. */
static void walk_block(vhem_ctx *ctx, void *arg, int64_t k, vh_serial *w)
{
    block_table *j = arg;
    double *x = w->reads ? j->other : j->own;
    int64_t size = w->reads ? 0 : (int64_t)j->size;
    vh_serial_int64(ctx, w, &size);
    vh_serial_check(ctx, w, "numbers of a strip", size, 0, (int64_t)j->of->most);
    if (w->st != VHEM_OK)
        return;
    vh_serial_reals(ctx, w, x, (size_t)size);
    if (w->reads && w->st == VHEM_OK)
        j->of->take(j->of->arg, k * j->of->rows, rows_of(j->of, k), x);
}

vhem_status vh_row_blocks_run(vhem_ctx *ctx, const vh_row_blocks *s)
{
    VH_AUTOFREE double *own = NULL, *other = NULL;

    VH_NEW(own, s->most);
    if (vh_ranks(ctx) > 1 && vh_rank(ctx) == 0)
        VH_NEW(other, s->most);
    block_table j = { .ctx = ctx, .of = s, .own = own, .other = other };
    const vh_work work = { .n = (s->n + s->rows - 1) / s->rows,
                           .singly = true,
                           .logs = true,
                           .run = make,
                           .walk = walk_block,
                           .each = 1,
                           .to_first = true,
                           .arg = &j };
    vh_progress(ctx, s->what, 0, s->n);
    vhem_status st = vh_map(ctx, &work, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, st, "stopped; %lld of %lld HMMs were compared", (long long)j.compared,
             (long long)s->n);
    return st;
}
