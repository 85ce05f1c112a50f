/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_reduce.c - the variational E-step against what it contains.  One thread, one process, all ratios.
 *
 *   1. limit:     per pair, one vector exp and one vector log per (t, beta, rho), the multiply-adds of the
 *                 recursions at the peak rate, and the Gaussian product at the speed OpenBLAS has for its
 *                 shape
 *   2. E-step:    score and accumulate over the limit, with hard and with soft assignments; microseconds
 *                 per pair
 *   3. long tau:  tau = 125 and 1000 over tau = 30
 *   4. growth:    time per pair at growing Kb and Kr */
#include "common.h"
#include "limits.h"

#include "core/alloc.h"
#include "math/openblas.h"
#include "vhem/base.h"
#include "vhem.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    int Kb, Kr, S, M, d, tau;
} shape;

/* K random HMMs whose chains mix. */
static vh_h3m *models(vhem_ctx *ctx, vh_rng *rng, int K, const shape *c)
{
    int S = c->S, C = S * c->M, n_theta = C * (1 + 2 * c->d);
    size_t each = (size_t)(S + S * S + n_theta);
    vhem_hmm_view *v = calloc((size_t)K, sizeof *v);
    double *x = calloc(each * (size_t)K, sizeof *x);
    vh_h3m *h = NULL;
    for (int i = 0; i < K; i++) {
        double *pi = x + each * (size_t)i, *A = pi + S, *theta = A + S * S, *mu = theta + C,
               *cov = mu + C * c->d;
        for (int s = 0; s < S; s++) {
            double sum = 0;
            pi[s] = 1.0 / S;
            for (int q = 0; q < S; q++)
                sum += A[s * S + q] = vh_rng_exponential(rng) + 0.5;
            for (int q = 0; q < S; q++)
                A[s * S + q] /= sum;
        }
        for (int q = 0; q < C; q++)
            theta[q] = 1.0 / c->M;
        for (int k = 0; k < C * c->d; k++) {
            mu[k] = vh_rng_normal(rng);
            cov[k] = 0.5 + vh_rng_exponential(rng);
        }
        v[i] = (vhem_hmm_view){ .S = S,
                                .M = c->M,
                                .d = c->d,
                                .omega = 1.0 / K,
                                .n_theta = n_theta,
                                .pi = pi,
                                .A = A,
                                .theta = theta };
    }
    bench_need(ctx, vh_h3m_from_views(ctx, "gaussian-diag", c->d, K, v, &h));
    free(x);
    free(v);
    return h;
}

/* ---- 1. limit ------------------------------------------------------------------------------------------ */

enum { COUNT = 4096, FMA_COUNT = 4000000 };
typedef struct {
    const bench_isa *isa;
    double *x, *y, *C;
    int m, n, k;
} limit_run;

static void run_exp(void *arg)
{
    limit_run *r = arg;
    r->isa->exps(COUNT, r->x, r->y);
}
static void run_log(void *arg)
{
    limit_run *r = arg;
    r->isa->logs(COUNT, r->x, r->y);
}
static void run_fma(void *arg)
{
    ((limit_run *)arg)->isa->multiply_add(FMA_COUNT);
}
static void run_gemm(void *arg)
{
    limit_run *r = arg;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, r->m, r->n, r->k, 1, r->x, r->k, r->y, r->k, 0, r->C,
                r->n);
}

static double *numbers(size_t n)
{
    double *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    for (size_t i = 0; i < n; i++)
        x[i] = 0.5 + 1e-4 * (double)(i % 4096);
    return x;
}

/* Seconds per pair: scoring it, and its share of the statistics (one pair
 * in Kr when assignments are hard). */
static void limit(const bench_isa *isa, const shape *c, double *score, double *stats)
{
    int C = c->S * c->M, k = 1 + 2 * c->d, m = c->Kr * C, n = 64 * C, S = c->S;
    limit_run r = { isa,
                    numbers((size_t)(m * k + COUNT)),
                    numbers((size_t)(n * k + COUNT)),
                    numbers((size_t)m * (size_t)n),
                    m,
                    n,
                    k };
    double t_exp = bench_best(run_exp, &r, 0.1) / COUNT, t_log = bench_best(run_log, &r, 0.1) / COUNT;
    double t_fma = bench_best(run_fma, &r, 0.1) / FMA_COUNT;
    double t_gemm = bench_best(run_gemm, &r, 0.2) / (64.0 * c->Kr);
    double SSS = (double)S * S * S, mixture = c->M > 1 ? C * C * t_exp + C * S * t_log : 0;
    *score = t_gemm + mixture + c->tau * S * S * (t_exp + t_log) + 2 * c->tau * SSS * t_fma;
    *stats = *score + t_gemm + 4 * c->tau * SSS * t_fma;
    printf("limits of %s: exp %.2f ns, log %.2f ns, multiply-add %.3f ns, product %.2f us per pair\n",
           isa->isa, 1e9 * t_exp, 1e9 * t_log, 1e9 * t_fma, 1e6 * t_gemm);
    free(r.x);
    free(r.y);
    free(r.C);
}

/* ---- 2. E-step ----------------------------------------------------------------------------------------- */

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *base_h3m, *centers;
    vh_base *base;
    vh_packed *pk;
    vh_scratch scratch;
    vh_reduce_sums sums;
    vh_reduce_step step;
    double *L, *log_omega;
} estep;

enum { SCORE, HARD, SOFT };

static void open_estep(const char *backend, const shape *c, int kind, estep *e)
{
    vhem_ctx_options opt;
    vh_rng rng;
    memset(e, 0, sizeof *e);
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    opt.threads = 1;
    bench_need(NULL, vhem_ctx_new(&opt, &e->ctx));
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    e->base_h3m = models(e->ctx, &rng, c->Kb, c);
    e->centers = models(e->ctx, &rng, c->Kr, c);
    bench_need(e->ctx, vh_base_new(e->ctx, e->base_h3m, &e->base));
    bench_need(e->ctx, vh_pack_new(e->ctx, e->centers, NULL, c->Kr, e->base->origin, e->base->scale, &e->pk));
    bench_need(e->ctx, vh_pack_update(e->ctx, e->centers, NULL, e->pk));
    bench_need(e->ctx, vh_reduce_sums_new(e->ctx, e->pk, &e->sums));
    e->L = calloc((size_t)c->Kb * (size_t)c->Kr, sizeof *e->L);
    e->log_omega = calloc((size_t)c->Kr, sizeof *e->log_omega);
    e->step = (vh_reduce_step){ .reduced = e->pk,
                                .tau = c->tau,
                                .log_omega = kind == SCORE ? NULL : e->log_omega,
                                .N = c->Kb * (kind == HARD ? 1e4 : 1e-3),
                                .statistics = kind != SCORE,
                                .soft = kind == SOFT,
                                .L = e->L };
}

static void close_estep(estep *e)
{
    free(e->L);
    free(e->log_omega);
    vh_reduce_sums_free(&e->sums);
    vh_scratch_free(&e->scratch);
    vh_pack_free(e->pk);
    vh_base_free(e->base);
    vh_h3m_free(e->base_h3m);
    vh_h3m_free(e->centers);
    vhem_free(e->ctx);
}

static void run_estep(void *arg)
{
    estep *e = arg;
    bench_need(e->ctx, vh_reduce_run(e->ctx, e->base->opened, &e->step, &(vh_workers){ 1, &e->scratch },
                                     false, &e->sums));
}

static double pair_seconds(const char *backend, const shape *c, int kind)
{
    estep e;
    open_estep(backend, c, kind, &e);
    double t = bench_best(run_estep, &e, 0.5) / ((double)c->Kb * c->Kr);
    close_estep(&e);
    return t;
}

int main(void)
{
    static const bench_isa *const isas[] = {
#ifdef VH_HAVE_X86_64
        &bench_isa_avx512,
        &bench_isa_avx2,
#endif
        &bench_isa_simd,
    };
    const shape c = { 4096, 8, 4, 2, 10, 10 };
    openblas_set_num_threads(1);
    printf("E-step, Kb = %d, Kr = %d, S = %d, M = %d, d = %d, tau = %d\n", c.Kb, c.Kr, c.S, c.M, c.d, c.tau);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        const char *isa = isas[i]->isa;
        double score, stats;
        if (!bench_usable(isa))
            continue;
        limit(isas[i], &c, &score, &stats);
        double t0 = pair_seconds(isa, &c, 0), t1 = pair_seconds(isa, &c, 1), t2 = pair_seconds(isa, &c, 2);
        printf("%-7s score %.2f us per pair, %.2f x limit; with hard statistics %.2f us, %.2f x; "
               "with soft %.2f us, %.2f x; 17 us over hard: %.1f\n",
               isa, 1e6 * t0, t0 / score, 1e6 * t1, t1 / (score + stats / c.Kr), 1e6 * t2, t2 / stats,
               17e-6 / t1);
    }
    shape small = { 64, 8, 4, 2, 10, 10 };
    printf("ref     %.1f us per pair with hard statistics\n", 1e6 * pair_seconds("ref", &small, 1));

    for (int kind = 0; kind < 2; kind++) {
        shape t = { 512, 8, 4, 2, 10, 30 };
        double t30 = pair_seconds(NULL, &t, kind);
        printf("long tau, Kb = 512, %s, over tau = 30:", kind ? "with hard statistics" : "score alone");
        for (int k = 0; k < 4; k++) {
            t.tau = (int[]){ 10, 60, 125, 1000 }[k];
            printf("  tau %d: %.2f", t.tau, pair_seconds(NULL, &t, kind) / t30);
        }
        printf("\n");
    }
    printf("growth, microseconds per pair:");
    for (int k = 0; k < 4; k++) {
        shape g = { 256 << 2 * k, 8, 4, 2, 10, 10 };
        printf("  Kb %d: %.2f", g.Kb, 1e6 * pair_seconds(NULL, &g, 1));
    }
    for (int k = 0; k < 3; k++) {
        shape g = { 2048, 4 << 2 * k, 4, 2, 10, 10 };
        printf("  Kr %d: %.2f", g.Kr, 1e6 * pair_seconds(NULL, &g, 1));
    }
    printf("\n");
    return 0;
}
