/* SPDX-License-Identifier: BSD-3-Clause */
/* poisson.c - counts: independent Poisson distributions, rate [d] >= 0.
 *
 *   T(y) = (1, y, o, -sum log y!)      2d + 2 numbers; o_k = 1 where y_k was observed
 *   theta = (0, log rate, -rate, 1)
 *
 * Densities are with respect to counting, so that 1/y! belongs to them; in the E-step of VHEM it is a
 * constant of the base component. */
#include "emission/independent_columns.h"
#include "math/gamma.h"
#include "math/logsum.h"
#include "math/student.h"

#include <math.h>

#define LARGE       1e7  /* sums over counts around more than this are integrals, to 8 digits */
#define LARGE_RATE  1e9  /* draws at a larger rate are those of a normal distribution */
#define LARGE_COUNT 1000 /* from here on log y! is Stirling's series, one term of which is good to 1e-12 */
#define LEAST       1e-6 /* the smallest rate under a floor: a state that saw no event can give one */

/* The largest count and rate, 2^53: above it doubles skip whole numbers. */
#define MOST 9007199254740992.0

static void stat(const vh_column *c, double y, double *s)
{
    (void)c;
    s[0] = y;
    s[1] = 1;
}

static void mean_stat(const vh_column *c, double *s)
{
    stat(c, c->par[0], s);
}

static double log_base(double y)
{
    return -vh_lgamma(y + 1);
}

/* E log y!: a sum over all y that matter, or, for large rates, entropy - rate + rate log rate with the series
 * of the entropy. */
static double mean_log_factorial(double rate)
{
    if (rate > 300)
        return rate * log(rate) - rate + 0.5 * (VH_LOG_2PI + 1 + log(rate)) - 1 / (12 * rate)
               - 1 / (24 * rate * rate);
    double sum = 0, p = exp(-rate), log_factorial = 0;
    int last = (int)(rate + 12 * sqrt(rate) + 30);
    for (int y = 1; y <= last; y++) {
        p *= rate / y;
        log_factorial += log(y);
        sum += p * log_factorial;
    }
    return sum;
}

static double mean_log_base(const vh_column *c)
{
    return -mean_log_factorial(c->par[0]);
}

static double theta(const vh_column *c, double *theta)
{
    double rate = c->par[0];
    theta[0] = vh_log_or_never(rate);
    theta[1] = -rate;
    return rate > 0 ? rate * (1 + fabs(log(rate))) : 0;
}

/* y log (y / rate) - y + rate without the loss of digits where y is near a large rate (Loader 2000). */
static double deviance(double y, double rate)
{
    double apart = y - rate, v = apart / (y + rate), sum = apart * v, term = 2 * y * v;
    if (!(fabs(apart) < 0.1 * (y + rate)))
        return y * log(y / rate) - y + rate;
    for (int j = 1; j < 1000; j++) {
        double before = sum;
        term *= v * v;
        sum += term / (2 * j + 1);
        if (sum == before)
            break;
    }
    return sum;
}

static double log_p(const vh_column *c, double y)
{
    double rate = c->par[0];
    if (y > LARGE_COUNT && rate > 0)
        return -deviance(y, rate) - 0.5 * (VH_LOG_2PI + log(y)) - 1 / (12 * y);
    return (y > 0 ? y * vh_log_or_never(rate) - vh_lgamma(y + 1) : 0) - rate;
}

static double expected(const vh_column *r, const vh_column *b)
{
    double rate = r->par[0], mean = b->par[0];
    if (mean > 300 && rate > 0)
        return -deviance(mean, rate) - 0.5 * (VH_LOG_2PI + 1 + log(mean)) + 1 / (12 * mean)
               + 1 / (24 * mean * mean);
    return (mean > 0 ? mean * vh_log_or_never(rate) : 0) - rate - mean_log_factorial(mean);
}

static int maximise(vh_column *c, const double *s, const double *floor)
{
    double rate = s[0] / s[1];
    if (!(s[1] > VH_UNSEEN))
        return 0;
    c->par[0] = floor ? fmax(rate, LEAST) : rate;
    return floor && rate < LEAST;
}

/* log sum_y (p q)^lambda, term by term from the largest on, in both directions.  With g = sqrt(a b) it is
 * that of Poisson(y; g)^(2 lambda), less lambda (sqrt a - sqrt b)^2, and for large g the integral of a normal
 * density to that power. */
static double sum_of_products(double a, double b, double lambda)
{
    double g = sqrt(a * b), apart = sqrt(a) - sqrt(b);
    if (g > LARGE)
        return (0.5 - lambda) * (VH_LOG_2PI + log(g)) - 0.5 * log(2 * lambda) - lambda * apart * apart;
    double top = floor(g), sum = 1, term = 1;
    double log_top = lambda * ((top > 0 ? top * log(a * b) : 0) - a - b - 2 * vh_lgamma(top + 1));
    for (double y = top + 1; term > 1e-18 * sum && a * b > 0; y++)
        sum += term *= pow(a * b / (y * y), lambda);
    term = 1;
    for (double y = top; y > 0 && term > 1e-18 * sum; y--)
        sum += term *= pow(y * y / (a * b), lambda);
    return log_top + log(sum);
}

static double log_product(const vh_column *p, const vh_column *q, double lambda)
{
    double a = p->par[0], b = q->par[0], apart = sqrt(a) - sqrt(b);
    return lambda == 0.5 ? -apart * apart / 2 : sum_of_products(a, b, lambda);
}

/* The probability of the most likely count. */
static double root(const vh_column *c)
{
    double rate = c->par[0];
    double mode = floor(rate);
    return exp((mode > 0 ? mode * log(rate) : 0) - rate - vh_lgamma(mode + 1));
}

/* Inversion, taking the values in the order mode, mode + 1, mode - 1, mode + 2, ...: about sqrt(rate) steps.
 * Where those are many the distribution is as good as normal: its skewness is 1 / sqrt(rate). */
static double draw(vh_rng *rng, const vh_column *c)
{
    double rate = c->par[0], mode_density = c->constant;
    if (rate > LARGE_RATE)
        return fmin(round(rate + sqrt(rate) * vh_rng_normal(rng)), MOST);
    double u = vh_rng_uniform(rng) - mode_density, up = floor(rate), down = up, p_up = mode_density,
           p_down = p_up;
    if (u < 0)
        return up;
    for (;;) {
        p_up *= rate / ++up;
        if ((u -= p_up) < 0)
            return up;
        if (down > 0) {
            p_down *= down-- / rate;
            if ((u -= p_down) < 0)
                return down;
        }
        if (p_up < 1e-300 && (down == 0 || p_down < 1e-300))
            return floor(rate); /* rounding has used up all probability */
    }
}

static const char *refuse(double y)
{
    if (!(y >= 0 && y == floor(y) && isfinite(y)))
        return "a whole number of 0 or more";
    return y <= MOST ? NULL : "9007199254740992 or less";
}

static const vh_columns columns = {
    .family = &vh_poisson,
    .range = { { 0, MOST, "must be from 0 to 9007199254740992" } },
    .n_stat = 2,
    .stat = stat,
    .mean_stat = mean_stat,
    .log_base = log_base,
    .mean_log_base = mean_log_base,
    .theta = theta,
    .log_p = log_p,
    .expected = expected,
    .maximise = maximise,
    .log_product = log_product,
    .root = root,
    .draw = draw,
    .refuse = refuse,
};

/* ---- gamma prior: shapes a [d] and rates b [d] --------------------------------------------------------- */

/* No more events than frames: a prior of few frames with many events each would be a narrow one. */
static void begin(const vh_shape *shape, double frames, const double *const *par, double *a0)
{
    for (int k = 0; k < shape->d; k++) {
        double rate = fmax(par[0][k], LEAST);
        a0[k] = fmax(frames * fmin(rate, 1), VH_LEAST_COUNT);
        a0[shape->d + k] = a0[k] / rate;
    }
}

/* With the rate exp E log rate, what is left of E log p(y) = y E log rate - E rate - log y! is the difference
 * of the rates. */
static void expect(const vh_shape *shape, const double *a, double *const *par, double *shift)
{
    const double *b = a + shape->d;
    for (int k = 0; k < shape->d; k++) {
        par[0][k] = exp(vh_digamma(a[k])) / b[k];
        shift[k] = par[0][k] - a[k] / b[k];
    }
}

static double kl(const vh_shape *shape, const double *a, const double *a0)
{
    double sum = 0;
    for (int k = 0; k < shape->d; k++)
        sum += vh_kl_gamma(a[k], a[shape->d + k], a0[k], a0[shape->d + k]);
    return sum;
}

static void mean(const vh_shape *shape, const double *a, double *const *par)
{
    for (int k = 0; k < shape->d; k++)
        par[0][k] = a[k] / a[shape->d + k];
}

static void interval(const vh_shape *shape, const double *a, int k, double outside, double *low, double *high)
{
    *low = vh_gamma_quantile(a[k], outside) / a[shape->d + k];
    *high = vh_gamma_quantile(a[k], 1 - outside) / a[shape->d + k];
}

static const vh_counts gamma_prior = { .n_array = 2,
                                       .array = { "a", "b" },
                                       .begin = begin,
                                       .expect = expect,
                                       .kl = kl,
                                       .mean = mean,
                                       .interval = interval };

static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    for (int k = 0; k < shape->d; k++)
        theta[1 + shape->d + k] += shift[k];
}

const vh_emission vh_poisson = {
    VH_INDEPENDENT_COLUMNS,
    .name = "poisson",
    .values = VH_COUNTS,
    .n_param = 1,
    .param = { { "rate", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_COUNTS,
    .counts = &gamma_prior,
    .with_gaps = &vh_poisson,
    .seen = VH_SEEN_CELLS,
    .shift = shift,
};
