/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_set.c - see posterior_set.h.
 *
 *   1. storage      2. pruning and reordering      3. as models */
#include "prior/posterior_set.h"

#include "core/alloc.h"
#include "math/gamma.h"

#include <math.h>
#include <string.h>

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

vhem_status vh_posteriors_new(vhem_ctx *ctx, const vh_prior *shape, int K, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_NEW(p, 1);
    p->shape = shape;
    p->K = K;
    VH_NEW(p->alpha, K);
    VH_NEW(p->hmm, K);
    *out = vh_take(p);
    return VHEM_OK;
}

vhem_status vh_posteriors_like(vhem_ctx *ctx, const vh_prior *shape, const vh_h3m *h3m, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_TRY(vh_posteriors_new(ctx, shape, h3m->K, &p));
    for (int j = 0; j < p->K; j++)
        VH_TRY(vh_posterior_new(ctx, shape, h3m->hmm[j].S, h3m->hmm[j].M, &p->hmm[j]));
    *out = vh_take(p);
    return VHEM_OK;
}

/* Copies component `from` of h to component `to` of out, which may be h; not the rows of pi and A. */
static void copy_component(const vh_prior *shape, const vh_posterior *h, size_t from, vh_posterior *out,
                           size_t to)
{
    double *x[VH_POSTERIOR_ARRAYS], *y[VH_POSTERIOR_ARRAYS];
    size_t n[VH_POSTERIOR_ARRAYS];

    out->by_column = h->by_column;
    vh_posterior_arrays(shape, h, x, n);
    vh_posterior_arrays(shape, out, y, n);
    for (int k = 0; k < VH_POSTERIOR_ARRAYS; k++)
        memmove(y[k] + to * n[k], x[k] + from * n[k], sizeof **x * n[k]);
    for (int c = 0; c < shape->n_channel; c++)
        copy_component(shape->channel[c], &h->channel[c], from, &out->channel[c], to);
}

vhem_status vh_posteriors_copy(vhem_ctx *ctx, const vh_posteriors *post, vh_posteriors **out)
{
    VH_OWN(vh_posteriors) *p = NULL;

    VH_TRY(vh_posteriors_new(ctx, post->shape, post->K, &p));
    memcpy(p->alpha, post->alpha, sizeof *p->alpha * (size_t)p->K);
    for (int j = 0; j < p->K; j++) {
        const vh_posterior *h = &post->hmm[j];
        size_t S = (size_t)h->S;
        VH_TRY(vh_posterior_new(ctx, p->shape, h->S, h->M, &p->hmm[j]));
        memcpy(p->hmm[j].eta, h->eta, sizeof *h->eta * S);
        memcpy(p->hmm[j].eps, h->eps, sizeof *h->eps * S * S);
        for (size_t q = 0; q < S * (size_t)h->M; q++)
            copy_component(p->shape, h, q, &p->hmm[j], q);
    }
    *out = vh_take(p);
    return VHEM_OK;
}

void vh_posteriors_free(vh_posteriors *p)
{
    if (!p)
        return;
    for (int j = 0; p->hmm && j < p->K; j++)
        vh_posterior_free(&p->hmm[j]);
    vh_prior_free(p->own);
    free(p->alpha);
    free(p->hmm);
    free(p);
}

/* ---- 2. pruning and reordering ------------------------------------------------------------------------- */

void vh_posteriors_drop(vh_posteriors *p, int j)
{
    vh_posterior_free(&p->hmm[j]);
    for (p->K--; j < p->K; j++) {
        p->hmm[j] = p->hmm[j + 1];
        p->alpha[j] = p->alpha[j + 1];
    }
    p->hmm[p->K] = (vh_posterior){ 0 };
}

/* Sets the sizes of an HMM and its channels. */
static void resize(vh_posterior *h, int S, int M)
{
    h->S = S;
    h->M = M;
    for (int c = 0; c < h->n_channel; c++)
        resize(&h->channel[c], S, M);
}

void vh_posteriors_drop_state(vh_posteriors *p, int j, int s)
{
    vh_posterior *h = &p->hmm[j];
    size_t S = (size_t)h->S, M = (size_t)h->M, at = (size_t)s, n = 0;

    for (size_t e = 0; e < S * S; e++)
        if (e / S != at && e % S != at)
            h->eps[n++] = h->eps[e];
    for (size_t r = at + 1; r < S; r++) {
        h->eta[r - 1] = h->eta[r];
        for (size_t l = 0; l < M; l++)
            copy_component(p->shape, h, r * M + l, h, (r - 1) * M + l);
    }
    resize(h, h->S - 1, h->M);
}

/* Number of components of the state that are heavier than component l; ties by index. */
static int rank_of(const double *kappa, int M, int l)
{
    int rank = 0;
    for (int k = 0; k < M; k++)
        rank += kappa[k] > kappa[l] || (kappa[k] == kappa[l] && k < l);
    return rank;
}

void vh_posteriors_keep_components(vh_posteriors *p, int j, int M)
{
    vh_posterior *h = &p->hmm[j];
    size_t to = 0;
    memcpy(h->shift, h->kappa, sizeof *h->shift * (size_t)(h->S * h->M)); /* kappa is overwritten */
    for (int q = 0; q < h->S * h->M; q++)
        if (rank_of(h->shift + q / h->M * h->M, h->M, q % h->M) < M)
            copy_component(p->shape, h, (size_t)q, h, to++);
    resize(h, h->S, M);
}

vhem_status vh_posteriors_order_states(vhem_ctx *ctx, vh_posteriors *p, int j, const int *from)
{
    vh_posterior *h = &p->hmm[j], old = { 0 };
    int S = h->S, M = h->M;

    VH_TRY(vh_posterior_new(ctx, p->shape, S, M, &old));
    for (int s = 0; s < S; s++) {
        old.eta[s] = h->eta[from[s]];
        for (int r = 0; r < S; r++)
            old.eps[s * S + r] = h->eps[from[s] * S + from[r]];
        for (int l = 0; l < M; l++)
            copy_component(p->shape, h, (size_t)(from[s] * M + l), &old, (size_t)(s * M + l));
    }
    vh_posterior_free(h);
    *h = old;
    return VHEM_OK;
}

vhem_status vh_posteriors_order(vhem_ctx *ctx, vh_posteriors *p, const int *from)
{
    VH_AUTOFREE vh_posterior *hmm = NULL;
    VH_AUTOFREE double *alpha = NULL;

    VH_NEW(hmm, p->K);
    VH_NEW(alpha, p->K);
    for (int j = 0; j < p->K; j++) {
        hmm[j] = p->hmm[from[j]];
        alpha[j] = p->alpha[from[j]];
    }
    memcpy(p->hmm, hmm, sizeof *hmm * (size_t)p->K);
    memcpy(p->alpha, alpha, sizeof *alpha * (size_t)p->K);
    return VHEM_OK;
}

double vh_posteriors_log_symmetries(const vh_posteriors *p)
{
    double sum = vh_lgamma(p->K + 1);
    for (int j = 0; j < p->K; j++)
        sum += vh_lgamma(p->hmm[j].S + 1) + p->hmm[j].S * vh_lgamma(p->hmm[j].M + 1);
    return sum;
}

/* ---- 3. as models -------------------------------------------------------------------------------------- */

vhem_status vh_posteriors_mean(vhem_ctx *ctx, const vh_posteriors *p, vh_h3m **out)
{
    const vh_limits lim = { .exact = true };
    VH_OWN(vh_h3m) *h3m = NULL;
    int n_floored;

    VH_TRY(vh_h3m_new(ctx, p->shape->family, p->shape->shape, p->K, &h3m));
    vh_dirichlet_mean(p->K, p->alpha, h3m->omega);
    for (int j = 0; j < p->K; j++) {
        VH_TRY(vh_h3m_shape(ctx, h3m, j, p->hmm[j].S, p->hmm[j].M));
        VH_TRY(vh_posterior_mean(ctx, p->shape, &lim, &p->hmm[j], h3m, &h3m->hmm[j], &n_floored));
    }
    *out = vh_take(h3m);
    return VHEM_OK;
}
