/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_diag.c - Gaussians with a diagonal covariance: mu [d], cov [d] (variances).
 *
 *   T(x) = (1, x, x^2)            2d + 1 numbers
 *   theta = (k, mu/v, -1/(2v)),   k = -1/2 sum (log 2 pi v + mu^2/v)
 *
 * with mu and v in the coordinates x, except for the v under the log: that one makes it a density in y.
 *
 * Where cells are missing or models lack columns, each column has a constant of its own, which counts where
 * it was observed:
 *
 *   T(x) = (1, o x, o x^2, o)          3d + 1 numbers; o_k = 1 where x_k was observed, else 0
 *   theta = (0, mu/v, -1/(2v), k),     k_k = -1/2 (log 2 pi v_k + mu_k^2/v_k)
 *
 *   1. a column, some cells of which may be missing      2. all columns of complete frames */
#include "core/array2.h"
#include "emission/gaussian.h"
#include "emission/independent_columns.h"
#include "math/logsum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LOG_2 0.69314718055994530942

/* ---- 1. a column --------------------------------------------------------------------------------------- */

static void stat(const vh_column *c, double y, double *s)
{
    s[0] = (y - c->origin) / c->scale;
    s[1] = s[0] * s[0];
    s[2] = 1;
}

static void mean_stat(const vh_column *c, double *s)
{
    stat(c, c->par[0], s);
    s[1] += c->par[1] / c->scale / c->scale;
}

static double theta(const vh_column *c, double *theta)
{
    double m = (c->par[0] - c->origin) / c->scale, v = c->par[1] / c->scale / c->scale;
    if (!(c->par[1] > 0 && v > 0))
        return -1;
    theta[0] = m / v;
    theta[1] = -0.5 / v;
    theta[2] = -0.5 * (VH_LOG_2PI + log(c->par[1]) + m * m / v);
    return (fabs(m) + sqrt(v)) * (fabs(m) + sqrt(v)) / v;
}

static double constant(const vh_column *c)
{
    return c->par[1] > 0 ? -0.5 * (VH_LOG_2PI + log(c->par[1])) : NAN;
}

static double log_p(const vh_column *c, double y)
{
    return c->constant - 0.5 * (y - c->par[0]) * (y - c->par[0]) / c->par[1];
}

static double expected(const vh_column *r, const vh_column *b)
{
    double away = b->par[0] - r->par[0];
    return -0.5 * (VH_LOG_2PI + log(r->par[1]) + (away * away + b->par[1]) / r->par[1]);
}

/* mu and a variance, eqs. 59 and 60, over the frames that have the column.  The floor is exact: for a given
 * mean the likelihood has one peak in the variance, so the best allowed variance is the nearer of peak and
 * floor.  A start that has never seen a frame is as wide as the coordinates. */
static int maximise(vh_column *c, const double *s, const double *floor)
{
    if (!(s[2] > VH_UNSEEN) && !(c->par[1] > 0)) {
        c->par[0] = c->origin;
        c->par[1] = c->scale * c->scale;
    }
    if (!(s[2] > VH_UNSEEN))
        return 0;
    double m = s[0] / s[2], v = (s[1] / s[2] - m * m) * c->scale * c->scale;
    bool held = floor && !(v >= *floor);
    if (held)
        v = *floor;
    if (!(v > 0))
        return -1;
    c->par[0] = c->origin + c->scale * m;
    c->par[1] = v;
    return held;
}

/* Twice the log of (2 pi)^(1/2 - lambda) lambda^(-1/2) (v1 v2)^((1 - lambda)/2) (v1 + v2)^(-1/2)
 * exp{ -lambda (m1 - m2)^2 / (2 (v1 + v2)) }.  Sums are formed from halves: two variances near the largest
 * double have none. */
static double twice_log_product(const vh_column *p, const vh_column *q, double lambda)
{
    double u = p->par[0] / 2 - q->par[0] / 2, half = p->par[1] / 2 + q->par[1] / 2;
    if (!(p->par[1] > 0) || !(q->par[1] > 0))
        return NAN;
    return (1 - 2 * lambda) * VH_LOG_2PI - log(lambda) - log(half) - LOG_2
           + (1 - lambda) * (log(p->par[1]) + log(q->par[1])) - 2 * lambda * (u / half) * u;
}

static double log_product(const vh_column *p, const vh_column *q, double lambda)
{
    return 0.5 * twice_log_product(p, q, lambda);
}

static double root(const vh_column *c)
{
    return sqrt(c->par[1]);
}

static const vh_columns columns = {
    .family = &vh_gaussian_diag_gaps,
    .range = { { -DBL_MAX, DBL_MAX, "must be finite" },
               { 0, DBL_MAX, "a variance must be finite and not negative" } },
    .n_stat = 3,
    .stat = stat,
    .mean_stat = mean_stat,
    .theta = theta,
    .constant = constant,
    .log_p = log_p,
    .expected = expected,
    .maximise = maximise,
    .log_product = log_product,
    .root = root,
};

static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    for (int k = 0; k < shape->d; k++)
        theta[1 + 2 * shape->d + k] += shift[k];
}

/* A column that is lacking takes its number from the generator too. */
static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    int d = shape->d;
    for (int k = 0; k < d; k++)
        y[k] = par[0][k] + r[k] * vh_rng_normal(rng);
}

/* ---- 2. complete frames -------------------------------------------------------------------------------- */

static int n_stat(const vh_shape *shape)
{
    return 1 + 2 * shape->d;
}

/* One division per dimension, not per number: dimensions in blocks, so that
 * the reciprocals need no allocation. */
static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    enum { BLOCK = 64 };
    double inverse[BLOCK];
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++)
        T[t * (1 + 2 * d)] = 1;
    for (int k0 = 0; k0 < d; k0 += BLOCK) {
        int m = d - k0 < BLOCK ? d - k0 : BLOCK;
        const double *restrict from = y + k0, *restrict origin = x->origin + k0;
        double *restrict first = T + 1 + k0, *restrict second = T + 1 + d + k0;
        for (int k = 0; k < m; k++)
            inverse[k] = 1 / x->scale[k0 + k];
        for (int64_t t = 0; t < n; t++, from += d, first += 1 + 2 * d, second += 1 + 2 * d)
            for (int k = 0; k < m; k++) {
                double v = (from[k] - origin[k]) * inverse[k];
                first[k] = v;
                second[k] = v * v;
            }
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    T[0] = 1;
    for (int k = 0; k < d; k++) {
        const vh_column c = column_at(x, par, k);
        double s[3];
        mean_stat(&c, s);
        T[1 + k] = s[0];
        T[1 + d + k] = s[1];
    }
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    const double *mu = par[0], *cov = par[1];
    double k0 = 0, loss = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        if (!(cov[k] > 0))
            return -1;
        double s = x->scale[k], m = (mu[k] - x->origin[k]) / s, v = cov[k] / s / s;
        theta[1 + k] = m / v;
        theta[1 + d + k] = -0.5 / v;
        k0 -= 0.5 * (VH_LOG_2PI + log(cov[k]) + m * m / v);
        loss += (fabs(m) + sqrt(v)) * (fabs(m) + sqrt(v)) / v;
    }
    theta[0] = k0;
    return loss;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    int d = shape->d;
    const double *mu = par[0], *cov = par[1];
    double k0 = 0;
    for (int k = 0; k < d; k++) {
        if (!(cov[k] > 0))
            return false;
        k0 -= 0.5 * (VH_LOG_2PI + log(cov[k]));
        work[k] = 1 / sqrt(cov[k]);
    }
    for (int64_t t = 0; t < n; t++, y += d) {
        double q = 0;
        for (int k = 0; k < d; k++) {
            double u = (y[k] - mu[k]) * work[k];
            q += u * u;
        }
        out[t] = k0 - 0.5 * q;
    }
    return true;
}

/* E_b[ log p(y | r) ], eq. 42. */
static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    int d = shape->d;
    double norm = d * VH_LOG_2PI;
    for (int k = 0; k < d; k++) {
        work[k] = 1 / r[1][k];
        if (!(r[1][k] > 0 && work[k] < INFINITY))
            return false;
        norm += log(r[1][k]);
    }
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = norm;
        for (int k = 0; k < d; k++) {
            double u = b[0][k] - r[0][k];
            sum += (u * u + b[1][k]) * work[k];
        }
        out[m * step] = -0.5 * sum;
    }
    return true;
}

static int maximise_all(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                        double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        const double s[] = { stat[1 + k], stat[1 + d + k], 1 };
        vh_column c = column_at(x, (const double *const *)par, k);
        int one = maximise(&c, s, floor ? floor + k : NULL);
        if (one < 0)
            return -1;
        held |= one;
        par[0][k] = c.par[0];
        par[1][k] = c.par[1];
    }
    return held;
}

static bool log_product_all(const vh_shape *shape, const double *const *p, const double *const *q,
                            double lambda, double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        const vh_column at_p = column_at(NULL, p, k), at_q = column_at(NULL, q, k);
        sum += twice_log_product(&at_p, &at_q, lambda);
    }
    if (isnan(sum))
        return false;
    *out = 0.5 * sum;
    return true;
}

/* As one with a full covariance. */
static void promote(const vh_shape *shape, const double *const *par, double *const *wide)
{
    int d = shape->d;
    memcpy(wide[0], par[0], sizeof *wide[0] * (size_t)d);
    memset(wide[1], 0, sizeof *wide[1] * vh_cells(d, d));
    for (int k = 0; k < d; k++)
        wide[1][k * d + k] = par[1][k];
}

#define COMMON                                                                                       \
    .name = "gaussian-diag", .slim = true, .n_param = 2,                                             \
    .param = { { "mu", 1, { VH_PER_COLUMN } }, { "cov", 1, { VH_PER_COLUMN } } },                    \
    .prior = VH_PRIOR_NORMAL_GAMMA, .moments = vh_diag_moments, .with_gaps = &vh_gaussian_diag_gaps, \
    .n_free = columns_n_free, .root = columns_root, .draw = draw, .validate = columns_validate

const vh_emission vh_gaussian_diag_gaps = {
    COMMON,
    .location = &vh_location_gaps,
    .seen = VH_SEEN_COLUMNS,
    .shift = shift,
    .n_stat = columns_n_stat,
    .stats_of_obs = columns_stats_of_obs,
    .stats_of_component = columns_stats_of_component,
    .natural = columns_natural,
    .log_density = columns_log_density,
    .expected_density = columns_expected_density,
    .maximise = columns_maximise,
    .log_product = columns_log_product,
};

const vh_emission vh_gaussian_diag = {
    COMMON,
    .location = &vh_location_diag,
    .kernel = VH_KERNEL_GAUSSIAN_DIAG,
    .cuts = &vh_splits_diag,
    .wider = &vh_gaussian_full,
    .promote = promote,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .log_density = log_density,
    .expected_density = expected_density,
    .maximise = maximise_all,
    .log_product = log_product_all,
};
