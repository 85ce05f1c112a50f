/* SPDX-License-Identifier: BSD-3-Clause */
/* em_dtm.c - see em_dtm.h.  Shumway and Stoffer 1982 for one texture; Chan and Vasconcelos 2008 for mixtures.
 *
 * Sets are dealt to a fixed number of slots, and the sums of the slots are added in their order, so that the
 * answer does not depend on the threads. */
#include "estimate/em_dtm.h"

#include "core/alloc.h"
#include "math/logsum.h"

#include <math.h>
#include <omp.h>

enum { SLOTS = 16 };
enum { SMOOTHED = VH_SCRATCH_SLOTS - 1 }; /* slot of scratch memory the filter does not use */

typedef struct { /* sums of a run of sets */
    double J, *sum_z;
    vh_dt_stats *stats; /* [K] */
    vhem_status st;
} slot;

typedef struct {
    const vh_em_dtm_task *task;
    vh_dtm *dtm;
    vh_dt_gains *gains; /* [K] */
    int n_slot;
    slot slots[SLOTS];
} state;

static void close_state(state *s)
{
    for (int q = 0; q < SLOTS; q++) {
        for (int j = 0; s->slots[q].stats && j < s->dtm->K; j++)
            vh_dt_stats_free(&s->slots[q].stats[j]);
        free(s->slots[q].stats);
        free(s->slots[q].sum_z);
    }
    for (int j = 0; s->gains && j < s->dtm->K; j++)
        vh_dt_gains_free(&s->gains[j]);
    free(s->gains);
}

static vhem_status open_state(vhem_ctx *ctx, const vh_em_dtm_task *task, vh_dtm *dtm, state *s)
{
    vhem_status st = VHEM_OK;
    int n = task->last - task->first;

    *s = (state){ .task = task, .dtm = dtm, .n_slot = n < SLOTS ? n : SLOTS };
    VH_NEW(s->gains, dtm->K);
    for (int q = 0; q < s->n_slot; q++) {
        VH_NEW(s->slots[q].sum_z, dtm->K);
        VH_NEW(s->slots[q].stats, dtm->K);
        for (int j = 0; j < dtm->K; j++)
            VH_TRY(vh_dt_stats_new(ctx, dtm->dt[j].n, dtm->d, &s->slots[q].stats[j]));
    }
done:
    return st;
}

/* The gains of the present textures, for the longest sequence; smooth: those of the smoother, too. */
static vhem_status renew_gains(vhem_ctx *ctx, bool smooth, state *s)
{
    vhem_status st = VHEM_OK;
    const vh_sets *sets = s->task->sets;
    int64_t T = 1;

    for (int i = sets->first[s->task->first]; i < sets->first[s->task->last]; i++) {
        int64_t length = vh_data_length(s->task->data, sets->seq[i]);
        T = length > T ? length : T;
    }
    for (int j = 0; j < s->dtm->K; j++) {
        vh_dt_gains_free(&s->gains[j]);
        VH_TRY(vh_dt_gains_new(ctx, &s->dtm->dt[j], s->dtm->d, T, smooth, &s->gains[j]));
    }
done:
    return st;
}

/* log omega_j + sum_n w_n log p(y_n | j) of set g into z [K]. */
static vhem_status score_set(vhem_ctx *ctx, const state *s, int g, vh_scratch *scratch, double *z)
{
    vhem_status st = VHEM_OK;
    const vh_sets *sets = s->task->sets;

    for (int j = 0; j < s->dtm->K; j++) {
        z[j] = log(s->dtm->omega[j]);
        for (int i = sets->first[g]; i < sets->first[g + 1] && z[j] > -INFINITY; i++) {
            int n = sets->seq[i];
            double loglik;
            VH_TRY(vh_kalman_score(ctx, &s->gains[j], vh_data_frames(s->task->data, n),
                                   vh_data_length(s->task->data, n), scratch, &loglik));
            z[j] += vh_data_weight(s->task->data, n) * loglik;
        }
    }
done:
    return st;
}

/* Set g: its part of J, its z, and, unless this is the last time, its share of the statistics. */
static vhem_status expect_set(vhem_ctx *ctx, const state *s, int g, bool last, vh_scratch *scratch, slot *out)
{
    vhem_status st = VHEM_OK;
    const vh_sets *sets = s->task->sets;
    double *z = NULL, *x;

    VH_NEW(z, s->dtm->K);
    VH_TRY(score_set(ctx, s, g, scratch, z));
    out->J += vh_softmax(s->dtm->K, z);
    for (int j = 0; j < s->dtm->K; j++) {
        out->sum_z[j] += z[j];
        for (int i = sets->first[g]; !last && z[j] > VH_NO_SHARE && i < sets->first[g + 1]; i++) {
            int n = sets->seq[i];
            int64_t T = vh_data_length(s->task->data, n);
            VH_SCRATCH(x, SMOOTHED, (size_t)T * (size_t)s->dtm->dt[j].n);
            VH_TRY(vh_kalman_smooth(ctx, &s->gains[j], vh_data_frames(s->task->data, n), T,
                                    z[j] * vh_data_weight(s->task->data, n), scratch, x, NULL, NULL,
                                    &out->stats[j]));
        }
    }
done:
    free(z);
    return st;
}

/* The E-step; its sums end up in the first slot. */
static vhem_status expect(vhem_ctx *ctx, state *s, bool last, vh_scratch *scratch, int n_threads)
{
    vhem_status st = VHEM_OK;
    int n = s->task->last - s->task->first;

    VH_TRY(renew_gains(ctx, !last, s));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) if (n_threads > 1 && s->n_slot > 1)
    for (int q = 0; q < s->n_slot; q++) {
        slot *own = &s->slots[q];
        int me = omp_in_parallel() && n_threads > 1 ? omp_get_thread_num() : 0;
        int lo = (int)((int64_t)n * q / s->n_slot), hi = (int)((int64_t)n * (q + 1) / s->n_slot);
        own->J = 0;
        own->st = VHEM_OK;
        for (int j = 0; j < s->dtm->K; j++) {
            own->sum_z[j] = 0;
            vh_dt_stats_zero(&own->stats[j]);
        }
        for (int g = lo; g < hi && own->st == VHEM_OK; g++)
            own->st = expect_set(ctx, s, s->task->first + g, last, &scratch[me], own);
    }
    for (int q = 0; q < s->n_slot; q++)
        VH_TRY(s->slots[q].st);
    for (int q = 1; q < s->n_slot; q++) {
        s->slots[0].J += s->slots[q].J;
        for (int j = 0; j < s->dtm->K; j++) {
            s->slots[0].sum_z[j] += s->slots[q].sum_z[j];
            vh_dt_stats_add(&s->slots[0].stats[j], &s->slots[q].stats[j]);
        }
    }
done:
    return st;
}

/* omega_j = sum_g z_gj / sets, and each texture from its statistics. */
static vhem_status maximise(vhem_ctx *ctx, state *s, vh_em_dtm_run *run)
{
    vhem_status st = VHEM_OK;

    run->n_floored = 0;
    for (int j = 0; j < s->dtm->K; j++) {
        int floored;
        s->dtm->omega[j] = s->slots[0].sum_z[j] / (s->task->last - s->task->first);
        VH_TRY(vh_dt_maximise(ctx, &s->slots[0].stats[j], &s->task->limits, &s->dtm->dt[j], &floored));
        run->n_floored += floored;
    }
done:
    return st;
}

vhem_status vh_em_dtm(vhem_ctx *ctx, const vh_em_dtm_task *task, vh_scratch *scratch, int n_threads,
                      vh_dtm *dtm, vh_em_dtm_run *run)
{
    vhem_status st = VHEM_OK;
    double mass = 0;
    state s;

    VH_TRY(open_state(ctx, task, dtm, &s));
    VH_NEW(run->J, task->max_iter + 1);
    for (int i = task->sets->first[task->first]; i < task->sets->first[task->last]; i++) {
        int n = task->sets->seq[i];
        mass += vh_data_weight(task->data, n) * (double)vh_data_length(task->data, n);
    }
    for (int k = 0;; k++) {
        bool last = k == task->max_iter; /* only the likelihood is still wanted */
        VH_TRY(expect(ctx, &s, last, scratch, n_threads));
        run->J[k] = s.slots[0].J;
        run->n_iter = k;
        VH_CHECK(isfinite(run->J[k]), VHEM_ENUMERIC, "the log-likelihood is %g", run->J[k]);
        double gain = k > 0 ? run->J[k] - run->J[k - 1] : INFINITY;
        run->n_fell += gain < -1e-9 * (fabs(run->J[k]) + mass);
        run->converged = task->tol > 0 && gain <= task->tol * mass;
        if (last || run->converged || vh_stopped(ctx))
            break;
        VH_TRY(maximise(ctx, &s, run));
    }
    st = vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
done:
    close_state(&s);
    return st;
}
