/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.c - positive numbers, some of which may be exactly 0: shape a, rate b and zero, the
 * probability of 0, each [d].
 *
 *   T(y) = (1, [y > 0] log x, [y > 0] x, [y > 0], [y = 0]),  x = y / scale       4d + 1 numbers
 *   theta = (0, a - 1, -b', log(1 - zero) + a log b' - log Gamma(a) - log scale, log zero),  b' = b scale
 *
 * The density is with respect to length, and to counting at 0. */
#include "math/gamma.h"
#include "emission/independent_columns.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define LEAST 1e-3 /* the least shape that a floor makes */
#define MOST  1e6  /* the largest shape: values that are all alike would have none */

#define FARTHEST 1e15 /* of the logarithm of a mean from the mean of logarithms */

static int n_stat(const vh_shape *shape)
{
    return 1 + 4 * shape->d;
}

/* The rate in the coordinates x; it stays a number where components are far narrower than all together. */
static double rate_of(const vh_coords *x, const double *const *par, int k)
{
    return fmin(fmax(par[1][k] * x->scale[k], DBL_MIN), DBL_MAX);
}

static double n_free(const vh_shape *shape)
{
    return 3.0 * shape->d;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++, y += d, T += 1 + 4 * d) {
        T[0] = 1;
        for (int k = 0; k < d; k++) {
            bool positive = y[k] > 0;
            double u = y[k] / x->scale[k];
            T[1 + k] = positive ? log(u) : 0;
            T[1 + d + k] = positive ? u : 0;
            T[1 + 2 * d + k] = positive;
            T[1 + 3 * d + k] = y[k] == 0;
        }
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    T[0] = 1;
    for (int k = 0; k < d; k++) {
        double a = par[0][k], b = rate_of(x, par, k), q = 1 - par[2][k];
        bool known = !isnan(a);
        T[1 + k] = known ? q * (vh_digamma(a) - log(b)) : 0;
        T[1 + d + k] = known ? q * a / b : 0;
        T[1 + 2 * d + k] = known ? q : 0;
        T[1 + 3 * d + k] = known ? par[2][k] : 0;
    }
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    double loss = 0;
    (void)work;
    theta[0] = 0;
    for (int k = 0; k < d; k++) {
        double a = par[0][k], b = rate_of(x, par, k), zero = par[2][k];
        if (isnan(a)) {
            theta[1 + k] = theta[1 + d + k] = theta[1 + 2 * d + k] = theta[1 + 3 * d + k] = 0;
            continue;
        }
        theta[1 + k] = a - 1;
        theta[1 + d + k] = -b;
        theta[1 + 2 * d + k] = vh_log_or_never(1 - zero) + a * log(b) - vh_lgamma(a) - log(x->scale[k]);
        theta[1 + 3 * d + k] = vh_log_or_never(zero);
        loss += a * (1 + fabs(log(a / b)) + fabs(log(b)));
    }
    return loss;
}

/* log p where log y and y have these means, y is positive with probability q and 0 with probability z.  In
 * this form nothing large is subtracted where a is: with u = b y / a it is a (log u - u + 1) - log y and a
 * constant. */
static double log_density_of(double a, double b, double zero, const double mean[4])
{
    double q = mean[2], z = mean[3], sum = z > 0 ? z * vh_log_or_never(zero) : 0;
    if (isnan(a))
        return 0;
    if (!(q > 0))
        return sum;
    double log_u = mean[0] / q + log(b / a), u = mean[1] / q * (b / a);
    double constant = a * log(a) - a - vh_lgamma(a);
    return sum + q * (vh_log_or_never(1 - zero) + constant + a * (log_u - u + 1) - mean[0] / q);
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    int d = shape->d;
    (void)work;
    for (int64_t t = 0; t < n; t++, y += d) {
        out[t] = 0;
        for (int k = 0; k < d; k++) {
            const double mean[4] = { y[k] > 0 ? log(y[k]) : 0, y[k] > 0 ? y[k] : 0, y[k] > 0, y[k] == 0 };
            out[t] += log_density_of(par[0][k], par[1][k], par[2][k], mean);
        }
    }
    return true;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    (void)work;
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int k = 0; k < shape->d; k++) {
            double q = 1 - b[2][k];
            if (isnan(b[0][k]))
                continue;
            const double mean[4] = { q * (vh_digamma(b[0][k]) - log(b[1][k])), q * b[0][k] / b[1][k], q,
                                     b[2][k] };
            sum += log_density_of(r[0][k], r[1][k], r[2][k], mean);
        }
        out[m * step] = sum;
    }
    return true;
}

/* The shape with log a - psi(a) = g: a close start and a few steps of Newton's method in 1/a (Minka 2002).
 * Where g is large, 3 - g + root has no digits left, and is 24 g / (root + g - 3). */
static double shape_from(double g)
{
    if (!(g > 0.5 / MOST))
        return MOST;
    g = fmin(g, FARTHEST);
    double root = sqrt((g - 3) * (g - 3) + 24 * g),
           a = g > 3 ? 2 / (root + g - 3) : (3 - g + root) / (12 * g);
    for (int i = 0; i < 20; i++) {
        double before = a;
        a = 1 / (1 / a + (log(a) - vh_digamma(a) - g) / (a * a * (1 / a - vh_trigamma(a))));
        if (!(fabs(a - before) > 1e-15 * a))
            break;
    }
    return fmin(a, MOST);
}

/* log-likelihood of a frame that is not 0, by the means of its logarithm and of itself. */
static double mean_density(double a, double b, double mean_log, double mean)
{
    return a * log(b) - vh_lgamma(a) + (a - 1) * mean_log - b * mean;
}

/* The best shape and rate whose variance is the floor, a = floor b^2, where the best of all, shape `free`,
 * has a smaller one.  The likelihood is concave in (a, b) and a >= floor b^2 is a convex set, so it has one
 * maximum there, on the edge, and that is at a larger rate than mean / floor, where the slope along the edge,
 *
 *   2 floor b (log b + 1/2 - psi(floor b^2) + mean_log) - mean,
 *
 * is still positive; it changes its sign once.  What was there before stays if it is better, as it is in the
 * last digits of a fit that has converged. */
static void maximise_at_floor(double floor, double free, double mean_log, double mean, double *a, double *b)
{
    enum { HALVINGS = 64 };
    double lo = log(mean / floor), hi = log(MOST / floor) / 2; /* of log b */
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (lo + hi) / 2, rate = exp(middle);
        double slope = 2 * floor * rate * (middle + 0.5 - vh_digamma(floor * rate * rate) + mean_log) - mean;
        *(slope > 0 ? &lo : &hi) = middle;
    }
    double shape = fmax(exp(2 * lo) * floor, fmin(LEAST, free)), rate = sqrt(shape / floor);
    bool better = *a > 0 && *a >= floor * *b * *b
                  && mean_density(*a, *b, mean_log, mean) > mean_density(shape, rate, mean_log, mean);
    if (better)
        return;
    *a = shape;
    *b = rate;
}

/* Zeros say nothing about the shape and the rate: they stay what they were.  A component that has none yet,
 * as at the start, gets those of an exponential distribution of all the spread there is. */
static void without_positive(double scale, double *a, double *b)
{
    if (*a <= 0) {
        *a = 1;
        *b = 1 / scale;
    }
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        double s = x->scale[k], positive = stat[1 + 2 * d + k], seen = positive + stat[1 + 3 * d + k];
        if (seen > VH_NOTHING)
            par[2][k] = stat[1 + 3 * d + k] / seen;
        if (!(positive > VH_NOTHING)) {
            without_positive(s, &par[0][k], &par[1][k]);
            continue;
        }
        double mean_log = stat[1 + k] / positive, mean = stat[1 + d + k] / positive;
        if (!(mean >= DBL_MIN && mean <= 1 / DBL_MIN) || isnan(mean_log)) { /* no number holds the rate */
            without_positive(s, &par[0][k], &par[1][k]);
            continue;
        }
        double a = shape_from(log(mean) - mean_log);
        double least = floor ? floor[k] / s / s : 0; /* in these coordinates */
        if (mean * mean < a * least) {               /* the variance is mean^2 / shape */
            double rate = par[1][k] * s;
            maximise_at_floor(least, a, mean_log, mean, &par[0][k], &rate);
            par[1][k] = rate / s;
            held = 1;
            continue;
        }
        par[0][k] = a;
        par[1][k] = fmin(fmax(a / mean / s, DBL_MIN), DBL_MAX);
        held |= a >= MOST;
    }
    return held;
}

/* (p q)^lambda of two gamma densities is a gamma density again, with shape lambda (a + a' - 2) + 1, where
 * that is positive; else the integral diverges at 0. */
static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        double a = p[0][k], b = p[1][k], a2 = q[0][k], b2 = q[1][k], A = lambda * (a + a2 - 2) + 1;
        double both = (1 - p[2][k]) * (1 - q[2][k]), zeros = p[2][k] * q[2][k];
        if (isnan(a) || isnan(a2))
            continue;
        if (!(A > 0) && both > 0)
            return false;
        double log_positive =
            both > 0 ? lambda * (log(both) + a * log(b) - vh_lgamma(a) + a2 * log(b2) - vh_lgamma(a2))
                           + vh_lgamma(A) - A * log(lambda * (b + b2))
                     : -1e250;
        double log_zero = zeros > 0 ? lambda * log(zeros) : -1e250, top = fmax(log_positive, log_zero);
        sum += top + log(exp(log_positive - top) + exp(log_zero - top));
    }
    *out = sum;
    return true;
}

/* Of all frames, those that are 0 included. */
static void moments(const vh_shape *shape, const double *const *par, double *mean, double *var)
{
    for (int k = 0; k < shape->d; k++) {
        double a = par[0][k], b = par[1][k], q = 1 - par[2][k];
        mean[k] = q * a / b;
        var[k] = q * a / b * (1 + a * (1 - q)) / b;
    }
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
        y[k] = isnan(par[0][k])                  ? NAN
               : vh_rng_uniform(rng) < par[2][k] ? 0
                                                 : fmax(vh_draw_gamma(rng, par[0][k]) / par[1][k], 1e-300);
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    static const char *const name[] = { "shape", "rate" };
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        for (int p = 0; p < 2; p++)
            if (!(par[p][k] > 0 && isfinite(par[p][k]))) {
                snprintf(why, size, "%s[%d] is %g, must be finite and more than 0", name[p], k, par[p][k]);
                return false;
            }
        if (!(par[2][k] >= 0 && par[2][k] <= 1)) {
            snprintf(why, size, "zero[%d] is %g, must be from 0 to 1", k, par[2][k]);
            return false;
        }
    }
    return true;
}

static bool never_zero(const vh_shape *shape, const double *const *par, int k)
{
    (void)shape;
    return par[2][k] == 0;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    (void)shape;
    (void)k;
    return y >= 0 && isfinite(y) ? NULL : "0 or a positive number";
}

static void features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    for (int64_t i = 0; i < n * shape->d; i++)
        X[i] = isnan(y[i]) ? NAN : y[i] > 0 ? log(y[i]) : 0;
}

const vh_emission vh_gamma = {
    .name = "gamma",
    .values = VH_POSITIVES,
    .moments = moments,
    .no_prior = "the shape of a gamma distribution has no conjugate prior",
    .slim = true,
    .n_param = 3,
    .param = { { "shape", 1, { VH_PER_COLUMN } },
               { "rate", 1, { VH_PER_COLUMN } },
               { "zero", 1, { VH_PER_COLUMN }, .optional = true } },
    .with_gaps = &vh_gamma,
    .refuse = refuse,
    .never_zero = never_zero,
    .n_free = n_free,
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
