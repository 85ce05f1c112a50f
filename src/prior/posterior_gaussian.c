/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_gaussian.c - see posterior_gaussian.h: normal-gamma and normal-Wishart distributions.
 *
 *   1. moments of statistics      2. one component      3. components of a posterior */
#include "prior/posterior_gaussian.h"

#include "core/array2.h"
#include "math/gamma.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-200 /* smaller weights are rounding errors */

enum { SMALL = 8 }; /* most dimensions of the matrix code below */

#define LOG_2  0.69314718055994530942
#define LOG_PI 1.1447298858494001741

static bool is_full(const vh_prior *p)
{
    return vh_prior_full(p->family);
}

/* Number of columns that vary.  The others keep their prior, without covariances, and contribute only a
 * constant to what follows. */
static int moving(const vh_prior *p)
{
    return p->d - p->n_still;
}

/* nu of the distribution of the moving columns only. */
static double moving_nu(const vh_prior *p, double nu)
{
    return is_full(p) ? nu - p->n_still : nu;
}

/* ---- 1. moments ---------------------------------------------------------------------------------------- */

double vh_gaussian_seen(const vh_gathered *g, int k)
{
    int counts = vh_seen_counts(g->table, &g->x->shape);
    return counts == 0 ? g->T[0] : g->T[g->table->n_stat(&g->x->shape) - counts + (counts > 1 ? k : 0)];
}

double vh_gaussian_moments(const vh_gathered *g, double *mean, double *scatter)
{
    const vh_coords *x = g->x;
    const double *T = g->T;
    bool full = vh_prior_full(g->table);
    int d = x->shape.d;

    memset(mean, 0, sizeof *mean * (size_t)d);
    memset(scatter, 0, sizeof *scatter * vh_scatter_size(g->table, d));
    const double *second = T + 1 + d; /* squares, or the lower triangle of products by rows */
    for (int i = 0; i < d; i++) {
        double n = vh_gaussian_seen(g, i);
        if (!(n > NOTHING)) { /* dividing by it would amplify noise */
            second += full ? i + 1 : 1;
            continue;
        }
        for (int j = full ? 0 : i; j <= i; j++) {
            double c = (*second++ - T[1 + i] / n * T[1 + j]) * x->scale[i] * x->scale[j];
            if (i == j)
                c = fmax(c, 0); /* negative by rounding */
            scatter[full ? i * d + j : i] = c;
            if (full)
                scatter[j * d + i] = c;
        }
        mean[i] = x->origin[i] + x->scale[i] * T[1 + i] / n;
    }
    return T[0] > NOTHING ? T[0] : 0;
}

/* ---- 2. one component ---------------------------------------------------------------------------------- */

/* Resets column k of m and B to the prior. */
static void leave_column(const vh_prior *p, int k, double *m, double *B)
{
    m[k] = p->m[k];
    for (int i = 0; is_full(p) && i < p->d; i++)
        B[i * p->d + k] = B[k * p->d + i] = 0;
    size_t at = vh_scatter_at(p->family, p->d, k);
    B[at] = p->B[at];
}

/* Updates lambda, nu, m and B of a component from n frames: mean ybar [d], scatter about it. */
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
    for (int k = 0; k < d; k++)
        if (vh_prior_still(p, k))
            leave_column(p, k, m, B);
}

/* The prior of column k of a diagonal covariance. */
static vh_prior column_prior(const vh_prior *p, int k)
{
    vh_prior one = *p;
    one.d = 1;
    one.m = p->m + k;
    one.B = p->B + k;
    one.n_still = 0;
    return one;
}

/* E log|Lambda| + log|B|: the part that depends on nu only. */
static double log_precision(const vh_prior *p, double nu)
{
    int d = moving(p);
    return (is_full(p) ? vh_digamma_wishart(d, moving_nu(p, nu)) : d * vh_digamma(nu / 2)) + d * LOG_2;
}

/* Log-constant of a Wishart distribution with log|W^-1| = logdet; diag: of d gamma distributions. */
static double log_constant(const vh_prior *p, double all_nu, double logdet)
{
    int d = moving(p);
    double nu = moving_nu(p, all_nu), gammas = is_full(p)
                                                   ? d * (d - 1) / 4.0 * LOG_PI + vh_lgamma_wishart(d, nu)
                                                   : d * vh_lgamma(nu / 2);
    return nu / 2 * (logdet - d * LOG_2) - gammas;
}

/* Z := L^-1, lower, where B = L L'; returns false if B is singular.  For matrices too small for LAPACK to pay
 * off. */
static bool invert_factor(int d, const double *B, double *L, double *Z)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double sum = B[i * d + j];
            for (int k = 0; k < j; k++)
                sum -= L[i * d + k] * L[j * d + k];
            if (i == j && !(sum > 0))
                return false;
            L[i * d + j] = i == j ? sqrt(sum) : sum / L[j * d + j];
        }
    for (int j = 0; j < d; j++) {
        Z[j * d + j] = 1 / L[j * d + j];
        for (int i = j + 1; i < d; i++) {
            double sum = 0;
            for (int k = j; k < i; k++)
                sum -= L[i * d + k] * Z[k * d + j];
            Z[i * d + j] = sum / L[i * d + i];
        }
    }
    return true;
}

/* As traces(), for full covariances of few dimensions. */
static bool small_traces(const vh_prior *p, const double *m, const double *B, double *work, double *logdet,
                         double *trace, double *quad)
{
    int d = p->d;
    double *Z = work + d * d;

    if (!invert_factor(d, B, work, Z))
        return false;
    for (int i = 0; i < d; i++, Z += d) {
        double away = 0;
        *logdet -= 2 * log(Z[i]);
        for (int j = 0; j <= i; j++) {
            away += Z[j] * (m[j] - p->m[j]);
            for (int k = 0; k <= i; k++)
                *trace += Z[j] * Z[k] * p->B[j * d + k];
        }
        *quad += away * away;
    }
    return true;
}

/* log|B|, tr(B^-1 B0) and (m - m0)' B^-1 (m - m0); work [2 d d + 2 d].  Returns false if B is singular. */
static bool traces(const vh_prior *p, const double *m, const double *B, double *work, double *logdet,
                   double *trace, double *quad)
{
    int d = p->d;
    size_t dd = vh_cells(d, d);
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
    if (d <= SMALL)
        return small_traces(p, m, B, work, logdet, trace, quad);
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
    double known = post->by_column ? 0 : log_precision(p, post->nu[q]);
    for (int k = 0; post->by_column && k < p->d; k++) {
        const vh_prior one = column_prior(p, k);
        known += log_precision(&one, post->col_nu[q * p->d + k]);
    }
    return ok ? known - logdet : NAN;
}

/* KL of a component, given the log_constant of the prior: KL of N(m, (lambda Lambda)^-1) from its prior, plus
 * that of the Wishart. */
static double kl_component(const vh_prior *p, double constant0, double lambda, double all_nu, const double *m,
                           const double *B, double *work)
{
    double logdet, trace, quad, d = moving(p), nu = moving_nu(p, all_nu);
    if (!traces(p, m, B, work, &logdet, &trace, &quad))
        return NAN;
    double normal = d * (log(lambda / p->lambda) - 1 + p->lambda / lambda) + p->lambda * nu * quad;
    double wishart = log_constant(p, all_nu, logdet) - constant0
                     + (all_nu - p->nu) / 2 * (log_precision(p, all_nu) - logdet) + nu / 2 * (trace - p->d);
    return normal / 2 + wishart;
}

/* Log of the extra factor of c~ of a component with these parameters. */
static double shift_of(const vh_prior *p, double lambda, double nu)
{
    int d = moving(p);
    return d > 0 ? (log_precision(p, nu) - d * log(moving_nu(p, nu)) - d / lambda) / 2 : 0;
}

/* Divisor that turns B into a covariance.  Each single variance has nu - d + 1 degrees of freedom. */
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

/* Maximises the likelihood of statistics with this mean and covariance: that gives the same mean and
 * covariance, and applies the floors. */
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

/* ---- 3. components of a posterior ---------------------------------------------------------------------- */

/* Updates component q, each column from the frames that have it. */
static void update_columns(const vh_prior *p, const vh_gathered *g, int q, const double *ybar,
                           const double *scatter, vh_posterior *post)
{
    for (int k = 0; k < p->d; k++) {
        const vh_prior one = column_prior(p, k);
        double n = vh_prior_still(p, k) ? 0 : vh_gaussian_seen(g, k);
        int at = q * p->d + k;
        update_component(&one, n > NOTHING ? n : 0, ybar + k, scatter + k, &post->col_lambda[at],
                         &post->col_nu[at], post->m + at, post->B + at);
    }
}

void vh_gaussian_update(const vh_prior *p, const vh_gathered *g, int q, vh_posterior *post)
{
    double *ybar = post->work, *scatter = post->work + p->d;
    double n = vh_gaussian_moments(g, ybar, scatter);

    post->by_column = g->table->seen == VH_SEEN_COLUMNS;
    if (g->table->seen == VH_SEEN_FRAMES)
        n = fmax(vh_gaussian_seen(g, 0), 0);
    update_component(p, n, ybar, scatter, &post->lambda[q], &post->nu[q], post->m + q * p->d,
                     post->B + (size_t)q * vh_prior_size(p));
    if (post->by_column)
        update_columns(p, g, q, ybar, scatter, post);
}

void vh_gaussian_expect(const vh_prior *p, const vh_posterior *post, int q, double *const *par, double *shift)
{
    int d = p->d;
    size_t size = vh_prior_size(p);
    double nu = moving(p) > 0 ? moving_nu(p, post->nu[q]) : p->nu;

    memcpy(par[0], post->m + q * d, sizeof *par[0] * (size_t)d);
    for (size_t e = 0; e < size; e++)
        par[1][e] = post->B[(size_t)q * size + e] / (post->by_column ? post->col_nu[q * d + (int)e] : nu);
    for (int k = 0; !post->by_column && k < d; k++)
        if (vh_prior_still(p, k))
            par[1][vh_scatter_at(p->family, d, k)] = p->B[vh_scatter_at(p->family, d, k)] / p->nu;
    for (int k = 0; k < d; k++) {
        const vh_prior one = column_prior(p, k);
        shift[k] = post->by_column ? shift_of(&one, post->col_lambda[q * d + k], post->col_nu[q * d + k]) : 0;
    }
    if (!post->by_column)
        shift[0] = shift_of(p, post->lambda[q], post->nu[q]);
}

/* KL of component q, column by column. */
static double kl_columns(const vh_prior *p, const vh_posterior *post, int q)
{
    double kl = 0;
    for (int k = 0; k < p->d; k++) {
        const vh_prior one = column_prior(p, k);
        int at = q * p->d + k;
        kl += kl_component(&one, log_constant(&one, one.nu, log(p->B[k])), post->col_lambda[at],
                           post->col_nu[at], post->m + at, post->B + at, post->work);
    }
    return kl;
}

double vh_gaussian_kl(const vh_prior *p, const vh_posterior *post)
{
    double logdet0, trace, quad, kl = 0;

    if (!traces(p, p->m, p->B, post->work, &logdet0, &trace, &quad))
        return NAN;
    double constant0 = log_constant(p, p->nu, logdet0);
    for (int q = 0; q < post->S * post->M; q++)
        kl += post->by_column ? kl_columns(p, post, q)
                              : kl_component(p, constant0, post->lambda[q], post->nu[q], post->m + q * p->d,
                                             post->B + (size_t)q * vh_prior_size(p), post->work);
    return kl;
}

int vh_gaussian_mean(const vh_prior *p, const vh_limits *lim, const vh_posterior *post, int q,
                     double *const *par, double *work)
{
    int d = p->d;
    size_t size = vh_prior_size(p);
    const double *B = post->B + (size_t)q * size;
    double by = divisor(p, lim, post->nu[q]);
    bool own = post->by_column || p->n_still > 0;
    for (size_t e = 0; own && e < size; e++)
        post->work[e] = B[e] / (post->by_column ? divisor(p, lim, post->col_nu[q * d + (int)e]) : by);
    for (int k = 0; own && k < d; k++)
        if (vh_prior_still(p, k))
            post->work[vh_scatter_at(p->family, d, k)] =
                B[vh_scatter_at(p->family, d, k)] / divisor(p, lim, p->nu);
    return vh_posterior_put(p->family, d, lim->floor, post->m + q * d, own ? post->work : B, own ? 1 : by,
                            par, work);
}
