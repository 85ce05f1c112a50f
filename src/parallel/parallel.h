/* SPDX-License-Identifier: BSD-3-Clause */
/* parallel.h - loops whose turns the threads share, one inside another.
 *
 * A loop that is not inside another opens a team of threads.  One inside a turn of another, in a context that
 * vh_ctx_member has made, offers its turns to those threads of the same team that have nothing to do: a few
 * long turns at the end of the outer loop do not leave the other threads idle. */
#ifndef VH_PARALLEL_PARALLEL_H
#define VH_PARALLEL_PARALLEL_H

#include "core/ctx.h"

typedef struct {
    int64_t n;
    int threads; /* 1: the caller makes all turns.  In a team: 1, or the threads of the team */
    bool leaf;   /* its turns have no loops inside: a single turn needs no team */
    /* Turn i.  Turns are begun in their order.  worker < threads: two turns with the same worker are never
     * made at the same time, except that one waits inside a loop of its own. */
    void (*turn)(void *arg, int64_t i, int worker);
    void *arg;
} vh_loop;

void vh_parallel(const vhem_ctx *ctx, const vh_loop *loop);

/* The worker that the caller is, for work it does itself with scratch memory [threads]. */
int vh_worker(const vhem_ctx *ctx, int threads);

/* A context for a turn, as vh_ctx_child, whose own loops share the team of the loop that ctx runs; its log is
 * that of ctx. */
void vh_ctx_member(vhem_ctx *ctx, vhem_ctx *member);

#endif
