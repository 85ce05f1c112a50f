/* SPDX-License-Identifier: BSD-3-Clause */
/* test_weights.c - pairs weighed between the forward and the backward pass: every usable backend against ref,
 * statistic by statistic, with few and with many pairs of weight zero. */
#include "engine.h"

#include "backend/backend.h"
#include "estimate/spread.h"
#include "math/linalg.h"

typedef struct {
    int K;
    double zeros; /* share of pairs that do not count */
    double seen;  /* sum of the log-likelihoods that were shown */
    int calls;
} weights;

static double weight_of(const weights *x, int n, int k)
{
    vh_rng rng;
    vh_rng_init(&rng, 77, VH_RNG_TEST, (uint64_t)(n * x->K + k));
    return vh_rng_uniform(&rng) < x->zeros ? 0 : 0.01 + vh_rng_uniform(&rng);
}

static void weigh(const vh_batch *batch, const double *loglik, double *w)
{
    weights *x = (weights *)(uintptr_t)batch->arg;
    x->calls++;
    for (int n = 0; n < batch->n; n++)
        for (int k = 0; k < x->K; k++) {
            x->seen += batch->known ? 0 : loglik[n * x->K + k];
            w[n * x->K + k] = weight_of(x, batch->first + n, k);
        }
}

typedef struct {
    const vhem_data *data;
    vh_packed *pk;
    int *seq;
} setting;

/* loglik [N][K] and statistics of the batch of all sequences. */
static void expect(const char *backend, const setting *s, double zeros, bool known, double *loglik,
                   vh_stats *stats)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    vh_scratch scratch = { { 0 }, { 0 } };
    weights x = { .K = s->pk->K, .zeros = zeros };
    double sum = 0;
    vh_batch batch = { .data = s->data,
                       .seq = s->seq,
                       .n = s->data->N,
                       .frames = s->data->start[s->data->N],
                       .weigh = weigh,
                       .known = known,
                       .arg = &x,
                       .first = 0 };
    assert_ok(ctx, vh_stats_new(ctx, s->pk, stats));
    assert_ok(ctx, ctx->backend->forward_backward(ctx, s->pk, &batch, &scratch, loglik, stats));
    assert_int_equal(x.calls, 1);
    for (int i = 0; i < s->data->N * s->pk->K; i++)
        sum += known ? 0 : loglik[i];
    assert_near(x.seen, sum, 1e-12, 0);
    vh_scratch_free(&scratch);
    vhem_ctx_free(ctx);
}

/* Statistics are sums of many terms of both signs: what matters is their size against the largest. */
static void compare(const char *what, const char *backend, const vh_stats *want, const vh_stats *got)
{
    double size = 0;
    for (size_t i = 0; i < want->size; i++)
        size = fmax(size, fabs(want->block[i]));
    for (size_t i = 0; i < want->size; i++)
        if (!is_near(want->block[i], got->block[i], 1e-9, 1e-12 * size))
            fail_msg("%s, %s: entry %zu of %zu is %.15g, must be %.15g", backend, what, i, want->size,
                     got->block[i], want->block[i]);
}

static void check(const char *what, vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, bool direct)
{
    static const double zeros[] = { 0, 0.3, 0.85, 1 };
    size_t pairs = (size_t)data->N * (size_t)h3m->K;
    double *xs = calloc(2 * (size_t)data->d, sizeof *xs), *want_ll = calloc(pairs, sizeof *want_ll),
           *ll = calloc(pairs, sizeof *ll);
    setting s = { .data = data, .seq = calloc((size_t)data->N, sizeof(int)) };
    for (int n = 0; n < data->N; n++)
        s.seq[n] = n;
    vh_blas_enter();
    vh_spread_scale(data, NULL, data->N, NULL, xs, xs + data->d);
    assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, h3m->K, xs, xs + data->d, &s.pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, s.pk));
    assert_int_equal(s.pk->n_direct > 0, direct);
    for (int z = 0; z < 4; z++) {
        vh_stats want = { 0 };
        const char *name;
        expect("ref", &s, zeros[z], false, want_ll, &want);
        for (int b = 0; (name = test_backend(b / 2)); b++) {
            vh_stats got = { 0 };
            char backend[32];
            snprintf(backend, sizeof backend, "%s", name);
            memcpy(ll, want_ll, sizeof *ll * pairs); /* with known weights not all are filled in */
            expect(backend, &s, zeros[z], b % 2, ll, &got);
            for (size_t i = 0; i < pairs; i++)
                if (!is_near(want_ll[i], ll[i], 1e-9, 1e-9))
                    fail_msg("%s, %s: loglik %zu is %.15g, must be %.15g", backend, what, i, ll[i],
                             want_ll[i]);
            compare(what, backend, &want, &got);
            vh_stats_free(&got);
        }
        vh_stats_free(&want);
    }
    vh_blas_leave();
    vh_pack_free(s.pk);
    free(s.seq);
    free(xs);
    free(want_ll);
    free(ll);
}

/* Sequence n from HMM n % K, roughly: what no chain would produce is ill-conditioned under all of them. */
static double *frames_of(vh_rng *rng, const vh_h3m *h3m, int N, const int *T, int total)
{
    double *y = random_frames(rng, total, h3m->d, 0.8), *at = y;
    for (int n = 0; n < N; n++) {
        const vh_hmm *h = &h3m->hmm[n % h3m->K];
        int s = vh_rng_pick(rng, h->S, h->pi);
        for (int t = 0; t < T[n]; t++, at += h3m->d) {
            for (int k = 0; k < h3m->d; k++)
                at[k] += vh_hmm_param(h3m, h, 0)[s * h->M * h3m->d + k];
            s = vh_rng_pick(rng, h->S, h->A + s * h->S);
        }
    }
    return y;
}

/* Every shape that takes another way through the vector kernels. */
static void shapes(void **state)
{
    static const struct {
        int S, M, d, full, K, N, T; /* T: of the longest sequence */
    } shape[] = {
        { 2, 1, 1, 0, 3, 9, 40 },   { 3, 2, 2, 0, 5, 17, 30 }, { 4, 1, 3, 1, 8, 8, 25 },
        { 11, 1, 2, 0, 2, 5, 50 },  { 1, 3, 2, 0, 4, 6, 20 },  { 3, 2, 2, 0, 40, 1, 600 },
        { 2, 2, 2, 1, 30, 1, 500 }, /* many HMMs: a sequence of several chunks */
    };
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int chain = 0; chain <= 1; chain++) { /* chain: zeros in A, so that states do not mix */
            vhem_ctx *ctx = test_ctx();
            vh_rng rng;
            int T[32], total = 0, S = shape[i].S;
            char what[64];
            vh_rng_init(&rng, 501, VH_RNG_TEST, (uint64_t)i);
            for (int n = 0; n < shape[i].N; n++)
                total += T[n] = shape[i].N == 1 ? shape[i].T : 1 + (int)vh_rng_below(&rng, shape[i].T);
            vh_h3m *h3m = random_h3m(ctx, &rng, shape[i].K, S, shape[i].M, shape[i].d, shape[i].full, 2);
            for (int k = 0; chain && k < h3m->K; k++)
                for (int s = 0; s < S; s++) {
                    double *row = h3m->hmm[k].A + s * S;
                    for (int q = 0; q < S; q++)
                        row[q] = q == s ? 0.9 : q == (s + 1) % S ? 0.1 : 0;
                    row[s] = S == 1 ? 1 : row[s];
                }
            double *y = frames_of(&rng, h3m, shape[i].N, T, total);
            vhem_data *data = wrap(ctx, shape[i].N, T, shape[i].d, y);
            snprintf(what, sizeof what, "shape %zu%s", i, chain ? ", chains" : "");
            check(what, ctx, h3m, data, false);
            vh_h3m_free(h3m);
            vhem_data_free(data);
            free(y);
            vhem_ctx_free(ctx);
        }
}

/* Components far from the origin and narrow, which leave the product for the direct form. */
static void direct_components(void **state)
{
    int T[] = { 30, 12, 25 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 502, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 67, 2, 1);
    vh_h3m *h3m = random_h3m(ctx, &rng, 4, 2, 2, 2, 0, 1);
    for (int k = 0; k < 4; k++)
        for (int e = 0; e < 2; e++) {
            vh_hmm_param(h3m, &h3m->hmm[k], 0)[e] = 1e4 + k;
            vh_hmm_param(h3m, &h3m->hmm[k], 1)[e] = 1e-3;
        }
    for (int t = 0; t < 20; t++)
        y[2 * t] = y[2 * t + 1] = 1e4 + 0.03 * t;
    vhem_data *data = wrap(ctx, 3, T, 2, y);
    check("direct components", ctx, h3m, data, true);
    vh_h3m_free(h3m);
    vhem_data_free(data);
    free(y);
    vhem_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes), cmocka_unit_test(direct_components) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
