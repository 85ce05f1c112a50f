/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sequences.c - see cuda_sequences.h: E-steps of K HMMs on N sequences of T frames, on the device and on
 * the cores, and whole fits through the public function. */
#include "cuda_sequences.h"

#include "common.h"

#include "simd/simd.h"
#include "core/alloc.h"
#include "core/rng.h"
#include "hmm/hmm_set.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int N, T, d, S, M, K, mixtures;
} shape;

/* Frames that stay a while about one of S places. */
static double *frames(const shape *c)
{
    double *y = malloc(sizeof *y * (size_t)c->N * (size_t)c->T * (size_t)c->d);
#pragma omp parallel for
    for (int n = 0; n < c->N; n++) {
        vh_rng rng;
        int at = 0;
        vh_rng_init(&rng, 3, VH_RNG_TEST, (uint64_t)n);
        for (int t = 0; t < c->T; t++) {
            at = vh_rng_uniform(&rng) < 0.1 ? (int)vh_rng_below(&rng, c->S) : at;
            for (int k = 0; k < c->d; k++)
                y[((size_t)n * (size_t)c->T + (size_t)t) * (size_t)c->d + (size_t)k] =
                    2 * sin(1.7 * at + k) + vh_rng_normal(&rng);
        }
    }
    return y;
}

static vh_h3m *models(vhem_ctx *ctx, const shape *c)
{
    vh_h3m *h3m = NULL;
    vh_rng rng;
    bench_need(ctx, vh_h3m_new(ctx, vh_emission_find("gaussian-diag"), (vh_shape){ .d = c->d }, c->K, &h3m));
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    for (int k = 0; k < c->K; k++) {
        bench_need(ctx, vh_h3m_shape(ctx, h3m, k, c->S, c->M));
        vh_hmm *h = &h3m->hmm[k];
        double *mu = vh_hmm_param(h3m, h, 0), *cov = vh_hmm_param(h3m, h, 1);
        h3m->omega[k] = 1.0 / c->K;
        for (int s = 0; s < c->S; s++) {
            h->pi[s] = 1.0 / c->S;
            for (int q = 0; q < c->S; q++)
                h->A[s * c->S + q] = q == s ? 0.9 : 0.1 / (c->S - 1);
            for (int m = 0; m < c->M; m++)
                vh_hmm_c(h)[s * c->M + m] = 1.0 / c->M;
        }
        for (int e = 0; e < c->S * c->M * c->d; e++) {
            mu[e] = 2 * sin(1.7 * (e / c->d / c->M) + e % c->d) + 0.3 * vh_rng_normal(&rng);
            cov[e] = 1;
        }
    }
    return h3m;
}

/* Seconds of an E-step with statistics: the best of `runs` after one that moves the frames in, which *in
 * is. */
static double estep(const char *backend, const shape *c, const vhem_data *data, const int64_t *seq, int runs,
                    double *in)
{
    vhem_ctx *ctx = bench_context(backend);
    vh_h3m *h3m = models(ctx, c);
    vh_packed *pk = NULL;
    vh_workers workers;
    vh_opened_sequences *job = NULL;
    vh_seq_sums sums;
    double best = INFINITY, *xs = calloc(2 * (size_t)c->d, sizeof *xs),
           *log_omega = calloc((size_t)c->K, sizeof *log_omega);
    for (int k = 0; k < c->d; k++)
        xs[c->d + k] = 1;
    bench_need(ctx, vh_workers_new(ctx, ctx->threads, &workers));
    bench_need(ctx, vh_pack_new(ctx, h3m, NULL, c->K, xs, xs + c->d, &pk));
    bench_need(ctx, vh_pack_update(ctx, h3m, NULL, pk));
    bench_need(ctx, vh_seq_sums_new(ctx, pk, c->mixtures, &sums));
    const vh_sequences seqs = { .data = data,
                                .seq = seq,
                                .n = c->N,
                                .n_set = c->N,
                                .family = h3m->family,
                                .x = pk->x,
                                .workers = &workers };
    const vh_seq_step step = {
        .pk = pk, .statistics = true, .mixtures = c->mixtures, .log_omega = log_omega
    };
    double t = bench_wall();
    bench_need(ctx, vh_sequences_open(ctx, &seqs, &job));
    for (int r = 0; r <= runs; r++) {
        bench_need(ctx, vh_sequences_run(ctx, job, &step, &sums));
        double now = bench_wall();
        if (r == 0)
            *in = now - t;
        else
            best = now - t < best ? now - t : best;
        t = now;
    }
    vh_sequences_close(job);
    vh_seq_sums_free(&sums);
    vh_workers_free(&workers);
    vh_pack_free(pk);
    vh_h3m_free(h3m);
    free(xs);
    free(log_omega);
    vhem_free(ctx);
    return best;
}

static vhem_data *wrapped(vhem_ctx *ctx, const shape *c, const double *y, int64_t **seq)
{
    int64_t *T = calloc((size_t)c->N, sizeof *T);
    const char **group = calloc((size_t)c->N, sizeof *group);
    vhem_data *data = NULL;
    *seq = calloc((size_t)c->N, sizeof **seq);
    for (int n = 0; n < c->N; n++) {
        T[n] = c->T;
        group[n] = "all";
        (*seq)[n] = n;
    }
    bench_need(ctx, vhem_data_wrap(ctx, c->N, T, c->d, y, &(vhem_data_text){ .group = group }, &data));
    free(group);
    free(T);
    return data;
}

static void compare(const shape *c)
{
    vhem_ctx *ctx = bench_context("ref");
    double *y = frames(c), in, unused;
    int64_t *seq;
    vhem_data *data = wrapped(ctx, c, y, &seq);
    double a = estep("cuda", c, data, seq, 5, &in),
           b = estep(vh_backend_cpu()->name, c, data, seq, 2, &unused);
    printf(
        "sequences %6d x %4d d %2d S %2d M %d, %3d HMMs%s: device %.3f ms, cores %.2f ms, %.1f times; first "
        "call %.2f s\n",
        c->N, c->T, c->d, c->S, c->M, c->K, c->mixtures ? " in a mixture" : "", 1e3 * a, 1e3 * b, b / a, in);
    fflush(stdout);
    vhem_free(data);
    free(seq);
    free(y);
    vhem_free(ctx);
}

/* One HMM for all sequences, four restarts, 20 iterations: starts and reading in included. */
static double fit(const shape *c, const char *backend, const vhem_data *data)
{
    vhem_ctx *ctx = bench_context(backend);
    vhem_fit_options opt;
    vhem_models *out = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = c->S;
    opt.M = c->M;
    opt.restarts = 4;
    opt.max_iter = 20;
    opt.tol = 0;
    opt.by_group = 1;
    opt.prior = "none";
    double t = bench_wall();
    bench_need(ctx, vhem_fit(ctx, data, &opt, &out, NULL));
    t = bench_wall() - t;
    vhem_free(out);
    vhem_free(ctx);
    return t;
}

static void whole_fit(const shape *c)
{
    vhem_ctx *ctx = bench_context("ref");
    double *y = frames(c);
    int64_t *seq;
    vhem_data *data = wrapped(ctx, c, y, &seq);
    double a = fit(c, "cuda", data), b = fit(c, vh_backend_cpu()->name, data);
    printf(
        "fit       %6d x %4d d %2d S %2d M %d, 4 restarts, 20 iterations: device %.2f s, cores %.2f s, %.1f "
        "times\n",
        c->N, c->T, c->d, c->S, c->M, a, b, b / a);
    fflush(stdout);
    vhem_free(data);
    free(seq);
    free(y);
    vhem_free(ctx);
}

void bench_sequences(double share)
{
    const shape all[] = { { 100000, 100, 2, 3, 1, 4, 0 }, { 100000, 100, 2, 3, 1, 1, 0 },
                          { 10000, 125, 39, 5, 8, 4, 0 }, { 10000, 125, 39, 5, 8, 1, 0 },
                          { 20000, 100, 2, 3, 1, 50, 1 }, { 20000, 100, 2, 8, 1, 4, 0 },
                          { 20000, 100, 2, 16, 1, 4, 0 }, { 300, 100, 2, 3, 1, 1, 0 },
                          { 1000, 100, 2, 3, 1, 1, 0 },   { 3000, 100, 2, 3, 1, 1, 0 },
                          { 1000, 100, 2, 3, 1, 8, 0 } };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        shape c = all[k];
        c.N = c.N > 5000 ? (int)(c.N * share) : c.N;
        compare(&c);
    }
    shape c = all[0];
    c.N = (int)(c.N * share);
    whole_fit(&c);
    c = all[2];
    c.N = (int)(c.N * share);
    whole_fit(&c);
}
