/* SPDX-License-Identifier: BSD-3-Clause */
/* vb_shrink.c - VBHEM with fewer clusters, states and components than the run ended with.
 *
 * Pruning removes only what is empty.  With many virtual samples assignments are hard, and two clusters that
 * share the members of one kind never become empty, even if one would be much better.  So each is removed in
 * turn, the most promising first: without cluster j the E-step loses
 *
 *   sum_i log sum_j' w_ij' - log sum_{j' != j} w_ij',   w_ij = omega_j exp(N_i L_ij)
 *
 * and gains KL_j, before the other clusters have learned from its members. */
#include "core/alloc.h"
#include "core/array2.h"
#include "math/logsum.h"
#include "prior/posterior_set.h"
#include "vhem/vb.h"

#include <math.h>
#include <string.h>

enum {
    PROMISING = 3, /* clusters tried before giving up */
    ITER = 60,     /* iterations of a try */
};
#define TOL 1e-6

typedef struct {
    const vh_base *base;
    const vh_vb_options *opt;
    const vh_workers *workers;
    int left; /* tries left */
    vh_vb *m;
    vh_vhem_run *run;
} shrinking;

double vh_vb_value(const vh_vb *m, const vh_vhem_run *run)
{
    return run->J[run->n_iter] + vh_posteriors_log_symmetries(m->post);
}

/* Moves m and run into the task. */
static void take_result(shrinking *t, vh_vb *m, vh_vhem_run *run)
{
    vh_vb_free(t->m);
    vh_vhem_run_free(t->run);
    *t->m = *m;
    *t->run = *run;
    *m = (vh_vb){ 0 };
    *run = (vh_vhem_run){ 0 };
}

/* Tries the model without cluster j, or without one of its states, or (ONE_COMPONENT) without one
 * component of each of its states; *better: it replaced the model of the task. */
enum { ALL_STATES = -1, ONE_COMPONENT = -2 };
static vhem_status try_without(vhem_ctx *ctx, shrinking *t, int j, int state, bool *better)
{
    VH_CLEANUP(vh_vb_free) vh_vb m = { 0 };
    VH_CLEANUP(vh_vhem_run_free) vh_vhem_run run = { 0 };
    vh_vb_options o = *t->opt;

    *better = false;
    t->left--;
    o.run.max_iter = o.run.max_iter < ITER ? o.run.max_iter : ITER;
    o.run.tol = fmax(o.run.tol, TOL);
    VH_TRY(vh_vb_copy(ctx, t->m, &m));
    if (state == ONE_COMPONENT)
        vh_posteriors_keep_components(m.post, j, m.post->hmm[j].M - 1);
    else if (state != ALL_STATES)
        vh_posteriors_drop_state(m.post, j, state);
    else
        vh_posteriors_drop(m.post, j);
    VH_TRY(vh_vb_run(ctx, t->base, &o, t->workers, &m, &run));
    if (vh_vb_value(&m, &run) > vh_vb_value(t->m, t->run)) {
        take_result(t, &m, &run);
        *better = true;
    }
    return VHEM_OK;
}

/* Continues with the user's options: a try ends sooner than a run.  If stopped within an E-step, the
 * continued run has no tables, and the result of the tries is kept. */
static vhem_status finish_shrinking(vhem_ctx *ctx, shrinking *t)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(vh_vb_free) vh_vb m = { 0 };
    VH_CLEANUP(vh_vhem_run_free) vh_vhem_run run = { 0 };

    VH_TRY(vh_vb_copy(ctx, t->m, &m));
    st = vh_vb_run(ctx, t->base, t->opt, t->workers, &m, &run);
    if (st == VHEM_OK || (st == VHEM_ESTOPPED && run.n_iter >= 0))
        take_result(t, &m, &run);
    return st;
}

/* promise [K]: estimated gain of the bound without each cluster, before any update. */
static vhem_status find_promise(vhem_ctx *ctx, const shrinking *t, double *promise)
{
    int K = t->m->post->K;
    VH_AUTOFREE double *log_omega = NULL;
    double *w;

    VH_NEW(log_omega, 2 * (size_t)K);
    w = log_omega + K;
    vh_dirichlet_log_mean(K, t->m->post->alpha, log_omega);
    vh_vb_kl(t->m, promise);
    for (int64_t i = 0; i < t->base->Kb; i++) {
        double Ni = t->opt->run.N * t->base->h3m->omega[i];
        for (int j = 0; j < K; j++) /* L may be -inf; skip it for models of weight 0 */
            w[j] = log_omega[j] + (Ni > 0 ? Ni * t->run->L[vh_ij(i, K, j)] : 0);
        double all = vh_logsum(K, w, 1);
        if (!isfinite(all))
            continue;
        for (int j = 0; j < K; j++) {
            double own = w[j];
            w[j] = -INFINITY;
            promise[j] -= all - vh_logsum(K, w, 1);
            w[j] = own;
        }
    }
    return VHEM_OK;
}

static vhem_status shrink_clusters(vhem_ctx *ctx, shrinking *t, bool *any)
{
    VH_AUTOFREE double *promise = NULL;
    bool better = true;

    VH_NEW(promise, t->m->post->K);
    while (better && t->m->post->K > 1) {
        int K = t->m->post->K;
        VH_TRY(find_promise(ctx, t, promise));
        better = false;
        for (int k = 0; k < PROMISING && k < K && !better && t->left > 0; k++) {
            int j = vh_argmax(K, promise, 1);
            if (!(promise[j] > -INFINITY)) /* without it, no cluster explains some model */
                break;
            promise[j] = -INFINITY;
            VH_TRY(try_without(ctx, t, j, ALL_STATES, &better));
        }
        *any |= better;
    }
    return VHEM_OK;
}

/* The state after `last` in order of weight, then index; last = -1: the first.  *weight: in, that of `last`;
 * out, that of the result.  Returns -1 if there is none. */
static int next_state(const vh_posterior *h, int last, double *weight)
{
    int best = -1;
    double than = *weight;
    for (int s = 0; s < h->S; s++) {
        double own = 0;
        for (int l = 0; l < h->M; l++)
            own += h->kappa[s * h->M + l];
        bool after = last < 0 || own > than || (own == than && s > last);
        if (after && (best < 0 || own < *weight)) {
            best = s;
            *weight = own;
        }
    }
    return best;
}

static vhem_status shrink_states(vhem_ctx *ctx, shrinking *t, bool *any)
{
    for (int j = 0; j < t->m->post->K; j++) {
        int last = -1;
        double weight = 0;
        while (j < t->m->post->K && t->m->post->hmm[j].S > 1 && t->left > 0) {
            bool better;
            int s = next_state(&t->m->post->hmm[j], last, &weight);
            if (s < 0)
                break;
            VH_TRY(try_without(ctx, t, j, s, &better));
            last = better ? -1 : s;
            *any |= better;
        }
    }
    return VHEM_OK;
}

/* Tries to remove the lightest component of each state. */
static vhem_status shrink_components(vhem_ctx *ctx, shrinking *t, bool *any)
{
    for (int j = 0; j < t->m->post->K; j++) {
        bool better = true;
        while (better && j < t->m->post->K && t->m->post->hmm[j].M > 1 && t->left > 0) {
            VH_TRY(try_without(ctx, t, j, ONE_COMPONENT, &better));
            *any |= better;
        }
    }
    return VHEM_OK;
}

vhem_status vh_vb_shrink(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                         const vh_workers *workers, int tries, vh_vb *m, vh_vhem_run *run)
{
    shrinking t = { base, opt, workers, tries, m, run };
    bool any = true, ever = false;

    while (any && t.left > 0 && !opt->toolbox) {
        any = false;
        VH_TRY(shrink_clusters(ctx, &t, &any));
        VH_TRY(shrink_states(ctx, &t, &any));
        VH_TRY(shrink_components(ctx, &t, &any));
        ever |= any;
    }
    if (ever && (!run->converged || opt->run.tol < TOL))
        VH_TRY(finish_shrinking(ctx, &t));
    return VHEM_OK;
}
