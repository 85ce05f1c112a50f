/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h - what the tests of the engine share: data sets in memory, small
 * models, the sum over all state paths. */
#ifndef VH_TESTS_ENGINE_H
#define VH_TESTS_ENGINE_H

#include "support.h"

#include "core/ctx.h"
#include "data/data.h"
#include "hmm/hmm_set.h"

#define LOG_2PI 1.8378770664093454836

/* y [sum T][d] of random numbers about 0. */
static inline double *random_frames(vh_rng *rng, int64_t n, int d, double spread)
{
    double *y = malloc(sizeof *y * (size_t)(n * d));
    for (int64_t i = 0; i < n * d; i++)
        y[i] = spread * vh_rng_normal(rng);
    return y;
}

static inline vhem_data *wrap(vhem_ctx *ctx, int N, const int *T, int d, const double *y)
{
    vhem_data *data = NULL;
    assert_ok(ctx, call_wrap(ctx, N, T, d, y, &data));
    return data;
}

/* One sequence of a data set under construction; texts may be NULL. */
static inline void add_sequence(vhem_ctx *ctx, vh_builder *b, const double *y, int T, const char *name,
                                const char *label, const char *group, double weight)
{
    assert_ok(ctx, vh_builder_frames(b, y, T));
    assert_ok(ctx, vh_builder_end(b, name, label, group, weight));
}

static inline vhem_data *finish(vhem_ctx *ctx, vh_builder *b)
{
    vhem_data *data = NULL;
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    vh_builder_free(b);
    return data;
}

static inline vhem_hmm_view view_of(const vh_h3m *h3m, int64_t i)
{
    vhem_hmm_view v;
    assert_int_equal(vh_h3m_view(h3m, i, &v), VHEM_OK);
    return v;
}

/* One HMM with diagonal covariances, M = 1, from its numbers. */
static inline vh_h3m *simple_hmm(vhem_ctx *ctx, int S, int d, const double *pi, const double *A,
                                 const double *mu, const double *cov)
{
    vh_h3m *h3m = NULL;
    double c[64];
    for (int s = 0; s < S; s++)
        c[s] = 1;
    vhem_hmm_view v = { .S = S,
                        .M = 1,
                        .d = d,
                        .omega = 1,
                        .pi = pi,
                        .A = A,
                        .c = c,
                        .mu = mu,
                        .cov = cov,
                        .name = "",
                        .label = "" };
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", d, 1, &v, &h3m));
    return h3m;
}

static inline int is_full(const vhem_hmm_view *v)
{
    return strcmp(v->emission, "gaussian-full") == 0;
}

/* log N(y; mu, cov) in long double, straight from the definition: an LDL'
 * factorisation for full covariances. */
static inline long double slow_gaussian(int d, int full, const double *mu, const double *cov, const double *y)
{
    long double L[32 * 32], D[32], z[32], sum = 0;
    for (int i = 0; i < d; i++) {
        z[i] = (long double)y[i] - mu[i];
        D[i] = full ? cov[i * d + i] : cov[i];
        for (int j = 0; full && j < i; j++) {
            L[i * d + j] = cov[i * d + j];
            for (int k = 0; k < j; k++)
                L[i * d + j] -= L[i * d + k] * L[j * d + k] * D[k];
            L[i * d + j] /= D[j];
            D[i] -= L[i * d + j] * L[i * d + j] * D[j];
            z[i] -= L[i * d + j] * z[j];
        }
        sum += LOG_2PI + logl(D[i]) + z[i] * z[i] / D[i];
    }
    return -0.5L * sum;
}

/* log p(y | state s), all components, in long double. */
static inline long double slow_state(const vhem_hmm_view *v, int s, const double *y)
{
    int dd = is_full(v) ? v->d * v->d : v->d;
    long double top = -INFINITY, sum = 0, x[64];
    for (int m = 0; m < v->M; m++) {
        int r = s * v->M + m;
        x[m] = logl(v->c[r]) + slow_gaussian(v->d, is_full(v), v->mu + r * v->d, v->cov + r * dd, y);
        top = x[m] > top ? x[m] : top;
    }
    for (int m = 0; m < v->M; m++)
        sum += expl(x[m] - top);
    return top + logl(sum);
}

typedef struct {              /* what all S^T paths say together */
    long double loglik, best; /* best: log p of the most likely path */
    int path[16];             /* that path; of equals the first in lexicographic order */
    long double gamma[16 * 8], xi[8 * 8];
} enumeration;

/* Every state path of an HMM with few states on a short sequence: S^T must be small. */
static inline void enumerate(const vhem_hmm_view *v, const double *y, int T, enumeration *e)
{
    long double log_b[16 * 8], log_pi[8], log_A[8 * 8], total = 0, base = -INFINITY;
    int path[16] = { 0 }, S = v->S;
    for (int s = 0; s < S; s++)
        log_pi[s] = logl(v->pi[s]);
    for (int k = 0; k < S * S; k++)
        log_A[k] = logl(v->A[k]);
    for (int t = 0; t < T; t++)
        for (int s = 0; s < S; s++)
            log_b[t * S + s] = slow_state(v, s, y + t * v->d);
    for (int pass = 0; pass < 2; pass++) { /* first the best path, then all relative to it */
        memset(path, 0, sizeof path);
        for (int more = 1; more;) {
            long double lp = log_pi[path[0]] + log_b[path[0]];
            for (int t = 1; t < T; t++)
                lp += log_A[path[t - 1] * S + path[t]] + log_b[t * S + path[t]];
            if (pass == 0 && lp > base) {
                base = lp;
                memcpy(e->path, path, sizeof path);
            }
            if (pass == 1) {
                long double p = expl(lp - base);
                total += p;
                for (int t = 0; t < T; t++)
                    e->gamma[t * S + path[t]] += p;
                for (int t = 1; t < T; t++)
                    e->xi[path[t - 1] * S + path[t]] += p;
            }
            more = 0;
            for (int t = T - 1; t >= 0 && !more; t--) {
                path[t] = (path[t] + 1) % S;
                more = path[t] != 0;
            }
        }
        if (pass == 0) {
            memset(e->gamma, 0, sizeof e->gamma);
            memset(e->xi, 0, sizeof e->xi);
        }
    }
    e->best = base;
    e->loglik = base + logl(total);
    for (int k = 0; k < T * S; k++)
        e->gamma[k] /= total;
    for (int k = 0; k < S * S; k++)
        e->xi[k] /= total;
}

/* Do all bits of the parameters of two H3Ms agree? */
static inline int same_bits(const vh_h3m *a, const vh_h3m *b)
{
    if (a->K != b->K)
        return 0;
    for (int64_t i = 0; i < a->K; i++) {
        const vh_hmm *p = &a->hmm[i], *q = &b->hmm[i];
        size_t n = (size_t)(p->theta - p->pi) + p->n_theta;
        if (p->S != q->S || p->M != q->M || memcmp(p->pi, q->pi, n * sizeof *p->pi) != 0)
            return 0;
    }
    return memcmp(a->omega, b->omega, sizeof *a->omega * (size_t)a->K) == 0;
}

/* A random symmetric positive definite matrix with this condition: random reflections of a diagonal from 1 to
 * 1/condition. */
static inline void random_covariance(vh_rng *rng, int d, double condition, double *cov)
{
    memset(cov, 0, sizeof *cov * (size_t)(d * d));
    for (int i = 0; i < d; i++)
        cov[i * d + i] = d == 1 ? 1 : pow(condition, -(double)i / (d - 1));
    for (int r = 0; r < d; r++) {
        double u[32], norm = 0, Cu[32];
        for (int i = 0; i < d; i++) {
            u[i] = vh_rng_normal(rng);
            norm += u[i] * u[i];
        }
        double uCu = 0;
        for (int i = 0; i < d; i++)
            u[i] /= sqrt(norm);
        for (int i = 0; i < d; i++) {
            Cu[i] = 0;
            for (int j = 0; j < d; j++)
                Cu[i] += cov[i * d + j] * u[j];
            uCu += u[i] * Cu[i];
        }
        for (int i = 0; i < d; i++) /* (1 - 2uu') C (1 - 2uu') */
            for (int j = 0; j <= i; j++)
                cov[i * d + j] = cov[j * d + i] =
                    cov[i * d + j] - 2 * u[i] * Cu[j] - 2 * Cu[i] * u[j] + 4 * u[i] * u[j] * uCu;
    }
}

#endif
