/* SPDX-License-Identifier: BSD-3-Clause */
/* infer.c - inference with dynamic textures: log-likelihoods and states of sequences, and sampling. */
#include "core/alloc.h"
#include "core/array2.h"
#include "core/rng.h"
#include "parallel/map.h"
#include "data/data.h"
#include "dtm/kalman.h"
#include "fit/sample.h"
#include "dtm/infer.h"
#include "math/blas.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

#define MOST 4e9 /* most numbers per sample: 32 GB */

static vhem_status check_sequences(vhem_ctx *ctx, const vh_dtm *dtm, const vhem_data *data,
                                   const int64_t *seq, int64_t n)
{
    VH_CHECK(dtm->d == data->d, VHEM_EINVAL, "the textures have dimension %d, but the data has %d", dtm->d,
             data->d);
    return vh_data_require_complete(ctx, data, seq, n);
}

static int64_t longest(const vhem_data *data)
{
    int64_t T = 1;
    for (int64_t n = 0; n < data->N; n++)
        T = vh_data_length(data, n) > T ? vh_data_length(data, n) : T;
    return T;
}

/* ---- log-likelihood ------------------------------------------------------------------------------------ */

typedef struct {
    const vhem_data *data;
    const vh_dt_gains *gains; /* of texture i */
    int64_t i, K;
    vh_scratch *scratch;
    double *loglik;
} one_texture;

static vhem_status score_sequence(vhem_ctx *ctx, void *arg, int64_t n, int worker)
{
    const one_texture *x = arg;
    return vh_kalman_score(ctx, x->gains, vh_data_frames(x->data, n), vh_data_length(x->data, n),
                           &x->scratch[worker], &x->loglik[vh_ij(n, x->K, x->i)]);
}

static vhem_status score_texture(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i, const vhem_data *data,
                                 vh_scratch *scratch, double *loglik)
{
    VH_CLEANUP(vh_dt_gains_free) vh_dt_gains g = { 0 };
    one_texture x = { data, &g, i, dtm->K, scratch, loglik };
    const vh_work work = { .n = data->N, .finishes = true, .run = score_sequence, .arg = &x };

    VH_TRY(vh_dt_gains_new(ctx, &dtm->dt[i], dtm->d, longest(data), false, &g));
    return vh_map(ctx, &work, NULL);
}

static vhem_status score_all(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i, const vhem_data *data,
                             vh_scratch *scratch, double *loglik)
{
    vhem_status st = score_texture(ctx, dtm, i, data, scratch, loglik);
    if (st != VHEM_OK)
        vh_dtm_prefix(ctx, dtm, i);
    return st;
}

vhem_status vh_dtm_score(vhem_ctx *ctx, const vh_dtm *dtm, const vhem_data *data, double *loglik)
{
    VH_BLAS_SERIAL;
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };
    size_t size = vh_cells(data->N, dtm->K);
    VH_AUTOFREE double *table = NULL;

    VH_TRY(check_sequences(ctx, dtm, data, NULL, 0));
    VH_TRY(vh_workers_new(ctx, ctx->threads, &workers));
    VH_NEW(table, size);
    for (int64_t i = 0; i < dtm->K; i++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld textures were scored", (long long)i,
                 (long long)dtm->K);
        VH_TRY(score_all(ctx, dtm, i, data, workers.scratch, table));
        vh_progress(ctx, "score", i + 1, dtm->K);
    }
    memcpy(loglik, table, sizeof *table * size);
    return VHEM_OK;
}

/* ---- states -------------------------------------------------------------------------------------------- */

vhem_status vh_dtm_smooth(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i, const vhem_data *data, int64_t n,
                          double *x, double *cov, double *loglik)
{
    VH_BLAS_SERIAL;
    VH_AUTOFREE double *own_x = NULL, *own_cov = NULL;
    VH_CLEANUP(vh_dt_gains_free) vh_dt_gains g = { 0 };
    VH_CLEANUP(vh_scratch_free) vh_scratch scratch = { 0 };

    VH_CHECK(i >= 0 && i < dtm->K, VHEM_EINVAL, "texture %lld was asked for, but there are %lld",
             (long long)i, (long long)dtm->K);
    VH_CHECK(n >= 0 && n < data->N, VHEM_EINVAL, "sequence %lld was asked for, but there are %lld",
             (long long)n, (long long)data->N);
    VH_TRY(check_sequences(ctx, dtm, data, &n, 1));
    int64_t T = vh_data_length(data, n);
    size_t n_x = vh_cells(T, dtm->dt[i].n), n_cov = cov ? n_x * (size_t)dtm->dt[i].n : 0;
    VH_NEW(own_x, n_x);
    if (cov)
        VH_NEW(own_cov, n_cov);
    VH_TRY(vh_dt_gains_new(ctx, &dtm->dt[i], dtm->d, T, true, &g));
    VH_TRY(vh_kalman_smooth(ctx, &g, vh_data_frames(data, n), T, &scratch,
                            &(vh_kalman_result){ .x = own_x, .cov = own_cov, .loglik = loglik }));
    memcpy(x, own_x, sizeof *x * n_x);
    if (cov)
        memcpy(cov, own_cov, sizeof *cov * n_cov);
    return VHEM_OK;
}

/* ---- sampling ------------------------------------------------------------------------------------------ */

/* root [n][n] with root root' = S, which may be singular: eigenvectors times square roots of eigenvalues. */
static bool square_root(int n, const double *S, double *root, double *work)
{
    double *w = work + vh_cells(n, n);
    memcpy(work, S, sizeof *S * vh_cells(n, n));
    if (!vh_eigen(n, work, w))
        return false;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            root[i * n + k] = work[k * n + i] * sqrt(fmax(w[k], 0));
    return true;
}

/* out = M x + root e with e standard normal; M NULL: out = x + root e. */
static void linear_step(vh_rng *rng, int n, const double *M, const double *x, const double *root, double *out)
{
    for (int i = 0; i < n; i++)
        out[i] = M ? 0 : x[i];
    for (int k = 0; k < n; k++) {
        double e = vh_rng_normal(rng);
        for (int i = 0; i < n; i++)
            out[i] += root[i * n + k] * e + (M ? M[i * n + k] * x[k] : 0);
    }
}

/* roots [2][n][n]: square roots of Q and Sigma. */
static vhem_status draw_sequence(vhem_ctx *ctx, const vh_dt *dt, int d, const double *roots, int64_t T,
                                 vh_rng *rng, vh_builder *b)
{
    int n = dt->n;
    VH_AUTOFREE double *x = NULL, *y = NULL;

    VH_NEW(x, 2 * (size_t)n);
    VH_NEW(y, d);
    double *next = x + n;

    linear_step(rng, n, NULL, dt->mu, roots + vh_cells(n, n), x);
    for (int64_t t = 0; t < T; t++) {
        for (int k = 0; k < d; k++) {
            y[k] = dt->ybar[k] + sqrt(dt->R[k]) * vh_rng_normal(rng);
            for (int i = 0; i < n; i++)
                y[k] += dt->C[vh_ij(k, n, i)] * x[i];
            VH_CHECK(isfinite(y[k]), VHEM_ENUMERIC, "frame %lld overflows: A is unstable", (long long)t);
        }
        VH_TRY(vh_builder_frame(b, y));
        linear_step(rng, n, dt->A, x, roots, next);
        memcpy(x, next, sizeof *x * (size_t)n);
    }
    return VHEM_OK;
}

/* roots [K]: square roots of Q and Sigma. */
static vhem_status make_roots(vhem_ctx *ctx, const vh_dtm *dtm, double **roots)
{
    VH_AUTOFREE double *work = NULL;

    for (int64_t i = 0; i < dtm->K; i++) {
        const vh_dt *dt = &dtm->dt[i];
        size_t nn = vh_cells(dt->n, dt->n);
        free(work);
        work = NULL;
        VH_NEW(roots[i], 2 * nn);
        VH_NEW(work, nn + (size_t)dt->n);
        VH_CHECK(square_root(dt->n, dt->Q, roots[i], work)
                     && square_root(dt->n, dt->Sigma, roots[i] + nn, work),
                 VHEM_ENUMERIC, "texture %lld: no square root of Q or Sigma", (long long)i);
    }
    return VHEM_OK;
}

vhem_status vh_dtm_sample(vhem_ctx *ctx, const vh_dtm *dtm, int64_t N, int64_t T, vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_CLEANUP(vh_roots_free) double **roots = NULL;

    VH_CHECK(N >= 1, VHEM_EINVAL, "%lld sequences were asked for, must be at least 1", (long long)N);
    VH_CHECK(T >= 1, VHEM_EINVAL, "sequences of %lld frames were asked for, must have at least 1",
             (long long)T);
    VH_CHECK((double)N * T * dtm->d <= MOST, VHEM_EINVAL,
             "%lld sequences of %lld frames make %.3g numbers, at most %.3g are possible", (long long)N,
             (long long)T, (double)N * T * dtm->d, MOST);
    VH_NEW(roots, dtm->K + 1);
    VH_TRY(make_roots(ctx, dtm, roots));
    VH_TRY(vh_builder_new(ctx, dtm->d, &b));
    for (int64_t s = 0; s < N; s++) {
        vh_rng rng;
        char name[32];
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld sequences were drawn", (long long)s,
                 (long long)N);
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_SAMPLE, (uint64_t)s);
        int64_t i = vh_rng_pick(&rng, dtm->K, dtm->omega);
        vhem_status st = draw_sequence(ctx, &dtm->dt[i], dtm->d, roots[i], T, &rng, b);
        if (st == VHEM_ENUMERIC)
            vh_dtm_prefix(ctx, dtm, i);
        VH_TRY(st);
        snprintf(name, sizeof name, "sample_%lld", (long long)s);
        VH_TRY(vh_builder_end(b, name, dtm->dt[i].name, NULL, 1.0));
    }
    return vh_builder_finish(b, "memory", out);
}
