/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.c - positive numbers, some of which may be exactly 0: shape a, rate b and zero, the
 * probability of 0, each [d].
 *
 *   T(y) = (1, [y > 0] log x, [y > 0] x, [y > 0], [y = 0]),  x = y / scale       4d + 1 numbers
 *   theta = (0, a - 1, -b', log(1 - zero) + a log b' - log Gamma(a) - log scale, log zero),  b' = b scale
 *
 * The density is with respect to length, and to counting at 0. */
#include "emission/independent_columns.h"
#include "math/gamma.h"

#include <float.h>
#include <math.h>

#define LEAST 1e-3 /* the least shape that a floor makes */
#define MOST  1e6  /* the largest shape: values that are all alike would have none */

#define FARTHEST 1e15 /* of the logarithm of a mean from the mean of logarithms */

/* The rate in the coordinates of T; it stays a number where components are far narrower than all together. */
static double rate_of(const vh_column *c)
{
    return fmin(fmax(c->par[1] * c->scale, DBL_MIN), DBL_MAX);
}

static void stat(const vh_column *c, double y, double *s)
{
    bool positive = y > 0;
    double u = y / c->scale;
    s[0] = positive ? log(u) : 0;
    s[1] = positive ? u : 0;
    s[2] = positive;
    s[3] = y == 0;
}

static void mean_stat(const vh_column *c, double *s)
{
    double a = c->par[0], b = rate_of(c), q = 1 - c->par[2];
    s[0] = q * (vh_digamma(a) - log(b));
    s[1] = q * a / b;
    s[2] = q;
    s[3] = c->par[2];
}

static double theta(const vh_column *c, double *theta)
{
    double a = c->par[0], b = rate_of(c), zero = c->par[2];
    theta[0] = a - 1;
    theta[1] = -b;
    theta[2] = vh_log_or_never(1 - zero) + a * log(b) - vh_lgamma(a) - log(c->scale);
    theta[3] = vh_log_or_never(zero);
    return a * (1 + fabs(log(a / b)) + fabs(log(b)));
}

static double constant(const vh_column *c)
{
    double a = c->par[0];
    return a * log(a) - a - vh_lgamma(a);
}

/* log p where the cell has the statistic s, or the mean s.  In this form nothing large is subtracted where a
 * is: with u = b y / a it is a (log u - u + 1) - log y and a constant. */
static double log_p_of(const vh_column *c, const double *s)
{
    double a = c->par[0], b = c->par[1], zero = c->par[2], q = s[2];
    double sum = s[3] > 0 ? s[3] * vh_log_or_never(zero) : 0;
    if (!(q > 0))
        return sum;
    double log_u = s[0] / q + log(b / a), u = s[1] / q * (b / a);
    return sum + q * (vh_log_or_never(1 - zero) + c->constant + a * (log_u - u + 1) - s[0] / q);
}

static double log_p(const vh_column *c, double y)
{
    double s[4];
    stat(c, y, s);
    return log_p_of(c, s);
}

static double expected(const vh_column *r, const vh_column *b)
{
    double s[4];
    mean_stat(b, s);
    return log_p_of(r, s);
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

static int maximise(vh_column *c, const double *s, const double *floor)
{
    double scale = c->scale, positive = s[2], seen = positive + s[3];
    if (seen > VH_UNSEEN)
        c->par[2] = s[3] / seen;
    double mean_log = s[0] / positive, mean = s[1] / positive;
    bool has_rate = mean >= DBL_MIN && mean <= 1 / DBL_MIN && !isnan(mean_log);
    if (!(positive > VH_UNSEEN) || !has_rate) {
        without_positive(scale, &c->par[0], &c->par[1]);
        return 0;
    }
    double a = shape_from(log(mean) - mean_log);
    double least = floor ? *floor / scale / scale : 0; /* in these coordinates */
    if (mean * mean < a * least) {                     /* the variance is mean^2 / shape */
        double rate = c->par[1] * scale;
        maximise_at_floor(least, a, mean_log, mean, &c->par[0], &rate);
        c->par[1] = rate / scale;
        return 1;
    }
    c->par[0] = a;
    c->par[1] = fmin(fmax(a / mean / scale, DBL_MIN), DBL_MAX);
    return a >= MOST;
}

/* (p q)^lambda of two gamma densities is a gamma density again, with shape lambda (a + a' - 2) + 1, where
 * that is positive; else the integral diverges at 0. */
static double log_product(const vh_column *p, const vh_column *q, double lambda)
{
    double a = p->par[0], b = p->par[1], a2 = q->par[0], b2 = q->par[1], A = lambda * (a + a2 - 2) + 1;
    double both = (1 - p->par[2]) * (1 - q->par[2]), zeros = p->par[2] * q->par[2];
    if (!(A > 0) && both > 0)
        return NAN;
    double log_positive =
        both > 0 ? lambda * (log(both) + a * log(b) - vh_lgamma(a) + a2 * log(b2) - vh_lgamma(a2))
                       + vh_lgamma(A) - A * log(lambda * (b + b2))
                 : -1e250;
    double log_zero = zeros > 0 ? lambda * log(zeros) : -1e250, top = fmax(log_positive, log_zero);
    return top + log(exp(log_positive - top) + exp(log_zero - top));
}

/* Marsaglia and Tsang 2000; a shape below 1 by that of shape + 1 and a power of a uniform number.
 * Rate 1. */
static double draw_gamma(vh_rng *rng, double shape)
{
    double boost = 1;
    if (shape < 1) {
        boost = exp(-vh_rng_exponential(rng) / shape);
        shape += 1;
    }
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        double x = vh_rng_normal(rng), v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        if (-vh_rng_exponential(rng) < 0.5 * x * x + d - d * v + d * log(v))
            return boost * d * v;
    }
}

static double draw(vh_rng *rng, const vh_column *c)
{
    return vh_rng_uniform(rng) < c->par[2] ? 0 : fmax(draw_gamma(rng, c->par[0]) / c->par[1], 1e-300);
}

static const char *refuse(double y)
{
    return y >= 0 && isfinite(y) ? NULL : "0 or a positive number";
}

static const vh_columns columns = {
    .family = &vh_gamma,
    .range = { { DBL_TRUE_MIN, DBL_MAX, "must be finite and more than 0" },
               { DBL_TRUE_MIN, DBL_MAX, "must be finite and more than 0" },
               { 0, 1, "must be from 0 to 1" } },
    .n_stat = 4,
    .n_feature = 1,
    .stat = stat,
    .mean_stat = mean_stat,
    .theta = theta,
    .constant = constant,
    .log_p = log_p,
    .expected = expected,
    .maximise = maximise,
    .log_product = log_product,
    .draw = draw,
    .refuse = refuse,
};

/* Of all frames, those that are 0 included. */
static void moments(const vh_shape *shape, const double *const *par, double *mean, double *var)
{
    for (int k = 0; k < shape->d; k++) {
        double a = par[0][k], b = par[1][k], q = 1 - par[2][k];
        mean[k] = q * a / b;
        var[k] = q * a / b * (1 + a * (1 - q)) / b;
    }
}

static bool never_zero(const vh_shape *shape, const double *const *par, int k)
{
    (void)shape;
    return par[2][k] == 0;
}

const vh_emission vh_gamma = {
    VH_INDEPENDENT_COLUMNS,
    .name = "gamma",
    .values = VH_POSITIVES,
    .moments = moments,
    .no_prior = "the shape of a gamma distribution has no conjugate prior",
    .n_param = 3,
    .param = { { "shape", 1, { VH_PER_COLUMN } },
               { "rate", 1, { VH_PER_COLUMN } },
               { "zero", 1, { VH_PER_COLUMN }, .optional = true } },
    .with_gaps = &vh_gamma,
    .never_zero = never_zero,
    .features = columns_features,
};
