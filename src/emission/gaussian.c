/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian.c - see gaussian.h.  Variance k stands at entry k `step` of the second
 * parameter: step is 1, or d + 1 in a matrix. */
#include "emission/gaussian.h"

#include <math.h>
#include <string.h>

static void get_moments(int d, int step, const double *const *par, double *mean, double *var)
{
    for (int k = 0; k < d; k++) {
        mean[k] = par[0][k];
        var[k] = par[1][k * step];
    }
}

static void sit(const vh_coords *c, const double *x, double *const *par)
{
    for (int k = 0; k < c->shape.d; k++)
        if (!isnan(x[k]))
            par[0][k] = c->origin[k] + c->scale[k] * x[k];
}

static void part_means(int d, int step, const double *scale, vh_rng *rng, double *const *a, double *const *b)
{
    for (int k = 0; k < d; k++) {
        double by = 0.5 * fmin(sqrt(a[1][k * step]), scale[k]) * (vh_rng_uniform(rng) < 0.5 ? -1 : 1);
        a[0][k] += by;
        b[0][k] -= by;
    }
}

static void jitter_mean(int d, int step, const double *scale, vh_rng *rng, double *const *par)
{
    for (int k = 0; k < d; k++)
        if (scale[k] > 0)
            par[0][k] += 0.2 * fmax(sqrt(par[1][k * step]), 1e-3 * scale[k]) * vh_rng_normal(rng);
}

static void add_variances(int d, int step, const double *add, double *const *par)
{
    for (int k = 0; k < d; k++)
        par[1][k * step] += add[k];
}

/* A frame at the origin, and 1 at its squares: entry 1 + d + k, or (k, k) of the triangle that is there of a
 * full covariance. */
static void add_frame_at(const vh_emission *f, bool full, const vh_shape *shape, double *sum, double *stat,
                         double *work)
{
    int d = shape->d, n_stat = f->n_stat(shape);
    double *zero = work, *one = zero + d;
    const vh_coords origin = { .shape = *shape, .origin = zero, .scale = one };

    for (int k = 0; k < d; k++) {
        zero[k] = 0;
        one[k] = 1;
    }
    f->stats_of_obs(&origin, zero, 1, stat);
    for (int k = 0, at = 1 + d; k < d; k++, at += full ? k + 1 : 1)
        stat[at] = 1;
    for (int e = 0; e < n_stat; e++)
        sum[e] += stat[e];
}

void vh_diag_moments(const vh_shape *shape, const double *const *par, double *mean, double *var)
{
    get_moments(shape->d, 1, par, mean, var);
}

void vh_full_moments(const vh_shape *shape, const double *const *par, double *mean, double *var)
{
    get_moments(shape->d, shape->d + 1, par, mean, var);
}

static void part_diag(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *a,
                      double *const *b)
{
    part_means(shape->d, 1, scale, rng, a, b);
}

static void part_full(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *a,
                      double *const *b)
{
    part_means(shape->d, shape->d + 1, scale, rng, a, b);
}

static void jitter_diag(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *par)
{
    jitter_mean(shape->d, 1, scale, rng, par);
}

static void jitter_full(const vh_shape *shape, const double *scale, vh_rng *rng, double *const *par)
{
    jitter_mean(shape->d, shape->d + 1, scale, rng, par);
}

static void widen_diag(const vh_shape *shape, const double *add, double *const *par)
{
    add_variances(shape->d, 1, add, par);
}

static void widen_full(const vh_shape *shape, const double *add, double *const *par)
{
    add_variances(shape->d, shape->d + 1, add, par);
}

static void add_frame_diag(const vh_shape *shape, double *sum, double *stat, double *work)
{
    add_frame_at(&vh_gaussian_diag, false, shape, sum, stat, work);
}

static void add_frame_full(const vh_shape *shape, double *sum, double *stat, double *work)
{
    add_frame_at(&vh_gaussian_full, true, shape, sum, stat, work);
}

static void add_frame_gaps(const vh_shape *shape, double *sum, double *stat, double *work)
{
    add_frame_at(&vh_gaussian_diag_gaps, false, shape, sum, stat, work);
}

static void add_frame_full_gaps(const vh_shape *shape, double *sum, double *stat, double *work)
{
    add_frame_at(&vh_gaussian_full_gaps, true, shape, sum, stat, work);
}

const vh_location vh_location_gaps = { sit, part_diag, jitter_diag, widen_diag, add_frame_gaps, true, NULL };
const vh_location vh_location_diag = { sit, part_diag, jitter_diag, widen_diag, add_frame_diag, true, NULL };
const vh_location vh_location_full = { sit, part_full, jitter_full, widen_full, add_frame_full, true, NULL };
const vh_location vh_location_full_gaps = { sit,  part_full, jitter_full, widen_full, add_frame_full_gaps,
                                            true, NULL };
