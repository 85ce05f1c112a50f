/* SPDX-License-Identifier: BSD-3-Clause */
/* vb_prior.c - the prior of VBHEM: the default, and type-II maximum likelihood.
 *
 * The bound depends on the prior only through KL(posterior | prior).  Its stationary points have a closed
 * form or are roots of decreasing functions: with n components, P = E[Lambda] = nu B^-1,
 *
 *   m0   = (sum P)^-1 sum P m            lambda0 = n d / sum ( d / lambda + (m - m0)' P (m - m0) )
 *   W0   = diag(sum P) / (n nu0)         nu0: the root of sum E log|Lambda| - n E0 log|Lambda|, with this W0
 *   a0   : the root of sum over rows of k (psi(k a0) - psi(a0)) + E log of its k entries
 *
 * For families other than Gaussians, only the Dirichlet parameters of rows are learned. */
#include "core/alloc.h"
#include "math/gamma.h"
#include "math/linalg.h"
#include "vhem/vb.h"

#include <math.h>
#include <string.h>

#define LOG_2  0.69314718055994530942
#define LEAST  1e-4 /* smallest mean variance within the models, as a share of the pooled variance */
#define FRAMES 1.0  /* frames of the pooled component in the prior of other families than Gaussians */
enum { FEW = 5 };   /* components needed to learn more than m and W */
enum { HALVINGS = 200 };

/* ---- the default --------------------------------------------------------------------------------------- */

/* The prior of Gaussians: the mean of all base components, and the mean variance within them. */
static vhem_status default_normal(vhem_ctx *ctx, const vh_base *base, vh_prior **out)
{
    const vh_h3m *h3m = base->h3m;
    int d = h3m->d;
    VH_OWN(vh_prior) *p = NULL;
    VH_AUTOFREE double *sum = NULL;
    double *all;

    VH_TRY(vh_prior_new_shaped(ctx, vh_emission_find(h3m->family->name), &h3m->shape, &p));
    VH_NEW(sum, 2 * d);
    all = sum + d;
    for (int64_t i = 0; i < h3m->K; i++)
        for (int q = 0; q < h3m->hmm[i].S * h3m->hmm[i].M; q++) {
            const vh_hmm *h = &h3m->hmm[i];
            double *par[VH_MAX_PARAM], w = h3m->omega[i] * vh_hmm_c(h)[q] / h->S;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            for (int k = 0; k < d; k++) {
                double var = par[1][vh_scatter_at(h3m->family, d, k)];
                sum[k] += isnan(var) ? 0 : w * var; /* NaN: the HMM lacks the column */
                all[k] += isnan(var) ? 0 : w;
            }
        }
    p->eta = p->eps = p->kappa = 1;
    p->lambda = 0.01;
    p->nu = vh_prior_full(h3m->family) ? d + 2 : 3;
    memcpy(p->m, base->origin, sizeof *p->m * (size_t)d);
    for (int k = 0; k < d; k++)
        p->B[vh_scatter_at(h3m->family, d, k)] =
            p->nu * fmax(sum[k] / all[k], LEAST * base->scale[k] * base->scale[k]);
    *out = vh_take(p);
    return VHEM_OK;
}

/* The pooled component: maximises the mean statistics of all base components. */
static vhem_status pool(vhem_ctx *ctx, const vh_base *base, vh_h3m **out)
{
    const vh_h3m *h3m = base->h3m;
    const vh_coords x = { h3m->shape, base->origin, base->scale };
    size_t n_stat = (size_t)h3m->family->n_stat(&h3m->shape);
    VH_OWN(vh_h3m) *one = NULL;
    VH_AUTOFREE double *sum = NULL;
    double *T, *floor, *par[VH_MAX_PARAM];

    VH_NEW(sum, 2 * n_stat + (size_t)h3m->d + vh_emission_room(h3m->family, &h3m->shape));
    T = sum + n_stat;
    floor = T + n_stat;
    for (int i = 0; i < h3m->K; i++)
        for (int q = 0; q < h3m->hmm[i].S * h3m->hmm[i].M; q++) {
            const vh_hmm *h = &h3m->hmm[i];
            double w = h3m->omega[i] * vh_hmm_c(h)[q] / h->S;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            h3m->family->stats_of_component(&x, (const double *const *)par, T);
            for (size_t e = 0; e < n_stat; e++)
                sum[e] += w * T[e];
        }
    for (size_t e = n_stat; e-- > 0;)
        sum[e] /= sum[0];
    for (int k = 0; k < h3m->d; k++)
        floor[k] = LEAST * base->scale[k] * base->scale[k];
    VH_TRY(vh_h3m_new(ctx, vh_emission_find(h3m->family->name), h3m->shape, 1, &one));
    VH_TRY(vh_h3m_shape(ctx, one, 0, 1, 1));
    one->hmm[0].pi[0] = one->hmm[0].A[0] = vh_hmm_c(&one->hmm[0])[0] = 1;
    vh_hmm_component(one, &one->hmm[0], 0, 0, par);
    VH_CHECK(h3m->family->maximise(&x, sum, floor, par, floor + h3m->d) >= 0, VHEM_ENUMERIC,
             "the models have no spread");
    *out = vh_take(one);
    return VHEM_OK;
}

vhem_status vh_vb_default_prior(vhem_ctx *ctx, const vh_base *base, vh_prior **out)
{
    VH_CLEANUP(vh_frames_prior_free) vh_frames_prior from = { .frames = FRAMES, .count = 1 };

    if (vh_prior_normal(base->h3m->family))
        return default_normal(ctx, base, out);
    VH_TRY(vh_prior_require(ctx, base->h3m->family, &base->h3m->shape));
    VH_TRY(pool(ctx, base, &from.model));
    return vh_prior_from_frames(ctx, &from, out);
}

/* ---- roots --------------------------------------------------------------------------------------------- */

typedef double gradient(const void *arg, double x);

/* Root of a decreasing function between lo and hi, by bisection in log x; lo or hi if the sign never
 * changes. */
static double bisect(gradient *g, const void *arg, double lo, double hi)
{
    double a = log(lo), b = log(hi);
    for (int k = 0; k < HALVINGS && b - a > 1e-15 * fmax(1, fabs(a)); k++) {
        double mid = (a + b) / 2;
        if (g(arg, exp(mid)) > 0)
            a = mid;
        else
            b = mid;
    }
    return exp((a + b) / 2);
}

/* ---- Dirichlet parameters ------------------------------------------------------------------------------ */

typedef struct { /* rows of one array, over all HMMs */
    const vh_posteriors *post;
    enum { ETA, EPS, KAPPA, ALPHA } which;
    double sum; /* sum of E log of all entries */
    double *work;
} prior_rows;

/* Row r of HMM j; returns its length, 0 if there is no such row. */
static int row_of(const prior_rows *w, int j, int r, const double **row)
{
    const vh_posterior *h = &w->post->hmm[j];
    switch (w->which) {
    case ALPHA: *row = w->post->alpha; return j == 0 && r == 0 ? w->post->K : 0;
    case ETA: *row = h->eta; return r == 0 ? h->S : 0;
    case EPS: *row = h->eps + r * h->S; return r < h->S ? h->S : 0;
    default: *row = h->kappa + r * h->M; return r < h->S ? h->M : 0;
    }
}

static double row_gradient(const void *arg, double a)
{
    const prior_rows *w = arg;
    const double *row;
    double g = w->sum;
    for (int j = 0; j < w->post->K; j++)
        for (int r = 0, n; (n = row_of(w, j, r, &row)) > 0; r++)
            g += n > 1 ? n * (vh_digamma(n * a) - vh_digamma(a)) : 0;
    return g;
}

/* Learns a0 of one kind of rows; unchanged if every row has a single entry. */
static void learn_rows(prior_rows *w, double *a0)
{
    const double *row;
    bool any = false;
    w->sum = 0;
    for (int j = 0; j < w->post->K; j++)
        for (int r = 0, n; (n = row_of(w, j, r, &row)) > 0; r++) {
            any |= n > 1;
            vh_dirichlet_log_mean(n, row, w->work);
            for (int q = 0; n > 1 && q < n; q++)
                w->sum += w->work[q];
        }
    if (any)
        *a0 = bisect(row_gradient, w, 1e-6, 1e6);
}

/* ---- components ---------------------------------------------------------------------------------------- */

typedef struct {
    vh_vb *m;
    bool full;
    int n;                              /* number of components */
    double *P;                          /* [size]  of one component */
    double *sum_P;                      /* [size] */
    double *sum_m;                      /* [d]  sum P m */
    double log_precision, log_diagonal; /* sum E log|Lambda|; log|diag(sum P) / n| */
} components;

static void components_free(components *c)
{
    free(c->P);
    free(c->sum_P);
    free(c->sum_m);
}

/* P of component q of an HMM; returns false if its scatter is singular. */
static bool find_P(const components *c, const vh_posterior *h, int q)
{
    size_t size = vh_prior_size(c->m->prior);
    memcpy(c->P, h->B + (size_t)q * size, sizeof *c->P * size);
    bool ok = vh_prior_invert(c->m->prior, c->P);
    for (size_t e = 0; e < size; e++)
        c->P[e] *= h->by_column ? h->col_nu[(size_t)q * size + e] : h->nu[q];
    return ok;
}

/* Entry k of P x. */
static double times(const components *c, const double *P, const double *x, int k)
{
    int d = c->m->prior->d;
    double sum = 0;
    for (int i = 0; c->full && i < d; i++)
        sum += P[k * d + i] * x[i];
    return c->full ? sum : P[k] * x[k];
}

static vhem_status gather_components(vhem_ctx *ctx, components *c)
{
    const vh_prior *p = c->m->prior;
    size_t size = vh_prior_size(p);

    for (int j = 0; j < c->m->post->K; j++) {
        const vh_posterior *h = &c->m->post->hmm[j];
        c->n += h->S * h->M;
        for (int q = 0; vh_prior_normal(p->family) && q < h->S * h->M; q++) {
            VH_CHECK(find_P(c, h, q), VHEM_ENUMERIC, "a scatter of the posterior is singular");
            for (size_t e = 0; e < size; e++)
                c->sum_P[e] += c->P[e];
            for (int k = 0; k < p->d; k++)
                c->sum_m[k] += times(c, c->P, h->m + q * p->d, k);
            c->log_precision += vh_posterior_log_precision(p, h, q);
        }
    }
    for (int k = 0; vh_prior_normal(p->family) && k < p->d; k++)
        c->log_diagonal += log(c->sum_P[vh_scatter_at(p->family, p->d, k)] / c->n);
    return VHEM_OK;
}

/* Learns m0 and, if lambda is true, lambda0. */
static vhem_status learn_means(vhem_ctx *ctx, components *c, bool lambda)
{
    vh_prior *p = c->m->prior;
    VH_AUTOFREE double *inverse = NULL, *away = NULL;
    double sum = 0;

    VH_NEW(inverse, vh_prior_size(p));
    VH_NEW(away, p->d);
    memcpy(inverse, c->sum_P, sizeof *inverse * vh_prior_size(p));
    VH_CHECK(vh_prior_invert(p, inverse), VHEM_ENUMERIC, "the precisions of the posterior are singular");
    for (int k = 0; k < p->d; k++)
        p->m[k] = times(c, inverse, c->sum_m, k);
    for (int j = 0; lambda && j < c->m->post->K; j++) {
        const vh_posterior *h = &c->m->post->hmm[j];
        for (int q = 0; q < h->S * h->M; q++) {
            find_P(c, h, q);
            for (int k = 0; k < p->d; k++)
                away[k] = h->m[q * p->d + k] - p->m[k];
            for (int k = 0; k < p->d; k++)
                sum += 1 / (h->by_column ? h->col_lambda[q * p->d + k] : h->lambda[q])
                       + away[k] * times(c, c->P, away, k);
        }
    }
    if (lambda)
        p->lambda = c->n * (double)p->d / sum;
    return VHEM_OK;
}

/* The gradient by nu0 = extra + nu, with W0 as a function of nu0. */
static double nu_gradient(const void *arg, double extra)
{
    const components *c = arg;
    int d = c->m->prior->d;
    double nu = c->full ? extra + d - 1 : extra;
    double psi = c->full ? vh_digamma_wishart(d, nu) : d * vh_digamma(nu / 2);
    return c->log_precision / c->n - (c->log_diagonal - d * log(nu)) - d * LOG_2 - psi;
}

static void learn_scale(components *c, bool nu)
{
    vh_prior *p = c->m->prior;
    if (nu)
        p->nu = bisect(nu_gradient, c, 1e-6, 1e4) + (c->full ? p->d - 1 : 0);
    memset(p->B, 0, sizeof *p->B * vh_prior_size(p));
    for (int k = 0; k < p->d; k++) {
        size_t at = vh_scatter_at(p->family, p->d, k);
        p->B[at] = c->n * p->nu / c->sum_P[at];
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

vhem_status vh_vb_learn(vhem_ctx *ctx, vh_vb *m)
{
    const vh_posteriors *post = m->post;
    vh_prior *p = m->prior;
    VH_CLEANUP(components_free) components c = { .m = m, .full = vh_prior_full(p->family) };
    VH_AUTOFREE double *work = NULL;
    double *const a0[] = { [ETA] = &p->eta, [EPS] = &p->eps, [KAPPA] = &p->kappa, [ALPHA] = &p->alpha };
    int longest = post->K;

    for (int j = 0; j < post->K; j++) {
        longest = post->hmm[j].S > longest ? post->hmm[j].S : longest;
        longest = post->hmm[j].M > longest ? post->hmm[j].M : longest;
    }
    VH_NEW(work, longest);
    prior_rows w = { .post = post, .work = work };
    VH_NEW(c.P, vh_prior_size(p));
    VH_NEW(c.sum_P, vh_prior_size(p));
    VH_NEW(c.sum_m, p->d);
    VH_TRY(gather_components(ctx, &c));
    bool enough = c.n >= FEW;
    if (vh_prior_normal(p->family)) {
        VH_TRY(learn_means(ctx, &c, enough));
        learn_scale(&c, enough);
    }
    for (int k = ETA; enough && k <= ALPHA; k++) {
        w.which = k;
        learn_rows(&w, a0[k]);
    }
    return VHEM_OK;
}
