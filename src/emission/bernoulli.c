/* SPDX-License-Identifier: BSD-3-Clause */
/* bernoulli.c - bits: independent columns of 0 and 1, p [d] the probability of 1.
 *
 *   T(y) = (1, y, 1 - y)               2d + 1 numbers
 *   theta = (0, log p, log(1 - p))
 *
 * Ones and zeros are counted each for itself: the logit form would subtract large numbers where p is near 1.
 * For the same reason an expected model may have p - 1, which has a sign, in place of a p near 1. */
#include "emission/independent_columns.h"
#include "math/gamma.h"
#include "math/student.h"

#include <float.h>
#include <math.h>

#define LEAST 1e-6 /* under a floor p is at least this far from 0 and 1 */

static double one_of(double p)
{
    return signbit(p) ? 1 + p : p;
}

static double zero_of(double p)
{
    return signbit(p) ? -p : 1 - p;
}

static void stat(const vh_column *c, double y, double *s)
{
    (void)c;
    s[0] = y;
    s[1] = 1 - y;
}

static void mean_stat(const vh_column *c, double *s)
{
    stat(c, c->par[0], s); /* the expected bit */
}

static double theta(const vh_column *c, double *theta)
{
    theta[0] = vh_log_or_never(one_of(c->par[0]));
    theta[1] = vh_log_or_never(zero_of(c->par[0]));
    return 0;
}

/* E log p(y) where y = 1 with probability `one`; a bit is one that is certain. */
static double log_p(const vh_column *c, double one)
{
    double p = c->par[0];
    return (one > 0 ? one * vh_log_or_never(one_of(p)) : 0)
           + (one < 1 ? (1 - one) * vh_log_or_never(zero_of(p)) : 0);
}

static double expected(const vh_column *r, const vh_column *b)
{
    return log_p(r, b->par[0]);
}

static int maximise(vh_column *c, const double *s, const double *floor)
{
    double seen = s[0] + s[1], p = s[0] / seen;
    if (!(seen > VH_UNSEEN))
        return 0;
    if (s[1] > 0) /* a zero that was seen is possible, however rare */
        p = fmin(p, 1 - DBL_EPSILON / 2);
    c->par[0] = floor ? fmin(fmax(p, LEAST), 1 - LEAST) : p;
    return floor && (p < LEAST || p > 1 - LEAST);
}

static double log_product(const vh_column *p, const vh_column *q, double lambda)
{
    double a = p->par[0], b = q->par[0];
    return vh_log_or_never(pow(a * b, lambda) + pow((1 - a) * (1 - b), lambda));
}

static double draw(vh_rng *rng, const vh_column *c)
{
    return vh_rng_uniform(rng) < c->par[0];
}

static const char *refuse(double y)
{
    return y == 0 || y == 1 ? NULL : "0 or 1";
}

static const vh_columns columns = {
    .family = &vh_bernoulli,
    .range = { { 0, 1, "must be from 0 to 1" } },
    .n_stat = 2,
    .stat = stat,
    .mean_stat = mean_stat,
    .theta = theta,
    .log_p = log_p,
    .expected = expected,
    .maximise = maximise,
    .log_product = log_product,
    .draw = draw,
    .refuse = refuse,
};

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
    VH_INDEPENDENT_COLUMNS,
    .name = "bernoulli",
    .values = VH_BITS,
    .n_param = 1,
    .param = { { "p", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_COUNTS,
    .counts = &beta_prior,
    .with_gaps = &vh_bernoulli,
    .seen = VH_SEEN_CELLS,
    .shift = shift,
};
