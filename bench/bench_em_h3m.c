/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_em_h3m.c - the E-step of EM-H3M against the emission product it contains, measured in the same run.
 *
 * Every frame meets every component once, a product that no E-step can do without; with hard assignments the
 * statistics are a product over one HMM of K.  One thread; times are those of the thread. */
#include "common.h"

#include "fit/estep.h"
#include "fit/infer.h"
#include "fit/sets.h"
#include "fit/lengths.h"
#include "math/blas.h"
#include "core/alloc.h"
#include "vhem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int d, S, M, K, N, T, group; /* group: sequences that share one assignment */
} shape;

static const shape shapes[] = {
    { 39, 5, 8, 3, 200, 125, 1 }, { 39, 5, 8, 8, 200, 125, 1 }, { 10, 4, 2, 8, 400, 100, 1 },
    { 2, 3, 1, 4, 1000, 50, 1 },  { 2, 3, 1, 4, 5000, 10, 10 }, { 10, 4, 2, 8, 400, 100, 50 },
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct {
    const shape *s;
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vhem_data *data;
    vh_packed *pk;
    vh_sets sets;
    vh_workers workers;
    vh_opened_sequences *job;
    vh_seq_sums sums;
    double *y, *xs, *log_omega, *T, *G;
} bench;

static void e_step(void *arg)
{
    bench *b = arg;
    const vh_seq_step step = { .pk = b->pk, .statistics = true, .mixtures = 1, .log_omega = b->log_omega };
    bench_need(b->ctx, vh_sequences_run(b->ctx, b->job, &step, &b->sums));
}

static void score(void *arg)
{
    bench *b = arg;
    bench_need(b->ctx, vh_sequences_run(b->ctx, b->job, &(vh_seq_step){ .pk = b->pk }, &b->sums));
}

static void baum_welch(void *arg)
{
    bench *b = arg;
    const vh_seq_step step = { .pk = b->pk, .statistics = true };
    bench_need(b->ctx, vh_sequences_run(b->ctx, b->job, &step, &b->sums));
}

static void product(void *arg)
{
    bench *b = arg;
    int64_t frames = (int64_t)b->s->N * b->s->T, chunk = vh_chunk_frames(b->pk);
    for (int64_t f = 0; f < frames; f += chunk) {
        int n = (int)(frames - f < chunk ? frames - f : chunk);
        vh_table_product(b->pk, 0, b->pk->n_comp, n, b->T + f * b->pk->n_stat, b->G, (size_t)n);
    }
}

/* N / K sequences from each HMM in turn, so that those of a group come from one. */
static void make_data(bench *b)
{
    const shape *s = b->s;
    size_t each = (size_t)(s->N / s->K) * (size_t)s->T * (size_t)s->d;
    int64_t *T = malloc(sizeof *T * (size_t)s->N);
    b->y = malloc(sizeof *b->y * (size_t)s->N * (size_t)s->T * (size_t)s->d);
    if (!T || !b->y)
        bench_need(NULL, VHEM_ENOMEM);
    for (int n = 0; n < s->N; n++)
        T[n] = s->T;
    for (int k = 0; k < s->K; k++) {
        int n = k + 1 < s->K ? s->N / s->K : s->N - k * (s->N / s->K);
        vhem_data *own = NULL;
        for (int i = 0; i < s->K; i++)
            b->h3m->omega[i] = i == k;
        bench_need(b->ctx, vh_h3m_sample(b->ctx, b->h3m, n, s->T, &own));
        memcpy(b->y + (size_t)k * each, own->y, sizeof *b->y * (size_t)n * (size_t)s->T * (size_t)s->d);
        vhem_free(own);
    }
    bench_need(b->ctx, vhem_data_wrap(b->ctx, s->N, T, s->d, b->y, NULL, &b->data));
    free(T);
}

/* K random HMMs, and sequences drawn from them. */
static void make_models(bench *b)
{
    const shape *s = b->s;
    vh_rng rng;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    bench_need(b->ctx, vh_h3m_new(b->ctx, &vh_gaussian_diag, (vh_shape){ .d = s->d }, s->K, &b->h3m));
    for (int k = 0; k < s->K; k++) {
        bench_need(b->ctx, vh_h3m_shape(b->ctx, b->h3m, k, s->S, s->M));
        vh_hmm *h = &b->h3m->hmm[k];
        for (int i = 0; i < s->S; i++) {
            h->pi[i] = 1.0 / s->S;
            for (int q = 0; q < s->S; q++)
                h->A[i * s->S + q] = q == i ? 0.7 + 0.3 / s->S : 0.3 / s->S;
        }
        for (int q = 0; q < s->S * s->M; q++) {
            vh_hmm_c(h)[q] = 1.0 / s->M;
            for (int e = 0; e < s->d; e++) {
                vh_hmm_param(b->h3m, h, 0)[q * s->d + e] = 2 * vh_rng_normal(&rng);
                vh_hmm_param(b->h3m, h, 1)[q * s->d + e] = 0.5 + vh_rng_uniform(&rng);
            }
        }
    }
    make_data(b);
}

static vhem_status make_tables(vhem_ctx *ctx, bench *b)
{
    const shape *s = b->s;
    VH_AUTOFREE int64_t *item = NULL;
    size_t frames = (size_t)s->N * (size_t)s->T;

    VH_NEW(item, s->N);
    for (int n = 0; n < s->N; n++)
        item[n] = n / s->group;
    VH_TRY(vh_sets_from(ctx, s->N, item, s->N / s->group, &b->sets));
    VH_NEW(b->xs, 2 * (size_t)s->d);
    vh_spread_scale(b->data, NULL, s->N, NULL, b->xs, b->xs + s->d);
    VH_TRY(vh_pack_new(ctx, b->h3m, NULL, s->K, b->xs, b->xs + s->d, &b->pk));
    VH_TRY(vh_pack_update(ctx, b->h3m, NULL, b->pk));
    VH_TRY(vh_seq_sums_new(ctx, b->pk, 1, &b->sums));
    VH_TRY(vh_workers_new(ctx, 1, &b->workers));
    VH_NEW(b->sums.loglik, (size_t)s->N * (size_t)s->K);
    VH_NEW(b->log_omega, s->K);
    VH_NEW(b->data->weight, s->N);
    for (int k = 0; k < s->K; k++)
        b->log_omega[k] = -log(s->K);
    const vh_sequences in = { .data = b->data,
                              .seq = b->sets.seq,
                              .n = s->N,
                              .first = b->sets.first,
                              .n_set = b->sets.n,
                              .family = b->pk->family,
                              .x = b->pk->x,
                              .workers = &b->workers };
    VH_TRY(vh_sequences_open(ctx, &in, &b->job));
    VH_NEW(b->T, frames * (size_t)b->pk->n_stat);
    VH_NEW(b->G, (size_t)b->pk->n_comp * (size_t)vh_chunk_frames(b->pk));
    vh_table_stats(b->pk, b->data->y, (int64_t)frames, b->T);
    return VHEM_OK;
}

static void close_bench(bench *b)
{
    vh_sequences_close(b->job);
    free(b->xs);
    free(b->sums.loglik);
    free(b->log_omega);
    free(b->T);
    free(b->G);
    vh_seq_sums_free(&b->sums);
    vh_workers_free(&b->workers);
    vh_sets_free(&b->sets);
    vh_pack_free(b->pk);
    vhem_free(b->data);
    vh_h3m_free(b->h3m);
}

/* Sequences of high weight go to the HMM they were drawn from; those of next to none are shared by all. */
static void set_weights(bench *b, double weight)
{
    for (int n = 0; n < b->s->N; n++)
        b->data->weight[n] = weight;
}

static void row(vhem_ctx *ctx, const shape *s)
{
    bench b = { .s = s, .ctx = ctx };
    make_models(&b);
    bench_need(ctx, make_tables(ctx, &b));
    double one = bench_best(product, &b, 0.3), only = bench_best(score, &b, 0.3);
    set_weights(&b, 100);
    double hard = bench_best(e_step, &b, 0.5);
    set_weights(&b, 1e-9);
    double soft = bench_best(e_step, &b, 0.5), all = bench_best(baum_welch, &b, 0.5);
    printf("d=%-2d S=%d M=%d K=%d, %4d x %3d frames, groups of %-3d%8.2f%8.2f%8.2f%12.2f\n", s->d, s->S, s->M,
           s->K, s->N, s->T, s->group, only / one, hard / one, soft / one, all / one);
    close_bench(&b);
}

int main(void)
{
    vhem_ctx_options how;
    vhem_ctx *ctx = NULL;
    VHEM_INIT(VHEM_CTX_OPTIONS, &how);
    how.threads = 1;
    bench_need(NULL, vhem_ctx_new(&how, &ctx));
    vh_blas_enter();
    printf("E-step of EM-H3M over the emission product, %s\n%-54s%8s%8s%8s%12s\n", vhem_ctx_backend(ctx), "",
           "score", "hard", "soft", "K x B.-W.");
    for (int i = 0; i < N_SHAPES; i++)
        row(ctx, &shapes[i]);
    vh_blas_leave();
    vhem_free(ctx);
    return 0;
}
