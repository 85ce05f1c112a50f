/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.h - nested loops whose items the threads share.
 *
 * An outermost loop opens a parallel region.  A loop inside an item, in a context from vh_ctx_member, offers
 * its items to the idle threads of the region, so a few long items at the end leave no threads idle. */
#ifndef VH_PARALLEL_PARALLEL_H
#define VH_PARALLEL_PARALLEL_H

#include "core/ctx.h"

/* Runs item i; items begin in order.  worker < threads: two items with the same worker never run at the same
 * time, except that one waits in its own inner loop. */
typedef void vh_item_run(void *arg, int64_t i, int worker);
/* Runs n items.  threads 1: the caller runs all of them; in a region: 1, or its threads.  leaf: the items
 * have no inner loops, so a single item needs no region. */
void vh_parallel(const vhem_ctx *ctx, int64_t n, int threads, bool leaf, vh_item_run *run, void *arg);

/* Returns the caller's worker number, to index scratch memory [threads]. */
int vh_worker(const vhem_ctx *ctx, int threads);

/* Like vh_ctx_child, for an item whose own loops share the region of ctx; keeps the log of ctx. */
void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member);

/* For num_threads(): returns `threads`, but 1 in a child process forked by a thread that had run a parallel
 * loop.  GCC's OpenMP runtime keeps a thread's team for its next loop; fork() copies the record of the team
 * but not its threads, and the next loop would wait for them forever.  Results stay the same. */
int vh_threads_allowed(int threads);

#endif
