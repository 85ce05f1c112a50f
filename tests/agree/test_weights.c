/* SPDX-License-Identifier: BSD-3-Clause */
/* test_weights.c - the kernel for a batch of sequences, when pairs count by the assignment of their set:
 * every usable backend against ref, statistic by statistic, with few and with many pairs of weight zero,
 * the assignments known before or found between the forward and the backward pass. */
#include "engine.h"

#include "core/backend.h"
#include "fit/estep.h"
#include "fit/lengths.h"
#include "math/blas.h"
#include "vhem.h"

typedef struct {
    vhem_data data; /* with weights of its own */
    vh_packed *pk;
    int64_t *seq, *first; /* [N] [n_set+1] */
    int n_set;
    double *log_omega; /* [K] */
} setting;

typedef struct {
    double *loglik, *log_z, *J; /* [N][K] [n_set][K] [n_set][mixtures] */
    vh_stats stats;
} answer;

static void new_answer(vhem_ctx *ctx, const setting *s, answer *a)
{
    size_t K = (size_t)s->pk->K, N = (size_t)s->data.N;
    a->loglik = calloc(N * K, sizeof *a->loglik);
    a->log_z = calloc(N * K, sizeof *a->log_z);
    a->J = calloc(N * K, sizeof *a->J);
    assert_ok(ctx, vh_stats_new(ctx, s->pk, &a->stats));
}

static void free_answer(answer *a)
{
    free(a->loglik);
    free(a->log_z);
    free(a->J);
    vh_stats_free(&a->stats);
}

/* All sequences as one batch.  known: a->log_z and a->loglik are there already. */
static void expect(const char *backend, const setting *s, int mixtures, bool known, answer *a)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    vh_scratch scratch = { { 0 }, { 0 } };
    const vh_sequences in = { .data = &s->data,
                              .seq = s->seq,
                              .n = s->data.N,
                              .first = s->first,
                              .n_set = s->n_set,
                              .family = s->pk->family,
                              .x = s->pk->x };
    const vh_seq_step step = {
        .pk = s->pk, .statistics = true, .mixtures = mixtures, .log_omega = s->log_omega
    };
    const vh_seq_chunk batch = { .in = &in,
                                 .step = &step,
                                 .n = in.n,
                                 .frames = s->data.start[in.n],
                                 .known = known,
                                 .log_z = a->log_z,
                                 .J = known ? NULL : a->J };
    vh_stats_begin(s->pk, &a->stats);
    assert_ok(ctx, ctx->backend->sequences->kernel(ctx, &batch, &scratch, a->loglik, &a->stats));
    vh_scratch_free(&scratch);
    vhem_free(ctx);
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

static void compare_table(const char *what, const char *backend, const char *table, size_t n,
                          const double *want, const double *got)
{
    for (size_t i = 0; i < n; i++)
        if (!is_near(want[i], got[i], 1e-9, 1e-9))
            fail_msg("%s, %s: %s %zu is %.15g, must be %.15g", backend, what, table, i, got[i], want[i]);
}

/* Every backend, for log z that ref has found (share < 0), or for z of which a share is zero. */
static void check_shares(const char *what, vhem_ctx *ctx, const setting *s, int mixtures, double share)
{
    size_t K = (size_t)s->pk->K, pairs = (size_t)s->data.N * K;
    answer want = { 0 };
    const char *name;
    vh_rng rng;

    new_answer(ctx, s, &want);
    vh_rng_init(&rng, 77, VH_RNG_TEST, (uint64_t)(10 * share + 20));
    expect("ref", s, mixtures, false, &want);
    if (share >= 0) {
        for (size_t i = 0; i < (size_t)s->n_set * K; i++)
            want.log_z[i] = vh_rng_uniform(&rng) < share ? -INFINITY : log(0.01 + vh_rng_uniform(&rng));
        memset(want.stats.block, 0, sizeof *want.stats.block * want.stats.size);
        expect("ref", s, mixtures, true, &want);
    }
    for (int b = 0; (name = test_backend(b / 2)); b++) {
        bool known = share >= 0 || b % 2;
        answer got = { 0 };
        char backend[32];
        snprintf(backend, sizeof backend, "%s", name);
        new_answer(ctx, s, &got);
        if (known) { /* not all log-likelihoods are filled in */
            memcpy(got.log_z, want.log_z, sizeof *got.log_z * pairs);
            memcpy(got.loglik, want.loglik, sizeof *got.loglik * pairs);
        }
        expect(backend, s, mixtures, known, &got);
        compare_table(what, backend, "loglik", pairs, want.loglik, got.loglik);
        compare_table(what, backend, "log z", (size_t)s->n_set * K, want.log_z, got.log_z);
        if (!known)
            compare_table(what, backend, "J", (size_t)(s->n_set * mixtures), want.J, got.J);
        compare(what, backend, &want.stats, &got.stats);
        free_answer(&got);
    }
    free_answer(&want);
}

/* Sets of one, two and three sequences in turn, with weights; weight: that of most sequences.  A small one
 * makes assignments soft. */
static void check_weight(const char *what, vhem_ctx *ctx, setting *s, double weight)
{
    static const double shares[] = { 0, 0.3, 0.85, 1 };
    int64_t N = s->data.N;
    int K = s->pk->K;
    for (int64_t n = 0; n < N; n++)
        s->data.weight[n] = n % 5 == 4 ? 0 : n % 3 == 1 ? 1.7 * weight : weight;
    for (s->n_set = 0; s->first[s->n_set] < N; s->n_set++)
        s->first[s->n_set + 1] =
            s->first[s->n_set] + s->n_set % 3 + 1 < N ? s->first[s->n_set] + s->n_set % 3 + 1 : N;
    for (int mixtures = 1; mixtures <= K; mixtures++) {
        if (K % mixtures)
            continue;
        check_shares(what, ctx, s, mixtures, -1);
        for (int i = 0; mixtures == 1 && i < 4; i++)
            check_shares(what, ctx, s, mixtures, shares[i]);
    }
}

static void check(const char *what, vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, bool direct)
{
    double *xs = calloc(2 * (size_t)data->d, sizeof *xs);
    size_t N = (size_t)data->N;
    setting s = { .data = *data,
                  .seq = calloc(N, sizeof(int64_t)),
                  .first = calloc(N + 1, sizeof(int64_t)),
                  .log_omega = calloc((size_t)h3m->K, sizeof(double)) };
    s.data.weight = calloc(N, sizeof(double));
    for (int64_t n = 0; n < data->N; n++)
        s.seq[n] = n;
    for (int k = 0; k < h3m->K; k++)
        s.log_omega[k] = -1 - 0.1 * k;
    vh_blas_enter();
    vh_spread_scale(data, NULL, data->N, NULL, xs, xs + data->d);
    assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, h3m->K, xs, xs + data->d, &s.pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, s.pk));
    assert_int_equal(s.pk->n_direct > 0, direct);
    check_weight(what, ctx, &s, 1);
    check_weight(what, ctx, &s, 1e-3);
    vh_blas_leave();
    vh_pack_free(s.pk);
    free(s.seq);
    free(s.first);
    free(s.log_omega);
    free(s.data.weight);
    free(xs);
}

/* Sequence n from HMM n % K, roughly: what no chain would produce is ill-conditioned under all of them. */
static double *frames_of(vh_rng *rng, const vh_h3m *h3m, int N, const int *T, int total)
{
    double *y = random_frames(rng, total, h3m->d, 0.8), *at = y;
    for (int n = 0; n < N; n++) {
        const vh_hmm *h = &h3m->hmm[n % h3m->K];
        int64_t s = vh_rng_pick(rng, h->S, h->pi);
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
            vhem_free(data);
            free(y);
            vhem_free(ctx);
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
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes), cmocka_unit_test(direct_components) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
