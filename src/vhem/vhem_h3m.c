/* SPDX-License-Identifier: BSD-3-Clause */
/* vhem_h3m.c - VHEM-H3M as steps of the loop (loop.h): E-step (paper, Section 3.3), M-step (Section 3.4), and
 * repairs, which are not in the paper. */
#include "vhem/vhem_h3m.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/scaled.h"
#include "vhem/estep_cache.h"
#include "vhem/repair.h"

#include <math.h>

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

/* omega_j = sum_i z_ij / Kb, eq. 57; each centre from its statistics. */
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

/* Allocates the output tables of a run. */
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

typedef struct { /* the model that the VHEM loop updates */
    const vh_base *base;
    const vh_vhem_options *opt;
    const vh_workers *workers;
    vh_h3m *centers;
    vh_packed *pk; /* the centres, packed for kernels */
    vh_reduce_sums sums;
    double *log_omega; /* [Kr] */
    vh_reduce_step step;
    bool known; /* the last E-step came from the journal and filled no tables */
} hmm_model;

static void close_model(hmm_model *m)
{
    vh_pack_free(m->pk);
    vh_reduce_sums_free(&m->sums);
    free(m->log_omega);
}

static vhem_status open_model(vhem_ctx *ctx, hmm_model *m)
{
    const vh_vhem_options *opt = m->opt;

    VH_TRY(vh_base_pack_centers(ctx, m->base, m->centers, NULL, m->centers->K, &m->pk));
    VH_TRY(vh_reduce_sums_new(ctx, m->pk, &m->sums));
    VH_NEW(m->log_omega, m->centers->K);
    for (int64_t j = 0; j < m->centers->K; j++)
        m->log_omega[j] = log(m->centers->omega[j]);
    m->step = (vh_reduce_step){
        .reduced = m->pk, .tau = opt->tau, .log_omega = m->log_omega, .N = opt->N, .weighted = opt->weighted
    };
    return VHEM_OK;
}

static vhem_status expect(vhem_ctx *ctx, void *model, bool last, double *J)
{
    hmm_model *m = model;
    double pairs = (double)m->base->Kb * m->centers->K;

    m->step.statistics = !last;
    m->step.soft = m->centers->K == 1 || 2 * *m->sums.used > pairs; /* as in the last E-step */
    VH_TRY(lay_centers(ctx, m->centers, m->pk));
    VH_TRY(vh_vhem_expect(ctx, m->base, m->centers, &m->step, m->workers, &m->sums, &m->known));
    *J = *m->sums.J;
    return VHEM_OK;
}

static bool converged(vhem_ctx *ctx, void *model, int k, bool repaired, vh_vhem_run *run)
{
    const hmm_model *m = model;
    return vh_vhem_converged(ctx, m->opt, k, repaired, run);
}

static vh_vhem_step step_of(hmm_model *m)
{
    return (vh_vhem_step){ m->base, m->opt, m->pk, &m->sums, m->centers, m->log_omega };
}

static vhem_status maximise(vhem_ctx *ctx, void *model)
{
    const vh_vhem_step step = step_of(model);
    return vh_vhem_maximise(ctx, &step);
}

static vhem_status repair(vhem_ctx *ctx, void *model, int k, vh_vhem_run *run, bool *repaired)
{
    const vh_vhem_step step = step_of(model);
    return step.opt->repair ? vh_repair(ctx, &step, k, run, repaired) : VHEM_OK;
}

static const vh_hem vhem = { expect, converged, maximise, repair };

/* Fills the tables of the final model, if no E-step has. */
static vhem_status fill_tables(vhem_ctx *ctx, hmm_model *m, vh_vhem_run *run)
{
    m->step.statistics = false;
    m->step.L = run->L;
    m->step.z = run->z;
    m->step.label = run->label;
    vhem_status st = vh_vhem_sum(ctx, m->base, m->centers, &m->step, m->workers, &m->sums);
    if (st == VHEM_ESTOPPED) /* no tables, no result */
        run->n_iter = -1;
    return st;
}

vhem_status vh_vhem(vhem_ctx *ctx, const vh_base *base, const vh_vhem_options *opt, const vh_workers *workers,
                    vh_h3m *centers, vh_vhem_run *run)
{
    VH_CLEANUP(close_model)
    hmm_model m = { .base = base, .opt = opt, .workers = workers, .centers = centers };
    bool late = base->remote.executor || base->shared
                || vh_reduce_is_remote(base->opened); /* fill tables at the end */

    run->n_iter = -1;
    VH_TRY(open_model(ctx, &m));
    VH_TRY(make_tables(ctx, base->Kb, centers->K, opt->lean, run));
    m.step.L = late ? NULL : run->L;
    m.step.z = late ? NULL : run->z;
    m.step.label = late ? NULL : run->label;
    vhem_status st = vh_hem_run(ctx, &vhem, &m, opt->max_iter, run);
    if (st == VHEM_ESTOPPED && late) /* no tables, no result */
        run->n_iter = -1;
    VH_TRY(st);
    if (late || m.known)
        VH_TRY(fill_tables(ctx, &m, run));
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
