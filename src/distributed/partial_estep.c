/* SPDX-License-Identifier: BSD-3-Clause */
/* partial_estep.c - vhem_expect: the sums of a task over some chunks.  They depend only on models, task and
 * chunks, so it does not matter which process works on which chunks, nor how often.
 *
 * Chunks are processed by nodes of the summation tree: [6, 13) is [6, 8), [8, 12) and [12, 13).  For the
 * backend, a node of an E-step is a reduction of its own. */
#include "core/alloc.h"
#include "math/blas.h"
#include "distributed/partial.h"
#include "distributed/task.h"

#include "models/models.h"
#include "vhem/distributed.h"

typedef struct {
    const vh_task *t;
    vh_base_moments survey; /* the base HMMs; also describes a survey */
    vh_packed *pk;          /* centres */
    vh_workers workers;
    vhem_partial *p;
    vh_partial_rows *rows; /* NULL: not requested */
} partial_work;

static void partial_work_free(partial_work *j)
{
    vh_object_free(j->p);
    vh_workers_free(&j->workers);
    vh_pack_free(j->pk);
}

static vhem_status survey_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker, double *block)
{
    const partial_work *j = arg;
    (void)worker;
    return vh_base_moments_chunk(ctx, &j->survey, c, block);
}

/* ---- an E-step ----------------------------------------------------------------------------------------- */

static vhem_status expect_node(vhem_ctx *ctx, const partial_work *j, int64_t c, int level,
                               vh_reduce_sums *sums)
{
    const vh_task *t = j->t;
    int64_t first = c * VH_REDUCE_CHUNK, left = t->Kb - first, n = (int64_t)VH_REDUCE_CHUNK << level;
    const vh_base_range part = { j->survey.h3m, j->survey.shards, first,   n < left ? n : left,
                                 t->Kb,         t->origin,        t->scale };
    const vh_partial_rows *rows = j->rows; /* NULL unless the task wants tables */
    size_t at = rows ? (size_t)(first - rows->first) : 0, cell = at * (size_t)j->pk->K;
    VH_OWN(vh_base) *base = NULL;

    VH_TRY(vh_base_part(ctx, &part, &base));
    const vh_reduce_step step = { .reduced = j->pk,
                                  .tau = t->opt.tau,
                                  .log_omega = t->log_omega,
                                  .N = t->opt.N,
                                  .statistics = t->statistics,
                                  .weighted = t->opt.weighted,
                                  .soft = t->soft,
                                  .L = rows && t->L ? rows->L + cell : NULL,
                                  .z = rows && t->z ? rows->z + cell : NULL,
                                  .label = rows && t->label ? rows->label + at : NULL };
    VH_TRY(vh_reduce_run(ctx, base->opened, &step, &j->workers, true, sums));
    for (int k = 0; k < j->pk->K; k++)
        sums->worst[k] += sums->members[k] > 0 ? (double)first : 0; /* its index in the whole set */
    return vh_tree_sum_put(ctx, j->p->sum, level, c >> level, sums->block);
}

static vhem_status expect_chunks(vhem_ctx *ctx, partial_work *j, int64_t first, int64_t chunks)
{
    const vh_task *t = j->t;
    int64_t at = first * VH_REDUCE_CHUNK, n = t->Kb - at;
    double some = 0;
    int any = 0;
    const vh_partial_rows like = { .first = at,
                                   .n = n < chunks * VH_REDUCE_CHUNK ? n : chunks * VH_REDUCE_CHUNK,
                                   .L = t->L ? &some : NULL,
                                   .z = t->z ? &some : NULL,
                                   .label = t->label ? &any : NULL };
    VH_CLEANUP(vh_reduce_sums_free) vh_reduce_sums sums = { 0 };

    VH_TRY(vh_reduce_sums_new(ctx, j->pk, &sums));
    if (like.L || like.z || like.label)
        VH_TRY(vh_partial_add_rows(ctx, j->p, &like, &j->rows));
    for (int64_t c = first, level; c < first + chunks; c += (int64_t)1 << level) {
        level = vh_base_largest_node(c, first + chunks);
        VH_TRY(expect_node(ctx, j, c, (int)level, &sums));
    }
    return VHEM_OK;
}

static vhem_status expect_task(vhem_ctx *ctx, partial_work *j, int64_t task, int64_t first, int64_t chunks)
{
    const vh_task *t = j->t;

    VH_TRY(vh_pack_new(ctx, t->centers, NULL, t->centers->K, t->origin, t->scale, &j->pk));
    VH_TRY(vh_pack_update(ctx, t->centers, NULL, j->pk));
    VH_TRY(vh_partial_new(ctx, task, 0, j->pk, t->statistics, &j->p));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &j->workers));
    return expect_chunks(ctx, j, first, chunks);
}

/* ---- any task ------------------------------------------------------------------------------------------ */

static vhem_status survey(vhem_ctx *ctx, partial_work *j, int64_t task, int64_t first, int64_t chunks)
{
    const vh_chunks all = {
        .first = first, .n = chunks, .threads = ctx->threads, .run = survey_chunk, .arg = j
    };
    VH_TRY(vh_partial_new(ctx, task, vh_base_moments_size(&j->survey), NULL, false, &j->p));
    return vh_tree_sum_run(ctx, &all, j->p->sum);
}

/* Sets ctx->named to that of the task. */
static vhem_status work_on(vhem_ctx *ctx, const vhem_models *models, const vhem_task *task, int64_t first,
                           int64_t chunks, vhem_partial **out)
{
    VH_OWN(vh_task) *t = NULL;
    VH_CLEANUP(partial_work_free) partial_work j = { 0 };

    VH_TRY(vh_task_read(ctx, task, models, &t));
    ctx->named = t->named; /* set by the creator of the task, not by how this process chose its backend */
    int64_t all = (t->Kb + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    VH_CHECK(first >= 0 && chunks >= 1 && first + chunks <= all, VHEM_EINVAL,
             "chunks %lld to %lld: there are %lld, from 0 on", (long long)first,
             (long long)(first + chunks - 1), (long long)all);
    const vh_h3m *h3m = vh_models_hmms(models);
    vh_h3m seen = h3m ? *h3m : *vh_models_head(models);
    seen.family = t->emission;
    j.t = t;
    j.survey = (vh_base_moments){ .kind = t->kind < VH_TASK_EXPECT ? (vh_base_moment)t->kind : VH_BASE_MEAN,
                                  .h3m = &seen,
                                  .shards = h3m ? NULL : models->shards,
                                  .K = t->Kb,
                                  .origin = t->origin,
                                  .scale = t->scale };
    if (t->kind == VH_TASK_EXPECT)
        VH_TRY(expect_task(ctx, &j, vh_task_fingerprint(task), first, chunks));
    else
        VH_TRY(survey(ctx, &j, vh_task_fingerprint(task), first, chunks));
    *out = vh_take(j.p);
    return VHEM_OK;
}

vhem_status vhem_expect(vhem_ctx *ctx, const vhem_models *models, const vhem_task *task, int64_t first,
                        int64_t chunks, vhem_partial **out)
{
    VH_ENTER(models, task, out);
    VH_BLAS_SERIAL;
    bool named = ctx->named;
    vhem_status st = work_on(ctx, models, task, first, chunks, out);
    ctx->named = named;
    return st;
}
