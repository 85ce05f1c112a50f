/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.c - sequences drawn from an H3M.  Sequence n depends only on (seed, n). */
#include "fit/sample.h"

#include "core/alloc.h"
#include "data/data.h"
#include "fit/infer.h"

#include <stdio.h>

#define MOST 4e9 /* maximum number of doubles in a sample: 32 GB */

/* Computes the square roots of the components of HMM i, [S][M][size]; the caller frees *out. */
static vhem_status make_roots(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, double **out)
{
    const vh_hmm *h = &h3m->hmm[i];
    size_t size = vh_param_size(h3m->family, h3m->family->n_param - 1, &h3m->shape);
    VH_AUTOFREE double *work = NULL, *roots = NULL;

    VH_NEW(work, vh_emission_room(h3m->family, &h3m->shape));
    VH_NEW(roots, (size_t)(h->S * h->M) * size);
    for (int q = 0; q < h->S * h->M; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
        VH_CHECK(h3m->family->root(&h3m->shape, (const double *const *)par, roots + (size_t)q * size, work),
                 VHEM_ENUMERIC, "HMM %lld: no square root of the covariance of state %d", (long long)i,
                 q / h->M);
    }
    *out = vh_take(roots);
    return VHEM_OK;
}

static vhem_status check_size(vhem_ctx *ctx, int64_t N, int64_t T, int d)
{
    VH_CHECK(N >= 1, VHEM_EINVAL, "%lld sequences were asked for, must be at least 1", (long long)N);
    VH_CHECK(T >= 1, VHEM_EINVAL, "sequences of %lld frames were asked for, must have at least 1",
             (long long)T);
    VH_CHECK((double)N * T * d <= MOST, VHEM_EINVAL,
             "%lld sequences of %lld frames make %.3g numbers, at most %.3g are possible", (long long)N,
             (long long)T, (double)N * T * d, MOST);
    return VHEM_OK;
}

static vhem_status draw_sequence(const vh_h3m *h3m, const vh_hmm *h, const double *roots, int64_t T,
                                 vh_rng *rng, vh_builder *b, double *y)
{
    vhem_status st = VHEM_OK;
    size_t size = vh_param_size(h3m->family, h3m->family->n_param - 1, &h3m->shape);
    int s = (int)vh_rng_pick(rng, h->S, h->pi);
    for (int64_t t = 0; t < T && st == VHEM_OK; t++) {
        double *par[VH_MAX_PARAM];
        int m = (int)vh_rng_pick(rng, h->M, vh_hmm_c(h) + s * h->M);
        vh_hmm_component(h3m, h, s, m, par);
        h3m->family->draw(rng, &h3m->shape, (const double *const *)par, roots + (size_t)(s * h->M + m) * size,
                          y);
        st = vh_builder_frame(b, y);
        s = (int)vh_rng_pick(rng, h->S, h->A + s * h->S);
    }
    return st;
}

void vh_roots_free(double ***roots)
{
    for (double **r = *roots; r && *r; r++)
        free(*r);
    free(*roots);
}

vhem_status vh_h3m_sample(vhem_ctx *ctx, const vh_h3m *h3m, int64_t N, int64_t T, vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE double *y = NULL;
    VH_CLEANUP(vh_roots_free) double **roots = NULL;

    VH_TRY(check_size(ctx, N, T, h3m->d));
    VH_NEW(roots, h3m->K + 1);
    VH_NEW(y, h3m->d);
    for (int64_t i = 0; i < h3m->K; i++)
        VH_TRY(make_roots(ctx, h3m, i, &roots[i]));
    VH_TRY(vh_builder_new(ctx, h3m->d, &b));
    for (int64_t n = 0; n < N; n++) {
        vh_rng rng;
        char name[32];
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped; %lld of %lld sequences were drawn", (long long)n,
                 (long long)N);
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_SAMPLE, (uint64_t)n);
        int64_t i = vh_rng_pick(&rng, h3m->K, h3m->omega);
        VH_TRY(draw_sequence(h3m, &h3m->hmm[i], roots[i], T, &rng, b, y));
        snprintf(name, sizeof name, "sample_%lld", (long long)n);
        VH_TRY(vh_builder_end(b, name, h3m->hmm[i].name, NULL, 1.0));
    }
    VH_TRY(vh_builder_finish(b, "memory", out));
    (*out)->layout = h3m->shape.layout;
    return VHEM_OK;
}

vhem_status vh_sample_hmm(vhem_ctx *ctx, const vh_h3m *h3m, int64_t i, uint64_t item, int64_t N, int64_t T,
                          vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE double *roots = NULL, *y = NULL;

    VH_TRY(check_size(ctx, N, T, h3m->d));
    VH_NEW(y, h3m->d);
    VH_TRY(make_roots(ctx, h3m, i, &roots));
    VH_TRY(vh_builder_new(ctx, h3m->d, &b));
    for (int64_t n = 0; n < N; n++) {
        vh_rng rng;
        vh_rng_init(&rng, ctx->opt.seed, VH_RNG_COMPARE, item + (uint64_t)n);
        VH_TRY(draw_sequence(h3m, &h3m->hmm[i], roots, T, &rng, b, y));
        VH_TRY(vh_builder_end(b, NULL, NULL, NULL, 1.0));
    }
    VH_TRY(vh_builder_finish(b, "memory", out));
    (*out)->layout = h3m->shape.layout;
    return VHEM_OK;
}

vhem_status vh_sample_each(vhem_ctx *ctx, const vh_h3m *h3m, const int64_t *count, int64_t T, uint64_t seed,
                           vhem_data **out)
{
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE double *roots = NULL, *y = NULL;
    double total = 0;

    for (int64_t i = 0; i < h3m->K; i++)
        total += count[i];
    VH_CHECK(total * T * h3m->d <= MOST, VHEM_EINVAL,
             "%.0f sequences of %lld frames make %.3g numbers, at most %.3g are possible", total,
             (long long)T, total * T * h3m->d, MOST);
    VH_NEW(y, h3m->d);
    VH_TRY(vh_builder_new(ctx, h3m->d, &b));
    for (int64_t i = 0; i < h3m->K; i++) {
        VH_TRY(make_roots(ctx, h3m, i, &roots));
        for (int64_t n = 0; n < count[i]; n++) {
            vh_rng rng;
            VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while sequences were drawn");
            vh_rng_init(&rng, seed, VH_RNG_SAMPLE, (uint64_t)i << 32 | (uint64_t)n);
            VH_TRY(draw_sequence(h3m, &h3m->hmm[i], roots, T, &rng, b, y));
            VH_TRY(vh_builder_end(b, NULL, NULL, NULL, 1.0));
        }
        free(roots);
        roots = NULL;
    }
    VH_TRY(vh_builder_finish(b, "memory", out));
    (*out)->layout = h3m->shape.layout;
    return VHEM_OK;
}
