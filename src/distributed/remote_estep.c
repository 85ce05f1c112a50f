/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_estep.c - see remote_estep.h. */
#include "distributed/remote_estep.h"

#include "core/alloc.h"
#include "distributed/partial.h"
#include "distributed/task.h"
#include "vhem/distributed.h"
#include "vhem.h"

#include <string.h>

/* Has the executor run the task; computes its sums, as of vh_partial_new, into total and rows into
 * the tables. */
static vhem_status ask(vhem_ctx *ctx, const vhem_executor *executor, const vh_task *t, size_t size,
                       const vh_packed *pk, double *total, const vh_partial_rows *tables)
{
    vhem_status st = VHEM_OK;
    vhem_task task = { .chunks = (t->Kb + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK };
    VH_OWN(vhem_partial) *all = NULL;
    char why[VHEM_WHY] = "";
    VH_AUTOFREE void *bytes = NULL;

    VH_TRY(vh_task_write(ctx, t, &bytes, &task.n));
    task.bytes = bytes;
#pragma omp critical(vh_ask) /* an executor runs one task at a time */
    st = executor->expect(executor->arg, &task, &all, why);
    VH_CHECK(st == VHEM_OK, st, "%s", why[0] ? why : vhem_status_text(st));
    VH_CHECK(all, VHEM_EINVAL, "the executor has handed over no sums");
    VH_CHECK(vh_partial_is(all, vh_task_fingerprint(&task), size, pk, t->statistics), VHEM_EINVAL,
             "the executor has handed over the sums of another task");
    return vh_partial_close(ctx, all, task.chunks, total, tables);
}

static vhem_status remote_moments(vhem_ctx *ctx, const vhem_executor *executor, const vh_base_moments *s,
                                  double *sum)
{
    vh_task t = { .kind = (int)s->kind, .origin = (double *)s->origin, .scale = (double *)s->scale };
    VH_TRY(vh_task_begin(ctx, s->h3m, s->shards, s->K, &t));
    return ask(ctx, executor, &t, vh_base_moments_size(s), NULL, sum, &(vh_partial_rows){ 0 });
}

static vhem_status remote_expect(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                                 const vh_reduce_step *step, vh_reduce_sums *sums)
{
    bool any = step->L || step->z || step->label;
    vh_task t = { .kind = VH_TASK_EXPECT,
                  .origin = base->origin,
                  .scale = base->scale,
                  .centers = (vh_h3m *)centers,
                  .log_omega = (double *)step->log_omega,
                  .opt = { .tau = step->tau, .N = step->N, .weighted = step->weighted },
                  .statistics = step->statistics,
                  .soft = step->soft,
                  .L = step->L != NULL,
                  .z = step->z != NULL,
                  .label = step->label != NULL };
    const vh_partial_rows tables = {
        .n = any ? base->Kb : 0, .L = step->L, .z = step->z, .label = step->label
    };

    VH_TRY(vh_task_begin(ctx, base->h3m, base->shards, base->Kb, &t));
    return ask(ctx, base->remote.executor, &t, 0, step->reduced, sums->block, &tables);
}

vh_remote vh_remote_of(const vhem_executor *executor)
{
    return (vh_remote){ .executor = executor, .moments = remote_moments, .expect = remote_expect };
}
