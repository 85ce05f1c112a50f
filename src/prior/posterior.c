/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior.c - see posterior.h.
 *
 *   1. storage      2. rows: Dirichlet distributions      3. components      4. whole HMMs */
#include "prior/posterior.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/gamma.h"
#include "emission/layout.h"
#include "prior/posterior_gaussian.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-200 /* smaller weights are rounding errors */

/* ---- 1. storage ---------------------------------------------------------------------------------------- */

void vh_posterior_arrays(const vh_prior *p, const vh_posterior *post, double **x, size_t *n)
{
    double *all[VH_POSTERIOR_ARRAYS] = { post->kappa, post->lambda, post->nu,         post->m,
                                         post->B,     post->count,  post->col_lambda, post->col_nu };
    size_t by_column = post->by_column ? vh_prior_means(p) : 0;
    size_t size[VH_POSTERIOR_ARRAYS] = {
        1, 1, 1, vh_prior_means(p), vh_prior_size(p), vh_prior_counts(p), by_column, by_column
    };
    memcpy(x, all, sizeof all);
    memcpy(n, size, sizeof size);
}

/* Most statistics a component of a channel has, with or without missing cells. */
static size_t most_stats(const vh_prior *p)
{
    const vh_emission *gaps = p->family->with_gaps;
    int own = p->family->n_stat(&p->shape), other = gaps && gaps != p->family ? gaps->n_stat(&p->shape) : 0;
    return (size_t)(own > other ? own : other);
}

vhem_status vh_posterior_new(vhem_ctx *ctx, const vh_prior *p, int S, int M, vh_posterior *out)
{
    size_t s = (size_t)S, q = s * (size_t)M, d = (size_t)p->d, size = vh_prior_size(p),
           n = vh_prior_counts(p);
    VH_CLEANUP(vh_posterior_free) vh_posterior x = { .S = S, .M = M };

    VH_NEW(x.eta, s + s * s + 3 * q + 3 * q * d + q * vh_prior_means(p) + q * size + q * n + 2 * size + 2 * d
                      + (p->n_channel > 0 ? 0 : most_stats(p)));
    x.eps = x.eta + s;
    x.kappa = x.eps + s * s;
    x.lambda = x.kappa + q;
    x.nu = x.lambda + q;
    x.shift = x.nu + q;
    x.m = x.shift + q * d;
    x.B = x.m + q * vh_prior_means(p);
    x.count = x.B + q * size;
    x.col_lambda = x.count + q * n;
    x.col_nu = x.col_lambda + q * d;
    x.work = x.col_nu + q * d;
    if (p->n_channel > 0)
        VH_NEW(x.channel, p->n_channel);
    x.n_channel = p->n_channel;
    for (int c = 0; c < p->n_channel; c++)
        VH_TRY(vh_posterior_new(ctx, p->channel[c], S, M, &x.channel[c]));
    *out = x;
    x = (vh_posterior){ 0 };
    return VHEM_OK;
}

void vh_posterior_free(vh_posterior *post)
{
    for (int c = 0; c < post->n_channel; c++)
        vh_posterior_free(&post->channel[c]);
    free(post->channel);
    free(post->eta);
    *post = (vh_posterior){ 0 };
}

void vh_posterior_by_column(const vh_prior *p, vh_posterior *post)
{
    bool diagonal = vh_prior_normal(p->family) && !vh_prior_full(p->family);
    for (int e = 0; diagonal && !post->by_column && e < post->S * post->M * p->d; e++) {
        post->col_lambda[e] = post->lambda[e / p->d];
        post->col_nu[e] = post->nu[e / p->d];
    }
    post->by_column |= diagonal;
    for (int c = 0; c < post->n_channel; c++)
        vh_posterior_by_column(p->channel[c], &post->channel[c]);
}

static vh_gathered gathered(const vh_packed *pk, int r, const vh_stats *stats)
{
    return (vh_gathered){ pk->family, &pk->about[r], stats->T + vh_row(r, pk->n_stat) };
}

double vh_posterior_seen(const vh_packed *pk, int r, const vh_stats *stats, int k)
{
    const vh_gathered g = gathered(pk, r, stats);
    return vh_gaussian_seen(&g, k);
}

double vh_posterior_moments(const vh_packed *pk, int r, const vh_stats *stats, double *mean, double *scatter)
{
    const vh_gathered g = gathered(pk, r, stats);
    return vh_gaussian_moments(&g, mean, scatter);
}

/* ---- 2. rows ------------------------------------------------------------------------------------------- */

static bool is_free(const double *fixed, int q)
{
    return !fixed || isnan(fixed[q]);
}

typedef struct { /* the free entries of a row */
    int n;
    double sum, share; /* of their pseudo-counts; probability left by the fixed ones */
} free_part;

static free_part part_of(int n, const double *fixed, const double *a)
{
    free_part x = { .share = 1 };
    for (int q = 0; q < n; q++)
        if (is_free(fixed, q)) {
            x.n++;
            x.sum += a[q];
        } else {
            x.share -= fixed[q];
        }
    return x;
}

static void expect_row(int n, const double *fixed, const double *a, double *p)
{
    free_part x = part_of(n, fixed, a);
    double psi = x.n > 1 ? vh_digamma(x.sum) : 0;
    for (int q = 0; q < n; q++)
        p[q] = !is_free(fixed, q) ? fixed[q] : x.n > 1 ? x.share * exp(vh_digamma(a[q]) - psi) : x.share;
}

static void mean_row(int n, const double *fixed, const double *a, double *p)
{
    free_part x = part_of(n, fixed, a);
    for (int q = 0; q < n; q++)
        p[q] = is_free(fixed, q) ? x.share * (a[q] / x.sum) : fixed[q];
}

typedef struct { /* log-constant of a symmetric Dirichlet distribution, cached for rows of one kind */
    int n;
    double a0, value;
} row_constant;

static double constant_of(row_constant *c, int n, double a0)
{
    if (c->n != n || c->a0 != a0)
        *c = (row_constant){ n, a0, n * vh_lgamma(a0) - vh_lgamma(n * a0) };
    return c->value;
}

static double kl_row(int n, const double *fixed, const double *a, double a0, row_constant *c)
{
    free_part x = part_of(n, fixed, a);
    if (x.n < 2)
        return 0; /* a single choice */
    double psi = vh_digamma(x.sum), kl = vh_lgamma(x.sum) + constant_of(c, x.n, a0);
    for (int q = 0; q < n; q++)
        if (is_free(fixed, q))
            kl += (a[q] - a0) * (vh_digamma(a[q]) - psi) - vh_lgamma(a[q]);
    return kl;
}

void vh_dirichlet_log_mean(int n, const double *a, double *log_p)
{
    double psi = vh_digamma(part_of(n, NULL, a).sum);
    for (int q = 0; q < n; q++)
        log_p[q] = vh_digamma(a[q]) - psi;
}

double vh_dirichlet_kl(int n, const double *a, double a0)
{
    row_constant c = { 0 };
    return kl_row(n, NULL, a, a0, &c);
}

void vh_dirichlet_mean(int n, const double *a, double *p)
{
    mean_row(n, NULL, a, p);
}

/* ---- 3. components ------------------------------------------------------------------------------------- */

/* The statistics table of a channel, with missing cells if that of the product has them. */
static const vh_emission *table_of(const vh_channel *c, const vh_emission *product)
{
    return product == product->with_gaps ? c->family->with_gaps : c->family;
}

static void update_known(const vh_prior *p, const vh_gathered *g, int q, vh_posterior *post)
{
    size_t n = vh_prior_counts(p);
    const double *T = g->T + 1;

    if (vh_prior_normal(p->family))
        vh_gaussian_update(p, g, q, post);
    for (size_t e = 0; e < n; e++)
        post->count[(size_t)q * n + e] =
            p->count[e] + (vh_prior_still(p, (int)(e % (size_t)p->d)) ? 0 : fmax(T[e], 0));
    for (int c = 0; c < p->n_channel; c++) {
        const vh_channel *ch = &p->shape.layout->channel[c];
        const vh_emission *table = table_of(ch, g->table);
        const vh_coords x = { ch->shape, g->x->origin + ch->column, g->x->scale + ch->column };
        int n_stat = table->n_stat(&ch->shape);
        double *own = post->channel[c].work + 2 * vh_prior_size(p->channel[c]) + 2 * (size_t)ch->shape.d;
        own[0] = g->T[0];
        memcpy(own + 1, T, sizeof *T * (size_t)(n_stat - 1));
        const vh_gathered part = { table, &x, own };
        update_known(p->channel[c], &part, q, &post->channel[c]);
        T += n_stat - 1;
    }
}

static void expect_known(const vh_prior *p, const vh_posterior *post, int q, double *const *par,
                         double *shift)
{
    double *of[VH_MAX_PARAM];

    if (vh_prior_normal(p->family))
        vh_gaussian_expect(p, post, q, par, shift);
    if (p->family->counts)
        p->family->counts->expect(&p->shape, post->count + (size_t)q * vh_prior_counts(p), par, shift);
    for (int c = 0; c < p->n_channel; c++) {
        vh_channel_par(&p->shape.layout->channel[c], par, of);
        expect_known(p->channel[c], &post->channel[c], q, of, shift + p->shape.layout->channel[c].column);
    }
}

static double kl_known(const vh_prior *p, const vh_posterior *post)
{
    double kl = vh_prior_normal(p->family) ? vh_gaussian_kl(p, post) : 0;
    for (int q = 0; p->family->counts && q < post->S * post->M; q++)
        kl += p->family->counts->kl(&p->shape, post->count + (size_t)q * vh_prior_counts(p), p->count);
    for (int c = 0; c < p->n_channel; c++)
        kl += kl_known(p->channel[c], &post->channel[c]);
    return kl;
}

/* Returns 1 if a floor was used, 0 if not, -1 if the covariance is singular. */
static int mean_known(const vh_prior *p, const vh_limits *lim, const vh_posterior *post, int q,
                      double *const *par, double *work)
{
    double *of[VH_MAX_PARAM];
    int held = 0;

    if (vh_prior_normal(p->family))
        return vh_gaussian_mean(p, lim, post, q, par, work);
    if (p->family->counts)
        p->family->counts->mean(&p->shape, post->count + (size_t)q * vh_prior_counts(p), par);
    for (int c = 0; c < p->n_channel; c++) {
        vh_limits own = *lim;
        own.floor = lim->floor ? lim->floor + p->shape.layout->channel[c].column : NULL;
        vh_channel_par(&p->shape.layout->channel[c], par, of);
        int one = mean_known(p->channel[c], &own, &post->channel[c], q, of, work);
        held = one < 0 || held < 0 ? -1 : held | one;
    }
    return held;
}

/* ---- 4. whole HMMs ------------------------------------------------------------------------------------- */

void vh_posterior_update(const vh_prior *p, const vh_packed *pk, int k, const vh_stats *stats,
                         vh_posterior *post)
{
    int S = post->S, M = post->M;

    for (int s = 0; s < S; s++)
        post->eta[s] = p->eta + stats->nu1[pk->state0[k] + s];
    for (int e = 0; e < S * S; e++)
        post->eps[e] = p->eps + stats->xi[pk->trans0[k] + (size_t)e];
    for (int q = 0; q < S * M; q++) {
        const vh_gathered g = gathered(pk, pk->comp0[k] + q, stats);
        post->kappa[q] = p->kappa + (g.T[0] > NOTHING ? g.T[0] : 0);
        update_known(p, &g, q, post);
    }
}

void vh_posterior_expect(const vh_prior *p, const vh_limits *lim, vh_posterior *post, const vh_h3m *h3m,
                         vh_hmm *h)
{
    int S = post->S, M = post->M;

    expect_row(S, lim->fixed_pi, post->eta, h->pi);
    for (int s = 0; s < S; s++) {
        expect_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, h->A + s * S);
        expect_row(M, NULL, post->kappa + s * M, vh_hmm_c(h) + s * M);
    }
    for (int q = 0; q < S * M; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, q / M, q % M, par);
        expect_known(p, post, q, par, post->shift + q * p->d);
    }
}

void vh_posterior_shift(const vh_posterior *post, vh_packed *pk, int k)
{
    int counts = vh_shift_counts(pk->family, &pk->shape);
    for (int q = 0; q < post->S * post->M; q++) {
        int r = pk->comp0[k] + q;
        double *theta = pk->theta + vh_row(r, pk->n_stat);
        const double *shift = post->shift + q * pk->d;
        if (pk->log_c[r] == VH_NEVER)
            continue;
        if (pk->family->shift)
            pk->family->shift(&pk->shape, shift, theta);
        for (int e = 0; e < counts; e++)
            pk->seen_shift[r * counts + e] = shift[e];
        for (int e = 0; !pk->family->shift && e < pk->d; e++) {
            theta[0] += shift[e];
            pk->log_c[r] += shift[e];
        }
    }
}

double vh_posterior_kl(const vh_prior *p, const vh_limits *lim, const vh_posterior *post)
{
    int S = post->S, M = post->M;
    row_constant c = { 0 }, of_c = { 0 };
    double kl = kl_row(S, lim->fixed_pi, post->eta, p->eta, &c);

    for (int s = 0; s < S; s++)
        kl += kl_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, p->eps, &c)
              + kl_row(M, NULL, post->kappa + s * M, p->kappa, &of_c);
    return kl + kl_known(p, post);
}

/* Scratch size for the means of components. */
static size_t mean_work(const vh_prior *p)
{
    size_t most = vh_prior_normal(p->family) ? vh_posterior_work(p->family, p->d) : 0;
    for (int c = 0; c < p->n_channel; c++)
        most = mean_work(p->channel[c]) > most ? mean_work(p->channel[c]) : most;
    return most;
}

vhem_status vh_posterior_mean(vhem_ctx *ctx, const vh_prior *p, const vh_limits *lim,
                              const vh_posterior *post, const vh_h3m *h3m, vh_hmm *h, int *n_floored)
{
    int S = post->S, M = post->M, held = 0;
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, mean_work(p));
    mean_row(S, lim->fixed_pi, post->eta, h->pi);
    for (int s = 0; s < S; s++) {
        mean_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, h->A + s * S);
        mean_row(M, NULL, post->kappa + s * M, vh_hmm_c(h) + s * M);
    }
    for (int q = 0; q < S * M; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, q / M, q % M, par);
        int r = mean_known(p, lim, post, q, par, work);
        VH_CHECK(r >= 0, VHEM_ENUMERIC, "the covariance of state %d, component %d is singular", q / M, q % M);
        held += r;
    }
    *n_floored = held;
    return VHEM_OK;
}
