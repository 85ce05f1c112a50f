/* SPDX-License-Identifier: BSD-3-Clause */
/* stepwise.c - VHEM as a caller-driven loop: a first task, then the next task from the sums of each. 
 * vhem_cluster runs the same steps with the same functions. */
#include "methods/methods.h"
#include "methods/options.h"
#include "core/alloc.h"
#include "core/options.h"
#include "core/object.h"
#include "core/rng.h"
#include "math/scaled.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"
#include "distributed/partial.h"
#include "distributed/remote_estep.h"
#include "vhem/repair.h"
#include "distributed/task.h"
#include "vhem/distributed.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

/* ---- tasks --------------------------------------------------------------------------------------------- */

static void clear_task(void *record)
{
    free((void *)((vhem_task *)record)->bytes);
}

static vhem_status hand_out(vhem_ctx *ctx, const vh_task *t, vhem_task **out)
{
    VH_OWN(vhem_task) *task = NULL;
    void *bytes = NULL;

    VH_NEW_OBJECT(task, clear_task);
    VH_TRY(vh_task_write(ctx, t, &bytes, &task->n));
    task->bytes = bytes;
    task->chunks = (t->Kb + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    *out = vh_take(task);
    return VHEM_OK;
}

/* Options of a loop from a given start: those of the single run that vhem_cluster would make. */
static vh_vhem_options loop_options(const vhem_ctx *ctx, int64_t Kb, const vhem_cluster_options *o)
{
    uint64_t level = vh_rng_seed((uint64_t)ctx->opt.seed, 0);
    return (vh_vhem_options){ .N = o->nv * (double)Kb,
                              .tau = o->tau,
                              .max_iter = o->max_iter,
                              .tol = o->tol,
                              .min_iter = vh_cluster_min_iter(o),
                              .cov_add = o->cov_add,
                              .repair = o->repair > 0,
                              .weighted = o->weighted_omega > 0,
                              .seed = vh_rng_seed(level, 0) + 1 };
}

/* Frees a task filled by first_task; origin and scale belong to the base. */
static void clear_first(vh_task *t)
{
    free((double *)t->opt.floor);
    free(t->log_omega);
    vh_h3m_free(t->centers);
}

static vhem_status first_task(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *o,
                              const vh_base *base, vh_task *t)
{
    double *floor = NULL;
    int d = base->h3m->d;

    t->kind = VH_TASK_EXPECT;
    t->origin = base->origin;
    t->scale = base->scale;
    t->loops = true;
    t->opt = loop_options(ctx, in->Kb, o);
    if (o->cov_floor > 0) {
        VH_NEW(floor, d);
        for (int k = 0; k < d; k++)
            floor[k] = o->cov_floor * base->scale[k] * base->scale[k];
        t->opt.floor = floor;
    }
    t->statistics = o->max_iter > 0;
    t->soft = t->centers->K == 1;
    VH_NEW(t->log_omega, t->centers->K);
    for (int64_t j = 0; j < t->centers->K; j++)
        t->log_omega[j] = log(t->centers->omega[j]);
    VH_TRY(vh_add_to_covariances(ctx, t->centers, o->cov_add));
    return vh_task_begin(ctx, base->h3m, base->shards, in->Kb, t);
}

/* Opens the models for task-by-task clustering, in input order. */
static vhem_status open_base(vhem_ctx *ctx, const vh_input *in, const vhem_executor *executor, vh_base **out)
{
    const vh_remote remote = vh_remote_of(executor);
    return in->shards ? vh_base_stream(ctx, in->shards, &remote, false, out)
                      : vh_base_new(ctx, in->models, out);
}

vhem_status vhem_task_new(vhem_ctx *ctx, const vhem_models *models, const vhem_models *centers,
                          const vhem_cluster_options *opt, vhem_task **out)
{
    VH_ENTER(models, centers, out);
    vh_input in = { 0 };
    vhem_cluster_options o;
    VH_AUTOFREE int64_t *item = NULL;
    VH_OWN(vh_base) *base = NULL;
    VH_CLEANUP(clear_first) vh_task t = { 0 };

    VH_TRY(vh_options_take(ctx, VHEM_CLUSTER_OPTIONS, opt, &o));
    o.start = centers;
    VH_TRY(vh_models_gather(ctx, centers));
    VH_TRY(vh_input_source(ctx, &(vhem_source){ .models = models }, &o, &item, &in));
    VH_CHECK(in.models && vh_start_hmms(&o), VHEM_EINVAL, "tasks are about HMMs and centres that are HMMs");
    VH_TRY(vh_cluster_resolve(ctx, &in, &o, &o));
    VH_CHECK(vh_method_find(o.method)->traits & VH_BY_PART && o.refine <= 1 && !vh_cluster_wants_full(&o),
             VHEM_EINVAL, "a loop of tasks is plain VHEM, without refine and without preset emhmm");
    VH_TRY(vh_h3m_subset(ctx, vh_start_hmms(&o), NULL, vh_start_hmms(&o)->K, &t.centers));
    VH_TRY(open_base(ctx, &in, o.executor, &base));
    VH_TRY(first_task(ctx, &in, &o, base, &t));
    return hand_out(ctx, &t, out);
}

/* ---- the M-step ---------------------------------------------------------------------------------------- */

typedef struct { /* the public record and what it owns */
    vhem_step shown;
    vhem_models models;
    vhem_task *next;
} step_record;

VH_OWNED(step_record, vh_object_free)

static void clear_step(void *record)
{
    step_record *r = record;
    vh_h3m_free(r->models.h3m);
    vh_object_free(r->next);
}

/* Adds up the sums of all chunks in a copy, leaving the partial unchanged. */
static vhem_status add_up(vhem_ctx *ctx, const vhem_task *task, const vh_task *t, const vh_packed *pk,
                          const vhem_partial *total, vh_reduce_sums *sums)
{
    VH_OWN(vhem_partial) *copy = NULL;
    int64_t number = vh_task_fingerprint(task);

    VH_CHECK(vh_partial_is(total, number, 0, pk, t->statistics), VHEM_EINVAL,
             "the partial sums are those of another task");
    VH_TRY(vh_partial_new(ctx, number, 0, pk, t->statistics, &copy));
    VH_TRY(vhem_partial_merge(ctx, copy, total));
    return vh_partial_close(ctx, copy, task->chunks, sums->block, &(vh_partial_rows){ 0 });
}

/* True if an empty cluster must be reseeded from a base HMM, which takes more than the sums. */
static bool needs_base(const vh_task *t, const vh_reduce_sums *sums)
{
    bool any = false;
    for (int64_t j = 0; j < t->centers->K; j++)
        any |= vh_scaled_value(sums->sum_z[j], sums->scale_z[j]) < VH_EMPTY;
    return any && t->opt.repair;
}

static vhem_status maximise_task(vhem_ctx *ctx, const vhem_models *models, vh_task *t, vh_packed *pk,
                                 vh_reduce_sums *sums)
{
    vh_base light = { .Kb = t->Kb, .scale = t->scale, .origin = t->origin };
    VH_OWN(vh_base) *base = NULL;
    vhem_cluster_options o;
    vh_input in = { 0 };
    VH_AUTOFREE int64_t *item = NULL;

    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &o);
    if (needs_base(t, sums)) {
        VH_TRY(vh_input_source(ctx, &(vhem_source){ .models = models }, &o, &item, &in));
        VH_TRY(open_base(ctx, &in, NULL, &base));
    }
    const vh_vhem_step m = { base ? base : &light, &t->opt, pk, sums, t->centers, t->log_omega };
    VH_TRY(vh_vhem_maximise(ctx, &m));
    t->repaired = false;
    if (t->opt.repair)
        VH_TRY(vh_repair(ctx, &m, t->k, &t->run, &t->repaired));
    return VHEM_OK;
}

/* Makes the next M-step from the sums, or ends; sets *more. */
static vhem_status go_on(vhem_ctx *ctx, const vhem_models *models, vh_task *t, vh_packed *pk,
                         vh_reduce_sums *sums, vhem_step *out, bool *more)
{
    double J[2] = { t->J, *sums->J };

    VH_CHECK(!isnan(*sums->J), VHEM_ENUMERIC, "the sums have an objective that is not a number");
    out->J = *sums->J;
    out->n_iter = t->k;
    t->run.J = J + 1 - t->k; /* J[k] and, for k > 0, J[k-1] */
    out->converged = vh_vhem_converged(ctx, &t->opt, t->k, t->repaired, &t->run);
    t->run.J = NULL;
    *more = !out->converged && t->k < t->opt.max_iter;
    if (*more) {
        VH_TRY(maximise_task(ctx, models, t, pk, sums));
        VH_TRY(vh_h3m_check(ctx, t->centers, 0, t->centers->K, 0)); /* the sums are external input */
        t->J = *sums->J;
        t->k++;
        t->statistics = t->k < t->opt.max_iter;
        t->soft = t->centers->K == 1 || 2 * *sums->used > (double)t->Kb * (double)t->centers->K;
    }
    out->n_empty = t->run.n_empty;
    out->n_revived = t->run.n_revived;
    out->n_fell = t->run.n_fell;
    return VHEM_OK;
}

vhem_status vhem_maximise(vhem_ctx *ctx, const vhem_models *models, const vhem_task *task,
                          const vhem_partial *total, vhem_step **out)
{
    VH_ENTER(models, task, total, out);
    VH_OWN(vh_task) *t = NULL;
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_reduce_sums_free) vh_reduce_sums sums = { 0 };
    VH_OWN(step_record) *r = NULL;
    bool more = false;

    VH_TRY(vh_task_read(ctx, task, models, &t));
    VH_CHECK(t->loops, VHEM_EINVAL, "the task is not one of vhem_task_new");
    VH_TRY(vh_pack_new(ctx, t->centers, NULL, t->centers->K, t->origin, t->scale, &pk));
    VH_TRY(vh_pack_update(ctx, t->centers, NULL, pk));
    VH_TRY(vh_reduce_sums_new(ctx, pk, &sums));
    VH_TRY(add_up(ctx, task, t, pk, total, &sums));
    VH_NEW_OBJECT(r, clear_step);
    VH_TRY(go_on(ctx, models, t, pk, &sums, &r->shown, &more));
    if (more)
        VH_TRY(hand_out(ctx, t, &r->next));
    vh_h3m_settle_family(t->centers);
    r->models = vh_models_of_hmms(t->centers);
    t->centers = NULL;
    r->shown.centers = &r->models;
    r->shown.next = r->next;
    *out = &vh_take(r)->shown;
    return VHEM_OK;
}
