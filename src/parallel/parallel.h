/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.h - loops whose items the threads share, one inside another.
 *
 * A loop that is not inside another opens a parallel region.  One inside an item of another, in a context
 * that vh_ctx_member has made, offers its items to those threads of the region that have nothing to do: a few
 * long items at the end of the outer loop do not leave the other threads idle. */
#ifndef VH_PARALLEL_PARALLEL_H
#define VH_PARALLEL_PARALLEL_H

#include "core/ctx.h"

typedef struct {
    int64_t n;
    int threads; /* 1: the caller runs all items.  In a region: 1, or its threads */
    bool leaf;   /* its items have no loops inside: a single one needs no region */
    /* Item i.  Items are begun in their order.  worker < threads: two items with the same worker are never
     * made at the same time, except that one waits inside a loop of its own. */
    void (*run)(void *arg, int64_t i, int worker);
    void *arg;
} vh_loop;

void vh_parallel(const vhem_ctx *ctx, const vh_loop *loop);

/* The worker that the caller is, for work it does itself with scratch memory [threads]. */
int vh_worker(const vhem_ctx *ctx, int threads);

/* A context for an item, as vh_ctx_child, whose own loops share the region of the loop that ctx runs; its
 * log is that of ctx. */
void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member);

#endif
