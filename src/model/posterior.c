/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior.c - see posterior.h.
 *
 *   1. moments of statistics      2. rows: Dirichlet distributions
 *   3. components: normal-gamma and normal-Wishart      4. whole HMMs */
#include "model/posterior.h"

#include "core/alloc.h"
#include "math/gamma.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-200 /* less weight is rounding */

#define LOG_2  0.69314718055994530942
#define LOG_PI 1.1447298858494001741

static bool is_full(const vh_prior *p)
{
    return vh_prior_full(p->family);
}

vhem_status vh_posterior_new(vhem_ctx *ctx, const vh_prior *p, int S, int M, vh_posterior *out)
{
    vhem_status st = VHEM_OK;
    size_t s = (size_t)S, q = s * (size_t)M, d = (size_t)p->d, size = vh_prior_size(p);
    vh_posterior x = { .S = S, .M = M };

    VH_NEW(x.eta, s + s * s + 4 * q + 4 * q * d + q * size + 2 * size + 2 * d);
    x.eps = x.eta + s;
    x.kappa = x.eps + s * s;
    x.lambda = x.kappa + q;
    x.nu = x.lambda + q;
    x.shift = x.nu + q;
    x.m = x.shift + q;
    x.B = x.m + q * d;
    x.col_lambda = x.B + q * size;
    x.col_nu = x.col_lambda + q * d;
    x.col_shift = x.col_nu + q * d;
    x.work = x.col_shift + q * d;
    *out = x;
done:
    return st;
}

void vh_posterior_free(vh_posterior *post)
{
    free(post->eta);
    *post = (vh_posterior){ 0 };
}

/* ---- 1. moments ---------------------------------------------------------------------------------------- */

double vh_posterior_seen(const vh_packed *pk, int r, const vh_stats *stats, int k)
{
    const double *T = stats->T + (size_t)r * (size_t)pk->n_stat;
    int counts = vh_seen_counts(pk->family, &pk->shape);
    return counts == 0 ? T[0] : T[pk->n_stat - counts + (counts > 1 ? k : 0)];
}

double vh_posterior_moments(const vh_packed *pk, int r, const vh_stats *stats, double *mean, double *scatter)
{
    const vh_coords *x = &pk->about[r];
    const double *T = stats->T + (size_t)r * (size_t)pk->n_stat;
    bool full = vh_prior_full(pk->family);
    int d = pk->d;

    memset(mean, 0, sizeof *mean * (size_t)d);
    memset(scatter, 0, sizeof *scatter * vh_scatter_size(pk->family, d));
    const double *second = T + 1 + d; /* squares, or the lower triangle of products by rows */
    for (int i = 0; i < d; i++) {
        double n = vh_posterior_seen(pk, r, stats, i);
        if (!(n > NOTHING)) { /* dividing by it makes noise */
            second += full ? i + 1 : 1;
            continue;
        }
        for (int j = full ? 0 : i; j <= i; j++) {
            double c = (*second++ - T[1 + i] / n * T[1 + j]) * x->scale[i] * x->scale[j];
            if (i == j)
                c = fmax(c, 0); /* rounding */
            scatter[full ? i * d + j : i] = c;
            if (full)
                scatter[j * d + i] = c;
        }
        mean[i] = x->origin[i] + x->scale[i] * T[1 + i] / n;
    }
    return T[0] > NOTHING ? T[0] : 0;
}

/* ---- 2. rows ------------------------------------------------------------------------------------------- */

static bool is_free(const double *fixed, int q)
{
    return !fixed || isnan(fixed[q]);
}

typedef struct { /* the free entries of a row */
    int n;
    double sum, share; /* of their pseudo-counts; of probability, which the fixed ones leave */
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
    double psi = x.n > 0 ? vh_digamma(x.sum) : 0;
    for (int q = 0; q < n; q++)
        p[q] = is_free(fixed, q) ? x.share * exp(vh_digamma(a[q]) - psi) : fixed[q];
}

static void mean_row(int n, const double *fixed, const double *a, double *p)
{
    free_part x = part_of(n, fixed, a);
    for (int q = 0; q < n; q++)
        p[q] = is_free(fixed, q) ? x.share * (a[q] / x.sum) : fixed[q];
}

static double kl_row(int n, const double *fixed, const double *a, double a0)
{
    free_part x = part_of(n, fixed, a);
    if (x.n < 2)
        return 0; /* nothing to choose */
    double psi = vh_digamma(x.sum), kl = vh_lgamma(x.sum) - vh_lgamma(x.n * a0) + x.n * vh_lgamma(a0);
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
    return kl_row(n, NULL, a, a0);
}

void vh_dirichlet_mean(int n, const double *a, double *p)
{
    mean_row(n, NULL, a, p);
}

/* ---- 3. components ------------------------------------------------------------------------------------- */

/* lambda, nu, m and B of a component from its n frames: mean ybar [d], scatter about it. */
static void update_component(const vh_prior *p, double n, const double *ybar, const double *scatter,
                             double *lambda, double *nu, double *m, double *B)
{
    int d = p->d;
    double pull = n > 0 ? p->lambda * n / (p->lambda + n) : 0;
    *lambda = p->lambda + n;
    *nu = p->nu + n;
    for (int i = 0; i < d; i++)
        m[i] = p->m[i] + n / *lambda * (n > 0 ? ybar[i] - p->m[i] : 0);
    for (int i = 0; i < d; i++)
        for (int j = is_full(p) ? 0 : i; j <= i; j++) {
            double away = n > 0 ? pull * (ybar[i] - p->m[i]) * (ybar[j] - p->m[j]) : 0;
            if (is_full(p))
                B[i * d + j] = B[j * d + i] = p->B[i * d + j] + scatter[i * d + j] + away;
            else
                B[i] = p->B[i] + scatter[i] + away;
        }
}

/* E log|Lambda| + log|B|: what nu alone says of it. */
static double log_precision(const vh_prior *p, double nu)
{
    return (is_full(p) ? vh_digamma_wishart(p->d, nu) : p->d * vh_digamma(nu / 2)) + p->d * LOG_2;
}

/* log of the constant of a Wishart distribution with log|W^-1| = logdet; diag: of d of them. */
static double log_constant(const vh_prior *p, double nu, double logdet)
{
    int d = p->d;
    double gammas =
        is_full(p) ? d * (d - 1) / 4.0 * LOG_PI + vh_lgamma_wishart(d, nu) : d * vh_lgamma(nu / 2);
    return nu / 2 * (logdet - d * LOG_2) - gammas;
}

/* log|B|, tr(B^-1 B0) and (m - m0)' B^-1 (m - m0); work [2 d d + 2 d].  False when B is singular. */
static bool traces(const vh_prior *p, const double *m, const double *B, double *work, double *logdet,
                   double *trace, double *quad)
{
    int d = p->d;
    size_t dd = (size_t)d * (size_t)d;
    double *L = work, *Z = work + dd;

    *logdet = *trace = *quad = 0;
    if (!is_full(p)) {
        for (int k = 0; k < d; k++) {
            *logdet += log(B[k]);
            *trace += p->B[k] / B[k];
            *quad += (m[k] - p->m[k]) * (m[k] - p->m[k]) / B[k];
        }
        return true;
    }
    memcpy(L, B, sizeof *L * dd);
    if (!vh_cholesky(d, L))
        return false;
    *logdet = vh_cholesky_logdet(d, L);
    for (int k = 0; k < d; k++)
        Z[k] = m[k] - p->m[k];
    vh_cholesky_solve_rows(d, L, 1, Z);
    for (int k = 0; k < d; k++)
        *quad += Z[k] * Z[k];
    if (!vh_cholesky_inverse(d, L))
        return false;
    for (size_t e = 0; e < dd; e++)
        *trace += L[e] * p->B[e];
    return true;
}

double vh_posterior_log_precision(const vh_prior *p, const vh_posterior *post, int q)
{
    double logdet, trace, quad;
    bool ok = traces(p, post->m + q * p->d, post->B + (size_t)q * vh_prior_size(p), post->work, &logdet,
                     &trace, &quad);
    return ok ? log_precision(p, post->nu[q]) - logdet : NAN;
}

/* KL of a component, given log|B0|: of N(m, (lambda Lambda)^-1) from its prior, and of the Wishart. */
static double kl_component(const vh_prior *p, double logdet0, double lambda, double nu, const double *m,
                           const double *B, double *work)
{
    double logdet, trace, quad, d = p->d;
    if (!traces(p, m, B, work, &logdet, &trace, &quad))
        return NAN;
    double normal = d * (log(lambda / p->lambda) - 1 + p->lambda / lambda) + p->lambda * nu * quad;
    double wishart = log_constant(p, nu, logdet) - log_constant(p, p->nu, logdet0)
                     + (nu - p->nu) / 2 * (log_precision(p, nu) - logdet) + nu / 2 * (trace - d);
    return normal / 2 + wishart;
}

/* ---- 4. whole HMMs ------------------------------------------------------------------------------------- */

/* The prior of column k by itself, of a diagonal covariance. */
static vh_prior column_prior(const vh_prior *p, int k)
{
    vh_prior one = *p;
    one.d = 1;
    one.m = p->m + k;
    one.B = p->B + k;
    return one;
}

/* Component q, each column from the frames that have it. */
static void update_columns(const vh_prior *p, const vh_packed *pk, int r, const vh_stats *stats, int q,
                           const double *ybar, const double *scatter, vh_posterior *post)
{
    for (int k = 0; k < p->d; k++) {
        const vh_prior one = column_prior(p, k);
        double n = vh_posterior_seen(pk, r, stats, k);
        int at = q * p->d + k;
        update_component(&one, n > NOTHING ? n : 0, ybar + k, scatter + k, &post->col_lambda[at],
                         &post->col_nu[at], post->m + at, post->B + at);
    }
}

void vh_posterior_update(const vh_prior *p, const vh_packed *pk, int k, const vh_stats *stats,
                         vh_posterior *post)
{
    int S = post->S, M = post->M;
    double *ybar = post->work, *scatter = post->work + p->d;

    post->by_column = pk->family->seen == VH_SEEN_COLUMNS;
    for (int s = 0; s < S; s++)
        post->eta[s] = p->eta + stats->nu1[pk->state0[k] + s];
    for (int e = 0; e < S * S; e++)
        post->eps[e] = p->eps + stats->xi[pk->trans0[k] + (size_t)e];
    for (int q = 0; q < S * M; q++) {
        int r = pk->comp0[k] + q;
        double n = vh_posterior_moments(pk, r, stats, ybar, scatter);
        post->kappa[q] = p->kappa + n;
        if (pk->family->seen == VH_SEEN_FRAMES)
            n = fmax(vh_posterior_seen(pk, r, stats, 0), 0);
        update_component(p, n, ybar, scatter, &post->lambda[q], &post->nu[q], post->m + q * p->d,
                         post->B + (size_t)q * vh_prior_size(p));
        if (post->by_column)
            update_columns(p, pk, r, stats, q, ybar, scatter, post);
    }
}

/* The further factor of c~, log, of a component with these parameters. */
static double shift_of(const vh_prior *p, double lambda, double nu)
{
    return (log_precision(p, nu) - p->d * log(nu) - p->d / lambda) / 2;
}

void vh_posterior_expect(const vh_prior *p, const vh_limits *lim, vh_posterior *post, const vh_h3m *h3m,
                         vh_hmm *h)
{
    int S = post->S, M = post->M, d = p->d;
    size_t size = vh_prior_size(p);

    expect_row(S, lim->fixed_pi, post->eta, h->pi);
    for (int s = 0; s < S; s++) {
        expect_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, h->A + s * S);
        expect_row(M, NULL, post->kappa + s * M, vh_hmm_c(h) + s * M);
    }
    for (int q = 0; q < S * M; q++) {
        double *par[VH_MAX_PARAM], nu = post->nu[q];
        vh_hmm_component(h3m, h, q / M, q % M, par);
        memcpy(par[0], post->m + q * d, sizeof *par[0] * (size_t)d);
        for (size_t e = 0; e < size; e++)
            par[1][e] = post->B[(size_t)q * size + e] / (post->by_column ? post->col_nu[q * d + (int)e] : nu);
        post->shift[q] = shift_of(p, post->lambda[q], nu);
        for (int k = 0; post->by_column && k < d; k++) {
            const vh_prior one = column_prior(p, k);
            post->col_shift[q * d + k] = shift_of(&one, post->col_lambda[q * d + k], post->col_nu[q * d + k]);
        }
    }
}

void vh_posterior_shift(const vh_posterior *post, vh_packed *pk, int k)
{
    int counts = vh_seen_counts(pk->family, &pk->shape);
    for (int q = 0; q < post->S * post->M; q++) {
        int r = pk->comp0[k] + q;
        double *theta = pk->theta + (size_t)r * (size_t)pk->n_stat;
        if (pk->log_c[r] == VH_NEVER)
            continue;
        if (counts == 0) {
            pk->log_c[r] += post->shift[q];
            theta[0] += post->shift[q];
        }
        for (int e = 0; e < counts; e++) {
            double shift = post->by_column ? post->col_shift[q * counts + e] : post->shift[q];
            theta[pk->n_stat - counts + e] += shift;
            pk->seen_shift[r * counts + e] = shift;
        }
    }
}

/* KL of component q, column by column. */
static double kl_columns(const vh_prior *p, const vh_posterior *post, int q)
{
    double kl = 0;
    for (int k = 0; k < p->d; k++) {
        const vh_prior one = column_prior(p, k);
        int at = q * p->d + k;
        kl += kl_component(&one, log(p->B[k]), post->col_lambda[at], post->col_nu[at], post->m + at,
                           post->B + at, post->work);
    }
    return kl;
}

double vh_posterior_kl(const vh_prior *p, const vh_limits *lim, const vh_posterior *post)
{
    int S = post->S, M = post->M, d = p->d;
    double logdet0, trace, quad, kl = kl_row(S, lim->fixed_pi, post->eta, p->eta);

    if (!traces(p, p->m, p->B, post->work, &logdet0, &trace, &quad))
        return NAN;
    for (int s = 0; s < S; s++)
        kl += kl_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, p->eps)
              + kl_row(M, NULL, post->kappa + s * M, p->kappa);
    for (int q = 0; q < S * M; q++)
        kl += post->by_column ? kl_columns(p, post, q)
                              : kl_component(p, logdet0, post->lambda[q], post->nu[q], post->m + q * d,
                                             post->B + (size_t)q * vh_prior_size(p), post->work);
    return kl;
}

/* What B is divided by to be a covariance.  Each variance by itself has nu - d + 1 degrees of freedom. */
static double divisor(const vh_prior *p, const vh_limits *lim, double nu)
{
    double own = is_full(p) ? nu - p->d + 1 : nu;
    if (lim->exact)
        return own > 2 ? own - 2 : nu;
    return fmax(own - 2, fmax(1, own / 2));
}

size_t vh_posterior_work(const vh_emission *family, int d)
{
    const vh_shape shape = { .d = d };
    return (size_t)family->n_stat(&shape) + (size_t)d + vh_emission_room(family, &shape);
}

/* The maximiser of the likelihood of statistics with this mean and covariance is that mean and covariance,
 * and it knows of floors. */
int vh_posterior_put(const vh_emission *family, int d, const double *floor, const double *mu,
                     const double *cov, double divisor, double *const *par, double *work)
{
    bool full = vh_prior_full(family);
    const vh_shape shape = { .d = d };
    double *stat = work, *one = stat + family->n_stat(&shape), *second = stat + 1 + d;
    const vh_coords about = { .shape = shape, .origin = mu, .scale = one };

    stat[0] = 1;
    for (int i = 0; i < d; i++) {
        stat[1 + i] = 0;
        one[i] = 1;
        for (int j = full ? 0 : i; j <= i; j++)
            *second++ = cov[full ? i * d + j : i] / divisor;
    }
    for (int e = vh_seen_counts(family, &shape); e > 0; e--)
        stat[family->n_stat(&shape) - e] = 1;
    return family->maximise(&about, stat, floor, par, one + d);
}

vhem_status vh_posterior_mean(vhem_ctx *ctx, const vh_prior *p, const vh_limits *lim,
                              const vh_posterior *post, const vh_h3m *h3m, vh_hmm *h, int *n_floored)
{
    vhem_status st = VHEM_OK;
    int S = post->S, M = post->M, d = p->d, held = 0;
    double *work = NULL;

    VH_NEW(work, vh_posterior_work(p->family, d));
    mean_row(S, lim->fixed_pi, post->eta, h->pi);
    for (int s = 0; s < S; s++) {
        mean_row(S, lim->fixed_A ? lim->fixed_A + s * S : NULL, post->eps + s * S, h->A + s * S);
        mean_row(M, NULL, post->kappa + s * M, vh_hmm_c(h) + s * M);
    }
    for (int q = 0; q < S * M; q++) {
        double *par[VH_MAX_PARAM];
        const double *B = post->B + (size_t)q * vh_prior_size(p);
        double by = divisor(p, lim, post->nu[q]);
        vh_hmm_component(h3m, h, q / M, q % M, par);
        for (int k = 0; post->by_column && k < d; k++)
            post->work[k] = B[k] / divisor(p, lim, post->col_nu[q * d + k]);
        int r = vh_posterior_put(p->family, d, lim->floor, post->m + q * d, post->by_column ? post->work : B,
                                 post->by_column ? 1 : by, par, work);
        VH_CHECK(r >= 0, VHEM_ENUMERIC, "the covariance of state %d, component %d is singular", q / M, q % M);
        held += r;
    }
    *n_floored = held;
done:
    free(work);
    return st;
}
