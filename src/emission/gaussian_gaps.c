/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_gaps.c - Gaussians with a diagonal covariance, for frames of which cells are missing
 * (NaN): they are integrated out.  Parameters and the rest of the family are those of
 * gaussian_diag.c.
 *
 *   T(x) = (1, o x, o x^2, o)          3d + 1 numbers; o_k = 1 where x_k was observed, else 0
 *   theta = (0, mu/v, -1/(2v), k),     k_k = -1/2 (log 2 pi v_k + mu_k^2/v_k)
 *
 * The same statistics serve models that lack a column (hmm/missing_columns.h): its parameters are NaN, and it
 * adds nothing. */
#include "math/logsum.h"
#include "emission/gaussian.h"

#include <math.h>
#include <string.h>

#define NOTHING 1e-200 /* less weight is rounding */

static int n_stat(const vh_shape *shape)
{
    return 1 + 3 * shape->d;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++, y += d, T += 1 + 3 * d) {
        T[0] = 1;
        for (int k = 0; k < d; k++) {
            bool seen = !isnan(y[k]);
            double v = seen ? (y[k] - x->origin[k]) / x->scale[k] : 0;
            T[1 + k] = v;
            T[1 + d + k] = v * v;
            T[1 + 2 * d + k] = seen;
        }
    }
}

/* A column that the model lacks is one that no frame of it has. */
static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    T[0] = 1;
    for (int k = 0; k < d; k++) {
        bool known = !isnan(par[0][k]);
        double m = known ? (par[0][k] - x->origin[k]) / x->scale[k] : 0;
        T[1 + k] = m;
        T[1 + d + k] = known ? m * m + par[1][k] / x->scale[k] / x->scale[k] : 0;
        T[1 + 2 * d + k] = known;
    }
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    double loss = 0;
    (void)work;
    theta[0] = 0;
    for (int k = 0; k < d; k++) {
        double s = x->scale[k], m = (par[0][k] - x->origin[k]) / s, v = par[1][k] / s / s;
        bool known = !isnan(par[0][k]);
        if (known && !(par[1][k] > 0 && v > 0))
            return -1;
        theta[1 + k] = known ? m / v : 0;
        theta[1 + d + k] = known ? -0.5 / v : 0;
        theta[1 + 2 * d + k] = known ? -0.5 * (VH_LOG_2PI + log(par[1][k]) + m * m / v) : 0;
        loss += known ? (fabs(m) + sqrt(v)) * (fabs(m) + sqrt(v)) / v : 0;
    }
    return loss;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    int d = shape->d;
    const double *mu = par[0], *cov = par[1];
    for (int k = 0; k < d; k++) {
        if (!isnan(mu[k]) && !(cov[k] > 0))
            return false;
        work[k] = -0.5 * (VH_LOG_2PI + log(cov[k]));
    }
    for (int64_t t = 0; t < n; t++, y += d) {
        out[t] = 0;
        for (int k = 0; k < d; k++)
            if (!isnan(y[k]) && !isnan(mu[k]))
                out[t] += work[k] - 0.5 * (y[k] - mu[k]) * (y[k] - mu[k]) / cov[k];
    }
    return true;
}

/* Over the columns that both have. */
static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    (void)work;
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int k = 0; k < shape->d; k++) {
            double away = b[0][k] - r[0][k];
            if (isnan(away))
                continue;
            if (!(r[1][k] > 0))
                return false;
            sum -= 0.5 * (VH_LOG_2PI + log(r[1][k]) + (away * away + b[1][k]) / r[1][k]);
        }
        out[m * step] = sum;
    }
    return true;
}

/* Each dimension over the frames that have it.  A start that has never seen any is as wide as the
 * coordinates. */
static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        double seen = stat[1 + 2 * d + k];
        if (!(seen > NOTHING) && !(par[1][k] > 0)) {
            par[0][k] = x->origin[k];
            par[1][k] = x->scale[k] * x->scale[k];
        }
        if (!(seen > NOTHING))
            continue;
        double m = stat[1 + k] / seen, v = (stat[1 + d + k] / seen - m * m) * x->scale[k] * x->scale[k];
        if (floor && !(v >= floor[k])) {
            v = floor[k];
            held = 1;
        }
        if (!(v > 0))
            return -1;
        par[0][k] = x->origin[k] + x->scale[k] * m;
        par[1][k] = v;
    }
    return held;
}

/* Over the columns that both have; each is a Gaussian by itself. */
static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    const vh_shape column = { .d = 1 };
    double sum = 0, one;
    for (int k = 0; k < shape->d; k++) {
        const double *a[] = { p[0] + k, p[1] + k }, *b[] = { q[0] + k, q[1] + k };
        if (isnan(*a[0]) || isnan(*b[0]))
            continue;
        if (!vh_gaussian_diag.log_product(&column, a, b, lambda, &one, work))
            return false;
        sum += one;
    }
    *out = sum;
    return true;
}

static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    for (int k = 0; k < shape->d; k++)
        theta[n_stat(shape) - shape->d + k] += shift[k];
}

const vh_emission vh_gaussian_diag_gaps = {
    .name = "gaussian-diag",
    .slim = true,
    .n_param = 2,
    .param = { { "mu", 1, { VH_PER_COLUMN } }, { "cov", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_NORMAL_GAMMA,
    .seen = VH_SEEN_COLUMNS,
    .shift = shift,
    .location = &vh_location_gaps,
    .moments = vh_diag_moments,
    .with_gaps = &vh_gaussian_diag_gaps,
    .n_free = vh_diag_n_free,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .log_density = log_density,
    .expected_density = expected_density,
    .maximise = maximise,
    .log_product = log_product,
    .root = vh_diag_root,
    .draw = vh_diag_draw,
    .validate = vh_diag_validate,
};
