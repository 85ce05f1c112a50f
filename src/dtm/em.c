/* SPDX-License-Identifier: BSD-3-Clause */
/* em.c - see em.h.  Shumway and Stoffer 1982 for one texture; Chan and Vasconcelos 2008 for mixtures.
 *
 * A chunk of work is one set, and the chunks are added in a fixed tree (parallel/tree_sum.h): the result
 * depends neither on the threads nor on the processes that share a mixture (parallel/sum.h). */
#include "dtm/em.h"

#include "core/alloc.h"
#include "parallel/sum.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "math/logsum.h"

#include <math.h>

enum {
    SMOOTHED = VH_SCRATCH_SLOTS - 1,
    SHARES = VH_SCRATCH_SLOTS - 2
}; /* scratch slots that the filter does not use */

typedef struct {
    const vh_em_dtm_task *task;
    vh_dtm *dtm;
    vh_dt_gains *gains; /* [K] */
    double *log_omega;  /* [K] */
    double *sums;       /* of the E-step, vh_dt_sums_size */
    vh_tree_sum *tree;
    vh_scratch *scratch; /* [n_threads] */
    int n_threads;
    bool last; /* last E-step: only the likelihood is needed */
} em_state;

static void close_state(em_state *s)
{
    for (int64_t j = 0; s->gains && j < s->dtm->K; j++)
        vh_dt_gains_free(&s->gains[j]);
    free(s->gains);
    free(s->log_omega);
    free(s->sums);
    vh_tree_sum_free(s->tree);
}

static vhem_status open_state(vhem_ctx *ctx, const vh_em_dtm_task *task, vh_scratch *scratch, int n_threads,
                              vh_dtm *dtm, em_state *s)
{
    size_t size = vh_dt_sums_size(dtm);

    *s = (em_state){ .task = task, .dtm = dtm, .scratch = scratch, .n_threads = n_threads };
    VH_NEW(s->gains, dtm->K);
    VH_NEW(s->log_omega, dtm->K);
    for (int64_t j = 0; j < dtm->K; j++)
        s->log_omega[j] = log(dtm->omega[j]);
    VH_NEW(s->sums, size);
    return vh_tree_sum_new(ctx, size, vh_dt_sums_merge, dtm, &s->tree);
}

/* Recomputes the gains of the current textures, for the longest sequence; with those of the smoother unless
 * this is the last E-step. */
static vhem_status renew_gains(vhem_ctx *ctx, em_state *s)
{
    const vh_sets *sets = s->task->sets;
    int64_t T = 1;

    for (int64_t i = sets->first[s->task->first]; i < sets->first[s->task->last]; i++) {
        int64_t length = vh_data_length(s->task->data, sets->seq[i]);
        T = length > T ? length : T;
    }
    for (int64_t j = 0; j < s->dtm->K; j++) {
        vh_dt_gains_free(&s->gains[j]);
        VH_TRY(vh_dt_gains_new(ctx, &s->dtm->dt[j], s->dtm->d, T, !s->last, &s->gains[j]));
    }
    return VHEM_OK;
}

/* z [K] := log omega_j + sum_n w_n log p(y_n | j) of set g. */
static vhem_status score_set(vhem_ctx *ctx, const em_state *s, int64_t g, vh_scratch *scratch, double *z)
{
    const vh_sets *sets = s->task->sets;

    for (int64_t j = 0; j < s->dtm->K; j++) {
        z[j] = s->log_omega[j];
        for (int64_t i = sets->first[g]; i < sets->first[g + 1] && z[j] > -INFINITY; i++) {
            int64_t n = sets->seq[i];
            double loglik;
            VH_TRY(vh_kalman_score(ctx, &s->gains[j], vh_data_frames(s->task->data, n),
                                   vh_data_length(s->task->data, n), scratch, &loglik));
            z[j] += vh_data_weight(s->task->data, n) * loglik;
        }
    }
    return VHEM_OK;
}

/* Set g: its term of J, its z, and, except in the last E-step, its share of the statistics. */
static vhem_status expect_set(vhem_ctx *ctx, const em_state *s, int64_t g, vh_scratch *scratch, double *sums)
{
    const vh_sets *sets = s->task->sets;
    double *log_z, *x;

    VH_SCRATCH(log_z, SHARES, s->dtm->K);
    vh_dt_sums_begin(s->dtm, sums);
    VH_TRY(score_set(ctx, s, g, scratch, log_z));
    sums[0] = vh_log_softmax(s->dtm->K, log_z);
    for (int64_t j = 0; j < s->dtm->K; j++) {
        vh_dt_stats stats = vh_dt_sums_stats(s->dtm, sums, j);
        vh_dt_sums_share(s->dtm, sums, j, log_z[j]);
        for (int64_t i = sets->first[g]; !s->last && i < sets->first[g + 1]; i++) {
            int64_t n = sets->seq[i];
            int64_t T = vh_data_length(s->task->data, n);
            double w = vh_dt_sums_weigh(s->dtm, sums, j, log_z[j] + log(vh_data_weight(s->task->data, n)));
            if (!(w > 0))
                continue;
            VH_SCRATCH(x, SMOOTHED, vh_cells(T, s->dtm->dt[j].n));
            VH_TRY(vh_kalman_smooth(ctx, &s->gains[j], vh_data_frames(s->task->data, n), T, scratch,
                                    &(vh_kalman_result){ .x = x, .stats = &stats, .weight = w }));
        }
    }
    return VHEM_OK;
}

static vhem_status run_em_chunk(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *sums)
{
    const em_state *s = arg;
    return expect_set(ctx, s, s->task->first + chunk, &s->scratch[worker], sums);
}

static vhem_status expect_sets(vhem_ctx *ctx, em_state *s)
{
    const vh_chunks chunks = {
        .n = s->task->last - s->task->first, .threads = s->n_threads, .run = run_em_chunk, .arg = s
    };

    VH_TRY(renew_gains(ctx, s));
    const vh_shared shared = { .fingerprint =
                                   vh_ranks(ctx) > 1 ? vh_dtm_fingerprint(s->dtm, s->log_omega) : 0 };
    return vh_sum(ctx, &chunks, &shared, s->tree, s->sums);
}

/* omega_j = sum_g z_gj / sets, and each texture from its statistics. */
static vhem_status maximise_textures(vhem_ctx *ctx, em_state *s, vh_em_run *run)
{
    run->n_floored = 0;
    for (int64_t j = 0; j < s->dtm->K; j++) {
        int floored;
        vh_dt_stats stats = vh_dt_sums_stats(s->dtm, s->sums, j);
        int64_t sets = s->task->last - s->task->first;
        s->dtm->omega[j] = vh_dt_sums_z(s->dtm, s->sums, j) / sets;
        s->log_omega[j] = vh_dt_sums_log_z(s->dtm, s->sums, j) - log(sets);
        VH_TRY(vh_dt_maximise(ctx, &stats, &s->task->limits, &s->dtm->dt[j], &floored));
        run->n_floored += floored;
    }
    return VHEM_OK;
}

vhem_status vh_em_dtm(vhem_ctx *ctx, const vh_em_dtm_task *task, vh_scratch *scratch, int n_threads,
                      vh_dtm *dtm, vh_em_run *run)
{
    double mass = 0;
    VH_CLEANUP(close_state) em_state s = { 0 };

    VH_TRY(open_state(ctx, task, scratch, n_threads, dtm, &s));
    VH_NEW(run->J, task->max_iter + 1);
    for (int64_t i = task->sets->first[task->first]; i < task->sets->first[task->last]; i++) {
        int64_t n = task->sets->seq[i];
        mass += vh_data_weight(task->data, n) * (double)vh_data_length(task->data, n);
    }
    for (int k = 0;; k++) {
        s.last = k == task->max_iter;
        VH_TRY(expect_sets(ctx, &s));
        run->J[k] = s.sums[0];
        run->n_iter = k;
        VH_CHECK(isfinite(run->J[k]), VHEM_ENUMERIC, "the log-likelihood is %g", run->J[k]);
        double gain = k > 0 ? run->J[k] - run->J[k - 1] : INFINITY;
        run->n_fell += gain < -1e-9 * (fabs(run->J[k]) + mass);
        run->converged = task->tol > 0 && gain <= task->tol * mass;
        if (s.last || run->converged || vh_stopped(ctx))
            break;
        VH_TRY(maximise_textures(ctx, &s, run));
    }
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
