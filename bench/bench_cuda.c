/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_cuda.c - the backend for GPUs against all cores of the same machine, in one run, and against the
 * limit that follows from what the device was measured to do.
 *
 *   1. rates:      multiply-adds, exp, log and bytes per second
 *   2. E-step:     S = 4, M = 2, d = 10, tau = 10, a million HMMs against 100: ns per pair, over the limit,
 *                  and over the cores
 *   3. shapes:     the same for other numbers of states, long tau, soft assignments
 *   4. crossover:  jobs from small to large, seconds on the device and on the cores
 *   5. million:    a million HMMs into 1000 clusters, start included
 *   6. kernel:     the product kernel of all pairs of 20,000 HMMs, S = 4, M = 2, d = 39, tau = 10
 *   7. sequences:  forward-backward of Baum-Welch and EM-H3M, many sequences of 100 frames and longer
 *                  (cuda_sequences.c)
 *
 * bench_cuda [share [parts]]: a share of these sizes, 1 by default; the numbers of some parts, "256" for
 * instance, and a 0 when part 2 leaves the cores out. */
#include "common.h"
#include "cuda_rates.h"
#include "cuda_sequences.h"

#include "simd/simd.h"
#include "cuda/device.h"
#include "core/alloc.h"
#include "math/blas.h"
#include "vhem/base.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int Kb, Kr, S, M, d, tau;
} shape;

/* ---- models -------------------------------------------------------------------------------------------- */

/* Random HMM i whose chain mixes, at x; groups > 0: about one of so many centres. */
static vhem_hmm_view one_model(const shape *c, int i, int groups, double *x)
{
    int S = c->S, C = S * c->M;
    double *pi = x, *A = pi + S, *theta = A + S * S, *mu = theta + C, *cov = mu + C * c->d;
    vh_rng rng, center;
    vh_rng_init(&rng, 1, VH_RNG_TEST, (uint64_t)i);
    vh_rng_init(&center, 2, VH_RNG_TEST, groups > 0 ? (uint64_t)(i % groups) : 0);
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
    for (int k = 0; k < C * c->d; k++) {
        mu[k] = groups > 0 ? 4 * vh_rng_normal(&center) + 0.3 * vh_rng_normal(&rng) : vh_rng_normal(&rng);
        cov[k] = 0.5 + vh_rng_exponential(&rng);
    }
    return (vhem_hmm_view){
        .S = S, .M = c->M, .d = c->d, .n_theta = C * (1 + 2 * c->d), .pi = pi, .A = A, .theta = theta
    };
}

static vhem_hmm_view *views(const shape *c, int K, int groups, double **numbers)
{
    size_t each = (size_t)(c->S + c->S * c->S + c->S * c->M * (1 + 2 * c->d));
    vhem_hmm_view *v = calloc((size_t)K, sizeof *v);
    double *x = calloc(each * (size_t)K, sizeof *x);
#pragma omp parallel for
    for (int i = 0; i < K; i++) {
        v[i] = one_model(c, i, groups, x + each * (size_t)i);
        v[i].omega = 1.0 / K;
    }
    *numbers = x;
    return v;
}

static vh_h3m *models(vhem_ctx *ctx, const shape *c, int K)
{
    double *x;
    vh_h3m *h = NULL;
    vhem_hmm_view *v = views(c, K, 0, &x);
    bench_need(ctx, vh_h3m_from_views(ctx, "gaussian-diag", c->d, K, v, &h));
    free(x);
    free(v);
    return h;
}

/* ---- an E-step ----------------------------------------------------------------------------------------- */

typedef enum { SCORE, HARD, SOFT } kind;

typedef struct {
    vhem_ctx *ctx;
    vh_base *base;
    vh_packed *pk;
    vh_scratch *scratch;
    vh_reduce_sums sums;
    double *log_omega;
} estep;

static void open_estep(const char *backend, const shape *c, const vh_h3m *base, const vh_h3m *centers,
                       estep *e)
{
    memset(e, 0, sizeof *e);
    e->ctx = bench_context(backend);
    bench_need(e->ctx, vh_base_new(e->ctx, base, &e->base));
    bench_need(e->ctx, vh_pack_new(e->ctx, centers, NULL, c->Kr, e->base->origin, e->base->scale, &e->pk));
    bench_need(e->ctx, vh_pack_update(e->ctx, centers, NULL, e->pk));
    bench_need(e->ctx, vh_reduce_sums_new(e->ctx, e->pk, &e->sums));
    e->scratch = calloc((size_t)e->ctx->threads, sizeof *e->scratch);
    e->log_omega = calloc((size_t)c->Kr, sizeof *e->log_omega);
}

static void close_estep(estep *e)
{
    for (int t = 0; t < e->ctx->threads; t++)
        vh_scratch_free(&e->scratch[t]);
    free(e->scratch);
    free(e->log_omega);
    vh_reduce_sums_free(&e->sums);
    vh_pack_free(e->pk);
    vh_base_free(e->base);
    vhem_free(e->ctx);
}

/* Seconds of one E-step: the best of `runs`, after one that moves the models in. */
static double seconds(estep *e, const shape *c, kind k, int runs)
{
    double best = INFINITY;
    const vh_reduce_step step = { .reduced = e->pk,
                                  .tau = c->tau,
                                  .log_omega = e->log_omega,
                                  .N = c->Kb * (k == HARD ? 1e4 : 1e-3),
                                  .statistics = k != SCORE,
                                  .soft = k == SOFT };
    for (int r = 0; r < runs; r++) {
        double t = bench_wall();
        bench_need(e->ctx, vh_reduce_run(e->ctx, e->base->opened, &step,
                                         &(vh_workers){ e->ctx->threads, e->scratch }, false, &e->sums));
        t = bench_wall() - t;
        best = (r > 0 || runs == 1) && t < best ? t : best;
    }
    return best;
}

/* ---- the limit ----------------------------------------------------------------------------------------- */

/* Seconds per pair, scored and assigned, with hard statistics spread over Kr: one exp and one log per (t,
 * beta, rho) and per component of the mixtures, and every multiply-add at its peak. */
static double limit(const bench_gpu *g, const shape *c)
{
    double S = c->S, C = S * c->M, product = C * C * (1 + 2 * c->d), SSS = S * S * S;
    double exps = c->tau * S * S + (c->M > 1 ? C * S : 0) + 1, logs = exps - 1;
    double score = exps / g->exps + logs / g->logs + (product + 2 * c->tau * SSS) / g->multiply_adds;
    double stats = score + (product + 4 * c->tau * SSS) / g->multiply_adds;
    return score + stats / c->Kr;
}

/* ---- the parts ----------------------------------------------------------------------------------------- */

static void compare(const bench_gpu *g, const shape *c, bool on_cores)
{
    vhem_ctx *ctx = bench_context("ref");
    vh_h3m *base = models(ctx, c, c->Kb), *centers = models(ctx, c, c->Kr);
    double pairs = (double)c->Kb * c->Kr, t[3], cores = NAN;
    estep e;
    open_estep("cuda", c, base, centers, &e);
    double in = bench_wall();
    seconds(&e, c, SCORE, 1);
    in = bench_wall() - in;
    for (kind k = SCORE; k <= SOFT; k++)
        t[k] = seconds(&e, c, k, k == SOFT ? 2 : 3);
    close_estep(&e);
    if (on_cores) {
        open_estep(vh_backend_cpu()->name, c, base, centers, &e);
        cores = seconds(&e, c, HARD, 1);
        close_estep(&e);
    }
    printf("Kb %7d Kr %4d S %2d M %d d %2d tau %4d: score %.3f ns, hard %.3f ns, soft %.3f ns per pair; "
           "limit %.3f ns, hard over limit %.2f; cores %.1f ns, %.1f times; first call %.2f s\n",
           c->Kb, c->Kr, c->S, c->M, c->d, c->tau, 1e9 * t[0] / pairs, 1e9 * t[1] / pairs, 1e9 * t[2] / pairs,
           1e9 * limit(g, c), t[1] / pairs / limit(g, c), 1e9 * cores / pairs, cores / t[1], in);
    fflush(stdout);
    vh_h3m_free(base);
    vh_h3m_free(centers);
    vhem_free(ctx);
}

/* Seconds of one E-step on both, for jobs of growing size. */
static void crossover(void)
{
    vhem_ctx *ctx = bench_context("ref");
    for (int Kb = 128; Kb <= 32768; Kb *= 4)
        for (int Kr = 4; Kr <= 64; Kr *= 4) {
            const shape c = { Kb, Kr, 3, 1, 2, 10 };
            vh_h3m *base = models(ctx, &c, Kb), *centers = models(ctx, &c, Kr);
            estep device, cores;
            open_estep("cuda", &c, base, centers, &device);
            open_estep(vh_backend_cpu()->name, &c, base, centers, &cores);
            double a = seconds(&device, &c, HARD, 6), b = seconds(&cores, &c, HARD, 6);
            printf("crossover Kb %5d Kr %2d, size %.1e: device %.3f ms, cores %.3f ms, %.2f times\n", Kb, Kr,
                   (double)Kb * Kr * c.S * c.tau, 1e3 * a, 1e3 * b, b / a);
            close_estep(&device);
            close_estep(&cores);
            vh_h3m_free(base);
            vh_h3m_free(centers);
        }
    fflush(stdout);
    vhem_free(ctx);
}

/* What a long run is at, a line for each thing it does. */
static void trace(void *arg, const char *what, int64_t done, int64_t total)
{
    static char last[64];
    const double *from = arg;
    if (done == total || strncmp(last, what, sizeof last - 1) != 0)
        fprintf(stderr, "%6.1f s: %s %lld of %lld\n", bench_wall() - *from, what, (long long)done,
                (long long)total);
    snprintf(last, sizeof last, "%s", what);
}

/* Through the public function, start and final tables included. */
static void million(int Kb, int Kr, int iterations, const char *backend)
{
    const shape c = { Kb, Kr, 3, 1, 2, 10 };
    double t = bench_wall(), *x;
    vhem_ctx_options how;
    vhem_ctx *ctx = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &how);
    how.backend = backend;
    how.progress = trace;
    how.progress_arg = &t;
    bench_need(NULL, vhem_ctx_new(&how, &ctx));
    vhem_hmm_view *v = views(&c, Kb, Kr, &x);
    vhem_models *h = NULL;
    vhem_tree *tree = NULL;
    vhem_cluster_options opt;
    const int64_t K = Kr;
    bench_need(ctx, vhem_models_new_hmms(ctx, "gaussian-diag", c.d, Kb, v, &h));
    free(x);
    free(v);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.restarts = 1;
    opt.max_iter = iterations;
    opt.tol = 0;
    opt.search = "restarts";
    opt.init = "base";
    opt.soft = 0;
    t = bench_wall();
    bench_need(ctx, vhem_cluster(ctx, &(vhem_source){ .models = h }, 1, &K, &opt, &tree));
    t = bench_wall() - t;
    printf("%s: %d HMMs into %d clusters, %d iterations, start included: %.1f s\n", vhem_ctx_backend(ctx), Kb,
           Kr, vhem_tree_level(tree, 0)->n_iter, t);
    fflush(stdout);
    vhem_free(tree);
    vhem_free(h);
    vhem_free(ctx);
}

/* log int p^2 of each component. */
static double *self_products(const vh_packed *pk)
{
    double *self = calloc((size_t)pk->n_comp, sizeof *self),
           *work = calloc(vh_emission_work(&pk->shape), sizeof *work);
    for (int r = 0; r < pk->n_comp; r++) {
        const double *const *par = pk->par + (size_t)r * VH_MAX_PARAM;
        pk->family->log_product(&pk->shape, par, par, 1, &self[r], work);
    }
    free(work);
    return self;
}

/* Seconds of the upper triangle, strip by strip, which nobody keeps: a matrix of 20,000 takes longer to write
 * down than to make. */
static double kernel_seconds(int K, const char *backend)
{
    enum { ROWS = 4 * VH_PRODUCT_TILE };
    const shape c = { K, 0, 4, 2, 39, 10 };
    vhem_ctx *ctx = bench_context(backend);
    vh_h3m *h = models(ctx, &c, K);
    vh_base *base = NULL;
    vh_workers workers;
    vh_opened_pair *job = NULL;
    bench_need(ctx, vh_base_pack(ctx, h, &base));
    bench_need(ctx, vh_workers_new(ctx, ctx->threads, &workers));
    double *self = self_products(base->packed), *strip = calloc((size_t)ROWS * (size_t)K, sizeof *strip);
    memset(strip, 1, sizeof *strip * ROWS * (size_t)K); /* its pages are there */
    const vh_product p = { .a = base->packed,
                           .b = base->packed,
                           .self_a = self,
                           .self_b = self,
                           .tau = c.tau,
                           .lambda = 0.5,
                           .workers = &workers };
    double t = bench_wall();
    bench_need(ctx, vh_product_open(ctx, &p, &job));
    for (int i = 0; i < K; i += ROWS)
        bench_need(ctx,
                   vh_product_run(ctx, job, &(vh_rectangle){ i, K - i < ROWS ? K - i : ROWS, i, K - i, true },
                                  strip));
    vh_product_close(job);
    t = bench_wall() - t;
    free(strip);
    free(self);
    vh_workers_free(&workers);
    vh_base_free(base);
    vh_h3m_free(h);
    vhem_free(ctx);
    return t;
}

static void kernel(double share)
{
    int few = (int)(4000 * share), many = (int)(20000 * share);
    double pairs = 0.5 * many * (double)many, a = kernel_seconds(few, "cuda");
    a = kernel_seconds(few, "cuda");
    double b = kernel_seconds(few, vh_backend_cpu()->name), all = kernel_seconds(many, "cuda"),
           cores = kernel_seconds(many, vh_backend_cpu()->name);
    printf(
        "kernel of %d HMMs: device %.3f s, cores %.2f s, %.1f times; of %d: device %.2f s, %.2f ns per pair, "
        "cores %.2f s, %.1f times\n",
        few, a, b, b / a, many, all, 1e9 * all / pairs, cores, cores / all);
    fflush(stdout);
}

static void shapes(const bench_gpu *g)
{
    const shape all[] = { { 65536, 100, 2, 1, 2, 10 },  { 65536, 100, 3, 1, 2, 10 },
                          { 65536, 100, 5, 1, 2, 10 },  { 65536, 32, 6, 1, 2, 10 },
                          { 32768, 32, 8, 1, 2, 10 },   { 8192, 32, 16, 1, 2, 10 },
                          { 65536, 100, 4, 1, 2, 125 }, { 8192, 32, 5, 8, 39, 10 } };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        compare(g, &all[k], true);
}

int main(int argc, char **argv)
{
    double share = argc > 1 ? atof(argv[1]) : 1;
    const char *parts = argc > 2 ? argv[2] : "1234567";
    int Kb = (int)(1e6 * share), Kr = share < 0.1 ? 100 : 1000;
    bench_gpu g;
    const char *why = bench_problem("cuda");
    if (!why)
        why = bench_gpu_measure(&g);
    if (why) {
        printf("skipped: %s\n", why);
        return 77;
    }
    vh_blas_enter();
    printf("%s: %.2fe12 multiply-adds, %.2fe12 exp, %.2fe12 log, %.2fe12 bytes per second\n",
           vh_device_name(), 1e-12 * g.multiply_adds, 1e-12 * g.exps, 1e-12 * g.logs, 1e-12 * g.bytes);
    if (strchr(parts, '2'))
        compare(&g, &(shape){ Kb, 100, 4, 2, 10, 10 }, strchr(parts, '0') == NULL);
    if (strchr(parts, '3'))
        shapes(&g);
    if (strchr(parts, '4'))
        crossover();
    if (strchr(parts, '7'))
        bench_sequences(share);
    vh_blas_leave();
    if (strchr(parts, '6'))
        kernel(share);
    if (strchr(parts, '5')) {
        million(Kb, Kr, 20, "cuda");
        million(Kb / 20, Kr, 1, vh_backend_cpu()->name);
    }
    return 0;
}
