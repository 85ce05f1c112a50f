/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem.c - VHEM-H3M: score and assign every base HMM, accumulate, maximise, until the bound rests.
 * Paper, Sections 3.3 (E-step) and 3.4 (M-step). */
#include "reduce/vhem.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/scaled.h"
#include "reduce/estep_cache.h"
#include "reduce/repair.h"

#include <math.h>

void vh_vhem_run_free(vh_vhem_run *run)
{
    free(run->J);
    free(run->z);
    free(run->L);
    free(run->label);
    *run = (vh_vhem_run){ 0 };
}

vhem_status vh_add_to_covariances(vhem_ctx *ctx, vh_h3m *h3m, double add)
{
    VH_AUTOFREE double *all = NULL;

    if (add == 0 || !h3m->family->location)
        return VHEM_OK;
    VH_NEW(all, h3m->d);
    for (int k = 0; k < h3m->d; k++)
        all[k] = add;
    for (int64_t j = 0; j < h3m->K; j++)
        for (int q = 0; q < h3m->hmm[j].S * h3m->hmm[j].M; q++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(h3m, &h3m->hmm[j], q / h3m->hmm[j].M, q % h3m->hmm[j].M, par);
            h3m->family->location->widen(&h3m->shape, all, par);
        }
    return VHEM_OK;
}

static vhem_status lay_centers(vhem_ctx *ctx, const vh_h3m *centers, vh_packed *pk)
{
    vhem_status st = vh_pack_update(ctx, centers, NULL, pk);
    if (st == VHEM_ENUMERIC && pk->at_fault >= 0)
        vh_model_prefix(ctx, "centre", pk->at_fault, NULL);
    return st;
}

vhem_status vh_vhem_maximise(vhem_ctx *ctx, const vh_vhem_step *m)
{
    vhem_status st = VHEM_OK;
    const vh_base *base = m->base;
    const vh_reduce_sums *sums = m->sums;
    vh_h3m *centers = m->centers;
    const vh_limits lim = { .floor = m->opt->floor, .scale = base->scale, .unit = 1.0 / base->Kb };
    int n_floored;
    for (int64_t j = 0; j < centers->K; j++) {
        centers->omega[j] = vh_scaled_value(sums->sum_z[j], sums->scale_z[j]) / base->Kb;
        m->log_omega[j] = vh_scaled_log(sums->sum_z[j], sums->scale_z[j]) - log(base->Kb);
        st = vh_mstep(ctx, &lim, m->pk, j, &sums->stats, centers, &centers->hmm[j], &n_floored);
        if (st != VHEM_OK) {
            vh_model_prefix(ctx, "centre", j, NULL);
            return st;
        }
    }
    return vh_add_to_covariances(ctx, centers, m->opt->cov_add);
}

/* A repair may empty another cluster, which is then repaired, and so on to the last iteration.  Repairs stop
 * when they no longer better the best bound. */
static void watch_repairs(const vh_vhem_options *opt, double J, bool repaired, vh_vhem_run *run)
{
    bool gained =
        !(opt->tol > 0 && J - run->best < opt->tol * fmax(fabs(run->best - opt->constant * opt->N), 1e-300));
    if (run->idle < VH_MOST_IDLE)
        run->idle = repaired && !gained ? run->idle + 1 : 0;
    run->best = fmax(run->best, J);
}

bool vh_vhem_converged(vhem_ctx *ctx, const vh_vhem_options *opt, int k, bool repaired, vh_vhem_run *run)
{
    if (k == 0)
        run->best = run->J[0];
    else
        watch_repairs(opt, run->J[k], repaired, run);
    if (k == 0 || repaired)
        return false;
    double change = run->J[k] - run->J[k - 1],
           size = fmax(fabs(run->J[k - 1] - opt->constant * opt->N), 1e-300);
    if (change < -1e-9 * (size + opt->N * 1e-6) && opt->cov_add == 0) {
        run->n_fell++;
        vh_log(ctx, VHEM_LOG_DEBUG, "the bound fell from %.12g to %.12g in iteration %d", run->J[k - 1],
               run->J[k], k);
    }
    return opt->tol > 0 && k >= opt->min_iter && fabs(change) / size < opt->tol;
}

/* What a run is to fill in for each base HMM. */
static vhem_status make_tables(vhem_ctx *ctx, int64_t Kb, int Kr, bool lean, vh_vhem_run *run)
{
    if (lean) {
        VH_NEW(run->label, Kb);
        return VHEM_OK;
    }
    VH_NEW(run->z, vh_cells(Kb, Kr));
    VH_NEW(run->L, vh_cells(Kb, Kr));
    return VHEM_OK;
}

vhem_status vh_vhem(vhem_ctx *ctx, const vh_base *base, const vh_vhem_options *opt, const vh_workers *workers,
                    vh_h3m *centers, vh_vhem_run *run)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_packed) *pk = NULL;
    VH_CLEANUP(vh_reduce_sums_free) vh_reduce_sums sums = { 0 };
    VH_AUTOFREE double *log_omega = NULL;
    double pairs = (double)base->Kb * centers->K;
    bool repaired = false, known = false,
         later = base->executor || vh_reduce_is_remote(base->job); /* tables */

    VH_TRY(vh_base_pack_centers(ctx, base, centers, NULL, centers->K, &pk));
    VH_TRY(vh_reduce_sums_new(ctx, pk, &sums));
    VH_NEW(run->J, opt->max_iter + 1);
    run->n_iter = -1;
    VH_TRY(make_tables(ctx, base->Kb, centers->K, opt->lean, run));
    VH_NEW(log_omega, centers->K);
    for (int64_t j = 0; j < centers->K; j++)
        log_omega[j] = log(centers->omega[j]);
    vh_reduce_step step = { .reduced = pk,
                            .tau = opt->tau,
                            .log_omega = log_omega,
                            .N = opt->N,
                            .weighted = opt->weighted,
                            .L = later ? NULL : run->L,
                            .z = later ? NULL : run->z,
                            .label = later ? NULL : run->label };
    const vh_vhem_step m = { base, opt, pk, &sums, centers, log_omega };
    for (int k = 0;; k++) {
        step.statistics = k < opt->max_iter;
        step.soft = centers->K == 1 || 2 * *sums.used > pairs; /* what comes is taken to be like what was */
        VH_TRY(lay_centers(ctx, centers, pk));
        VH_TRY(vh_vhem_expect(ctx, base, centers, &step, workers, &sums, &known));
        run->J[k] = *sums.J;
        run->n_iter = k;
        run->converged = vh_vhem_converged(ctx, opt, k, repaired, run);
        if (k == opt->max_iter || run->converged || vh_stopped(ctx))
            break;
        VH_TRY(vh_vhem_maximise(ctx, &m));
        if (opt->repair)
            VH_TRY(vh_repair(ctx, &m, k, run, &repaired));
    }
    if (later || known) {
        step.statistics = false;
        step.L = run->L;
        step.z = run->z;
        step.label = run->label;
        st = vh_vhem_sum(ctx, base, centers, &step, workers, &sums);
        if (st == VHEM_ESTOPPED) /* no tables, no result */
            run->n_iter = -1;
        VH_TRY(st);
    }
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
