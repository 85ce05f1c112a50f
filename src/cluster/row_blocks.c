/* SPDX-License-Identifier: BSD-3-Clause */
/* row_blocks.c - see row_blocks.h. */
#include "cluster/row_blocks.h"

#include "core/alloc.h"
#include "core/ranks.h"

typedef struct {
    const vh_row_blocks *of;
    vh_row_block own, other; /* made here; from another process */
} job;

static int64_t rows_of(const vh_row_blocks *s, int64_t k)
{
    int64_t left = s->n - k * s->rows;
    return left < s->rows ? left : s->rows;
}

/* Strip k to process 0, which puts it into the table. */
static void walk(vhem_ctx *ctx, void *arg, int64_t k, vh_serial *w)
{
    job *j = arg;
    vh_row_block *x = w->reads ? &j->other : &j->own;
    int64_t size = (int64_t)x->size;
    if (w->reads)
        *x = (vh_row_block){ k * j->of->rows, rows_of(j->of, k), 0, x->x };
    vh_serial_int64(ctx, w, &size);
    vh_serial_check(ctx, w, "numbers of a strip", size, 0, (int64_t)j->of->most);
    if (w->st != VHEM_OK)
        return;
    x->size = (size_t)size;
    vh_serial_reals(ctx, w, x->x, x->size);
    if (w->reads && w->st == VHEM_OK)
        j->of->take(j->of->arg, x);
}

static vhem_status make(vhem_ctx *ctx, job *j, int64_t k)
{
    const vh_row_blocks *s = j->of;
    j->own = (vh_row_block){ k * s->rows, rows_of(s, k), 0, j->own.x };
    VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld HMMs were compared",
             (long long)j->own.first, (long long)s->n);
    VH_TRY(s->make(ctx, s->arg, &j->own));
    if (vh_rank(ctx) == 0)
        s->take(s->arg, &j->own);
    return VHEM_OK;
}

/* A strip for each process, and then to the first with them. */
static vhem_status round_of(vhem_ctx *ctx, job *j, int64_t first, int64_t strips)
{
    vhem_status st = VHEM_OK;
    int64_t size = vh_ranks(ctx), k = first + vh_rank(ctx);
    const vh_round round = { .n = strips,
                             .first = first,
                             .end = strips - first < size ? strips : first + size,
                             .walk = walk,
                             .arg = j };
    vh_round_end end = { .failed = -1 };

    vh_round_begin(ctx);
    if (k < round.end) {
        st = make(ctx, j, k);
        end.stopped = st == VHEM_ESTOPPED;
        if (st != VHEM_OK)
            vh_round_fail(ctx, st, k, &end);
    }
    if (size == 1)
        return st;
    VH_TRY(vh_round_tell(ctx, &round, &end));
    VH_CHECK(end.failed < 0, end.st, "%s", end.why);
    return VHEM_OK;
}

vhem_status vh_row_blocks_run(vhem_ctx *ctx, const vh_row_blocks *s)
{
    VH_AUTOFREE double *own = NULL, *other = NULL;
    int64_t strips = (s->n + s->rows - 1) / s->rows, step = vh_ranks(ctx);

    VH_NEW(own, s->most);
    if (step > 1 && vh_rank(ctx) == 0)
        VH_NEW(other, s->most);
    job j = { .of = s, .own = { .x = own }, .other = { .x = other } };
    vh_progress(ctx, s->what, 0, s->n);
    for (int64_t k = 0; k < strips; k += step) {
        VH_TRY(round_of(ctx, &j, k, strips));
        int64_t done = (k + step) * s->rows;
        vh_progress(ctx, s->what, done < s->n ? done : s->n, s->n);
    }
    return VHEM_OK;
}
