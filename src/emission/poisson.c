/* SPDX-License-Identifier: BSD-3-Clause */
/* poisson.c - counts: independent Poisson distributions, rate [d] >= 0.
 *
 *   T(y) = (1, y, o, -sum log y!)      2d + 2 numbers; o_k = 1 where y_k was observed
 *   theta = (0, log rate, -rate, 1)
 *
 * A cell that is missing (NaN) adds nothing.  Densities are with respect to counting, so that 1/y! belongs to
 * them; in the E-step of VHEM it is a constant of the base component. */
#include "math/gamma.h"
#include "math/logsum.h"
#include "math/student.h"
#include "emission/independent_columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGE 1e7  /* sums over counts around more than this are integrals, to 8 digits */
#define LEAST 1e-6 /* the smallest rate under a floor: a state that saw no event must be able to give one */

static int n_stat(const vh_shape *shape)
{
    return 2 + 2 * shape->d;
}

static double n_free(const vh_shape *shape)
{
    return shape->d;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d;
    for (int64_t t = 0; t < n; t++, y += d, T += 2 + 2 * d) {
        double *base = T + 1 + 2 * d;
        T[0] = 1;
        *base = 0;
        for (int k = 0; k < d; k++) {
            bool seen = !isnan(y[k]);
            T[1 + k] = seen ? y[k] : 0;
            T[1 + d + k] = seen;
            *base -= seen ? vh_lgamma(y[k] + 1) : 0;
        }
    }
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

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    double *base = T + 1 + 2 * d;
    T[0] = 1;
    *base = 0;
    for (int k = 0; k < d; k++) {
        bool known = !isnan(par[0][k]);
        T[1 + k] = known ? par[0][k] : 0;
        T[1 + d + k] = known;
        *base -= known ? mean_log_factorial(par[0][k]) : 0;
    }
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    double loss = 0;
    (void)work;
    theta[0] = 0;
    theta[1 + 2 * d] = 1;
    for (int k = 0; k < d; k++) {
        double rate = par[0][k];
        bool known = !isnan(rate);
        theta[1 + k] = known ? vh_log_or_never(rate) : 0;
        theta[1 + d + k] = known ? -rate : 0;
        loss += rate > 0 ? rate * (1 + fabs(log(rate))) : 0;
    }
    return loss;
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

#define LARGE_COUNT 1000 /* from here on log y! is Stirling's series, of which one term is enough for 1e-12 */

static double log_density_of(double rate, double y)
{
    if (isnan(y) || isnan(rate))
        return 0;
    if (y > LARGE_COUNT && rate > 0)
        return -deviance(y, rate) - 0.5 * (VH_LOG_2PI + log(y)) - 1 / (12 * y);
    return (y > 0 ? y * vh_log_or_never(rate) - vh_lgamma(y + 1) : 0) - rate;
}

/* E log p(y | rate) of counts with the mean b: likewise. */
static double expected_of(double rate, double b)
{
    if (b > 300 && rate > 0)
        return -deviance(b, rate) - 0.5 * (VH_LOG_2PI + 1 + log(b)) + 1 / (12 * b) + 1 / (24 * b * b);
    return (b > 0 ? b * vh_log_or_never(rate) : 0) - rate - mean_log_factorial(b);
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
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int k = 0; k < shape->d; k++) {
            double rate = b[0][k];
            if (!isnan(rate) && !isnan(r[0][k]))
                sum += expected_of(r[0][k], rate);
        }
        out[m * step] = sum;
    }
    return true;
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d, held = 0;
    (void)work;
    for (int k = 0; k < d; k++) {
        double seen = stat[1 + d + k], rate = stat[1 + k] / seen;
        if (!(seen > VH_NOTHING))
            continue;
        held |= floor && rate < LEAST;
        par[0][k] = floor ? fmax(rate, LEAST) : rate;
    }
    return held;
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

static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    double sum = 0;
    (void)work;
    for (int k = 0; k < shape->d; k++) {
        double a = p[0][k], b = q[0][k], apart = sqrt(a) - sqrt(b);
        if (!isnan(a) && !isnan(b))
            sum += lambda == 0.5 ? -apart * apart / 2 : sum_of_products(a, b, lambda);
    }
    *out = sum;
    return true;
}

static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    (void)work;
    for (int k = 0; k < shape->d; k++)
        r[k] = vh_poisson_mode_density(par[0][k]);
    return true;
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    for (int k = 0; k < shape->d; k++)
        y[k] = isnan(par[0][k]) ? NAN : vh_draw_poisson(rng, par[0][k], r[k]);
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    (void)work;
    for (int k = 0; k < shape->d; k++)
        if (!(par[0][k] >= 0 && par[0][k] <= VH_MOST_COUNT)) {
            snprintf(why, size, "rate[%d] is %g, must be from 0 to %.0f", k, par[0][k], VH_MOST_COUNT);
            return false;
        }
    return true;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    (void)shape;
    (void)k;
    if (!(y >= 0 && y == floor(y) && isfinite(y)))
        return "a whole number of 0 or more";
    return y <= VH_MOST_COUNT ? NULL : "9007199254740992 or less";
}

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
    .name = "poisson",
    .values = VH_COUNTS,
    .slim = true,
    .n_param = 1,
    .param = { { "rate", 1, { VH_PER_COLUMN } } },
    .prior = VH_PRIOR_COUNTS,
    .counts = &gamma_prior,
    .with_gaps = &vh_poisson,
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
