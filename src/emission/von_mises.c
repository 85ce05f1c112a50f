/* SPDX-License-Identifier: BSD-3-Clause */
/* von_mises.c - angles in radians: independent von Mises distributions, mean and kappa [d].
 *
 *   T(y) = (1, cos y, sin y, o)        3d + 1 numbers; o_k = 1 where y_k was observed
 *   theta = (0, kappa cos mean, kappa sin mean, -log 2 pi I0(kappa))
 *   E[cos y] = A(kappa) cos mean,  A = I1 / I0 */
#include "math/bessel.h"
#include "math/logsum.h"
#include "emission/independent_columns.h"

#include <math.h>
#include <stdio.h>

#define MOST 1e6 /* the largest kappa: angles that are all alike would have none */
#define PI   3.14159265358979323846

static int n_stat(const vh_shape *shape)
{
    return 1 + 3 * shape->d;
}

static double n_free(const vh_shape *shape)
{
    return 2.0 * shape->d;
}

static int n_feature(const vh_shape *shape)
{
    return 2 * shape->d;
}

/* Points on the circle, NaN where an angle is missing. */
static void features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    int d = shape->d;
    for (int64_t t = 0; t < n; t++, y += d, X += 2 * d)
        for (int k = 0; k < d; k++) {
            X[k] = cos(y[k]);
            X[d + k] = sin(y[k]);
        }
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++, y += d, T += 1 + 3 * d) {
        T[0] = 1;
        features(&x->shape, y, 1, T + 1);
        for (int k = 0; k < d; k++) {
            bool seen = !isnan(y[k]);
            T[1 + k] = seen ? T[1 + k] : 0;
            T[1 + d + k] = seen ? T[1 + d + k] : 0;
            T[1 + 2 * d + k] = seen;
        }
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    T[0] = 1;
    for (int k = 0; k < d; k++) {
        bool known = !isnan(par[0][k]);
        double length = known ? vh_bessel_ratio(par[1][k]) : 0, mean = known ? par[0][k] : 0;
        T[1 + k] = length * cos(mean);
        T[1 + d + k] = length * sin(mean);
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
        double kappa = par[1][k];
        if (isnan(kappa)) {
            theta[1 + k] = theta[1 + d + k] = theta[1 + 2 * d + k] = 0;
            continue;
        }
        theta[1 + k] = kappa * cos(par[0][k]);
        theta[1 + d + k] = kappa * sin(par[0][k]);
        theta[1 + 2 * d + k] = -VH_LOG_2PI - vh_log_bessel0(kappa) - kappa;
        loss += 2 * kappa;
    }
    return loss;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    int d = shape->d;
    for (int k = 0; k < d; k++)
        work[k] = -VH_LOG_2PI - vh_log_bessel0(par[1][k]);
    for (int64_t t = 0; t < n; t++, y += d) {
        out[t] = 0;
        for (int k = 0; k < d; k++) {
            double s = sin((y[k] - par[0][k]) / 2); /* cos u - 1 = -2 sin^2(u/2) */
            out[t] += isnan(s) ? 0 : work[k] - 2 * par[1][k] * s * s;
        }
    }
    return true;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    int d = shape->d;
    for (int k = 0; k < d; k++)
        work[k] = -VH_LOG_2PI - vh_log_bessel0(r[1][k]);
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int k = 0; k < d; k++)
            if (!isnan(b[0][k]) && !isnan(r[0][k]))
                sum += work[k] + r[1][k] * (vh_bessel_ratio(b[1][k]) * cos(b[0][k] - r[0][k]) - 1);
        out[m * step] = sum;
    }
    return true;
}

/* kappa with A(kappa) = R: Newton's method with A' = 1 - A^2 - A / kappa. */
static double kappa_from(double R)
{
    if (!(R < 1 - 0.5 / MOST))
        return MOST;
    double kappa = R * (2 - R * R) / (1 - R * R);
    for (int i = 0; i < 50 && kappa > 0; i++) {
        double A = vh_bessel_ratio(kappa), step = (A - R) / (1 - A * A - A / kappa);
        double next = kappa - step;
        next = next > 0 ? next : kappa / 2;
        bool rests = !(fabs(next - kappa) > 1e-15 * kappa);
        kappa = next;
        if (rests)
            break;
    }
    return fmin(kappa, MOST);
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        double seen = stat[1 + 2 * d + k];
        if (!(seen > VH_NOTHING))
            continue;
        double c = stat[1 + k] / seen, s = stat[1 + d + k] / seen, R = hypot(c, s);
        if (R > 0)
            par[0][k] = atan2(s, c);
        par[1][k] = kappa_from(R);
        if (floor && par[1][k] * floor[k] > 1) { /* the variance of narrow ones is 1 / kappa */
            par[1][k] = 1 / floor[k];
            held = 1;
        }
        held |= par[1][k] >= MOST;
    }
    return held;
}

/* (p q)^lambda is a von Mises density again, whose kappa is lambda |kappa e^(i mean) + kappa' e^(i
 * mean')|. */
static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        double a = p[1][k], b = q[1][k], u = p[0][k] - q[0][k];
        if (isnan(u))
            continue;
        double both = lambda * sqrt(fmax((a - b) * (a - b) + 2 * a * b * (1 + cos(u)), 0));
        sum += (1 - 2 * lambda) * VH_LOG_2PI + vh_log_bessel0(both) + both
               - lambda * (vh_log_bessel0(a) + a + vh_log_bessel0(b) + b);
    }
    *out = sum;
    return true;
}

static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    (void)shape;
    (void)par;
    (void)r;
    (void)work;
    return true;
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    (void)r;
    for (int k = 0; k < shape->d; k++)
        y[k] = isnan(par[0][k]) ? NAN : vh_draw_von_mises(rng, par[0][k], par[1][k]);
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        if (!isfinite(par[0][k])) {
            snprintf(why, size, "mean[%d] is %g, must be finite", k, par[0][k]);
            return false;
        }
        if (!(par[1][k] >= 0 && isfinite(par[1][k]))) {
            snprintf(why, size, "kappa[%d] is %g, must be a finite number of 0 or more", k, par[1][k]);
            return false;
        }
    }
    return true;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    (void)shape;
    (void)k;
    return isfinite(y) ? NULL : "a finite angle";
}

const vh_emission vh_von_mises = {
    .name = "von-mises",
    .values = VH_ANGLES,
    .no_prior = "the concentration of a von Mises distribution has no conjugate prior in closed form",
    .slim = true,
    .n_param = 2,
    .param = { { "mean", 1, { VH_PER_COLUMN } }, { "kappa", 1, { VH_PER_COLUMN } } },
    .with_gaps = &vh_von_mises,
    .refuse = refuse,
    .n_free = n_free,
    .n_feature = n_feature,
    .features = features,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .log_density = log_density,
    .expected_density = expected_density,
    .maximise = maximise,
    .log_product = log_product,
    .root = root,
    .draw = draw,
    .validate = validate,
};
