/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c - see jobs.h. */
#include "core/jobs.h"

#include "core/share.h"

typedef struct {
    vhem_ctx *ctx;
    const vh_jobs *jobs;
    bool across;         /* jobs run side by side */
    int64_t done, first; /* finished; the first to fail, else past the last */
    vhem_status st;      /* of that one */
} running;

/* Jobs are begun in their order, so that those before the first to fail have all been begun: whichever thread
 * is faster, the failure that is told is the same. */
static void run_job(void *arg, int64_t i, int worker)
{
    running *r = arg;
    const vh_jobs *jobs = r->jobs;
    vhem_ctx *ctx = r->ctx, own;
    int64_t limit, so_far;
#pragma omp atomic read
    limit = r->first;
    if (i > limit || vh_stopped(ctx))
        return;
    if (jobs->nested)
        vh_ctx_member(ctx, &own);
    else
        vh_ctx_child(ctx, r->across ? 1 : ctx->threads, &own);
    own.opt.log = jobs->logs ? ctx->opt.log : NULL;
    own.opt.log_arg = ctx->opt.log_arg;
    vhem_status st = jobs->run(&own, jobs->arg, i, worker);
    if (st != VHEM_OK && st != VHEM_ESTOPPED) {
#pragma omp critical(vh_jobs_failed)
        if (i < r->first) {
#pragma omp atomic write
            r->first = i;
            r->st = vh_fail(ctx, st, "%s", own.error);
        }
    }
#pragma omp atomic capture
    so_far = ++r->done;
    vh_progress(ctx, jobs->what, so_far, jobs->n);
}

vhem_status vh_run_jobs(vhem_ctx *ctx, const vh_jobs *jobs, int64_t *failed)
{
    running r = { .ctx = ctx, .jobs = jobs, .first = jobs->n };

    r.across = jobs->n >= ctx->threads || !jobs->inside;
    vh_progress(ctx, jobs->what, 0, jobs->n);
    vh_share(ctx, &(vh_loop){ jobs->n, r.across ? ctx->threads : 1, !jobs->nested, run_job, &r });
    *failed = r.first < jobs->n ? r.first : -1;
    return r.st == VHEM_OK && vh_stopped(ctx) ? VHEM_ESTOPPED : r.st;
}
