/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - see stats.h.
 *
 * The expected log-likelihood splits into three regressions: x_1 on nothing, x_t on x_{t-1}, y_t on (x_t; 1).
 * Each gives a matrix and the covariance of its residuals. */
#include "dtm/stats.h"

#include "core/alloc.h"
#include "core/hash.h"
#include "core/array2.h"
#include "math/linalg.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

#define RIDGE      1e-12 /* added to singular second moments, as a share of their trace */
#define MOST_RIDGE 1e-3  /* moments that need more cannot be inverted */

/* The statistics stored at block, which the caller owns; block NULL: only their size is set. */
static vh_dt_stats stats_in(int n, int d, double *block)
{
    size_t nn = vh_cells(n, n), m = (size_t)n + 1, dd = (size_t)d;
    vh_dt_stats s = { .n = n, .d = d, .size = 3 + (size_t)n + 4 * nn + m * m + dd * m + dd, .block = block };
    if (!block)
        return s;
    s.seqs = s.block;
    s.steps = s.block + 1;
    s.frames = s.block + 2;
    s.x1 = s.block + 3;
    s.xx1 = s.x1 + n;
    s.from = s.xx1 + nn;
    s.to = s.from + nn;
    s.step = s.to + nn;
    s.xx = s.step + nn;
    s.yx = s.xx + m * m;
    s.yy = s.yx + dd * m;
    return s;
}

vhem_status vh_dt_stats_new(vhem_ctx *ctx, int n, int d, vh_dt_stats *out)
{
    double *block = NULL;

    VH_NEW(block, stats_in(n, d, NULL).size);
    *out = stats_in(n, d, block);
    return VHEM_OK;
}

void vh_dt_stats_free(vh_dt_stats *s)
{
    free(s->block);
    *s = (vh_dt_stats){ 0 };
}

/* A block: the objective; sum_z, its scales and the scales of the statistics, [K] each; the statistics. */
enum { SUM_Z, SCALE_Z, SCALE, HEADS };

static double *head(const vh_dtm *dtm, double *sums, int which)
{
    return sums + 1 + which * dtm->K;
}

/* Number of doubles before the statistics of texture j. */
static size_t stats_at(const vh_dtm *dtm, int j)
{
    size_t size = 1 + HEADS * (size_t)dtm->K;
    for (int i = 0; i < j; i++)
        size += stats_in(dtm->dt[i].n, dtm->d, NULL).size;
    return size;
}

size_t vh_dt_sums_size(const vh_dtm *dtm)
{
    return stats_at(dtm, dtm->K);
}

void vh_dt_sums_begin(const vh_dtm *dtm, double *sums)
{
    for (int j = 0; j < dtm->K; j++)
        head(dtm, sums, SCALE_Z)[j] = head(dtm, sums, SCALE)[j] = VH_NO_SCALE;
}

void vh_dt_sums_share(const vh_dtm *dtm, double *sums, int j, double log_z)
{
    vh_scaled_add(&head(dtm, sums, SUM_Z)[j], &head(dtm, sums, SCALE_Z)[j], log_z);
}

vh_dt_stats vh_dt_sums_stats(const vh_dtm *dtm, double *sums, int j)
{
    return stats_in(dtm->dt[j].n, dtm->d, sums + stats_at(dtm, j));
}

static void raise_scale(const vh_dtm *dtm, double *sums, int j, double to)
{
    vh_dt_stats s = vh_dt_sums_stats(dtm, sums, j);
    double *scale = &head(dtm, sums, SCALE)[j], change = vh_scale_change(*scale, to);
    for (size_t k = 0; k < s.size && change != 1; k++)
        s.block[k] *= change;
    *scale = to;
}

double vh_dt_sums_weigh(const vh_dtm *dtm, double *sums, int j, double log_w)
{
    double scale = vh_scale_of(log_w);
    if (scale > head(dtm, sums, SCALE)[j])
        raise_scale(dtm, sums, j, scale);
    return vh_at_scale(log_w, head(dtm, sums, SCALE)[j]);
}

void vh_dt_sums_merge(const void *of, double *left, const double *right)
{
    const vh_dtm *dtm = of;
    left[0] += right[0];
    for (int j = 0; j < dtm->K; j++) {
        const double *x = right + 1 + j;
        double other = x[SCALE * dtm->K], to = fmax(head(dtm, left, SCALE)[j], other),
               change = vh_scale_change(other, to);
        vh_scaled_merge(&head(dtm, left, SUM_Z)[j], &head(dtm, left, SCALE_Z)[j], x[SUM_Z * dtm->K],
                        x[SCALE_Z * dtm->K]);
        raise_scale(dtm, left, j, to);
        for (size_t k = stats_at(dtm, j); k < stats_at(dtm, j + 1); k++)
            left[k] += change * right[k];
    }
}

double vh_dt_sums_z(const vh_dtm *dtm, const double *sums, int j)
{
    return vh_scaled_value(sums[1 + SUM_Z * dtm->K + j], sums[1 + SCALE_Z * dtm->K + j]);
}

double vh_dt_sums_log_z(const vh_dtm *dtm, const double *sums, int j)
{
    return vh_scaled_log(sums[1 + SUM_Z * dtm->K + j], sums[1 + SCALE_Z * dtm->K + j]);
}

uint64_t vh_dtm_fingerprint(const vh_dtm *dtm, const double *log_omega)
{
    uint64_t h = vh_hash_chain(0, log_omega, sizeof *log_omega * (size_t)dtm->K);
    for (int64_t j = 0; j < dtm->K; j++)
        h = vh_hash_chain(h, dtm->dt[j].A, sizeof *dtm->dt[j].A * dtm->dt[j].size);
    return h;
}

/* B [m][n] = Y [m][n] X^-1 for second moments X [n][n].  If X is singular, a ridge far below the other
 * eigenvalues handles directions the state never took.  work [n^2]. */
static bool regress(int m, int n, const double *Y, const double *X, double *B, double *work)
{
    double trace = 0;
    for (int i = 0; i < n; i++)
        trace += X[i * n + i];
    if (trace == 0) { /* the state never moved: nothing depends on it */
        memset(B, 0, sizeof *B * vh_cells(m, n));
        return true;
    }
    double ridge = 0;
    while (ridge < MOST_RIDGE) {
        memcpy(work, X, sizeof *X * vh_cells(n, n));
        for (int i = 0; i < n; i++)
            work[i * n + i] += ridge * trace;
        if (vh_cholesky(n, work) && vh_cholesky_inverse(n, work)) {
            vh_gemm(false, false, m, n, n, 1, Y, n, work, n, 0, B, n);
            return true;
        }
        ridge = ridge > 0 ? 100 * ridge : RIDGE;
    }
    return false;
}

/* Replaces S [n][n] by the nearest symmetric matrix without negative eigenvalues; work [n^2 + n]. */
static bool nearest_covariance(int n, double *S, double *work)
{
    double *w = work + vh_cells(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            S[i * n + j] = S[j * n + i] = 0.5 * (S[i * n + j] + S[j * n + i]);
    memcpy(work, S, sizeof *S * vh_cells(n, n));
    if (!vh_eigen(n, work, w))
        return false;
    for (int k = 0; k < n && w[k] < 0; k++) /* ascending: negative ones come first */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                S[i * n + j] -= w[k] * work[k * n + i] * work[k * n + j];
    return true;
}

/* mu = E[x_1], Sigma = E[x_1 x_1'] - mu mu'. */
static bool maximise_first(const vh_dt_stats *s, vh_dt *dt, double *work)
{
    int n = s->n;
    for (int i = 0; i < n; i++)
        dt->mu[i] = s->x1[i] / *s->seqs;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            dt->Sigma[i * n + j] = s->xx1[i * n + j] / *s->seqs - dt->mu[i] * dt->mu[j];
    return nearest_covariance(n, dt->Sigma, work);
}

/* A = step from^-1, Q = E[(x_t - A x_{t-1}) (x_t - A x_{t-1})']. */
static bool maximise_step(const vh_dt_stats *s, vh_dt *dt, double *work)
{
    int n = s->n;
    size_t nn = vh_cells(n, n);
    double *X = work + nn + n;
    if (!regress(n, n, s->step, s->from, dt->A, work))
        return false;
    memcpy(dt->Q, s->to, sizeof *dt->Q * nn);
    vh_gemm(false, true, n, n, n, -1, dt->A, n, s->step, n, 1, dt->Q, n);
    vh_gemm(false, true, n, n, n, -1, s->step, n, dt->A, n, 1, dt->Q, n);
    vh_gemm(false, false, n, n, n, 1, dt->A, n, s->from, n, 0, X, n);
    vh_gemm(false, true, n, n, n, 1, X, n, dt->A, n, 1, dt->Q, n);
    for (size_t k = 0; k < nn; k++)
        dt->Q[k] /= *s->steps;
    return nearest_covariance(n, dt->Q, work);
}

/* (C, ybar) by regression on (x; 1), R from the residuals, but at least the floor. */
static bool maximise_frames(const vh_dt_stats *s, const vh_dt_limits *lim, vh_dt *dt, double *work,
                            int *n_floored)
{
    int n = s->n, m = n + 1, d = s->d;
    double *B = work + vh_row(m, m), *Bx = B + vh_row(d, m), all = 0, least = 0;

    if (!regress(d, m, s->yx, s->xx, B, work))
        return false;
    vh_gemm(false, false, d, m, m, 1, B, m, s->xx, m, 0, Bx, m);
    for (int k = 0; k < d; k++) {
        const double *b = B + vh_row(k, m), *yx = s->yx + vh_row(k, m);
        double left = s->yy[k];
        for (int i = 0; i < m; i++)
            left += b[i] * (Bx[vh_ij(k, m, i)] - 2 * yx[i]);
        memcpy(dt->C + vh_row(k, n), b, sizeof *b * (size_t)n);
        dt->ybar[k] += b[n];
        dt->R[k] = left / *s->frames;
        all += dt->R[k] / d;
        least = fmax(least, lim->floor[k]);
    }
    for (int k = 0; k < d; k++) {
        double R = lim->isotropic ? all : dt->R[k], floor = lim->isotropic ? least : lim->floor[k];
        *n_floored += !(R > floor);
        dt->R[k] = fmax(R, floor);
    }
    return true;
}

vhem_status vh_dt_maximise(vhem_ctx *ctx, const vh_dt_stats *s, const vh_dt_limits *lim, vh_dt *dt,
                           int *n_floored)
{
    size_t m = (size_t)s->n + 1;
    VH_AUTOFREE double *work = NULL;

    *n_floored = 0;
    if (!(*s->seqs > 0))
        return VHEM_OK;
    VH_NEW(work, 2 * m * m + 2 * (size_t)s->d * m + m);
    VH_CHECK(maximise_first(s, dt, work), VHEM_ENUMERIC, "the first states have no covariance");
    VH_CHECK(!(*s->steps > 0) || maximise_step(s, dt, work), VHEM_ENUMERIC,
             "no matrix A follows from the states: they are not numbers");
    VH_CHECK(maximise_frames(s, lim, dt, work, n_floored), VHEM_ENUMERIC,
             "no matrix C follows from the states: they are not numbers");
    return VHEM_OK;
}
