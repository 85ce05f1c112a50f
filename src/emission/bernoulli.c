/* SPDX-License-Identifier: BSD-3-Clause */
/* bernoulli.c - bits: independent columns of 0 and 1, p [d] the probability of 1.
 *
 *   T(y) = (1, y, 1 - y)               2d + 1 numbers
 *   theta = (0, log p, log(1 - p))
 *
 * Ones and zeros are counted each for itself: the logit form would subtract large numbers where p is near 1.
 * For the same reason an expected model may have p - 1, which has a sign, in place of a p near 1. */
#include "math/gamma.h"
#include "math/student.h"
#include "emission/independent_columns.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define LEAST 1e-6 /* under a floor p is at least this far from 0 and 1 */

static double one_of(double p)
{
    return signbit(p) ? 1 + p : p;
}

static double zero_of(double p)
{
    return signbit(p) ? -p : 1 - p;
}

static int n_stat(const vh_shape *shape)
{
    return 1 + 2 * shape->d;
}

static double n_free(const vh_shape *shape)
{
    return shape->d;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++, y += d, T += 1 + 2 * d) {
        T[0] = 1;
        for (int k = 0; k < d; k++) {
            T[1 + k] = isnan(y[k]) ? 0 : y[k];
            T[1 + d + k] = isnan(y[k]) ? 0 : 1 - y[k];
        }
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    stats_of_obs(x, par[0], 1, T); /* the expected bit */
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    (void)work;
    theta[0] = 0;
    for (int k = 0; k < d; k++) {
        bool known = !isnan(par[0][k]);
        theta[1 + k] = known ? vh_log_or_never(one_of(par[0][k])) : 0;
        theta[1 + d + k] = known ? vh_log_or_never(zero_of(par[0][k])) : 0;
    }
    return 0;
}

/* E log p(y) where y = 1 with probability `one`; a bit is one that is certain. */
static double log_density_of(double p, double one)
{
    if (isnan(one) || isnan(p))
        return 0;
    return (one > 0 ? one * vh_log_or_never(one_of(p)) : 0)
           + (one < 1 ? (1 - one) * vh_log_or_never(zero_of(p)) : 0);
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    (void)work;
    vh_columns_log_density(shape->d, par[0], y, n, log_density_of, out);
    return true;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    (void)work;
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM)
        vh_columns_log_density(shape->d, r[0], b[0], 1, log_density_of, &out[m * step]);
    return true;
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        double seen = stat[1 + k] + stat[1 + d + k], p = stat[1 + k] / seen;
        if (!(seen > VH_NOTHING))
            continue;
        if (stat[1 + d + k] > 0) /* a zero that was seen is possible, however rare */
            p = fmin(p, 1 - DBL_EPSILON / 2);
        held |= floor && (p < LEAST || p > 1 - LEAST);
        par[0][k] = floor ? fmin(fmax(p, LEAST), 1 - LEAST) : p;
    }
    return held;
}

static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        double a = p[0][k], b = q[0][k];
        if (!isnan(a) && !isnan(b))
            sum += vh_log_or_never(pow(a * b, lambda) + pow((1 - a) * (1 - b), lambda));
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
        y[k] = isnan(par[0][k]) ? NAN : vh_rng_uniform(rng) < par[0][k];
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    (void)work;
    for (int k = 0; k < shape->d; k++)
        if (!(par[0][k] >= 0 && par[0][k] <= 1)) {
            snprintf(why, size, "p[%d] is %g, must be from 0 to 1", k, par[0][k]);
            return false;
        }
    return true;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    (void)shape;
    (void)k;
    return y == 0 || y == 1 ? NULL : "0 or 1";
}

/* ---- beta prior: a [d] for ones, b [d] for zeros ------------------------------------------------------- */

static void begin(const vh_shape *shape, double frames, const double *const *par, double *a0)
{
    for (int k = 0; k < shape->d; k++) {
        a0[k] = fmax(frames * par[0][k], VH_LEAST_COUNT);
        a0[shape->d + k] = fmax(frames * (1 - par[0][k]), VH_LEAST_COUNT);
    }
}

/* exp of the two expected logs sum to less than 1: what they lack is the shift. */
static void expect(const vh_shape *shape, const double *a, double *const *par, double *shift)
{
    const double *b = a + shape->d;
    for (int k = 0; k < shape->d; k++) {
        double psi = vh_digamma(a[k] + b[k]), one = exp(vh_digamma(a[k]) - psi),
               zero = exp(vh_digamma(b[k]) - psi), sum = one + zero;
        par[0][k] = one < zero ? one / sum : -(zero / sum);
        shift[k] = log(sum);
    }
}

static double kl(const vh_shape *shape, const double *a, const double *a0)
{
    double sum = 0;
    for (int k = 0; k < shape->d; k++) {
        const double both[] = { a[k], a[shape->d + k] }, before[] = { a0[k], a0[shape->d + k] };
        sum += vh_kl_dirichlet(2, both, before);
    }
    return sum;
}

static void mean(const vh_shape *shape, const double *a, double *const *par)
{
    for (int k = 0; k < shape->d; k++)
        par[0][k] = a[k] / (a[k] + a[shape->d + k]);
}

static void interval(const vh_shape *shape, const double *a, int k, double outside, double *low, double *high)
{
    *low = vh_beta_quantile(a[k], a[shape->d + k], outside);
    *high = vh_beta_quantile(a[k], a[shape->d + k], 1 - outside);
}

static const vh_counts beta_prior = { .n_array = 2,
                                      .array = { "a", "b" },
                                      .begin = begin,
                                      .expect = expect,
                                      .kl = kl,
                                      .mean = mean,
                                      .interval = interval };

static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    for (int k = 0; k < shape->d; k++) {
        theta[1 + k] += shift[k];
        theta[1 + shape->d + k] += shift[k];
    }
}

const vh_emission vh_bernoulli = {
    .name = "bernoulli",
    .values = VH_BITS,
    .slim = true,
    .n_param = 1,
    .param = { { "p", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_COUNTS,
    .counts = &beta_prior,
    .with_gaps = &vh_bernoulli,
    .seen = VH_SEEN_CELLS,
    .shift = shift,
    .refuse = refuse,
    .n_free = n_free,
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
