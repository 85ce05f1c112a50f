/* SPDX-License-Identifier: BSD-3-Clause */
/* jobs.c - see jobs.h. */
#include "core/jobs.h"

#include "core/team.h"

#include <omp.h>

/* Jobs are begun in their order, so that those before the first to fail have all been begun: whichever thread
 * is faster, the failure that is told is the same. */
vhem_status vh_run_jobs(vhem_ctx *ctx, const vh_jobs *jobs, int *failed)
{
    vhem_status st = VHEM_OK;
    int n = jobs->n, threads = ctx->threads, done = 0, first = n;
    bool across = n >= threads || !jobs->inside;

    vh_progress(ctx, jobs->what, 0, n);
#pragma omp parallel for schedule(dynamic, 1) \
    num_threads(vh_team(threads)) if (across && threads > 1 && n > 1)
    for (int i = 0; i < n; i++) {
        vhem_ctx own;
        int limit, so_far;
#pragma omp atomic read
        limit = first;
        if (i > limit || vh_stopped(ctx))
            continue;
        vh_ctx_child(ctx, across ? 1 : threads, &own);
        if (jobs->logs) {
            own.opt.log = ctx->opt.log;
            own.opt.log_arg = ctx->opt.log_arg;
        }
        vhem_status own_st = jobs->run(&own, jobs->arg, i, across ? omp_get_thread_num() : 0);
        if (own_st != VHEM_OK && own_st != VHEM_ESTOPPED) {
#pragma omp critical(vh_jobs_failed)
            if (i < first) {
#pragma omp atomic write
                first = i;
                st = vh_fail(ctx, own_st, "%s", own.error);
            }
        }
#pragma omp atomic capture
        so_far = ++done;
        vh_progress(ctx, jobs->what, so_far, n);
    }
    *failed = first < n ? first : -1;
    return st == VHEM_OK && vh_stopped(ctx) ? VHEM_ESTOPPED : st;
}
