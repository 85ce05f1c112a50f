/* SPDX-License-Identifier: BSD-3-Clause */
/* categorical.c - symbols: one column whose cells are the number of a symbol, 0 .. V-1; p [V].
 *
 *   T(y) = (1, [y = 0], ..., [y = V-1])      1 + V numbers, of which at most two are not 0
 *   theta = (0, log p)
 *
 * A cell that is missing (NaN) is no symbol and adds nothing.  Where a model never had the column, all p are
 * NaN. */
#include "math/gamma.h"
#include "core/array2.h"
#include "math/logsum.h"
#include "math/student.h"
#include "emission/component_split.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST 1e-6      /* the smallest probability under a floor */
enum { FEATURES = 32 }; /* k-means sees so many at most: symbol v counts in feature v mod 32 */

static int n_stat(const vh_shape *shape)
{
    return 1 + shape->V;
}

static double n_free(const vh_shape *shape)
{
    return shape->V - 1;
}

static int n_feature(const vh_shape *shape)
{
    return shape->V < FEATURES ? shape->V : FEATURES;
}

static void features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    int m = n_feature(shape);
    memset(X, 0, sizeof *X * vh_cells(n, m));
    for (int64_t t = 0; t < n; t++, X += m)
        if (!isnan(y[t]))
            X[(int)y[t] % m] = 1;
}

static void mean_features(const vh_shape *shape, const double *T, double *X)
{
    int m = n_feature(shape);
    memset(X, 0, sizeof *X * (size_t)m);
    for (int v = 0; v < shape->V; v++)
        X[v % m] += T[1 + v];
}

static int hot(const double *y)
{
    return isnan(*y) ? 0 : 1 + (int)*y;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    size_t size = 1 + (size_t)x->shape.V;
    memset(T, 0, sizeof *T * (size_t)n * size);
    for (int64_t t = 0; t < n; t++, T += size) {
        T[0] = 1;
        if (!isnan(y[t]))
            T[1 + (int)y[t]] = 1;
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    T[0] = 1;
    for (int v = 0; v < x->shape.V; v++)
        T[1 + v] = isnan(par[0][v]) ? 0 : par[0][v];
}

/* log p; of a model that never had the column: nothing. */
static double log_of(double p)
{
    return isnan(p) ? 0 : vh_log_or_never(p);
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    (void)work;
    theta[0] = 0;
    for (int v = 0; v < x->shape.V; v++)
        theta[1 + v] = log_of(par[0][v]);
    return 0;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    (void)shape;
    (void)work;
    for (int64_t t = 0; t < n; t++)
        out[t] = isnan(y[t]) ? 0 : log_of(par[0][(int)y[t]]);
    return true;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    (void)work;
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int v = 0; v < shape->V; v++)
            sum += b[0][v] > 0 ? b[0][v] * log_of(r[0][v]) : 0;
        out[m * step] = sum;
    }
    return true;
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int V = x->shape.V, held = 0;
    double seen = 0, all = 0;
    (void)work;
    for (int v = 0; v < V; v++)
        seen += stat[1 + v];
    if (!(seen > VH_UNSEEN))
        return 0;
    for (int v = 0; v < V; v++) {
        double p = stat[1 + v] / seen;
        held |= floor && p < LEAST;
        par[0][v] = floor ? fmax(p, LEAST) : p;
        all += par[0][v];
    }
    for (int v = 0; held && v < V; v++)
        par[0][v] /= all;
    return held;
}

static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    double sum = 0;
    (void)work;
    *out = 0;
    if (isnan(p[0][0]) || isnan(q[0][0]))
        return true;
    for (int v = 0; v < shape->V; v++)
        sum += lambda == 0.5 ? sqrt(p[0][v] * q[0][v]) : pow(p[0][v] * q[0][v], lambda);
    *out = vh_log_or_never(sum);
    return true;
}

/* The sums p_0 + ... + p_v. */
static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    double sum = 0;
    (void)work;
    for (int v = 0; v < shape->V; v++)
        r[v] = sum += par[0][v];
    return true;
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    double u = vh_rng_uniform(rng) * r[shape->V - 1];
    int lo = 0, hi = shape->V - 1;
    while (lo < hi) { /* the first whose sum is above u */
        int mid = (lo + hi) / 2;
        if (r[mid] > u)
            hi = mid;
        else
            lo = mid + 1;
    }
    *y = isnan(par[0][0]) ? NAN : lo;
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    double sum = 0;
    (void)work;
    for (int v = 0; v < shape->V; v++) {
        if (!(par[0][v] >= 0 && par[0][v] <= 1 + 1e-6)) {
            snprintf(why, size, "p[%d] is %g, must be from 0 to 1", v, par[0][v]);
            return false;
        }
        sum += par[0][v];
    }
    if (!(fabs(sum - 1) <= 1e-6)) {
        snprintf(why, size, "p sums to %.10g, must be 1", sum);
        return false;
    }
    return true;
}

static const char *refuse(const vh_shape *shape, int k, double y)
{
    (void)k;
    return y >= 0 && y < shape->V && y == floor(y) ? NULL : "the number of a symbol";
}

/* ---- Dirichlet prior: a [V] ---------------------------------------------------------------------------- */

static void begin(const vh_shape *shape, double frames, const double *const *par, double *a0)
{
    for (int v = 0; v < shape->V; v++)
        a0[v] = fmax(frames * par[0][v], VH_LEAST_COUNT);
}

static double sum_of(const vh_shape *shape, const double *a)
{
    double sum = 0;
    for (int v = 0; v < shape->V; v++)
        sum += a[v];
    return sum;
}

static void expect(const vh_shape *shape, const double *a, double *const *par, double *shift)
{
    double psi = vh_digamma(sum_of(shape, a));
    shift[0] = 0;
    for (int v = 0; v < shape->V; v++)
        par[0][v] = exp(vh_digamma(a[v]) - psi);
}

static double kl(const vh_shape *shape, const double *a, const double *a0)
{
    return vh_kl_dirichlet(shape->V, a, a0);
}

static void mean(const vh_shape *shape, const double *a, double *const *par)
{
    double sum = sum_of(shape, a);
    for (int v = 0; v < shape->V; v++)
        par[0][v] = a[v] / sum;
}

static void interval(const vh_shape *shape, const double *a, int k, double outside, double *low, double *high)
{
    double rest = sum_of(shape, a) - a[k];
    *low = shape->V > 1 ? vh_beta_quantile(a[k], rest, outside) : 1;
    *high = shape->V > 1 ? vh_beta_quantile(a[k], rest, 1 - outside) : 1;
}

static const vh_counts dirichlet = { .n_array = 1,
                                     .array = { "a" },
                                     .begin = begin,
                                     .expect = expect,
                                     .kl = kl,
                                     .mean = mean,
                                     .interval = interval };

const vh_emission vh_categorical = {
    .name = "categorical",
    .values = VH_SYMBOLS,
    .n_param = 1,
    .param = { { "p", 1, { VH_PER_SYMBOL } } },
    .prior = VH_PRIOR_COUNTS,
    .counts = &dirichlet,
    .cuts = &vh_splits_symbols,
    .with_gaps = &vh_categorical,
    .refuse = refuse,
    .single = true,
    .sparse = true,
    .n_free = n_free,
    .n_feature = n_feature,
    .features = features,
    .mean_features = mean_features,
    .n_stat = n_stat,
    .hot = hot,
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
