/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.h - nested loops whose items the threads share.
 *
 * An outermost loop opens a parallel region.  A loop inside an item, in a context from vh_ctx_member, offers
 * its items to the idle threads of the region, so a few long items at the end leave no threads idle. */
#ifndef VH_PARALLEL_PARALLEL_H
#define VH_PARALLEL_PARALLEL_H

#include "core/ctx.h"

typedef struct {
    int64_t n;
    int threads; /* 1: the caller runs all items.  In a region: 1, or its threads */
    bool leaf;   /* its items have no inner loops: a single item needs no region */
    /* Runs item i; items begin in order.  worker < threads: two items with the same worker never run at the
     * same time, except that one waits in its own inner loop. */
    void (*run)(void *arg, int64_t i, int worker);
    void *arg;
} vh_loop;

void vh_parallel(const vhem_ctx *ctx, const vh_loop *loop);

/* Returns the caller's worker number, to index scratch memory [threads]. */
int vh_worker(const vhem_ctx *ctx, int threads);

/* Like vh_ctx_child, for an item whose own loops share the region of ctx; keeps the log of ctx. */
void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member);

#endif
