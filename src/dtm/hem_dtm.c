/* SPDX-License-Identifier: BSD-3-Clause */
/* hem_dtm.c - see hem_dtm.h.
 *
 *   1. the E-step: score, assign, accumulate
 *   2. the M-step and repairs
 *   3. the loop
 *
 * A chunk of work is CHUNK consecutive base textures, and the chunks are added in a fixed tree
 * (parallel/tree_sum.h): the result depends neither on the threads nor on the processes. */
#include "dtm/hem_dtm.h"

#include "core/alloc.h"
#include "parallel/sum.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "parallel/map.h"
#include "math/logsum.h"
#include "dtm/pair.h"
#include "dtm/start.h"
#include "vhem/repair.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 4 };

typedef struct {
    const vh_dtm *base;
    vh_dtm *centers;
    const vh_vhem_options *opt;
    vh_dt_gains *gains; /* [Kr] */
    double *log_omega;  /* [Kr] */
    double *sums;       /* of the E-step, vh_dt_sums_size */
    vh_tree_sum *tree;
    vh_scratch *scratch; /* [n_threads] */
    int n_threads;
    bool last;        /* last E-step: only J, z and L are needed */
    vh_vhem_run *run; /* receives z and L */
    vh_dt_limits limits;
    double *floor; /* [d]  storage of limits.floor */
} hem_state;

/* ---- 1. the E-step ------------------------------------------------------------------------------------- */

static void close_state(hem_state *s)
{
    for (int64_t j = 0; s->gains && j < s->centers->K; j++)
        vh_dt_gains_free(&s->gains[j]);
    free(s->gains);
    free(s->log_omega);
    free(s->sums);
    vh_tree_sum_free(s->tree);
    free(s->floor);
}

static bool is_isotropic(const vh_dtm *dtm)
{
    for (int64_t i = 0; i < dtm->K; i++)
        for (int k = 1; k < dtm->d; k++)
            if (dtm->dt[i].R[k] != dtm->dt[i].R[0])
                return false;
    return true;
}

/* Requires the base, the centres and the options in s. */
static vhem_status open_state(vhem_ctx *ctx, hem_state *s)
{
    const vh_dtm *base = s->base;
    const vh_vhem_options *opt = s->opt;
    size_t size = vh_dt_sums_size(s->centers);

    VH_NEW(s->gains, s->centers->K);
    VH_NEW(s->log_omega, s->centers->K);
    for (int64_t j = 0; j < s->centers->K; j++)
        s->log_omega[j] = log(s->centers->omega[j]);
    VH_NEW(s->sums, size);
    VH_TRY(vh_tree_sum_new(ctx, size, vh_dt_sums_merge, s->centers, &s->tree));
    VH_NEW(s->floor, base->d);
    for (int k = 0; k < base->d; k++)
        s->floor[k] = opt->floor && opt->floor[k] > 0 ? opt->floor[k] : 1e-300;
    s->limits = (vh_dt_limits){ s->floor, is_isotropic(base) };
    return VHEM_OK;
}

static vhem_status renew_gains(vhem_ctx *ctx, hem_state *s)
{
    vhem_status st = VHEM_OK;
    for (int64_t j = 0; j < s->centers->K; j++) {
        vh_dt_gains_free(&s->gains[j]);
        st = vh_dt_gains_new(ctx, &s->centers->dt[j], s->base->d, s->opt->tau, true, &s->gains[j]);
        if (st != VHEM_OK) {
            vh_dtm_prefix(ctx, s->centers, j);
            return st;
        }
    }
    return st;
}

/* Base texture i: its row of L, its z, and, except in the last E-step, its share of the statistics. */
static vhem_status add_one(vhem_ctx *ctx, const hem_state *s, int64_t i, vh_scratch *scratch, double *sums)
{
    int Kr = s->centers->K, tau = s->opt->tau;
    double omega = s->base->omega[i], *L = s->run->L + vh_row(i, Kr);
    double *z = s->run->z + vh_row(i, Kr); /* log z at first */

    for (int j = 0; j < Kr; j++) {
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        VH_TRY(vh_dt_pair_score(ctx, &s->base->dt[i], &s->gains[j], tau, scratch, &L[j]));
    }
    sums[0] += vh_reduce_assign(Kr, s->log_omega, s->opt->N * omega, L, z);
    for (int j = 0; j < Kr; j++) {
        vh_dt_stats stats = vh_dt_sums_stats(s->centers, sums, j);
        double w = s->last ? 0 : vh_dt_sums_weigh(s->centers, sums, j, z[j] + log(omega));
        vh_dt_sums_share(s->centers, sums, j, z[j] + (s->opt->weighted ? log(s->base->K * omega) : 0));
        z[j] = exp(z[j]);
        if (w > 0)
            VH_TRY(vh_dt_pair_accumulate(ctx, &s->base->dt[i], &s->gains[j], tau, w, scratch, &stats));
    }
    return VHEM_OK;
}

static vhem_status expect_one(vhem_ctx *ctx, const hem_state *s, int64_t i, vh_scratch *scratch, double *sums)
{
    vhem_status st = add_one(ctx, s, i, scratch, sums);
    if (st != VHEM_OK)
        vh_dtm_prefix(ctx, s->base, i);
    return st;
}

static vhem_status run_hem_chunk(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *sums)
{
    const hem_state *s = arg;
    vhem_status st = VHEM_OK;
    int64_t first = chunk * CHUNK;
    vh_dt_sums_begin(s->centers, sums);
    for (int64_t i = first; i < first + CHUNK && i < s->base->K && st == VHEM_OK; i++)
        st = expect_one(ctx, s, i, &s->scratch[worker], sums);
    return st;
}

static void rows(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
    const vh_dtm *base = arg;
    *lo = first * CHUNK;
    *hi = end * CHUNK < base->K ? end * CHUNK : base->K;
}

static vhem_status expect(vhem_ctx *ctx, void *model, bool last, double *J)
{
    hem_state *s = model;
    const vh_chunks chunks = { .n = (s->base->K + CHUNK - 1) / CHUNK,
                               .threads = s->n_threads,
                               .late = true,
                               .run = run_hem_chunk,
                               .arg = s };
    size_t row = sizeof(double) * (size_t)s->centers->K;
    const vh_sum_table tables[] = { { s->run->z, row, rows, s->base }, { s->run->L, row, rows, s->base } };

    s->last = last;
    VH_TRY(renew_gains(ctx, s));
    const vh_shared shared = { .table = tables,
                               .tables = 2,
                               .fingerprint =
                                   vh_ranks(ctx) > 1 ? vh_dtm_fingerprint(s->centers, s->log_omega) : 0 };
    VH_TRY(vh_sum(ctx, &chunks, &shared, s->tree, s->sums));
    VH_CHECK(!isnan(s->sums[0]), VHEM_ENUMERIC, "the objective is not a number");
    *J = s->sums[0];
    return VHEM_OK;
}

typedef struct {
    const vh_dtm *base;
    const vh_dt_gains *gains; /* of centre j */
    int tau;
    vh_scratch *scratch;
    int64_t j, K;
    double *L;
} one_centre;

static vhem_status score_one(vhem_ctx *ctx, void *arg, int64_t i, int worker)
{
    const one_centre *x = arg;
    return vh_dt_pair_score(ctx, &x->base->dt[i], x->gains, x->tau, &x->scratch[worker],
                            &x->L[vh_ij(i, x->K, x->j)]);
}

vhem_status vh_hem_dtm_score(vhem_ctx *ctx, const vh_dtm *base, const vh_dtm *centers, int tau,
                             const vh_workers *workers, double *L)
{
    VH_CLEANUP(vh_dt_gains_free) vh_dt_gains g = { 0 };
    one_centre x = { base, &g, tau, workers->scratch, 0, centers->K, L };
    const vh_work work = { .n = base->K, .threads = workers->n, .run = score_one, .arg = &x };

    for (x.j = 0; x.j < centers->K; x.j++) {
        vh_dt_gains_free(&g);
        VH_TRY(vh_dt_gains_new(ctx, &centers->dt[x.j], centers->d, tau, false, &g));
        vhem_status st = vh_map(ctx, &work, NULL);
        VH_CHECK(st != VHEM_ESTOPPED, st, "stopped before all textures were scored");
        VH_TRY(st);
    }
    return VHEM_OK;
}

/* ---- 2. the M-step and repairs ------------------------------------------------------------------------- */

/* omega_j = sum_i z_ij / Kb, and each texture from its statistics; empty clusters keep their texture. */
static vhem_status maximise(vhem_ctx *ctx, void *model)
{
    hem_state *s = model;
    int n_floored;
    for (int64_t j = 0; j < s->centers->K; j++) {
        vh_dt_stats stats = vh_dt_sums_stats(s->centers, s->sums, j);
        s->centers->omega[j] = vh_dt_sums_z(s->centers, s->sums, j) / s->base->K;
        s->log_omega[j] = vh_dt_sums_log_z(s->centers, s->sums, j) - log(s->base->K);
        VH_TRY(vh_dt_maximise(ctx, &stats, &s->limits, &s->centers->dt[j], &n_floored));
    }
    return VHEM_OK;
}

static bool converged(vhem_ctx *ctx, void *model, int k, bool repaired, vh_vhem_run *run)
{
    const hem_state *s = model;
    return vh_vhem_converged(ctx, s->opt, k, repaired, run);
}

/* Restarts empty clusters at the texture that the largest cluster describes worst. */
static vhem_status repair(vhem_ctx *ctx, void *model, int k, vh_vhem_run *run, bool *repaired)
{
    hem_state *s = model;
    vh_dtm *c = s->centers;
    int before = run->n_empty;
    vh_rng rng;

    (void)ctx;
    if (!s->opt->repair)
        return VHEM_OK;
    vh_rng_init(&rng, s->opt->seed, VH_RNG_REVIVE, (uint64_t)k);
    bool more = s->opt->max_iter - k > 5 && run->idle < VH_MOST_IDLE;
    for (int64_t j = 0; j < c->K && more && run->n_empty < VH_MAX_RESEED * c->K; j++) {
        int big = vh_argmax(c->K, c->omega, 1);
        int64_t seed = c->omega[j] * s->base->K < VH_EMPTY
                           ? vh_move_worst(s->base->K, s->base->omega, c->K, run->L, big, j, run->z)
                           : -1;
        if (seed < 0)
            continue;
        vh_dt_from_base(&s->base->dt[seed], c->d, &rng, &c->dt[j]);
        c->omega[j] = c->omega[big] /= 2;
        s->log_omega[j] = s->log_omega[big] = log(c->omega[j]);
        run->n_empty++;
    }
    *repaired = run->n_empty > before;
    return VHEM_OK;
}

static const vh_hem hem_dtm = { expect, converged, maximise, repair };

/* ---- 3. the loop --------------------------------------------------------------------------------------- */

vhem_status vh_hem_dtm(vhem_ctx *ctx, const vh_dtm *base, const vh_vhem_options *opt,
                       const vh_workers *workers, vh_dtm *centers, vh_vhem_run *run)
{
    size_t pairs = vh_cells(base->K, centers->K);
    VH_CLEANUP(close_state)
    hem_state s = { .base = base,
                    .centers = centers,
                    .opt = opt,
                    .scratch = workers->scratch,
                    .n_threads = workers->n,
                    .run = run };

    run->n_iter = -1;
    VH_TRY(open_state(ctx, &s));
    VH_NEW(run->z, pairs);
    VH_NEW(run->L, pairs);
    VH_TRY(vh_hem_run(ctx, &hem_dtm, &s, opt->max_iter, run));
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
