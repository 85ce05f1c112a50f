/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lanes.c - sequences on the device: HMMs with few and with many states side by side, sequences of all
 * lengths, sets and mixtures, against ref; and frames that do not fit there, which pass through it with the
 * same bits. */
#include "engine.h"

#include "fit/estep.h"
#include "fit/lengths.h"
#include "math/blas.h"
#include "vhem.h"

enum { N = 900, D = 20, SETS = 440, K = 4 };

typedef struct {
    vhem_data *data;
    double *y, xs[2 * D], log_omega[K];
    int64_t seq[N], first[SETS + 1];
    vh_h3m *h3m;
    vh_packed *pk;
} problem;

static int messages;

static void listen(void *arg, int level, const char *text)
{
    (void)arg;
    (void)level;
    messages += strstr(text, "sequences on the GPU") != NULL;
}

/* HMMs of S[k] states and M[k] components. */
static vh_h3m *ragged(vhem_ctx *ctx, vh_rng *rng, const int *S, const int *M)
{
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_h3m_new(ctx, vh_emission_find("gaussian-diag"), (vh_shape){ .d = D }, K, &h3m));
    for (int k = 0; k < K; k++) {
        vh_h3m *one = random_h3m(ctx, rng, 1, S[k], M[k], D, 0, 2);
        assert_ok(ctx, vh_h3m_shape(ctx, h3m, k, S[k], M[k]));
        vh_hmm_copy(&h3m->hmm[k], &one->hmm[0]);
        h3m->omega[k] = 1.0 / K;
        vh_h3m_free(one);
    }
    for (int s = 0; s < S[1]; s++) /* one that only moves on */
        for (int q = 0; q < S[1]; q++)
            h3m->hmm[1].A[s * S[1] + q] = q == (s + 1) % S[1];
    return h3m;
}

static void make_problem(vhem_ctx *ctx, const int *S, const int *M, problem *p)
{
    vh_rng rng;
    int T[N], all = 0;
    vh_rng_init(&rng, 530, VH_RNG_TEST, (uint64_t)S[0]);
    for (int n = 0; n < N; n++) {
        all += T[n] = n % 9 == 4 ? 1 : 1 + (int)vh_rng_below(&rng, 60);
        p->seq[n] = N - 1 - n;
    }
    for (int g = 1; g <= SETS; g++) /* one of them is empty */
        p->first[g] = g == SETS ? N : g == 5 ? p->first[4] : 2 * g;
    p->y = random_frames(&rng, all, D, 2);
    p->data = wrap(ctx, N, T, D, p->y);
    p->h3m = ragged(ctx, &rng, S, M);
    for (int k = 0; k < K; k++)
        p->log_omega[k] = log(1.0 / K);
    vh_spread_scale(p->data, NULL, N, NULL, p->xs, p->xs + D);
    assert_ok(ctx, vh_pack_new(ctx, p->h3m, NULL, K, p->xs, p->xs + D, &p->pk));
    assert_ok(ctx, vh_pack_update(ctx, p->h3m, NULL, p->pk));
}

static void free_problem(problem *p)
{
    vh_pack_free(p->pk);
    vh_h3m_free(p->h3m);
    vhem_free(p->data);
    free(p->y);
}

static void answer(const char *backend, const problem *p, int mixtures, vh_seq_sums *out)
{
    vhem_ctx *ctx = test_ctx_with(backend, 2, 1);
    vh_workers workers = { 0 };
    vh_opened_sequences *job = NULL;

    ctx->opt.log = listen;
    assert_ok(ctx, vh_workers_new(ctx, 2, &workers));
    assert_ok(ctx, vh_seq_sums_new(ctx, p->pk, mixtures, out));
    out->loglik = calloc((size_t)(N * K), sizeof(double));
    const vh_sequences in = { .data = p->data,
                              .seq = p->seq,
                              .n = N,
                              .first = p->first,
                              .n_set = SETS,
                              .family = p->h3m->family,
                              .x = p->pk->x,
                              .workers = &workers };
    const vh_seq_step step = {
        .pk = p->pk, .statistics = true, .mixtures = mixtures, .log_omega = p->log_omega
    };
    assert_ok(ctx, vh_sequences_open(ctx, &in, &job));
    assert_ok(ctx, vh_sequences_run(ctx, job, &step, out));
    vh_sequences_close(job);
    vh_workers_free(&workers);
    vhem_free(ctx);
}

static void free_answer(vh_seq_sums *a)
{
    free(a->loglik);
    vh_seq_sums_free(a);
}

/* Statistics of each HMM at the higher of both scales. */
static void near(const problem *p, const vh_seq_sums *want, const vh_seq_sums *got)
{
    size_t size = want->stats.size;
    double *a = calloc(size, sizeof *a), *b = calloc(size, sizeof *b), most = 0;
    for (int i = 0; i < N * K; i++)
        assert_near(got->loglik[i], want->loglik[i], 1e-9, 1e-9);
    for (size_t i = 0; i < want->head; i++)
        assert_near(got->block[i], want->block[i], 1e-9, 1e-9);
    for (int k = 0; k < K; k++)
        a[k] = b[k] = fmax(want->stats.scale[k], got->stats.scale[k]);
    vh_stats_merge(p->pk, a, want->stats.block);
    vh_stats_merge(p->pk, b, got->stats.block);
    for (size_t i = K; i < size; i++)
        most = fmax(most, fabs(a[i]));
    for (size_t i = K; i < size; i++)
        assert_near(b[i], a[i], 1e-8, 1e-11 * most);
    free(a);
    free(b);
}

/* memory: of a device on which tiles of some chunks have room, but not all of them; NULL: no such device. */
static void check(const int *S, const int *M, int mixtures, const char *memory)
{
    vhem_ctx *ctx = test_ctx();
    problem p = { 0 };
    vh_seq_sums want, got, parts;

    make_problem(ctx, S, M, &p);
    assert_int_equal(unsetenv("VHEM_FAKE_MEMORY"), 0);
    answer("ref", &p, mixtures, &want);
    answer("cuda", &p, mixtures, &got);
    near(&p, &want, &got);
    if (memory) {
        assert_int_equal(setenv("VHEM_FAKE_MEMORY", "100000", 1), 0); /* nothing fits: the CPU */
        answer("cuda", &p, mixtures, &parts);
        near(&p, &want, &parts);
        free_answer(&parts);
        assert_int_equal(unsetenv("VHEM_FAKE_MEMORY"), 0);
        assert_int_equal(setenv("VHEM_FAKE_LARGEST", "1000000", 1), 0); /* others have it: the CPU */
        answer("cuda", &p, mixtures, &parts);
        near(&p, &want, &parts);
        free_answer(&parts);
        assert_int_equal(unsetenv("VHEM_FAKE_LARGEST"), 0);
        assert_int_equal(setenv("VHEM_FAKE_MEMORY", memory, 1), 0);
        answer("cuda", &p, mixtures, &parts);
        assert_memory_equal(got.block, parts.block, sizeof(double) * got.size);
        assert_memory_equal(got.loglik, parts.loglik, sizeof(double) * N * K);
        free_answer(&parts);
    }
    free_answer(&want);
    free_answer(&got);
    free_problem(&p);
    vhem_free(ctx);
}

static void test_shapes(void **state)
{
    (void)state;
    vh_blas_enter();
    check((const int[K]){ 5, 6, 4, 1 }, (const int[K]){ 2, 1, 3, 1 }, 0, NULL);
    check((const int[K]){ 12, 9, 2, 3 }, (const int[K]){ 1, 2, 4, 1 }, 2, "13500000");
    vh_blas_leave();
    assert_true(messages > 0); /* it was the device */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_shapes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
