/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_tied.c - states that have nothing but weights c [G] of Gaussians which all HMMs share,
 * the background (background.h).  A state is one component here; its parameter is c.
 *
 * Models.  With E(m, l) the expected log density of Gaussian l under Gaussian m,
 *
 *   L_GMM(b, r) = sum_m c_b(m) psi_r(m)       psi_r(m) = log sum_l c_r(l) exp E(m, l)
 *   eta(l | m) = c_r(l) exp{ E(m, l) - psi_r(m) }
 *
 * which is linear in c_b: E_b[T] = (1, c_b) and theta_r = (0, psi_r).  The M-step has the mean c_b as its
 * statistic, and c_r(l) becomes sum_m t(m) eta(l | m), eta by the weights so far.
 *
 * Frames have a table of their own, since log sum_l c(l) N_l(y) is not linear in a statistic of y; but it is
 * the log of something that is.  With the shares of the Gaussians were they all alike, and the sum they are
 * shares of,
 *
 *   T(y) = (1, u(y), h(y))     u_l = N_l(y) / sum_m N_m(y)     h = log sum_m N_m(y)
 *   log p(y | c) = h + log <c, u>       shares of the Gaussians in the frame: c_l u_l / <c, u>
 *
 * so that T is made once for all HMMs and iterations, and a frame costs a state G multiplications and one
 * log.  Where <c, u> is next to nothing, the state having only Gaussians far from the frame, it is taken from
 * the definition. */
#include "math/logsum.h"
#include "core/array2.h"
#include "emission/background.h"
#include "emission/layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEAST 1e-8 /* the smallest weight under a floor */
#define TINY  1e-280

static const vh_background *of_shape(const vh_shape *shape)
{
    return shape->layout->background;
}

static int n_stat(const vh_shape *shape)
{
    return 1 + shape->G;
}

static int frame_n_stat(const vh_shape *shape)
{
    return 2 + shape->G;
}

static double n_free(const vh_shape *shape)
{
    return shape->G - 1;
}

static int n_feature(const vh_shape *shape)
{
    return shape->d;
}

/* Frames as they are. */
static void features(const vh_shape *shape, const double *y, int64_t n, double *X)
{
    memcpy(X, y, sizeof *X * vh_cells(n, shape->d));
}

/* The mean of a component. */
static void mean_features(const vh_shape *shape, const double *T, double *X)
{
    const vh_background *b = of_shape(shape);
    for (int k = 0; k < shape->d; k++) {
        const double *mu = b->mu_by + vh_row(k, b->G);
        X[k] = 0;
        for (int l = 0; l < b->G; l++)
            X[k] += T[1 + l] * mu[l];
    }
}

/* log sum_l p(l) exp a(l), and where it is asked for the shares of the sum. */
static double mix(int G, const double *p, const double *a, double *share)
{
    double top = -INFINITY, sum = 0;
    for (int l = 0; l < G; l++)
        if ((!p || p[l] > 0) && a[l] > top)
            top = a[l];
    if (!(top > -INFINITY)) {
        for (int l = 0; share && l < G; l++)
            share[l] = 1.0 / G;
        return VH_NEVER;
    }
    for (int l = 0; l < G; l++) {
        double e = !p ? exp(a[l] - top) : p[l] > 0 ? p[l] * exp(a[l] - top) : 0; /* 0 times infinity is 0 */
        sum += e;
        if (share)
            share[l] = e;
    }
    for (int l = 0; share && l < G; l++)
        share[l] /= sum;
    return top + log(sum);
}

/* ---- frames -------------------------------------------------------------------------------------------- */

static bool any(const vh_shape *shape, const double *y)
{
    for (int k = 0; k < shape->d; k++)
        if (!isnan(y[k]))
            return true;
    return false;
}

/* u and h of a frame; one in which nothing was observed has no shares. */
static double shares_of_frame(const vh_shape *shape, const double *y, double *u)
{
    const vh_background *b = of_shape(shape);
    vh_background_density(b, y, u);
    double h = mix(b->G, NULL, u, u);
    if (any(shape, y))
        return h;
    memset(u, 0, sizeof *u * (size_t)b->G);
    return 0;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    for (int64_t t = 0; t < n; t++, y += x->shape.d, T += n_stat(&x->shape)) {
        T[0] = 1;
        shares_of_frame(&x->shape, y, T + 1);
    }
}

static void frame_stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    for (int64_t t = 0; t < n; t++, y += x->shape.d, T += frame_n_stat(&x->shape)) {
        T[0] = 1;
        T[1 + x->shape.G] = shares_of_frame(&x->shape, y, T + 1);
    }
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    const vh_background *b = of_shape(shape);
    for (int64_t t = 0; t < n; t++, y += b->d) {
        vh_background_density(b, y, work);
        out[t] = any(shape, y) ? mix(b->G, par[0], work, NULL) : 0;
    }
    return true;
}

static void gather(const vh_coords *x, const double *const *par, const double *y, const double *w, int64_t n,
                   double *sum, double *work)
{
    const vh_background *b = of_shape(&x->shape);
    for (int64_t t = 0; t < n; t++, y += b->d) {
        sum[0] += w[t];
        if (!(w[t] > 0))
            continue;
        vh_background_density(b, y, work); /* 0 each where nothing was observed: shares are then c itself */
        mix(b->G, par[0], work, work);
        for (int l = 0; l < b->G; l++)
            sum[1 + l] += w[t] * work[l];
    }
}

static void log_density_known(const vh_shape *shape, const double *const *par, const vh_known_frames *frames,
                              double *out, double *work)
{
    const double *h = frames->T + 1 + shape->G;
    for (int64_t t = 0; t < frames->n; t++, h += 2 + shape->G)
        if (out[t] > TINY)
            out[t] = *h + log(out[t]);
        else
            log_density(shape, par, frames->y + t * shape->d, 1, out + t, work);
}

static void gather_known(const vh_coords *x, const double *const *par, const vh_known_frames *frames,
                         const double *w, double *sum, double *work)
{
    int G = x->shape.G;
    const double *restrict c = par[0], *u = frames->T + 1;
    for (int64_t t = 0; t < frames->n; t++, u += 2 + G) {
        double p = 0;
        if (!(w[t] > 0))
            continue;
#pragma omp simd reduction(+ : p)
        for (int l = 0; l < G; l++)
            p += c[l] * u[l];
        if (!(p > TINY)) {
            gather(x, par, frames->y + t * x->shape.d, w + t, 1, sum, work);
            continue;
        }
        double ratio = w[t] / p;
        sum[0] += w[t];
#pragma omp simd
        for (int l = 0; l < G; l++)
            sum[1 + l] += ratio * c[l] * u[l];
    }
}

/* <theta, T> is <c, u>, of which the density follows. */
static double frame_natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    (void)work;
    theta[0] = theta[1 + x->shape.G] = 0;
    memcpy(theta + 1, par[0], sizeof *theta * (size_t)x->shape.G);
    return INFINITY; /* never by the product alone */
}

/* Weights from shares, none below the floor. */
static int to_weights(int G, const double *t, const double *floor, double *p)
{
    double seen = 0, all = 0;
    int held = 0;
    for (int l = 0; l < G; l++)
        seen += t[l];
    if (!(seen > VH_UNSEEN))
        return 0;
    for (int l = 0; l < G; l++) {
        p[l] = t[l] / seen;
        if (floor && p[l] < LEAST) {
            p[l] = LEAST;
            held = 1;
        }
        all += p[l];
    }
    for (int l = 0; l < G; l++)
        p[l] /= all;
    return held;
}

static int frame_maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                          double *work)
{
    (void)work;
    for (int l = 0; l < x->shape.G && !(par[0][0] > 0); l++) /* a start that has seen nothing */
        if (l == x->shape.G - 1)
            for (int e = 0; e < x->shape.G; e++)
                par[0][e] = 1.0 / x->shape.G;
    return to_weights(x->shape.G, stat + 1, floor, par[0]);
}

/* Of made-up frames that have the shares b: what they add to the likelihood of the shares of real ones. */
static bool expected_shares(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                            double *out, int step, double *work)
{
    (void)work;
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int g = 0; g < shape->G; g++)
            sum += b[0][g] > 0 ? b[0][g] * vh_log_or_never(r[0][g]) : 0;
        out[m * step] = sum;
    }
    return true;
}

/* ---- models -------------------------------------------------------------------------------------------- */

static void frame_stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    T[0] = 1;
    memcpy(T + 1, par[0], sizeof *T * (size_t)x->shape.G);
    T[1 + x->shape.G] = 0;
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    T[0] = 1;
    memcpy(T + 1, par[0], sizeof *T * (size_t)x->shape.G);
}

/* psi [G] */
static void psi_of(const vh_background *b, const double *p, double *psi)
{
    int G = b->G;
    for (int m = 0; m < G; m++) {
        const double *rel = b->rel + vh_row(m, G);
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int l = 0; l < G; l++)
            sum += p[l] * rel[l];
        psi[m] = sum > TINY ? b->top[m] + log(sum) : mix(G, p, b->E + vh_row(m, G), NULL);
    }
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    (void)work;
    theta[0] = 0;
    psi_of(of_shape(&x->shape), par[0], theta + 1);
    return 0;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    psi_of(of_shape(shape), r[0], work);
    for (int m = 0; m < n; m++, b += VH_MAX_PARAM) {
        double sum = 0;
        for (int g = 0; g < shape->G; g++)
            sum += b[0][g] > 0 ? b[0][g] * work[g] : 0;
        out[m * step] = sum;
    }
    return true;
}

/* work [2][G] */
static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    const vh_background *b = of_shape(&x->shape);
    int G = b->G;
    double *psi = work, *to = work + G, had = 0;
    for (int l = 0; l < G; l++)
        had += par[0][l];
    if (!(had > 0)) /* a start: Gaussian for Gaussian */
        return to_weights(G, stat + 1, floor, par[0]);
    psi_of(b, par[0], psi);
    memset(to, 0, sizeof *to * (size_t)G);
    for (int m = 0; m < G; m++) {
        const double *E = b->E + vh_row(m, G), *rel = b->rel + vh_row(m, G);
        double unit = exp(b->top[m] - psi[m]); /* rel(l) unit is exp{E(l) - psi}, where that can be held */
        for (int l = 0; stat[1 + m] > 0 && l < G; l++)
            if (par[0][l] > 0)
                to[l] += stat[1 + m] * par[0][l] * (unit < 1 / TINY ? rel[l] * unit : exp(E[l] - psi[m]));
    }
    return to_weights(G, to, floor, par[0]);
}

/* sum_{m, l} (p(m) q(l))^lambda int (N_m N_l)^lambda, as for all mixtures. */
static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    const vh_background *b = of_shape(shape);
    const double *table = lambda == 0.5 ? b->half : lambda == 1 ? b->one : NULL;
    double *power = work, sum = 0;
    int G = b->G;
    for (int l = 0; l < G; l++)
        power[l] = q[0][l] > 0 ? pow(q[0][l], lambda) : 0;
    for (int m = 0; m < G; m++) {
        double row = 0;
        for (int l = 0; p[0][m] > 0 && l < G; l++)
            row += power[l] * (table ? table[vh_ij(m, G, l)] : 0);
        for (int l = 0; !table && p[0][m] > 0 && l < G; l++)
            row += power[l] > 0 ? power[l] * vh_background_product(b, m, l, lambda) : 0;
        sum += p[0][m] > 0 ? pow(p[0][m], lambda) * row : 0;
    }
    *out = vh_log_or_never(sum);
    return true;
}

/* The sums c(0) + ... + c(l). */
static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    double sum = 0;
    (void)work;
    for (int l = 0; l < shape->G; l++)
        r[l] = sum += par[0][l];
    return true;
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    const vh_background *b = of_shape(shape);
    double u = vh_rng_uniform(rng) * r[b->G - 1];
    int l = 0;
    (void)par;
    while (l < b->G - 1 && r[l] <= u)
        l++;
    for (int k = 0; k < b->d; k++) {
        size_t at = vh_ij(l, b->d, k);
        y[k] = b->mu[at] + sqrt(b->cov[at]) * vh_rng_normal(rng);
    }
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    double sum = 0;
    (void)work;
    for (int l = 0; l < shape->G; l++) {
        if (!(par[0][l] >= 0 && par[0][l] <= 1 + 1e-6)) {
            snprintf(why, size, "c[%d] is %g, must be from 0 to 1", l, par[0][l]);
            return false;
        }
        sum += par[0][l];
    }
    if (!(fabs(sum - 1) <= 1e-6)) {
        snprintf(why, size, "c sums to %.10g, must be 1", sum);
        return false;
    }
    return true;
}

static const vh_emission tied_frames;

#define COMMON                                                                                               \
    .name = "gaussian-tied", .n_param = 1, .param = { { "weights", 1, { VH_PER_GAUSSIAN } } }, .tied = true, \
    .no_prior = "the states share Gaussians, and have weights only", .with_gaps = &tied_frames,              \
    .single = true, .n_free = n_free, .n_feature = n_feature, .features = features,                          \
    .mean_features = mean_features, .uneven = true, .log_density = log_density, .log_product = log_product,  \
    .root = root, .draw = draw, .validate = validate

static const vh_emission tied_frames = {
    COMMON,
    .n_stat = frame_n_stat,
    .stats_of_obs = frame_stats_of_obs,
    .stats_of_component = frame_stats_of_component,
    .gather = gather,
    .log_density_known = log_density_known,
    .gather_known = gather_known,
    .expected_density = expected_shares,
    .natural = frame_natural,
    .maximise = frame_maximise,
};

const vh_emission vh_gaussian_tied = {
    COMMON,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .expected_density = expected_density,
    .maximise = maximise,
};
