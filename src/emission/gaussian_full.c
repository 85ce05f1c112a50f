/* SPDX-License-Identifier: BSD-3-Clause */
/* gaussian_full.c - Gaussians with a full covariance: mu [d], cov [d][d] = Sigma.
 *
 *   T(x) = (1, x, x x')                 1 + d + d(d+1)/2 numbers, the lower triangle by rows
 *   theta = (k, P mu, -P offdiagonal, -P/2 diagonal),   P = Sigma^-1,
 *   k = -1/2 (d log 2 pi + log det Sigma + mu' P mu)
 *
 * Off-diagonal entries count twice, hence the missing half.  P comes from a Cholesky factor, and only where
 * Sigma is far from singular is the product form used at all: `natural` reports the loss of digits, and the
 * engine then takes log_density, which solves with the factor instead. */
#include "math/linalg.h"
#include "math/logsum.h"
#include "emission/gaussian.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int n_stat(const vh_shape *shape)
{
    int d = shape->d;
    return 1 + d + d * (d + 1) / 2;
}

double vh_full_n_free(const vh_shape *shape)
{
    double d = shape->d;
    return d + d * (d + 1) / 2;
}

static void stats_of_obs(const vh_coords *x, const double *y, int64_t n, double *T)
{
    int d = x->shape.d, size = n_stat(&x->shape);
    for (int64_t t = 0; t < n; t++, y += d, T += size) {
        double *restrict u = T + 1, *restrict row = T + 1 + d;
        T[0] = 1;
        for (int i = 0; i < d; i++)
            u[i] = (y[i] - x->origin[i]) / x->scale[i];
        for (int i = 0; i < d; row += ++i)
            for (int j = 0; j <= i; j++)
                row[j] = u[i] * u[j];
    }
}

static void stats_of_component(const vh_coords *x, const double *const *par, double *T)
{
    int d = x->shape.d;
    double *tri = T + 1 + d;
    T[0] = 1;
    for (int i = 0; i < d; i++)
        T[1 + i] = (par[0][i] - x->origin[i]) / x->scale[i];
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++)
            *tri++ = T[1 + i] * T[1 + j] + par[1][i * d + j] / x->scale[i] / x->scale[j];
}

static double natural(const vh_coords *x, const double *const *par, double *theta, double *work)
{
    int d = x->shape.d;
    double *P = work, *m = work + d * d, *size = m + d, *Pm = theta + 1, *tri = theta + 1 + d;
    double logdet = 0, quad = 0, loss = 0;
    for (int i = 0; i < d; i++) {
        m[i] = (par[0][i] - x->origin[i]) / x->scale[i];
        size[i] = fabs(m[i]) + sqrt(fabs(par[1][i * d + i])) / x->scale[i];
        logdet += 2 * log(x->scale[i]);
        for (int j = 0; j < d; j++)
            P[i * d + j] = par[1][i * d + j] / x->scale[i] / x->scale[j];
    }
    if (!vh_cholesky(d, P))
        return -1;
    logdet += vh_cholesky_logdet(d, P);
    if (!vh_cholesky_inverse(d, P))
        return -1;
    for (int i = 0; i < d; i++) {
        Pm[i] = 0;
        for (int j = 0; j < d; j++) {
            Pm[i] += P[i * d + j] * m[j];
            loss += fabs(P[i * d + j]) * size[i] * size[j];
        }
        quad += Pm[i] * m[i];
        for (int j = 0; j < i; j++)
            *tri++ = -P[i * d + j];
        *tri++ = -0.5 * P[i * d + i];
    }
    theta[0] = -0.5 * (d * VH_LOG_2PI + logdet + quad);
    return loss;
}

/* log p = k - |L^-1 (y - mu)|^2 / 2, a few frames at a time so that the solve is a matrix one. */
static bool log_density(const vh_shape *shape, const double *const *par, const double *y, int64_t n,
                        double *out, double *work)
{
    int d = shape->d;
    enum { ROWS = 16 };
    double *L = work, *Z = work + d * d;
    memcpy(L, par[1], sizeof *L * (size_t)(d * d));
    if (!vh_cholesky(d, L))
        return false;
    double k0 = -0.5 * (d * VH_LOG_2PI + vh_cholesky_logdet(d, L));
    for (int64_t t = 0; t < n; t += ROWS) {
        int rows = n - t < ROWS ? (int)(n - t) : ROWS;
        for (int r = 0; r < rows; r++)
            for (int i = 0; i < d; i++)
                Z[r * d + i] = y[(t + r) * d + i] - par[0][i];
        vh_cholesky_solve_rows(d, L, rows, Z);
        for (int r = 0; r < rows; r++) {
            double q = 0;
            for (int i = 0; i < d; i++)
                q += Z[r * d + i] * Z[r * d + i];
            out[t + r] = k0 - 0.5 * q;
        }
    }
    return true;
}

/* E_b[ log p(y | r) ], eq. 42: log p(mu_b | r) - tr(Sigma_r^-1 Sigma_b) / 2; the trace is that of L^-1
 * Sigma_b L^-T, two solves by rows, in units of the deviations of r: in others products on the way may be
 * past all numbers where the result is not. */
static bool expected_of_one(const vh_shape *shape, const double *const *r, const double *const *b,
                            double *out, double *work)
{
    int d = shape->d;
    double *L = work, *Z = work + d * d;
    if (!log_density(shape, r, b[0], 1, out, work)) /* leaves the factor in work */
        return false;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            L[i * d + j] /= sqrt(r[1][i * d + i]);
            Z[i * d + j] = b[1][i * d + j] / sqrt(r[1][i * d + i]) / sqrt(r[1][j * d + j]);
        }
    vh_cholesky_solve_rows(d, L, d, Z);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < i; j++) {
            double t = Z[i * d + j];
            Z[i * d + j] = Z[j * d + i];
            Z[j * d + i] = t;
        }
    vh_cholesky_solve_rows(d, L, d, Z);
    for (int i = 0; i < d; i++)
        *out -= 0.5 * Z[i * d + i];
    return true;
}

bool vh_full_expected_density(const vh_shape *shape, const double *const *r, const double *const *b, int n,
                              double *out, int step, double *work)
{
    bool ok = true;
    for (int m = 0; m < n && ok; m++)
        ok = expected_of_one(shape, r, b + m * VH_MAX_PARAM, &out[m * step], work);
    return ok;
}

/* Raises every eigenvalue of cov, measured in units of the floor, to at least 1.  That is the maximiser of
 * the likelihood under cov >= diag(floor), so the likelihood still never falls. */
static bool raise_to_floor(int d, const double *floor, double *cov, double *work)
{
    double *V = work, *w = work + d * d, *C = w + d;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            V[i * d + j] = cov[i * d + j] / sqrt(floor[i]) / sqrt(floor[j]); /* floor^2 may underflow */
    if (!vh_eigen(d, V, w))
        return false;
    memset(C, 0, sizeof *C * (size_t)(d * d));
    for (int e = 0; e < d; e++) {
        double value = fmax(w[e], 1.0);
        for (int i = 0; i < d; i++)
            for (int j = 0; j <= i; j++)
                C[i * d + j] += value * V[e * d + i] * V[e * d + j];
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++)
            cov[i * d + j] = cov[j * d + i] = C[i * d + j] * sqrt(floor[i]) * sqrt(floor[j]);
    return true;
}

/* mu and Sigma, eqs. 59 and 60, from mean statistics. */
static int maximise(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work)
{
    int d = x->shape.d;
    const double *m = stat + 1, *tri = stat + 1 + d;
    double *mu = par[0], *cov = par[1], *test = work;
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++)
            cov[i * d + j] = cov[j * d + i] = (*tri++ - m[i] * m[j]) * x->scale[i] * x->scale[j];
    for (int i = 0; i < d; i++)
        mu[i] = x->origin[i] + x->scale[i] * m[i];

    /* Above the floor already?  cov - floor is then positive definite,
     * which a Cholesky factor tells cheaply. */
    memcpy(test, cov, sizeof *test * (size_t)(d * d));
    for (int i = 0; floor && i < d; i++)
        test[i * d + i] -= floor[i];
    if (vh_cholesky(d, test))
        return 0;
    return floor && raise_to_floor(d, floor, cov, work) ? 1 : -1;
}

/* log det of a covariance; NaN when it is singular.  L [d][d] is overwritten. */
static double log_det(int d, const double *cov, double *L)
{
    memcpy(L, cov, sizeof *L * (size_t)(d * d));
    return vh_cholesky(d, L) ? vh_cholesky_logdet(d, L) : NAN;
}

/* (2 pi)^(d(1 - 2 lambda)/2) lambda^(-d/2) (|S1| |S2|)^((1 - lambda)/2) |S1 + S2|^(-1/2)
 * exp{ -lambda/2 (m1 - m2)' (S1 + S2)^-1 (m1 - m2) }. */
bool vh_full_log_product(const vh_shape *shape, const double *const *p, const double *const *q, double lambda,
                         double *out, double *work)
{
    int d = shape->d;
    double *L = work, *u = work + d * d, quad = 0;
    double each = log_det(d, p[1], L) + log_det(d, q[1], L);
    for (int e = 0; e < d * d; e++)
        L[e] = p[1][e] + q[1][e];
    if (isnan(each) || !vh_cholesky(d, L))
        return false;
    for (int k = 0; k < d; k++)
        u[k] = p[0][k] - q[0][k];
    vh_cholesky_solve_rows(d, L, 1, u);
    for (int k = 0; k < d; k++)
        quad += u[k] * u[k];
    *out = 0.5
           * (d * ((1 - 2 * lambda) * VH_LOG_2PI - log(lambda)) + (1 - lambda) * each
              - vh_cholesky_logdet(d, L) - lambda * quad);
    return true;
}

/* Sigma = R R', R = V sqrt(w): unlike a Cholesky factor it exists for a singular Sigma too. */
bool vh_full_root(const vh_shape *shape, const double *const *par, double *r, double *work)
{
    int d = shape->d;
    double *V = work, *w = work + d * d;
    memcpy(V, par[1], sizeof *V * (size_t)(d * d));
    if (!vh_eigen(d, V, w))
        return false;
    for (int i = 0; i < d; i++)
        for (int e = 0; e < d; e++)
            r[i * d + e] = V[e * d + i] * sqrt(fmax(w[e], 0.0));
    return true;
}

void vh_full_draw(vh_rng *rng, const vh_shape *shape, const double *const *par, const double *r, double *y)
{
    int d = shape->d;
    memcpy(y, par[0], sizeof *y * (size_t)d);
    for (int e = 0; e < d; e++) {
        double u = vh_rng_normal(rng);
        for (int i = 0; i < d; i++)
            y[i] += r[i * d + e] * u;
    }
}

bool vh_full_validate(const vh_shape *shape, const double *const *par, char *why, size_t size, double *work)
{
    int d = shape->d;
    const double *mu = par[0], *cov = par[1];
    double *V = work, *w = work + d * d;
    for (int i = 0; i < d; i++) {
        if (!isfinite(mu[i])) {
            snprintf(why, size, "mu[%d] is %g, must be finite", i, mu[i]);
            return false;
        }
        for (int j = 0; j < d; j++) {
            double a = cov[i * d + j], b = cov[j * d + i];
            double slack = 1e-9 * sqrt(fabs(cov[i * d + i])) * sqrt(fabs(cov[j * d + j])) + 1e-300;
            if (!isfinite(a) || fabs(a - b) > slack) {
                snprintf(why, size,
                         "cov[%d][%d] is %g and cov[%d][%d] is %g, a covariance is finite and symmetric", i,
                         j, a, j, i, b);
                return false;
            }
        }
    }
    memcpy(V, cov, sizeof *V * (size_t)(d * d));
    if (vh_cholesky(d, V))
        return true;
    memcpy(V, cov, sizeof *V * (size_t)(d * d));
    if (!vh_eigen(d, V, w) || w[0] < -1e-10 * fabs(w[d - 1])) {
        snprintf(why, size, "cov has the eigenvalue %g, must have none below zero", w[0]);
        return false;
    }
    return true;
}

const vh_emission vh_gaussian_full = {
    .name = "gaussian-full",
    .n_param = 2,
    .param = { { "mu", 1, { VH_PER_COLUMN } }, { "cov", 2, { VH_PER_COLUMN, VH_PER_COLUMN } } },
    .prior = VH_PRIOR_NORMAL_WISHART,
    .kernel = VH_KERNEL_GAUSSIAN_FULL,
    .location = &vh_location_full,
    .moments = vh_full_moments,
    .cuts = &vh_splits_full,
    .with_gaps = &vh_gaussian_full_gaps,
    .n_free = vh_full_n_free,
    .n_stat = n_stat,
    .stats_of_obs = stats_of_obs,
    .stats_of_component = stats_of_component,
    .natural = natural,
    .log_density = log_density,
    .expected_density = vh_full_expected_density,
    .maximise = maximise,
    .log_product = vh_full_log_product,
    .root = vh_full_root,
    .draw = vh_full_draw,
    .validate = vh_full_validate,
};
