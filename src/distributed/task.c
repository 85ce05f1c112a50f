/* SPDX-License-Identifier: BSD-3-Clause */
/* task.c - see task.h. */
#include "distributed/task.h"

#include "core/backend.h"
#include "core/alloc.h"
#include "math/blas.h"
#include "hmm/missing_columns.h"
#include "models/models.h"
#include "vhem/distributed.h"
#include "vhem.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char mark[] = "vhemtsk1";

vhem_status vh_task_begin(vhem_ctx *ctx, const vh_h3m *head, const vh_shards *shards, int64_t Kb, vh_task *t)
{
    snprintf(t->version, sizeof t->version, "%s", vhem_version());
    snprintf(t->backend, sizeof t->backend, "%s", ctx->backend->name);
    snprintf(t->kernel, sizeof t->kernel, "%s", vh_blas_kernel());
    t->named = ctx->named;
    snprintf(t->family, sizeof t->family, "%s", head->family->name);
    t->Kb = Kb;
    t->d = head->d;
    t->gaps = head->family->with_gaps == head->family;
    return vh_shards_fingerprint(ctx, shards, &t->set);
}

/* ---- both directions ----------------------------------------------------------------------------------- */

/* Separate, because everything after it may differ between versions. */
static void walk_version(vhem_ctx *ctx, vh_serial *w, vh_task *t)
{
    vh_serial_text(ctx, w, t->version, sizeof t->version);
}

static void walk_head(vhem_ctx *ctx, vh_serial *w, vh_task *t)
{
    vh_serial_int(ctx, w, &t->kind);
    vh_serial_text(ctx, w, t->backend, sizeof t->backend);
    vh_serial_text(ctx, w, t->kernel, sizeof t->kernel);
    vh_serial_flag(ctx, w, &t->named);
    vh_serial_text(ctx, w, t->family, sizeof t->family);
    vh_serial_int64(ctx, w, &t->Kb);
    vh_serial_int(ctx, w, &t->d);
    vh_serial_int64(ctx, w, &t->set);
    vh_serial_flag(ctx, w, &t->gaps);
}

static void walk_step(vhem_ctx *ctx, vh_serial *w, vh_task *t)
{
    vh_serial_int(ctx, w, &t->opt.tau);
    vh_serial_real(ctx, w, &t->opt.N);
    vh_serial_flag(ctx, w, &t->statistics);
    vh_serial_flag(ctx, w, &t->opt.weighted);
    vh_serial_flag(ctx, w, &t->soft);
    vh_serial_flag(ctx, w, &t->L);
    vh_serial_flag(ctx, w, &t->z);
    vh_serial_flag(ctx, w, &t->label);
}

static void walk_loop(vhem_ctx *ctx, vh_serial *w, vh_task *l)
{
    int64_t seed = (int64_t)l->opt.seed;
    vh_serial_int(ctx, w, &l->opt.max_iter);
    vh_serial_real(ctx, w, &l->opt.tol);
    vh_serial_int(ctx, w, &l->opt.min_iter);
    vh_serial_real(ctx, w, &l->opt.cov_add);
    vh_serial_flag(ctx, w, &l->opt.repair);
    vh_serial_int64(ctx, w, &seed);
    l->opt.seed = (uint64_t)seed;
    vh_serial_int(ctx, w, &l->k);
    vh_serial_int(ctx, w, &l->run.n_empty);
    vh_serial_int(ctx, w, &l->run.n_revived);
    vh_serial_int(ctx, w, &l->run.n_fell);
    vh_serial_flag(ctx, w, &l->repaired);
    vh_serial_real(ctx, w, &l->J);
    vh_serial_real(ctx, w, &l->run.best);
    vh_serial_int(ctx, w, &l->run.idle);
}

/* Walks an HMM; allocates its shape first when reading. */
static void walk_hmm(vhem_ctx *ctx, vh_serial *w, vh_h3m *centers, int j)
{
    vh_hmm *h = &centers->hmm[j];
    int S = h->S, M = h->M;
    vh_serial_int(ctx, w, &S);
    vh_serial_int(ctx, w, &M);
    vh_serial_check(ctx, w, "states of a centre", S, 1,
                    (int64_t)vh_serial_left(w) + INT_MAX * (int64_t)!w->reads);
    vh_serial_check(ctx, w, "components of a state", M, 1,
                    (int64_t)vh_serial_left(w) + INT_MAX * (int64_t)!w->reads);
    if (w->st == VHEM_OK && w->reads)
        w->st = vh_h3m_shape(ctx, centers, j, S, M);
    if (w->st == VHEM_OK)
        vh_serial_reals(ctx, w, h->pi, vh_hmm_numbers(h));
    vh_serial_real(ctx, w, &centers->omega[j]);
}

/* ---- writing and reading ------------------------------------------------------------------------------- */

vhem_status vh_task_write(vhem_ctx *ctx, const vh_task *t, void **bytes, size_t *n)
{
    vh_task copy = *t;
    vh_serial w = { 0 };
    int Kr = t->kind == VH_TASK_EXPECT ? t->centers->K : 0, floored = t->opt.floor != NULL;

    vh_serial_begin(ctx, &w, mark);
    walk_version(ctx, &w, &copy);
    walk_head(ctx, &w, &copy);
    vh_serial_reals(ctx, &w, copy.origin, (size_t)t->d);
    vh_serial_reals(ctx, &w, copy.scale, (size_t)t->d);
    vh_serial_int(ctx, &w, &Kr);
    if (Kr > 0) {
        walk_step(ctx, &w, &copy);
        for (int j = 0; j < Kr; j++)
            walk_hmm(ctx, &w, copy.centers, j);
        vh_serial_reals(ctx, &w, copy.log_omega, (size_t)Kr);
        vh_serial_flag(ctx, &w, &copy.loops);
    }
    if (Kr > 0 && copy.loops) {
        walk_loop(ctx, &w, &copy);
        vh_serial_int(ctx, &w, &floored);
        vh_serial_reals(ctx, &w, (double *)copy.opt.floor, floored ? (size_t)t->d : 0);
    }
    vh_serial_end(ctx, &w);
    if (w.st != VHEM_OK) {
        free(w.data);
        return w.st;
    }
    *bytes = w.data;
    *n = w.n;
    return VHEM_OK;
}

/* Checks that all processes that work on the task give the same bits. */
static vhem_status check_version(vhem_ctx *ctx, const vh_task *t)
{
    VH_CHECK(strcmp(t->version, vhem_version()) == 0, VHEM_EINVAL,
             "the task was made by version %s of the library, this process has %s: use the same everywhere",
             t->version, vhem_version());
    return VHEM_OK;
}

static vhem_status check_task(vhem_ctx *ctx, const vh_task *t, const vhem_models *models, const vh_h3m *head)
{
    int64_t set = 0;
    VH_CHECK(strcmp(t->backend, ctx->backend->name) == 0, VHEM_EBACKEND,
             "the task was made with backend %s, this process uses %s: choose one that all have (" VH_OPT(
                 "backend") ")",
             t->backend, ctx->backend->name);
    VH_CHECK(strcmp(t->kernel, vh_blas_kernel()) == 0, VHEM_EBACKEND,
             "the task was made with the kernels of OpenBLAS for '%s', this process uses those for '%s': set "
             "OPENBLAS_CORETYPE to one that all have",
             t->kernel, vh_blas_kernel());
    VH_CHECK(
        strcmp(t->family, head->family->name) == 0 && t->d == head->d && t->Kb == vh_models_size(models),
        VHEM_EINVAL, "the task is for %lld HMMs of %s with d = %d, this process has %lld of %s with d = %d",
        (long long)t->Kb, t->family, t->d, (long long)vh_models_size(models), head->family->name, head->d);
    VH_TRY(vh_shards_fingerprint(ctx, models->shards, &set));
    VH_CHECK(t->set == 0 || set == 0 || t->set == set, VHEM_EINVAL,
             "%s: the files are not those that the task was made for", models->shards->path);
    return VHEM_OK;
}

/* Chooses the family: if any HMM of the task lacks a column, all processes use the statistics for missing
 * columns. */
static vhem_status find_emission(vhem_ctx *ctx, const vhem_models *models, const vh_h3m *head, vh_task *t)
{
    const vh_emission *plain = vh_emission_find(head->family->name);
    const vh_h3m *h3m = vh_models_hmms(models);

    VH_CHECK(!t->gaps || (plain->with_gaps && !plain->tied), VHEM_EFORMAT,
             "the task is for HMMs that lack a column, which those of %s cannot", plain->name);
    t->emission = t->gaps ? plain->with_gaps : plain;
    VH_CHECK(t->kind < VH_TASK_EXPECT || !h3m || h3m->family == t->emission || !vh_h3m_lacks_columns(h3m),
             VHEM_EINVAL,
             "the task is for HMMs that have every column, this process has one that lacks a column");
    return VHEM_OK;
}

static vhem_status read_centers(vhem_ctx *ctx, vh_serial *w, const vh_h3m *head, int Kr, vh_task *t)
{
    vh_serial_check(ctx, w, "centres", Kr, 1, (int64_t)vh_serial_left(w));
    walk_step(ctx, w, t);
    VH_TRY(w->st);
    VH_TRY(vh_h3m_new(ctx, t->emission, head->shape, Kr, &t->centers));
    for (int j = 0; j < Kr; j++)
        walk_hmm(ctx, w, t->centers, j);
    VH_NEW(t->log_omega, Kr);
    vh_serial_reals(ctx, w, t->log_omega, (size_t)Kr);
    vh_serial_flag(ctx, w, &t->loops);
    return w->st;
}

static vhem_status read_loop(vhem_ctx *ctx, vh_serial *w, vh_task *t)
{
    int floored = 0;
    double *floor = NULL;

    walk_loop(ctx, w, t);
    vh_serial_int(ctx, w, &floored);
    VH_TRY(w->st);
    if (floored)
        VH_NEW(floor, t->d);
    vh_serial_reals(ctx, w, floor, floor ? (size_t)t->d : 0);
    t->opt.floor = floor;
    return w->st;
}

/* ---- validation of what was read ----------------------------------------------------------------------- */

static vhem_status check_scales(vhem_ctx *ctx, const vh_task *t)
{
    const double *floor = t->opt.floor;
    for (int k = 0; k < t->d; k++) {
        VH_CHECK(isfinite(t->origin[k]) && isfinite(t->scale[k]) && t->scale[k] > 0, VHEM_EFORMAT,
                 "a task has origin %g and scale %g of dimension %d, must be finite, and a scale positive",
                 t->origin[k], t->scale[k], k);
        VH_CHECK(!floor || (isfinite(floor[k]) && floor[k] >= 0), VHEM_EFORMAT,
                 "a task has %g for the smallest variance of dimension %d, must be 0 or more", floor[k], k);
    }
    return VHEM_OK;
}

#define MOST_COUNTED 1000000000 /* repairs and decreases; leaves room to add more */

static bool is_count(int n)
{
    return n >= 0 && n <= MOST_COUNTED;
}

static vhem_status check_loop(vhem_ctx *ctx, const vh_task *l)
{
    VH_CHECK(l->opt.max_iter >= 0 && l->opt.min_iter >= 0 && l->k >= 0 && l->k <= l->opt.max_iter,
             VHEM_EFORMAT, "a task stands at iteration %d of %d, of which %d must be made", l->k,
             l->opt.max_iter, l->opt.min_iter);
    VH_CHECK(isfinite(l->opt.tol) && isfinite(l->opt.cov_add) && l->opt.tol >= 0 && l->opt.cov_add >= 0,
             VHEM_EFORMAT, "a task has tol %g and cov_add %g, must be 0 or more", l->opt.tol, l->opt.cov_add);
    VH_CHECK(is_count(l->run.n_empty) && is_count(l->run.n_revived) && is_count(l->run.n_fell)
                 && !isnan(l->J),
             VHEM_EFORMAT,
             "a task has counted %d empty clusters, %d revived states and %d falls, must be from 0 to %d",
             l->run.n_empty, l->run.n_revived, l->run.n_fell, MOST_COUNTED);
    return VHEM_OK;
}

static vhem_status check_step(vhem_ctx *ctx, const vh_task *t)
{
    VH_CHECK(t->opt.tau >= 1 && t->opt.tau <= VH_MOST_TAU && isfinite(t->opt.N) && t->opt.N > 0, VHEM_EFORMAT,
             "a task has tau %d and N %g, must be from 1 to %d and positive", t->opt.tau, t->opt.N,
             VH_MOST_TAU);
    for (int64_t j = 0; j < t->centers->K; j++)
        VH_CHECK(!isnan(t->log_omega[j]) && t->log_omega[j] < 1e-6, VHEM_EFORMAT,
                 "a task has log omega %g of centre %lld, must be 0 or less", t->log_omega[j], (long long)j);
    VH_TRY(vh_h3m_check(ctx, t->centers, 0, t->centers->K, 0));
    VH_CHECK(!vh_h3m_lacks_columns(t->centers), VHEM_EFORMAT,
             "a centre of a task lacks a column, must have all");
    if (t->loops)
        VH_TRY(check_loop(ctx, t));
    return VHEM_OK;
}

vhem_status vh_task_read(vhem_ctx *ctx, const vhem_task *task, const vhem_models *models, vh_task **out)
{
    VH_OWN(vh_task) *t = NULL;
    vh_serial w = { 0 };
    const vh_h3m *head = vh_models_head(models);
    int Kr = 0;

    VH_CHECK(head, VHEM_EINVAL, "the models are dynamic textures, a task is about HMMs");
    VH_NEW(t, 1);
    VH_TRY(vh_serial_open(ctx, task->bytes, task->n, mark, "a task", &w));
    walk_version(ctx, &w, t);
    VH_TRY(w.st);
    VH_TRY(check_version(ctx, t));
    walk_head(ctx, &w, t);
    VH_TRY(w.st);
    VH_TRY(check_task(ctx, t, models, head));
    VH_TRY(find_emission(ctx, models, head, t));
    VH_NEW(t->origin, t->d);
    VH_NEW(t->scale, t->d);
    vh_serial_reals(ctx, &w, t->origin, (size_t)t->d);
    vh_serial_reals(ctx, &w, t->scale, (size_t)t->d);
    vh_serial_int(ctx, &w, &Kr);
    VH_TRY(w.st);
    VH_CHECK(t->kind >= 0 && t->kind <= VH_TASK_EXPECT && (t->kind == VH_TASK_EXPECT) == (Kr > 0),
             VHEM_EFORMAT, "a task of kind %d with %d centres is not known", t->kind, Kr);
    if (Kr > 0)
        VH_TRY(read_centers(ctx, &w, head, Kr, t));
    if (t->loops)
        VH_TRY(read_loop(ctx, &w, t));
    VH_TRY(check_scales(ctx, t));
    if (Kr > 0)
        VH_TRY(check_step(ctx, t));
    *out = vh_take(t);
    return VHEM_OK;
}

void vh_task_free(vh_task *t)
{
    if (!t)
        return;
    free(t->origin);
    free(t->scale);
    free(t->log_omega);
    free((double *)t->opt.floor);
    vh_h3m_free(t->centers);
    free(t);
}

int64_t vh_task_fingerprint(const vhem_task *task)
{
    return (int64_t)vh_hash_chain(0, task->bytes, task->n);
}
