/* SPDX-License-Identifier: BSD-3-Clause */
/* vb.c - VBHEM as steps of the loop (loop.h); see vb.h.
 *
 *   1. storage      2. the expected model and its E-step      3. update and pruning      4. steps of the loop
 *
 * In the toolbox's mode omega_j is raised to the power N_i.  VHEM's E-step does that to the likelihood, so
 * omega_j is multiplied into pi_j there. */
#include "vhem/vb.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

#define FEW_ITEMS  0.5 /* a cluster with fewer members than this is empty, */
#define FEW_FRAMES 1.0 /* and so is a state or component with fewer virtual frames */

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

void vh_vb_free(vh_vb *m)
{
    vh_posteriors_free(m->post);
    vh_prior_free(m->prior);
    *m = (vh_vb){ 0 };
}

vhem_status vh_vb_copy(vhem_ctx *ctx, const vh_vb *m, vh_vb *out)
{
    VH_CLEANUP(vh_vb_free) vh_vb copy = { 0 };

    VH_TRY(vh_prior_copy(ctx, m->prior, &copy.prior));
    VH_TRY(vh_posteriors_copy(ctx, m->post, &copy.post));
    copy.post->shape = copy.prior;
    *out = copy;
    copy = (vh_vb){ 0 };
    return VHEM_OK;
}

typedef struct { /* buffers of an E-step, for HMMs of the current sizes */
    vh_h3m *model;
    vh_packed *pk;
    vh_reduce_sums sums;
    double *log_omega;
} engine;

static void engine_free(engine *e)
{
    vh_h3m_free(e->model);
    vh_pack_free(e->pk);
    vh_reduce_sums_free(&e->sums);
    free(e->log_omega);
    *e = (engine){ 0 };
}

static vhem_status engine_new(vhem_ctx *ctx, const vh_base *base, const vh_posteriors *post, engine *e)
{
    VH_TRY(vh_h3m_new(ctx, base->h3m->family, post->shape->shape, post->K, &e->model));
    for (int j = 0; j < post->K; j++)
        VH_TRY(vh_h3m_shape(ctx, e->model, j, post->hmm[j].S, post->hmm[j].M));
    VH_TRY(vh_pack_new(ctx, e->model, NULL, post->K, base->origin, base->scale, &e->pk));
    VH_TRY(vh_reduce_sums_new(ctx, e->pk, &e->sums));
    VH_NEW(e->log_omega, post->K);
    return VHEM_OK;
}

/* ---- 2. the expected model ----------------------------------------------------------------------------- */

/* Moves omega_j from log_omega into pi_j, so that the E-step raises it to the power N_i. */
static void raise_omega(vh_h3m *model, double *log_omega)
{
    for (int64_t j = 0; j < model->K; j++) {
        for (int s = 0; s < model->hmm[j].S; s++)
            model->hmm[j].pi[s] *= exp(log_omega[j]);
        log_omega[j] = 0;
    }
}

static vhem_status expect_model(vhem_ctx *ctx, const vh_vb_options *opt, const vh_vb *m, engine *e)
{
    const vh_limits lim = { 0 };

    vh_dirichlet_log_mean(m->post->K, m->post->alpha, e->log_omega);
    for (int j = 0; j < m->post->K; j++)
        vh_posterior_expect(m->prior, &lim, &m->post->hmm[j], e->model, &e->model->hmm[j]);
    if (opt->toolbox)
        raise_omega(e->model, e->log_omega);
    VH_TRY(vh_pack_update(ctx, e->model, NULL, e->pk));
    for (int j = 0; j < m->post->K; j++)
        vh_posterior_shift(&m->post->hmm[j], e->pk, j);
    return VHEM_OK;
}

/* Removes omega from L in the toolbox's mode. */
static void lower_L(const vh_vb *m, int64_t Kb, double *log_omega, double *L)
{
    int K = m->post->K;
    vh_dirichlet_log_mean(K, m->post->alpha, log_omega);
    for (int64_t i = 0; i < Kb; i++)
        for (int j = 0; j < K; j++)
            L[vh_ij(i, K, j)] -= log_omega[j];
}

double vh_vb_kl(const vh_vb *m, double *kl)
{
    const vh_limits lim = { 0 };
    double sum = vh_dirichlet_kl(m->post->K, m->post->alpha, m->prior->alpha);
    for (int j = 0; j < m->post->K; j++) {
        double own = vh_posterior_kl(m->prior, &lim, &m->post->hmm[j]);
        if (kl)
            kl[j] = own;
        sum += own;
    }
    return sum;
}

/* ---- 3. update and pruning ----------------------------------------------------------------------------- */

static void update(const vh_base *base, const vh_vb_options *opt, engine *e, vh_vb *m)
{
    double each = opt->toolbox ? opt->run.N / base->Kb : 1;
    for (int j = 0; j < m->post->K; j++) {
        vh_posterior *h = &m->post->hmm[j];
        m->post->alpha[j] = m->prior->alpha + each * vh_scaled_value(e->sums.sum_z[j], e->sums.scale_z[j]);
        vh_stats_multiply(e->pk, &e->sums.stats, j, opt->run.N);
        vh_posterior_update(m->prior, e->pk, j, &e->sums.stats, h);
        for (int q = 0; opt->toolbox && q < h->S * h->M; q++)
            h->nu[q] += 1;
        for (int q = 0; opt->toolbox && h->by_column && q < h->S * h->M * m->prior->d; q++)
            h->col_nu[q] += 1;
    }
}

/* Virtual frames of state s. */
static double frames_of(const vh_vb *m, const vh_posterior *h, int s)
{
    double sum = 0;
    for (int l = 0; l < h->M; l++)
        sum += h->kappa[s * h->M + l] - m->prior->kappa;
    return sum;
}

/* Largest number of components in use in a state of the HMM. */
static int components_of(const vh_vb *m, const vh_posterior *h)
{
    int most = 1;
    for (int s = 0; s < h->S; s++) {
        int used = 0;
        for (int l = 0; l < h->M; l++)
            used += h->kappa[s * h->M + l] - m->prior->kappa >= FEW_FRAMES;
        most = used > most ? used : most;
    }
    return most;
}

/* ---- 4. steps of the loop ------------------------------------------------------------------------------ */

static vh_reduce_step step_of(const vh_vb_options *opt, const engine *e, const vh_vhem_run *run)
{
    return (vh_reduce_step){ .reduced = e->pk,
                             .tau = opt->run.tau,
                             .log_omega = e->log_omega,
                             .N = opt->run.N,
                             .weighted = opt->toolbox,
                             .L = run ? run->L : NULL,
                             .z = run ? run->z : NULL };
}

vhem_status vh_vb_begin(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                        const vh_workers *workers, const vh_h3m *start, vh_vb *m)
{
    VH_CLEANUP(engine_free) engine e = { 0 };

    VH_TRY(vh_posteriors_like(ctx, m->prior, start, &m->post));
    VH_TRY(engine_new(ctx, base, m->post, &e));
    for (int64_t j = 0; j < start->K; j++) {
        vh_hmm_copy(&e.model->hmm[j], &start->hmm[j]);
        e.log_omega[j] = log(start->omega[j]);
    }
    if (opt->toolbox)
        raise_omega(e.model, e.log_omega);
    VH_TRY(vh_pack_update(ctx, e.model, NULL, e.pk));
    vh_reduce_step step = step_of(opt, &e, NULL);
    step.statistics = true;
    VH_TRY(vh_reduce_run(ctx, base->opened, &step, workers, false, &e.sums));
    update(base, opt, &e, m);
    return VHEM_OK;
}

typedef struct { /* the model that the VBHEM loop updates */
    const vh_base *base;
    const vh_vb_options *opt;
    const vh_workers *workers;
    vh_vb *m;
    vh_vhem_run *run;
    engine e;
    bool late;  /* fill the tables at the end */
    int k;      /* updates so far */
    bool rests; /* the bound has converged */
} loop;

/* The alpha below which a cluster is empty. */
static double few_items(const loop *w)
{
    return w->m->prior->alpha + FEW_ITEMS * (w->opt->toolbox ? w->opt->run.N / w->base->Kb : 1);
}

/* Removes empty clusters, states and components, except the last cluster and the last state of each; returns
 * true if there were any.  only_ask: removes nothing. */
static bool prune(const loop *w, bool only_ask)
{
    vh_posteriors *p = w->m->post;
    bool any = false;

    for (int j = p->K - 1; j >= 0 && p->K > 1; j--)
        if (p->alpha[j] < few_items(w)) {
            any = true;
            if (!only_ask)
                vh_posteriors_drop(p, j);
        }
    for (int j = 0; j < p->K; j++) {
        vh_posterior *h = &p->hmm[j];
        for (int s = h->S - 1; s >= 0 && h->S > 1; s--)
            if (frames_of(w->m, h, s) < FEW_FRAMES) {
                any = true;
                if (!only_ask)
                    vh_posteriors_drop_state(p, j, s);
            }
        int M = components_of(w->m, h);
        any |= M < h->M;
        if (M < h->M && !only_ask)
            vh_posteriors_keep_components(p, j, M);
    }
    return any;
}

static vhem_status expect(vhem_ctx *ctx, void *model, bool last, double *J)
{
    loop *w = model;
    const vh_vb *m = w->m;
    engine *e = &w->e;
    vh_reduce_step step = step_of(w->opt, e, w->late ? NULL : w->run);

    step.statistics = !last;
    step.soft = m->post->K == 1 || 2 * *e->sums.used > (double)w->base->Kb * m->post->K;
    VH_TRY(expect_model(ctx, w->opt, m, e));
    vhem_status st = vh_reduce_run(ctx, w->base->opened, &step, w->workers, false, &e->sums);
    if (st == VHEM_ESTOPPED) /* the tables are not of this posterior: there is no result */
        w->run->n_iter = -1;
    VH_TRY(st);
    *J = *e->sums.J - vh_vb_kl(m, NULL);
    VH_CHECK(isfinite(*J), VHEM_ENUMERIC, "the bound is %g, must be finite", *J);
    return VHEM_OK;
}

/* Not converged while something can be pruned. */
static bool converged(vhem_ctx *ctx, void *model, int k, bool repaired, vh_vhem_run *run)
{
    loop *w = model;
    w->k = k;
    w->rests = vh_vhem_converged(ctx, &w->opt->run, k, repaired, run);
    return w->rests && !(w->opt->prune && prune(w, true));
}

static vhem_status maximise(vhem_ctx *ctx, void *model)
{
    loop *w = model;
    if (w->opt->learn > 0 && (w->k + 1) % w->opt->learn == 0)
        VH_TRY(vh_vb_learn(ctx, w->m));
    update(w->base, w->opt, &w->e, w->m);
    return VHEM_OK;
}

/* After pruning, the engine is rebuilt for the new sizes. */
static vhem_status repair(vhem_ctx *ctx, void *model, int k, vh_vhem_run *run, bool *repaired)
{
    loop *w = model;
    (void)run;
    *repaired = w->opt->prune && (w->rests || k + 1 == w->opt->run.max_iter) && prune(w, false);
    if (!*repaired)
        return VHEM_OK;
    engine_free(&w->e);
    return engine_new(ctx, w->base, w->m->post, &w->e);
}

static const vh_hem vbhem = { expect, converged, maximise, repair };

static void close_loop(loop *w)
{
    engine_free(&w->e);
}

vhem_status vh_vb_run(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt, const vh_workers *workers,
                      vh_vb *m, vh_vhem_run *run)
{
    VH_CLEANUP(close_loop)
    loop w = { .base = base,
               .opt = opt,
               .workers = workers,
               .m = m,
               .run = run,
               .late = vh_reduce_is_remote(base->opened) };
    size_t pairs = vh_cells(base->Kb, m->post->K);

    VH_TRY(engine_new(ctx, base, m->post, &w.e));
    if (!opt->run.lean) {
        VH_NEW(run->z, pairs);
        VH_NEW(run->L, pairs);
    }
    VH_TRY(vh_hem_run(ctx, &vbhem, &w, opt->run.max_iter, run));
    run->n_fell = opt->toolbox ? 0 : run->n_fell;
    if (w.late && run->L) {
        const vh_reduce_step step = step_of(opt, &w.e, run);
        VH_TRY(vh_reduce_run(ctx, base->opened, &step, workers, false, &w.e.sums));
    }
    if (opt->toolbox && run->L)
        lower_L(m, base->Kb, w.e.log_omega, run->L);
    return vh_stopped(ctx) ? VHEM_ESTOPPED : VHEM_OK;
}
