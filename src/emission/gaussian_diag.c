/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_diag.c - Gaussians with a diagonal covariance: mu [d], cov [d] (variances).
 *
 *   T(x) = (1, x, x^2)            2d + 1 numbers
 *   theta = (k, mu/v, -1/(2v)),   k = -1/2 sum (log 2 pi v + mu^2/v)
 *
 * with mu and v in the coordinates x, except for the v under the log: that one makes it a density in y. */
#include "math/logsum.h"
#include "core/array2.h"
#include "emission/gaussian.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOG_2 0.69314718055994530942

static int n_stat(const vh_shape *shape)
{
    int d = shape->d;
    return 1 + 2 * d;
}

double vh_diag_n_free(const vh_shape *shape)
{
    return 2.0 * shape->d;
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
        double m = (par[0][k] - x->origin[k]) / x->scale[k];
        T[1 + k] = m;
        T[1 + d + k] = m * m + par[1][k] / x->scale[k] / x->scale[k];
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

/* mu and the diagonal of Sigma, eqs. 59 and 60, from mean statistics.  The floor is exact: for a given mean
 * the likelihood has one peak in each variance, so the best allowed variance is the nearer of peak and
 * floor. */
static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    double *mu = par[0], *cov = par[1];
    (void)work;
    for (int k = 0; k < d; k++) {
        double m = stat[1 + k], v = (stat[1 + d + k] - m * m) * x->scale[k] * x->scale[k];
        if (floor && !(v >= floor[k])) {
            v = floor[k];
            held = 1;
        }
        if (!(v > 0))
            return -1;
        mu[k] = x->origin[k] + x->scale[k] * m;
        cov[k] = v;
    }
    return held;
}

/* Per dimension (2 pi)^(1/2 - lambda) lambda^(-1/2) (v1 v2)^((1 - lambda)/2) (v1 + v2)^(-1/2)
 * exp{ -lambda (m1 - m2)^2 / (2 (v1 + v2)) }.  The sum is formed from halves: two variances near the largest
 * double have none. */
static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    int d = shape->d;
    double sum = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        if (!(p[1][k] > 0) || !(q[1][k] > 0))
            return false;
        double u = p[0][k] / 2 - q[0][k] / 2, half = p[1][k] / 2 + q[1][k] / 2;
        sum += (1 - 2 * lambda) * VH_LOG_2PI - log(lambda) - log(half) - LOG_2
               + (1 - lambda) * (log(p[1][k]) + log(q[1][k])) - 2 * lambda * (u / half) * u;
    }
    *out = 0.5 * sum;
    return true;
}

bool vh_diag_root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    int d = shape->d;
    (void)work;
    for (int k = 0; k < d; k++)
        r[k] = sqrt(par[1][k]);
    return true;
}

void vh_diag_draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    int d = shape->d;
    for (int k = 0; k < d; k++)
        y[k] = par[0][k] + r[k] * vh_rng_normal(rng);
}

bool vh_diag_validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    int d = shape->d;
    (void)work;
    for (int k = 0; k < d; k++) {
        if (!isfinite(par[0][k])) {
            snprintf(why, size, "mu[%d] is %g, must be finite", k, par[0][k]);
            return false;
        }
        if (!(par[1][k] >= 0) || isinf(par[1][k])) {
            snprintf(why, size, "cov[%d] is %g, a variance must be finite and not negative", k, par[1][k]);
            return false;
        }
    }
    return true;
}

const vh_emission vh_gaussian_diag = {
    .name = "gaussian-diag",
    .slim = true,
    .n_param = 2,
    .param = { { "mu", 1, { VH_PER_COLUMN } }, { "cov", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_NORMAL_GAMMA,
    .kernel = VH_KERNEL_GAUSSIAN_DIAG,
    .location = &vh_location_diag,
    .moments = vh_diag_moments,
    .with_gaps = &vh_gaussian_diag_gaps,
    .cuts = &vh_splits_diag,
    .n_free = vh_diag_n_free,
    .wider = &vh_gaussian_full,
    .promote = promote,
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
