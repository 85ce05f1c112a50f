/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_machine.c - the library against what the machine can do.  One process; all but
 * the first part with one thread.
 *
 *   1. many fits:        10,000 short sequences, an HMM for each: threads, and memory while that of the
 *                        process is clean
 *   2. emission product: the chunks of the E-step against one product of OpenBLAS, and against its best rate
 *   3. recursions:       forward and backward against the multiply-adds they contain, at the peak rate
 *   4. E-step:           the whole against the sum of its limits: both products, exps, recursions */
#include "common.h"
#include "limits.h"

#include "core/alloc.h"
#include "fit/estep.h"
#include "fit/fit.h"
#include "fit/infer.h"
#include "fit/lengths.h"
#include "math/openblas.h"
#include "vhem.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static vhem_ctx *context(const char *backend, int threads)
{
    vhem_ctx_options opt;
    vhem_ctx *ctx = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &opt);
    opt.backend = backend;
    opt.threads = threads;
    bench_need(NULL, vhem_ctx_new(&opt, &ctx));
    return ctx;
}

static double *numbers(size_t n)
{
    double *x = aligned_alloc(64, (n * sizeof *x + 63) / 64 * 64);
    if (!x)
        bench_need(NULL, VHEM_ENOMEM);
    return x;
}

/* ---- a shape: random HMM, data drawn from it, packed --------------------------------------------------- */

typedef struct {
    const char *emission;
    int d, S, M, N, T;
} shape;

static const shape shapes[] = {
    { "gaussian-diag", 39, 5, 8, 200, 125 }, { "gaussian-diag", 10, 4, 2, 100, 100 },
    { "gaussian-full", 10, 4, 1, 100, 100 }, { "gaussian-diag", 1, 4, 1, 50, 100 },
    { "gaussian-diag", 1, 10, 1, 50, 100 },
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vhem_data *data;
    vh_packed *pk;
    vh_workers workers;
    vh_opened_sequences *job;
    vh_seq_sums sums;
    int64_t *seq;
    double *T, *G; /* T [frames][n_stat], G [n_comp][frames] */
    int64_t frames;
} bench;

static vh_h3m *random_model(vhem_ctx *ctx, const shape *s)
{
    int C = s->S * s->M, full = strcmp(s->emission, "gaussian-full") == 0;
    size_t per = full ? (size_t)(s->d * s->d) : (size_t)s->d;
    double *pi = numbers((size_t)s->S), *A = numbers((size_t)(s->S * s->S)), *c = numbers((size_t)C);
    double *mu = numbers((size_t)(C * s->d)), *cov = numbers((size_t)C * per);
    vhem_hmm_view v = { .S = s->S,
                        .M = s->M,
                        .d = s->d,
                        .emission = s->emission,
                        .name = "",
                        .label = "",
                        .omega = 1,
                        .pi = pi,
                        .A = A,
                        .c = c,
                        .mu = mu,
                        .cov = cov };
    vh_h3m *out = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_INIT, 0);
    for (int i = 0; i < s->S; i++)
        pi[i] = 1.0 / s->S;
    for (int e = 0; e < s->S * s->S; e++)
        A[e] = e % (s->S + 1) == 0 ? 0.6 + 0.4 / s->S : 0.4 / s->S;
    for (int q = 0; q < C; q++)
        c[q] = 1.0 / s->M;
    for (int e = 0; e < C * s->d; e++)
        mu[e] = 2 * vh_rng_normal(&rng);
    memset(cov, 0, sizeof *cov * (size_t)C * per);
    for (int q = 0; q < C; q++)
        for (int k = 0; k < s->d; k++)
            cov[(size_t)q * per + (size_t)(full ? k * s->d + k : k)] = 1;
    bench_need(ctx, vh_h3m_from_views(ctx, s->emission, s->d, 1, &v, &out));
    free(pi);
    free(A);
    free(c);
    free(mu);
    free(cov);
    return out;
}

static bench open_bench(const shape *s, const char *backend)
{
    bench b = { .ctx = context(backend, 1), .frames = (int64_t)s->N * s->T };
    double *xs = numbers(2 * (size_t)s->d);
    b.h3m = random_model(b.ctx, s);
    bench_need(b.ctx, vh_h3m_sample(b.ctx, b.h3m, s->N, s->T, &b.data));
    vh_spread_scale(b.data, NULL, s->N, NULL, xs, xs + s->d);
    bench_need(b.ctx, vh_pack_new(b.ctx, b.h3m, NULL, 1, xs, xs + s->d, &b.pk));
    bench_need(b.ctx, vh_pack_update(b.ctx, b.h3m, NULL, b.pk));
    bench_need(b.ctx, vh_workers_new(b.ctx, 1, &b.workers));
    bench_need(b.ctx, vh_seq_sums_new(b.ctx, b.pk, 0, &b.sums));
    b.seq = malloc(sizeof *b.seq * (size_t)s->N);
    if (!b.seq)
        bench_need(NULL, VHEM_ENOMEM);
    for (int n = 0; n < s->N; n++)
        b.seq[n] = n;
    b.sums.loglik = numbers((size_t)s->N);
    b.T = numbers((size_t)b.frames * (size_t)b.pk->n_stat);
    b.G = numbers((size_t)b.frames * (size_t)b.pk->n_comp);
    vh_table_stats(b.pk, b.data->y, b.frames, b.T);
    free(xs);
    return b;
}

/* b stays where it is from here on. */
static void open_sets_of(bench *b)
{
    const vh_sequences in = { .data = b->data,
                              .seq = b->seq,
                              .n = b->data->N,
                              .family = b->pk->family,
                              .x = b->pk->x,
                              .workers = &b->workers };
    bench_need(b->ctx, vh_sequences_open(b->ctx, &in, &b->job));
}

static void close_bench(bench *b)
{
    vh_sequences_close(b->job);
    free(b->seq);
    free(b->sums.loglik);
    free(b->T);
    free(b->G);
    vh_seq_sums_free(&b->sums);
    vh_workers_free(&b->workers);
    vh_pack_free(b->pk);
    vhem_free(b->data);
    vh_h3m_free(b->h3m);
    vhem_free(b->ctx);
}

/* ---- 1. many fits -------------------------------------------------------------------------------------- */

/* Forgets the peak so far, where the system can. */
static void reset_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

/* Fits with so many threads, in a process of its own so that its memory is its own; sequences per second. */
static double fit_in_child(const vhem_data *data, const vhem_fit_options *opt, int threads,
                           double *scratch_mb)
{
    double answer[2] = { 0 };
    int pipes[2];
    if (pipe(pipes) != 0)
        return 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        vhem_ctx *ctx = context(NULL, threads);
        vh_h3m *out = NULL;
        vhem_hmm_view v;
        reset_peak();
        double before = bench_memory("VmRSS:"), t0 = bench_wall();
        bench_need(ctx, vh_fit_each(ctx, data, opt, &out, NULL));
        answer[0] = data->N / (bench_wall() - t0);
        bench_need(ctx, vh_h3m_view(out, 0, &v));
        double per_model = (double)(sizeof(vh_hmm) + sizeof(double) * (size_t)(v.S + v.S * v.S + v.n_theta));
        answer[1] = bench_memory("VmHWM:") - before - data->N * per_model / (1 << 20);
        _exit(write(pipes[1], answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
    }
    close(pipes[1]);
    if (child < 0 || read(pipes[0], answer, sizeof answer) != (ssize_t)sizeof answer)
        bench_need(NULL, VHEM_EIO);
    close(pipes[0]);
    waitpid(child, NULL, 0);
    *scratch_mb = answer[1];
    return answer[0];
}

static void many_fits(void)
{
    const shape s = { "gaussian-diag", 2, 3, 1, 10000, 100 };
    vhem_ctx *ctx = context(NULL, 1);
    vh_h3m *model = random_model(ctx, &s);
    vhem_data *data = NULL;
    vhem_fit_options opt;
    double rate[2] = { 0 }, scratch[2] = { 0 };
    int threads[2] = { 1, (int)sysconf(_SC_NPROCESSORS_ONLN) };

    bench_need(ctx, vh_h3m_sample(ctx, model, s.N, s.T, &data));
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = s.S;
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2; i++) {
            double r = fit_in_child(data, &opt, threads[i], &scratch[i]);
            rate[i] = r > rate[i] ? r : rate[i];
        }
    printf("1. an HMM for each of %d sequences of %d frames, d=%d S=%d, default options\n", s.N, s.T, s.d,
           s.S);
    for (int i = 0; i < 2; i++)
        printf("%2d thread%-2s%6.0f sequences/s, speedup %.2f; peak memory beyond data and models %.1f MB\n",
               threads[i], threads[i] == 1 ? "" : "s", rate[i], rate[i] / rate[0], scratch[i]);
    vhem_free(data);
    vh_h3m_free(model);
    vhem_free(ctx);
}

/* ---- 2. emission product ------------------------------------------------------------------------------- */

static void chunk_products(void *arg)
{
    bench *b = arg;
    int chunk = vh_chunk_frames(b->pk);
    for (int64_t f = 0; f < b->frames; f += chunk) {
        int n = b->frames - f < chunk ? (int)(b->frames - f) : chunk;
        vh_table_product(b->pk, 0, b->pk->n_comp, n, b->T + f * b->pk->n_stat, b->G, (size_t)n);
    }
}

static void one_product(void *arg)
{
    bench *b = arg;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, b->pk->n_comp, (int)b->frames, b->pk->n_stat, 1.0,
                b->pk->theta, b->pk->n_stat, b->T, b->pk->n_stat, 0.0, b->G, (int)b->frames);
}

enum { SQUARE = 768 };
static void square_product(void *arg)
{
    double *x = arg;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SQUARE, SQUARE, SQUARE, 1.0, x, SQUARE, x, SQUARE,
                0.0, x + SQUARE * SQUARE, SQUARE);
}

/* Seconds per multiply-add of a large square product. */
static double square_rate(void)
{
    double *x = numbers(2 * SQUARE * SQUARE);
    for (int i = 0; i < SQUARE * SQUARE; i++)
        x[i] = i % 7;
    double t = bench_best(square_product, x, 0.5) / ((double)SQUARE * SQUARE * SQUARE);
    free(x);
    return t;
}

static void product_table(double square)
{
    printf("2. emission product, theta . T'\n%-28s%22s%22s\n", "", "over one OpenBLAS", "over best OpenBLAS");
    printf("%-28s%22s%22s\n", "", "call, same shape", "rate, large square");
    for (int i = 0; i < N_SHAPES; i++) {
        const shape *s = &shapes[i];
        bench b = open_bench(s, NULL);
        double work = (double)b.frames * b.pk->n_comp * b.pk->n_stat;
        double chunks = bench_best(chunk_products, &b, 0.2), one = bench_best(one_product, &b, 0.2);
        printf("%-13s d=%-2d S=%-2d M=%-3d%22.2f%22.2f\n", s->emission, s->d, s->S, s->M, chunks / one,
               chunks / (work * square));
        close_bench(&b);
    }
}

/* ---- 3. recursions ------------------------------------------------------------------------------------- */

static const bench_isa *const isas[] = {
#ifdef VH_HAVE_X86_64
    &bench_isa_avx512,
    &bench_isa_avx2,
#endif
    &bench_isa_simd,
};
enum { N_ISAS = sizeof isas / sizeof isas[0] };

enum { FMA_COUNT = 4000000, EXP_COUNT = 4096, RECURSION_T = 100 };
static void run_fma(void *arg)
{
    ((const bench_isa *)arg)->multiply_add(FMA_COUNT);
}

static double fma_rate(const bench_isa *isa)
{
    return bench_best(run_fma, (void *)isa, 0.2) / FMA_COUNT;
}

typedef struct {
    const bench_isa *isa;
    double *x, *y;
} exp_run;

static void run_exp(void *arg)
{
    exp_run *e = arg;
    e->isa->exps(EXP_COUNT, e->x, e->y);
}

static double exp_rate(const bench_isa *isa)
{
    exp_run e = { isa, numbers(EXP_COUNT), numbers(EXP_COUNT) };
    for (int i = 0; i < EXP_COUNT; i++)
        e.x[i] = -0.01 * i;
    double t = bench_best(run_exp, &e, 0.1) / EXP_COUNT;
    free(e.x);
    free(e.y);
    return t;
}

typedef struct {
    const bench_isa *isa;
    vh_lanes x;
    double *B;
} recursion_run;

static void run_recursion(void *arg)
{
    recursion_run *r = arg;
    memcpy(r->x.B, r->B, sizeof *r->B * (size_t)(RECURSION_T * r->x.S * r->isa->lanes));
    r->isa->forward(r->isa->lanes, &r->x);
    r->isa->backward(r->isa->lanes, &r->x);
}

/* Seconds of forward and backward per lane and frame. */
static double recursion_rate(const bench_isa *isa, int S)
{
    size_t L = (size_t)isa->lanes, n = RECURSION_T * (size_t)S * L, vector = (size_t)S * L;
    recursion_run r = { .isa = isa, .x = { .S = S, .T = RECURSION_T }, .B = numbers(n) };
    vh_lanes *x = &r.x;
    for (size_t i = 0; i < n; i++)
        r.B[i] = 0.1 + 0.9 * (double)(i * 7919 % 1000) / 1000;
    x->B = numbers(n);
    x->P = numbers(n);
    x->r = numbers(RECURSION_T * L);
    x->pi = numbers(vector);
    x->beta = numbers(vector);
    x->alpha = numbers(VH_BLOCK * vector);
    x->v = numbers(VH_BLOCK * vector);
    x->A = numbers((size_t)S * vector);
    x->X = numbers((size_t)S * vector);
    for (size_t l = 0; l < L; l++)
        x->length[l] = RECURSION_T;
    for (size_t e = 0; e < vector; e++)
        x->pi[e] = 1.0 / S;
    for (size_t e = 0; e < (size_t)S * vector; e++)
        x->A[e] = 1.0 / S;
    double t = bench_best(run_recursion, &r, 0.03) / (double)(RECURSION_T * L);
    double *all[] = { r.B, x->B, x->P, x->r, x->pi, x->beta, x->alpha, x->v, x->A, x->X };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        free(all[i]);
    return t;
}

static void recursion_table(void)
{
    static const int states[] = { 2, 3, 4, 5, 6, 8, 10, 12, 16 };
    enum { N_STATES = sizeof states / sizeof states[0] };
    printf("3. forward and backward over their 3 S^2 multiply-adds at the peak rate\n%-10s", "S");
    for (int i = 0; i < N_STATES; i++)
        printf("%7d", states[i]);
    printf("\n");
    for (int i = 0; i < N_ISAS; i++) {
        if (!bench_usable(isas[i]->isa))
            continue;
        double fma = fma_rate(isas[i]);
        printf("%-10s", isas[i]->isa);
        for (int k = 0; k < N_STATES; k++)
            printf("%7.1f", recursion_rate(isas[i], states[k]) / (3.0 * states[k] * states[k] * fma));
        printf("\n");
    }
}

/* ---- 4. E-step ----------------------------------------------------------------------------------------- */

static void run_estep(void *arg)
{
    bench *b = arg;
    const vh_seq_step step = { .pk = b->pk, .statistics = true };
    bench_need(b->ctx, vh_sequences_run(b->ctx, b->job, &step, &b->sums));
}

static void estep_table(double square)
{
    printf("4. E-step over its limits: two products at OpenBLAS's best rate, exps, 3 S^2 multiply-adds\n");
    printf("%-26s%-9s%14s   shares of the limit:%9s%7s%11s\n", "", "backend", "E-step/limit", "products",
           "exps", "recursion");
    for (int i = 0; i < N_SHAPES; i++) {
        const shape *s = &shapes[i];
        double fma = 0, expo = 0;
        vhem_backend_facts facts;
        for (int n = 0; vhem_backend_info(n, &facts) == VHEM_OK; n++) {
            const char *name = facts.name;
            if (facts.problem)
                continue;
            for (int k = 0; k < N_ISAS; k++) /* ref is held against the simd limits */
                if (strcmp(isas[k]->isa, name) == 0) {
                    fma = fma_rate(isas[k]);
                    expo = exp_rate(isas[k]);
                }
            bench b = open_bench(s, name);
            open_sets_of(&b);
            double C = b.pk->n_comp, frames = (double)b.frames;
            double products = 2 * frames * C * b.pk->n_stat * square, exps = frames * C * expo;
            double recursion = frames * 3.0 * s->S * s->S * fma, limit = products + exps + recursion;
            double t = bench_best(run_estep, &b, strcmp(name, "ref") == 0 ? 0 : 0.3);
            printf("%-9s d=%-2d S=%-2d M=%-3d%-9s%14.1f%29.0f%%%6.0f%%%10.0f%%\n", s->emission + 9, s->d,
                   s->S, s->M, name, t / limit, 100 * products / limit, 100 * exps / limit,
                   100 * recursion / limit);
            close_bench(&b);
        }
    }
}

int main(void)
{
    many_fits();
    openblas_set_num_threads(1);
    double square = square_rate();
    product_table(square);
    recursion_table();
    estep_table(square);
    return 0;
}
