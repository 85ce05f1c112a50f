/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_ppk.c - the probability product kernel against what it contains.  All ratios are of one run.
 *
 *   1. limit:     per pair of HMMs the elementary products of Gaussians at the speed they have in the first
 *                 cache, an exp and a log for each, and the multiply-adds of the chains at the peak rate
 *   2. kernel:    a set against itself, one thread, over the limit; microseconds per pair
 *   3. the rest:  full covariances, long tau, two threads, and growth with the number of HMMs */
#include "common.h"
#include "limits.h"

#include "distance/distance.h"
#include "core/rng.h"
#include "vhem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int K, S, M, d, tau, full;
} shape;

/* K random HMMs whose chains mix. */
static vh_h3m *models(vhem_ctx *ctx, const shape *c)
{
    int S = c->S, C = S * c->M, dd = c->full ? c->d * c->d : c->d, n_theta = C * (1 + c->d + dd);
    size_t each = (size_t)(S + S * S + n_theta);
    vhem_hmm_view *v = calloc((size_t)c->K, sizeof *v);
    double *x = calloc(each * (size_t)c->K, sizeof *x);
    vh_h3m *h = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int i = 0; i < c->K; i++) {
        double *pi = x + each * (size_t)i, *A = pi + S, *theta = A + S * S, *mu = theta + C,
               *cov = mu + C * c->d;
        for (int s = 0; s < S; s++) {
            double sum = 0;
            pi[s] = 1.0 / S;
            for (int q = 0; q < S; q++)
                sum += A[s * S + q] = vh_rng_exponential(&rng) + 0.5;
            for (int q = 0; q < S; q++)
                A[s * S + q] /= sum;
        }
        for (int q = 0; q < C; q++)
            theta[q] = 1.0 / c->M;
        for (int k = 0; k < C * c->d; k++)
            mu[k] = vh_rng_normal(&rng);
        for (int q = 0; q < C; q++)
            for (int k = 0; k < c->d; k++)
                cov[q * dd + (c->full ? k * c->d + k : k)] = 0.5 + vh_rng_exponential(&rng);
        v[i] = (vhem_hmm_view){ .S = S,
                                .M = c->M,
                                .d = c->d,
                                .omega = 1.0 / c->K,
                                .n_theta = n_theta,
                                .pi = pi,
                                .A = A,
                                .theta = theta };
    }
    bench_need(ctx, vh_h3m_from_views(ctx, c->full ? "gaussian-full" : "gaussian-diag", c->d, c->K, v, &h));
    free(x);
    free(v);
    return h;
}

/* ---- 1. limit ------------------------------------------------------------------------------------------ */

/* A run of a limit takes as long as one of a small kernel: on a machine that others use, short runs fit into
 * quiet moments that long ones never see. */
enum { COUNT = 4096, FMA_COUNT = 100000000, OTHERS = 8, REPEAT = 10000 };
typedef struct {
    const bench_isa *isa;
    double *x, *y;
    int d;
} limit_run;

static void run_exp(void *arg)
{
    limit_run *r = arg;
    for (int k = 0; k < REPEAT; k++)
        r->isa->exps(COUNT, r->x, r->y);
}
static void run_log(void *arg)
{
    limit_run *r = arg;
    for (int k = 0; k < REPEAT; k++)
        r->isa->logs(COUNT, r->x, r->y);
}
static void run_fma(void *arg)
{
    ((limit_run *)arg)->isa->multiply_add(FMA_COUNT);
}
static void run_gaussians(void *arg)
{
    limit_run *r = arg;
    for (int k = 0; k < REPEAT; k++)
        r->isa->gaussians(OTHERS, r->d, r->x + COUNT, r->x, r->y);
}

/* Seconds per pair of HMMs. */
static double limit(const bench_isa *isa, const shape *c)
{
    size_t size = (size_t)(OTHERS * c->d * 2 * VH_MAX_LANES + 8 * c->d + 2 * COUNT);
    limit_run r = { isa, aligned_alloc(64, size * 8 / 64 * 64 + 64), aligned_alloc(64, COUNT * 8), c->d };
    for (size_t k = 0; k < size; k++)
        r.x[k] = 0.5 + 1e-4 * (double)(k % 4096);
    double t_exp = bench_best(run_exp, &r, 0.3) / COUNT / REPEAT;
    double t_log = bench_best(run_log, &r, 0.3) / COUNT / REPEAT;
    double t_fma = bench_best(run_fma, &r, 0.3) / FMA_COUNT;
    double t_gauss = bench_best(run_gaussians, &r, 0.3) / (4.0 * OTHERS * isa->lanes) / REPEAT;
    double S = c->S, CC = S * c->M * S * c->M;
    printf("limits of %s: product of two Gaussians %.2f ns (%.2f x six operations a dimension), exp %.2f ns, "
           "log %.2f ns\n",
           isa->isa, 1e9 * t_gauss, t_gauss / (6 * c->d * t_fma), 1e9 * t_exp, 1e9 * t_log);
    free(r.x);
    free(r.y);
    return CC * (t_gauss + t_exp + t_log) + 2 * (c->tau - 1) * S * S * S * t_fma;
}

/* ---- 2. kernel ----------------------------------------------------------------------------------------- */

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vhem_distance_options opt;
    double *D;
} kernel;

static void run_kernel(void *arg)
{
    kernel *k = arg;
    bench_need(k->ctx, vh_h3m_distance(k->ctx, k->h3m, k->h3m, &k->opt, k->D, NULL));
}

/* Seconds per pair of a set against itself: of the thread, or on the wall of so many (wall > 0) threads. */
static double pair_seconds(const char *backend, const shape *c, int wall)
{
    vhem_ctx_options opt;
    kernel k = { 0 };
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    opt.threads = wall > 0 ? wall : 1;
    bench_need(NULL, vhem_ctx_new(&opt, &k.ctx));
    k.h3m = models(k.ctx, c);
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &k.opt);
    k.opt.kind = "ppk";
    k.opt.tau = c->tau;
    k.D = calloc((size_t)c->K * (size_t)c->K, sizeof *k.D);
    double best = 0, pairs = 0.5 * c->K * (c->K + 1.0);
    for (int n = 0; wall > 0 && n < 3; n++) {
        double t = bench_wall();
        run_kernel(&k);
        t = bench_wall() - t;
        best = n == 0 || t < best ? t : best;
    }
    if (wall == 0)
        best = bench_best(run_kernel, &k, 0.5);
    free(k.D);
    vh_h3m_free(k.h3m);
    vhem_free(k.ctx);
    return best / pairs;
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
    const shape c = { 2000, 4, 2, 39, 10, 0 };
    printf("product kernel, K = %d, S = %d, M = %d, d = %d, tau = %d\n", c.K, c.S, c.M, c.d, c.tau);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        const char *isa = isas[i]->isa;
        if (!bench_usable(isa))
            continue;
        double least = limit(isas[i], &c), t = pair_seconds(isa, &c, 0);
        printf("%-7s %.2f us per pair of HMMs, %.2f x limit\n", isa, 1e6 * t, t / least);
    }
    shape few = { 48, 4, 2, 39, 10, 0 }, full = { 64, 4, 2, 39, 10, 1 }, plain = { 24, 4, 2, 39, 10, 1 };
    printf("ref     %.1f us per pair\n", 1e6 * pair_seconds("ref", &few, 0));
    printf("full covariances: %.1f us per pair, ref %.0f\n", 1e6 * pair_seconds(NULL, &full, 0),
           1e6 * pair_seconds("ref", &plain, 0));
    shape t = { 500, 4, 2, 39, 10, 0 };
    double t10 = pair_seconds(NULL, &t, 0);
    printf("long tau, K = 500, over tau = 10:");
    for (int k = 0; k < 3; k++) {
        t.tau = (int[]){ 30, 125, 1000 }[k];
        printf("  tau %d: %.2f", t.tau, pair_seconds(NULL, &t, 0) / t10);
    }
    printf("\ngrowth, microseconds per pair:");
    for (int k = 0; k < 4; k++) {
        shape g = { (int[]){ 50, 200, 800, 3000 }[k], 4, 2, 39, 10, 0 };
        printf("  K %d: %.2f", g.K, 1e6 * pair_seconds(NULL, &g, 0));
    }
    printf("\nsecond thread: %.2f times as fast\n", pair_seconds(NULL, &t, 1) / pair_seconds(NULL, &t, 2));
    return 0;
}
