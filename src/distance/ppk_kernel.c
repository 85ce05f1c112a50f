/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_kernel.c - see ppk_kernel.h: who does the work of a job, and the driver that CPU backends share.
 *
 * The table is cut into tiles whose edges are multiples of VH_PRODUCT_TILE in both sets, wherever a
 * rectangle begins.  On the diagonal of a set against itself a tile is done in strips, each from its own
 * diagonal on. */
#include "distance/ppk_kernel.h"

#include "core/backend.h"
#include "distance/ppk_pair.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"

#include <string.h>

enum { TILE = VH_PRODUCT_TILE, STRIP = 16 };

struct vh_product_job {
    const vh_product_kernels *by; /* its whole jobs (open), or its kernel */
    void *state;
    vh_product p;
    void *laid;
};

static vhem_status lay(vhem_ctx *ctx, vh_product_job *job)
{
    return job->by->prepare ? job->by->prepare(ctx, &job->p, &job->laid) : VHEM_OK;
}

vhem_status vh_product_open(vhem_ctx *ctx, const vh_product *p, vh_product_job **out)
{
    const vh_product_kernels *of = ctx->backend->product;
    VH_AUTOFREE vh_product_job *job = NULL;

    VH_NEW(job, 1);
    job->p = *p;
    if (of && of->open)
        VH_TRY(of->open(ctx, p, &job->state));
    job->by = job->state || (of && of->kernel) ? of : &vh_product_ref;
    if (!job->state)
        VH_TRY(lay(ctx, job));
    *out = vh_take(job);
    return VHEM_OK;
}

void vh_product_close(vh_product_job *job)
{
    if (!job)
        return;
    if (job->state)
        job->by->close(job->state);
    else if (job->by->release)
        job->by->release(job->laid);
    free(job);
}

/* ---- the driver for CPUs ------------------------------------------------------------------------------- */

typedef struct {
    const vh_product_job *job;
    const vh_rectangle *r;
    double *log_k;
    int ta, tb, n_b; /* first tile of each set, tiles of b */
} part;

/* What tile t of a set has in common with first .. first+n-1. */
static void cut(int t, int first, int n, int *lo, int *hi)
{
    *lo = t * TILE > first ? t * TILE : first;
    *hi = (t + 1) * TILE < first + n ? (t + 1) * TILE : first + n;
}

/* A piece of a tile, through the kernel and to its place. */
static vhem_status run_piece(vhem_ctx *ctx, const part *x, const vh_rectangle *piece, vh_scratch *scratch)
{
    double table[TILE * TILE];

    VH_TRY(x->job->by->kernel(ctx, &x->job->p, x->job->laid, piece, scratch, table));
    for (int i = 0; i < piece->na; i++)
        memcpy(x->log_k + vh_row(piece->a0 - x->r->a0 + i, x->r->nb) + (piece->b0 - x->r->b0),
               table + i * piece->nb, sizeof *table * (size_t)piece->nb);
    return VHEM_OK;
}

static vhem_status run_tile(vhem_ctx *ctx, void *arg, int64_t chunk, int worker)
{
    const part *x = arg;
    int ta = x->ta + (int)(chunk / x->n_b), tb = x->tb + (int)(chunk % x->n_b), a0, a1, b0, b1;
    bool diagonal = x->r->upper && ta == tb;

    if (x->r->upper && ta > tb)
        return VHEM_OK;
    cut(ta, x->r->a0, x->r->na, &a0, &a1);
    cut(tb, x->r->b0, x->r->nb, &b0, &b1);
    for (int i = a0, n; i < a1; i += n) {
        n = diagonal && a1 - i > STRIP ? STRIP : a1 - i;
        int from = diagonal && i > b0 ? i : b0;
        const vh_rectangle piece = { .a0 = i, .na = n, .b0 = from, .nb = b1 - from };
        if (piece.nb > 0)
            VH_TRY(run_piece(ctx, x, &piece, &x->job->p.workers->scratch[worker]));
    }
    return VHEM_OK;
}

/* A device that has failed, as one without memory does: the driver for CPUs does the rest. */
static vhem_status leave_device(vhem_ctx *ctx, vh_product_job *job)
{
    vh_log(ctx, VHEM_LOG_WARN, "%s; the CPU does it", ctx->error);
    job->by->close(job->state);
    job->state = NULL;
    return lay(ctx, job);
}

vhem_status vh_product_run(vhem_ctx *ctx, vh_product_job *job, const vh_rectangle *r, double *log_k)
{
    vhem_status st = VHEM_OK;
    if (job->state) {
        st = job->by->run(ctx, job->state, r, log_k);
        if (st != VHEM_EBACKEND)
            return st;
        st = leave_device(ctx, job);
    }
    if (st != VHEM_OK)
        return st;
    part x = { .job = job, .r = r, .log_k = log_k, .ta = r->a0 / TILE, .tb = r->b0 / TILE };
    int n_a = r->na > 0 ? (r->a0 + r->na - 1) / TILE - x.ta + 1 : 0;
    x.n_b = r->nb > 0 ? (r->b0 + r->nb - 1) / TILE - x.tb + 1 : 0;
    const vh_work tiles = {
        .n = (int64_t)n_a * x.n_b, .threads = job->p.workers->n, .run = run_tile, .arg = &x
    };
    return vh_map(ctx, &tiles, NULL);
}
