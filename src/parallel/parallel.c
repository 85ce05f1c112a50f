/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.c - see parallel.h.
 *
 * A counter hands out the items of a loop.  In a region the caller runs items itself and creates one helper
 * task per other thread; tasks that start late find the counter at its end. */
#include "parallel/parallel.h"

#include "os/system.h"

#include <omp.h>
#include <stdint.h>

/* The process in which this thread first ran a parallel loop; 0: none yet.  Thread-local, like the team: a
 * thread that never ran a loop can fork a child that uses all cores. */
static _Thread_local int64_t first_at;

int vh_threads_allowed(int threads)
{
    if (threads <= 1)
        return 1;
    int64_t here = vh_process_id();
    if (first_at == 0)
        first_at = here;
    return first_at == here ? threads : 1;
}

typedef struct {
    int64_t n;
    vh_item_run *run;
    void *arg;
    int64_t next; /* the first item not yet begun */
} counter;

static void run_items(counter *c, int worker)
{
    for (;;) {
        int64_t i;
#pragma omp atomic capture
        i = c->next++;
        if (i >= c->n)
            return;
        c->run(c->arg, i, worker);
    }
}

static void run_items_in_parallel(counter *c, int threads)
{
    int64_t helpers = (c->n < threads ? c->n : threads) - 1;

#pragma omp taskgroup
    {
        for (int64_t h = 0; h < helpers; h++) {
#pragma omp task firstprivate(c)
            run_items(c, omp_get_thread_num());
        }
        run_items(c, omp_get_thread_num());
    }
}

int vh_worker(const vhem_ctx *ctx, int threads)
{
    return ctx->in_parallel && threads > 1 ? omp_get_thread_num() : 0;
}

void vh_parallel(const vhem_ctx *ctx, int64_t n, int threads, bool leaf, vh_item_run *run, void *arg)
{
    counter c = { .n = n, .run = run, .arg = arg };

    if (threads <= 1 || (leaf && n <= 1)) {
        for (int64_t i = 0; i < n; i++)
            run(arg, i, vh_worker(ctx, threads));
    } else if (ctx->in_parallel) {
        run_items_in_parallel(&c, threads);
    } else {
#pragma omp parallel num_threads(vh_threads_allowed(threads))
#pragma omp single
        run_items_in_parallel(&c, threads);
    }
}

void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member)
{
    vh_ctx_child(ctx, ctx->threads, member);
    member->in_parallel = ctx->threads > 1;
    member->opt.log = ctx->opt.log;
    member->opt.log_arg = ctx->opt.log_arg;
}
