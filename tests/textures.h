/* SPDX-License-Identifier: BSD-3-Clause */
/* textures.h - what the tests of dynamic textures share: random ones, and the dense Gaussian of all states
 * and frames, which answers every question by brute force. */
#ifndef VH_TESTS_TEXTURES_H
#define VH_TESTS_TEXTURES_H

#include "engine.h"

#include "math/linalg.h"
#include "dtm/dtm.h"
#include "dtm/stats.h"

/* S [n][n] = B B' + add I with B [n][rank] random. */
static inline void random_spread(vh_rng *rng, int n, int rank, double size, double add, double *S)
{
    double *B = calloc((size_t)(n * rank) + 1, sizeof *B);
    for (int k = 0; k < n * rank; k++)
        B[k] = size * vh_rng_normal(rng) / sqrt(n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            S[i * n + j] = i == j ? add : 0;
            for (int k = 0; k < rank; k++)
                S[i * n + j] += B[i * rank + k] * B[j * rank + k];
        }
    free(B);
}

/* K random textures; radius: of A, about; rank: of Q and Sigma, n for positive definite ones. */
static inline vh_dtm *random_dtm(vhem_ctx *ctx, vh_rng *rng, int K, int n, int d, double radius, int rank)
{
    vh_dtm *dtm = NULL;
    assert_ok(ctx, vh_dtm_new(ctx, d, K, &dtm));
    for (int i = 0; i < K; i++) {
        vh_dt *dt = &dtm->dt[i];
        assert_ok(ctx, vh_dt_shape(ctx, d, n, dt));
        for (int k = 0; k < n * n; k++)
            dt->A[k] = radius * vh_rng_normal(rng) / sqrt(n);
        random_spread(rng, n, rank, 0.7, 0, dt->Q);
        random_spread(rng, n, rank, 1.2, 0, dt->Sigma);
        for (int k = 0; k < n; k++)
            dt->mu[k] = vh_rng_normal(rng);
        for (int k = 0; k < d * n; k++)
            dt->C[k] = vh_rng_normal(rng);
        for (int k = 0; k < d; k++) {
            dt->ybar[k] = 3 * vh_rng_normal(rng);
            dt->R[k] = 0.1 + vh_rng_exponential(rng);
        }
    }
    assert_ok(ctx, vh_dtm_validate(ctx, dtm));
    return dtm;
}

typedef struct { /* of T frames, X = (x_1 .. x_T), Y = (y_1 .. y_T) */
    int T, n, d, nx, ny;
    double *mx, *Sx, *my, *Sy; /* [nx] [nx][nx] [ny] [ny][ny] */
    double *G, *V;             /* E[X | Y] = mx + G (Y - my), V its covariance */
    double *inv;               /* Sy^-1 */
    double logdet;
} dense;

static inline void dense_prior(const vh_dt *dt, dense *z)
{
    int n = z->n, nx = z->nx;
    for (int t = 0; t < z->T; t++)
        for (int i = 0; i < n; i++) {
            z->mx[t * n + i] = t == 0 ? dt->mu[i] : 0;
            for (int k = 0; t > 0 && k < n; k++)
                z->mx[t * n + i] += dt->A[i * n + k] * z->mx[(t - 1) * n + k];
        }
    for (int t = 0; t < z->T; t++)
        for (int s = 0; s <= t; s++) /* Cov(x_t, x_s) = A Cov(x_{t-1}, x_s) + [s = t] Q */
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    double sum = t == 0 ? dt->Sigma[i * n + j] : s == t ? dt->Q[i * n + j] : 0;
                    for (int k = 0; t > 0 && k < n; k++)
                        sum += dt->A[i * n + k] * z->Sx[((t - 1) * n + k) * nx + s * n + j];
                    z->Sx[(t * n + i) * nx + s * n + j] = z->Sx[(s * n + j) * nx + t * n + i] = sum;
                }
}

static inline dense dense_of(const vh_dt *dt, int d, int T)
{
    int n = dt->n, nx = n * T, ny = d * T;
    dense z = { .T = T, .n = n, .d = d, .nx = nx, .ny = ny };
    size_t size = (size_t)(nx + nx * nx + ny + ny * ny + nx * ny + nx * nx + ny * ny + nx * ny);
    z.mx = calloc(size, sizeof *z.mx);
    z.Sx = z.mx + nx;
    z.my = z.Sx + nx * nx;
    z.Sy = z.my + ny;
    z.G = z.Sy + ny * ny;
    z.V = z.G + nx * ny;
    z.inv = z.V + nx * nx;
    double *cross = z.inv + ny * ny; /* [nx][ny]  Cov(X, Y) */
    dense_prior(dt, &z);
    for (int t = 0; t < T; t++)
        vh_gemm(false, true, nx, d, n, 1, z.Sx + t * n, nx, dt->C, n, 0, cross + t * d, ny);
    for (int t = 0; t < T; t++) {
        for (int k = 0; k < d; k++) {
            z.my[t * d + k] = dt->ybar[k];
            for (int i = 0; i < n; i++)
                z.my[t * d + k] += dt->C[k * n + i] * z.mx[t * n + i];
        }
        vh_gemm(false, false, d, ny, n, 1, dt->C, n, cross + t * n * ny, ny, 0, z.Sy + t * d * ny, ny);
        for (int k = 0; k < d; k++)
            z.Sy[(t * d + k) * ny + t * d + k] += dt->R[k];
    }
    memcpy(z.inv, z.Sy, sizeof *z.inv * (size_t)(ny * ny));
    assert_true(vh_cholesky(ny, z.inv));
    z.logdet = vh_cholesky_logdet(ny, z.inv);
    assert_true(vh_cholesky_inverse(ny, z.inv));
    vh_gemm(false, false, nx, ny, ny, 1, cross, ny, z.inv, ny, 0, z.G, ny);
    memcpy(z.V, z.Sx, sizeof *z.V * (size_t)(nx * nx));
    vh_gemm(false, true, nx, nx, ny, -1, z.G, ny, cross, ny, 1, z.V, nx);
    return z;
}

static inline void dense_free(dense *z)
{
    free(z->mx);
}

/* E[log N(Y; my, Sy)] for Y of mean m and covariance S (NULL: none, Y = m). */
static inline double dense_expected(const dense *z, const double *m, const double *S)
{
    double sum = z->logdet + z->ny * LOG_2PI;
    for (int i = 0; i < z->ny; i++)
        for (int j = 0; j < z->ny; j++)
            sum +=
                z->inv[i * z->ny + j] * ((m[i] - z->my[i]) * (m[j] - z->my[j]) + (S ? S[i * z->ny + j] : 0));
    return -0.5 * sum;
}

/* The statistics of the E-step of dt for Y of mean m and covariance S, added with a weight. */
static inline void dense_stats(const dense *z, const vh_dt *dt, const double *m, const double *S, double w,
                               vh_dt_stats *s)
{
    int n = z->n, nx = z->nx, ny = z->ny, T = z->T, d = z->d, nz = nx + ny;
    double *mean = calloc((size_t)(nz + nz * nz + nx * ny), sizeof *mean), *M = mean + nz, *GS = M + nz * nz;

    memcpy(mean, z->mx, sizeof *mean * (size_t)nx);
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < ny; k++)
            mean[i] += z->G[i * ny + k] * (m[k] - z->my[k]);
    for (int k = 0; k < ny; k++)
        mean[nx + k] = m[k] - dt->ybar[k % d];
    for (int i = 0; i < nx; i++) /* second moments of (E[X|Y], Y - ybar), and V */
        memcpy(M + i * nz, z->V + i * nx, sizeof *M * (size_t)nx);
    if (S) {
        vh_gemm(false, false, nx, ny, ny, 1, z->G, ny, S, ny, 0, GS, ny);
        vh_gemm(false, true, nx, nx, ny, 1, GS, ny, z->G, ny, 1, M, nz);
        for (int i = 0; i < nx; i++)
            memcpy(M + i * nz + nx, GS + i * ny, sizeof *M * (size_t)ny);
        for (int k = 0; k < ny; k++)
            memcpy(M + (nx + k) * nz + nx, S + k * ny, sizeof *M * (size_t)ny);
    }
    for (int i = 0; i < nx; i++)
        for (int k = 0; k < ny; k++)
            M[(nx + k) * nz + i] = M[i * nz + nx + k];
    for (int a = 0; a < nz; a++)
        for (int b = 0; b < nz; b++)
            M[a * nz + b] += mean[a] * mean[b];
    for (int t = 0; t < T; t++)
        for (int i = 0; i <= n; i++) {
            const double *row = i < n ? M + (t * n + i) * nz : NULL;
            for (int j = 0; j < n && i < n; j++) {
                s->xx[i * (n + 1) + j] += w * row[t * n + j];
                if (t == 0)
                    s->xx1[i * n + j] += w * row[j];
                if (t + 1 < T)
                    s->from[i * n + j] += w * row[t * n + j];
                if (t > 0)
                    s->to[i * n + j] += w * row[t * n + j];
                if (t > 0)
                    s->step[i * n + j] += w * row[(t - 1) * n + j];
            }
            if (i < n)
                s->xx[i * (n + 1) + n] += w * mean[t * n + i];
            s->xx[n * (n + 1) + i] += w * (i < n ? mean[t * n + i] : 1);
            if (t == 0 && i < n)
                s->x1[i] += w * mean[i];
            for (int k = 0; k < d; k++)
                s->yx[k * (n + 1) + i] += w * (i < n ? row[nx + t * d + k] : mean[nx + t * d + k]);
        }
    for (int k = 0; k < ny; k++)
        s->yy[k % d] += w * M[(nx + k) * nz + nx + k];
    *s->seqs += w;
    *s->steps += w * (T - 1);
    *s->frames += w * T;
    free(mean);
}

/* -2 times the expected log-density of what is left over, with moments M / w: w log det S + tr(S^-1 M). */
static inline double gaussian_term(int n, double w, const double *S, const double *M)
{
    double *L = malloc(sizeof *L * (size_t)(n * n)), sum;
    memcpy(L, S, sizeof *L * (size_t)(n * n));
    assert_true(vh_cholesky(n, L));
    sum = w * vh_cholesky_logdet(n, L);
    assert_true(vh_cholesky_inverse(n, L));
    for (int k = 0; k < n * n; k++)
        sum += L[k] * M[k];
    free(L);
    return sum;
}

/* The expected complete-data log-likelihood but for constants: what the M-step maximises.  origin [d]: ybar
 * of the texture the statistics were made with. */
static inline double expected_complete(const vh_dt_stats *s, const vh_dt *dt, const double *origin)
{
    int n = s->n, m = n + 1;
    double *M = malloc(sizeof *M * (size_t)(n * n)), sum;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            M[i * n + j] = s->xx1[i * n + j] - s->x1[i] * dt->mu[j] - dt->mu[i] * s->x1[j]
                           + *s->seqs * dt->mu[i] * dt->mu[j];
    sum = gaussian_term(n, *s->seqs, dt->Sigma, M);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            M[i * n + j] = s->to[i * n + j];
            for (int k = 0; k < n; k++) {
                M[i * n + j] -= dt->A[i * n + k] * s->step[j * n + k] + s->step[i * n + k] * dt->A[j * n + k];
                for (int l = 0; l < n; l++)
                    M[i * n + j] += dt->A[i * n + k] * s->from[k * n + l] * dt->A[j * n + l];
            }
        }
    sum += gaussian_term(n, *s->steps, dt->Q, M);
    for (int k = 0; k < s->d; k++) {
        double left = s->yy[k];
        for (int i = 0; i < m; i++) {
            double b = i < n ? dt->C[k * n + i] : dt->ybar[k] - origin[k];
            left -= 2 * b * s->yx[k * m + i];
            for (int j = 0; j < m; j++)
                left += b * s->xx[i * m + j] * (j < n ? dt->C[k * n + j] : dt->ybar[k] - origin[k]);
        }
        sum += *s->frames * log(dt->R[k]) + left / dt->R[k];
    }
    free(M);
    return -0.5 * sum;
}

/* No small change of any parameter makes the expected complete-data log-likelihood larger. */
static inline void assert_maximal(const vh_dt_stats *s, vh_dt *dt, const double *origin, bool isotropic)
{
    double top = expected_complete(s, dt, origin);
    int n = s->n;
    for (size_t k = 0; k < dt->size; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double keep = dt->A[k], h = sign * 1e-4 * fmax(1e-2, fabs(keep)), *at = dt->A + k, *pair = NULL;
            long q = at - dt->Q, c = at - dt->Sigma;
            if (isotropic && at >= dt->R)
                break;
            if (q >= 0 && q < n * n)
                pair = dt->Q + q % n * n + q / n; /* covariances stay symmetric */
            if (c >= 0 && c < n * n)
                pair = dt->Sigma + c % n * n + c / n;
            *at += h;
            if (pair)
                *pair = *at;
            double now = expected_complete(s, dt, origin);
            *at = keep;
            if (pair)
                *pair = keep;
            if (now > top + 1e-9 * fabs(top))
                fail_msg("number %zu moved by %g: %.12g is more than %.12g", k, h, now, top);
        }
}

#define assert_same_stats(a, b, rtol, atol)                                                            \
    do {                                                                                               \
        assert_int_equal((a)->size, (b)->size);                                                        \
        for (size_t k_ = 0; k_ < (a)->size; k_++)                                                      \
            if (!is_near((a)->block[k_], (b)->block[k_], rtol, atol))                                  \
                fail_msg("number %zu of the statistics is %.15g, should be %.15g", k_, (a)->block[k_], \
                         (b)->block[k_]);                                                              \
    } while (0)

#endif
