/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_full_gaps.c - Gaussians with a full covariance, for frames of which cells are missing
 * (NaN).  Parameters and the rest of the family are those of gaussian_full.c.
 *
 * The density of a frame is that of the cells o it has, N(y_o; mu_o, Sigma_oo).  It is not linear in one
 * statistic for all patterns of cells, so the product is not used: frames are grouped by pattern, each with
 * one Cholesky factor L of Sigma_oo for a component.  The statistics of the M-step are expectations given
 * y_o,
 *
 *   T = (1, x, x x' lower triangle by rows, o)         o: the frame has anything
 *   E[y_m | y_o] = mu_m + R' z       z = L^-1 (y_o - mu_o)       R = L^-1 Sigma_om
 *   Cov[y_m | y_o] = Sigma_mm - R' R
 *
 * and frames that have nothing are left out of all but the first.  Ghahramani and Jordan 1994. */
#include "math/linalg.h"
#include "core/array2.h"
#include "math/logsum.h"
#include "emission/gaussian.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 512 }; /* frames among which patterns are looked for */

static int n_stat(const vh_shape *shape)
{
    return vh_gaussian_full.n_stat(shape) + 1;
}

static bool has_any(int d, const double *y)
{
    for (int k = 0; k < d; k++)
        if (!isnan(y[k]))
            return true;
    return false;
}

/* A channel of a product may be lacking as a whole (hmm/missing_columns.h): its parameters are NaN, and it
 * adds nothing. */
static bool lacks(const double *const *par)
{
    return isnan(par[0][0]);
}

/* Missing cells are taken to be at the origin: for starts, which put it at the centre of the frames. */
static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d, size = n_stat(&x->shape);
    for (int64_t t = 0; t < n; t++, y += d, T += size) {
        double *u = T + 1, *tri = T + 1 + d;
        T[0] = 1;
        for (int i = 0; i < d; i++)
            u[i] = isnan(y[i]) ? 0 : (y[i] - x->origin[i]) / x->scale[i];
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++)
                *tri++ = u[i] * u[j];
        T[size - 1] = has_any(d, y);
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int size = n_stat(&x->shape);
    memset(T, 0, sizeof *T * (size_t)size);
    T[0] = 1;
    if (lacks(par))
        return;
    vh_gaussian_full.stats_of_component(x, par, T);
    T[size - 1] = 1;
}

/* ---- patterns ------------------------------------------------------------------------------------------ */

typedef struct { /* which cells a frame has, and what a component says of them */
    int d, n_o, n_m;
    int *o, *m; /* [n_o] [n_m]  columns that are there, that are missing */
    double *L;  /* [n_o][n_o]  factor of Sigma_oo */
    double *Rt; /* [n_m][n_o]  R' */
    double *z;  /* [d] */
} pattern;

/* work [2 d d + 2 d] */
static pattern pattern_at(int d, double *work)
{
    pattern p = { .d = d };
    size_t dd = vh_cells(d, d);
    p.L = work;
    p.Rt = p.L + dd;
    p.z = p.Rt + dd;
    p.o = (int *)(p.z + d); /* d ints take no more room than d doubles */
    return p;
}

/* The pattern of y, its factor, and R' where it is asked for.  False when the covariance is singular. */
static bool pattern_set(pattern *p, const double *cov, const double *y, bool with_rest)
{
    int d = p->d;
    p->n_o = p->n_m = 0;
    for (int k = 0; k < d; k++)
        if (!isnan(y[k]))
            p->o[p->n_o++] = k;
    p->m = p->o + p->n_o;
    for (int k = 0; k < d; k++)
        if (isnan(y[k]))
            p->m[p->n_m++] = k;
    for (int i = 0; i < p->n_o; i++)
        for (int j = 0; j < p->n_o; j++)
            p->L[i * p->n_o + j] = cov[p->o[i] * d + p->o[j]];
    if (p->n_o > 0 && !vh_cholesky(p->n_o, p->L))
        return false;
    for (int i = 0; with_rest && i < p->n_m; i++)
        for (int j = 0; j < p->n_o; j++)
            p->Rt[i * p->n_o + j] = cov[p->m[i] * d + p->o[j]];
    if (with_rest && p->n_o > 0 && p->n_m > 0)
        vh_cholesky_solve_rows(p->n_o, p->L, p->n_m, p->Rt);
    return true;
}

/* z, and |z|^2. */
static double whiten(const pattern *p, const double *mu, const double *y)
{
    double sum = 0;
    for (int i = 0; i < p->n_o; i++)
        p->z[i] = y[p->o[i]] - mu[p->o[i]];
    if (p->n_o > 0)
        vh_cholesky_solve_rows(p->n_o, p->L, 1, p->z);
    for (int i = 0; i < p->n_o; i++)
        sum += p->z[i] * p->z[i];
    return sum;
}

static bool same_cells(int d, const double *a, const double *b)
{
    for (int k = 0; k < d; k++)
        if (isnan(a[k]) != isnan(b[k]))
            return false;
    return true;
}

/* n <= BLOCK frames in the order of their patterns, those of one pattern side by side: order [n]. */
static void by_pattern(int d, const double *y, int n, int *order)
{
    bool taken[BLOCK] = { false };
    int at = 0;
    memset(order, 0, sizeof *order * (size_t)n);
    for (int t = 0; t < n; t++) {
        if (taken[t])
            continue;
        order[at++] = t;
        for (int u = t + 1; u < n; u++)
            if (!taken[u] && same_cells(d, y + vh_row(t, d), y + vh_row(u, d))) {
                taken[u] = true;
                order[at++] = u;
            }
    }
}

/* ---- densities ----------------------------------------------------------------------------------------- */

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int size = n_stat(&x->shape);
    memset(theta, 0, sizeof *theta * (size_t)size);
    if (lacks(par))
        return 0;
    return vh_gaussian_full.natural(x, par, theta, work) < 0 ? -1 : INFINITY; /* never by the product */
}

static bool block_density(int d, const double *const *par, const double *y, int n, double *out, double *work)
{
    int order[BLOCK];
    double k0 = 0;
    pattern p = pattern_at(d, work);
    by_pattern(d, y, n, order);
    for (int i = 0; i < n; i++) {
        const double *frame = y + vh_row(order[i], d);
        if (i == 0 || !same_cells(d, frame, y + vh_row(order[i - 1], d))) {
            if (!pattern_set(&p, par[1], frame, false))
                return false;
            k0 = p.n_o > 0 ? -0.5 * (p.n_o * VH_LOG_2PI + vh_cholesky_logdet(p.n_o, p.L)) : 0;
        }
        out[order[i]] = k0 - 0.5 * whiten(&p, par[0], frame);
    }
    return true;
}

static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    bool ok = true;
    if (lacks(par))
        memset(out, 0, sizeof *out * (size_t)n);
    for (int64_t t = 0; t < n && ok && !lacks(par); t += BLOCK)
        ok = block_density(shape->d, par, y + t * shape->d, n - t < BLOCK ? (int)(n - t) : BLOCK, out + t,
                           work);
    return ok;
}

static bool expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                             double *out, int step, double *work)
{
    bool ok = true;
    for (int m = 0; m < n && ok; m++, b += VH_MAX_PARAM, out += step) {
        *out = 0;
        ok = lacks(r) || lacks(b) || vh_full_expected_density(shape, r, b, 1, out, 1, work);
    }
    return ok;
}

static bool log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                        double *out, double *work)
{
    *out = 0;
    return lacks(p) || lacks(q) || vh_full_log_product(shape, p, q, lambda, out, work);
}

static bool root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    return lacks(par) || vh_full_root(shape, par, r, work);
}

static void draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    for (int k = 0; k < shape->d; k++)
        y[k] = NAN;
    if (!lacks(par))
        vh_full_draw(rng, shape, par, r, y);
}

static bool validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    return lacks(par) || vh_full_validate(shape, par, why, size, work);
}

/* ---- statistics ---------------------------------------------------------------------------------------- */

/* sum += w times the statistics of the frame; u [d] is scratch. */
static void add_frame(const vh_coords *x, const pattern *p, const double *mu, const double *y, double w,
                      double *u, double *sum)
{
    int d = p->d;
    double *tri = sum + 1 + d;
    sum[0] += w;
    if (p->n_o == 0)
        return;
    if (p->n_m > 0)
        whiten(p, mu, y);
    for (int i = 0; i < p->n_o; i++)
        u[p->o[i]] = y[p->o[i]];
    for (int i = 0; i < p->n_m; i++) {
        u[p->m[i]] = mu[p->m[i]];
        for (int j = 0; j < p->n_o; j++)
            u[p->m[i]] += p->Rt[i * p->n_o + j] * p->z[j];
    }
    for (int i = 0; i < d; i++) {
        u[i] = (u[i] - x->origin[i]) / x->scale[i];
        sum[1 + i] += w * u[i];
        for (int j = 0; j <= i; j++)
            *tri++ += w * u[i] * u[j];
    }
    *tri += w;
}

/* sum += w times the covariance of the missing cells given the others. */
static void add_spread(const vh_coords *x, const pattern *p, const double *cov, double w, double *sum)
{
    int d = p->d;
    for (int a = 0; p->n_o > 0 && a < p->n_m; a++)
        for (int b = 0; b <= a; b++) {
            int i = p->m[a], j = p->m[b]; /* i >= j */
            double c = cov[i * d + j];
            for (int e = 0; e < p->n_o; e++)
                c -= p->Rt[a * p->n_o + e] * p->Rt[b * p->n_o + e];
            sum[1 + d + i * (i + 1) / 2 + j] += w * c / x->scale[i] / x->scale[j];
        }
}

static void block_gather(const vh_coords *x, const double *const *par, const double *y, const double *w,
                         int n, double *sum, double *work)
{
    int order[BLOCK], d = x->shape.d;
    double together = 0, *u = work + 2 * d * d + 2 * d;
    pattern p = pattern_at(d, work);
    by_pattern(d, y, n, order);
    for (int i = 0; i < n; i++) {
        const double *frame = y + vh_row(order[i], d);
        if (i == 0 || !same_cells(d, frame, y + vh_row(order[i - 1], d))) {
            if (i > 0)
                add_spread(x, &p, par[1], together, sum);
            together = 0;
            if (!pattern_set(&p, par[1], frame, true)) /* the densities needed the same factor */
                return;
        }
        if (!(w[order[i]] > 0))
            continue;
        add_frame(x, &p, par[0], frame, w[order[i]], u, sum);
        together += w[order[i]];
    }
    if (n > 0)
        add_spread(x, &p, par[1], together, sum);
}

static void gather(const vh_coords *x, const double *const *par, const double *y, const double *w, int64_t n,
                   double *sum, double *work)
{
    for (int64_t t = 0; t < n; t += BLOCK)
        block_gather(x, par, y + t * x->shape.d, w + t, n - t < BLOCK ? (int)(n - t) : BLOCK, sum, work);
}

/* A start that has never seen a frame is as wide as the coordinates. */
static void sit_anywhere(const vh_coords *x, double *const *par)
{
    int d = x->shape.d;
    for (int k = 0; k < d; k++) {
        par[0][k] = x->origin[k];
        par[1][k * d + k] = x->scale[k] * x->scale[k];
    }
}

static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int size = n_stat(&x->shape);
    double seen = stat[size - 1], *of_seen = work;
    if (!(seen > VH_UNSEEN) && !(par[1][0] > 0))
        sit_anywhere(x, par);
    if (!(seen > VH_UNSEEN))
        return 0;
    of_seen[0] = 1;
    for (int e = 1; e < size; e++)
        of_seen[e] = stat[e] / seen;
    return vh_gaussian_full.maximise(x, of_seen, floor, par, work + size);
}

static void shift(const vh_shape *shape, const double *shift, double *theta)
{
    theta[n_stat(shape) - 1] += shift[0];
}

const vh_emission vh_gaussian_full_gaps = {
    .name = "gaussian-full",
    .n_param = 2,
    .param = { { "mu", 1, { VH_PER_COLUMN } }, { "cov", 2, { VH_PER_COLUMN, VH_PER_COLUMN } } },
    .prior = VH_PRIOR_NORMAL_WISHART,
    .seen = VH_SEEN_FRAMES,
    .shift = shift,
    .location = &vh_location_full_gaps,
    .moments = vh_full_moments,
    .with_gaps = &vh_gaussian_full_gaps,
    .n_free = vh_full_n_free,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .gather = gather,
    .natural = natural,
    .log_density = log_density,
    .expected_density = expected_density,
    .maximise = maximise,
    .log_product = log_product,
    .root = root,
    .draw = draw,
    .validate = validate,
};
