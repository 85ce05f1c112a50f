/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.c - see parallel.h.
 *
 * A counter hands out the items of a loop.  In a region the caller runs items itself and creates one helper
 * task per other thread; tasks that start late find the counter at its end. */
#include "parallel/parallel.h"

#include "parallel/fork_safe.h"

#include <omp.h>

typedef struct {
    const vh_loop *loop;
    int64_t next; /* the first item not yet begun */
} counter;

static void run_items(counter *c, int worker)
{
    for (;;) {
        int64_t i;
#pragma omp atomic capture
        i = c->next++;
        if (i >= c->loop->n)
            return;
        c->loop->run(c->loop->arg, i, worker);
    }
}

static void run_items_in_parallel(const vh_loop *loop)
{
    counter own = { .loop = loop }, *c = &own;
    int64_t helpers = (loop->n < loop->threads ? loop->n : loop->threads) - 1;

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

void vh_parallel(const vhem_ctx *ctx, const vh_loop *loop)
{
    if (loop->threads <= 1 || (loop->leaf && loop->n <= 1)) {
        for (int64_t i = 0; i < loop->n; i++)
            loop->run(loop->arg, i, vh_worker(ctx, loop->threads));
    } else if (ctx->in_parallel) {
        run_items_in_parallel(loop);
    } else {
#pragma omp parallel num_threads(vh_threads_allowed(loop->threads))
#pragma omp single
        run_items_in_parallel(loop);
    }
}

void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member)
{
    vh_ctx_child(ctx, ctx->threads, member);
    member->in_parallel = ctx->threads > 1;
    member->opt.log = ctx->opt.log;
    member->opt.log_arg = ctx->opt.log_arg;
}
