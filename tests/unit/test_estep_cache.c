/* SPDX-License-Identifier: BSD-3-Clause */
/* test_estep_cache.c - an E-step is remembered for the same base HMMs, centres and numbers, and for no
 * others. */
#include "support.h"

#include "vhem/estep_cache.h"
#include "vhem.h"

enum { K = 1500, Kr = 4, S = 4, TAU = 60 };

typedef struct {
    vh_base *base;
    vh_h3m *centers;
    vh_packed *pk;
    vh_reduce_sums sums;
    double log_omega[Kr];
    vh_scratch scratch;
} setting;

static bool is_known(vhem_ctx *ctx, setting *t, double N)
{
    bool known;
    const vh_workers crew = { 1, &t->scratch };
    const vh_reduce_step step = {
        .reduced = t->pk, .tau = TAU, .log_omega = t->log_omega, .N = N, .statistics = true
    };
    assert_ok(ctx, vh_pack_update(ctx, t->centers, NULL, t->pk));
    assert_ok(ctx, vh_vhem_expect(ctx, t->base, t->centers, &step, &crew, &t->sums, &known));
    return known;
}

static void remembered(void **state)
{
    vhem_ctx *ctx = test_ctx();
    setting t = { 0 };
    char path[512];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 8, VH_RNG_TEST, 0);
    vh_h3m *models = random_h3m(ctx, &rng, K, S, 1, 2, 0, 1);
    t.centers = random_h3m(ctx, &rng, Kr, S, 1, 2, 0, 1);
    assert_ok(ctx, vh_base_new(ctx, models, &t.base));
    assert_ok(ctx, vh_pack_new(ctx, t.centers, NULL, Kr, t.base->origin, t.base->scale, &t.pk));
    assert_ok(ctx, vh_reduce_sums_new(ctx, t.pk, &t.sums));
    for (int j = 0; j < Kr; j++)
        t.log_omega[j] = log(1.0 / Kr);
    snprintf(path, sizeof path, "%s", test_scratch("expect"));
    remove(path);
    assert_false(is_known(ctx, &t, K)); /* without a journal nothing is */
    double *first = malloc(sizeof *first * t.sums.size);
    memcpy(first, t.sums.block, sizeof *first * t.sums.size);
    assert_ok(ctx, vh_journal_open(ctx, path, &t.base->journal));
    assert_false(is_known(ctx, &t, K));
    memset(t.sums.block, 0, sizeof *first * t.sums.size);
    assert_true(is_known(ctx, &t, K));
    assert_memory_equal(first, t.sums.block, sizeof *first * t.sums.size);
    assert_false(is_known(ctx, &t, 2 * K));
    t.centers->hmm[1].pi[0] += 1e-15;
    assert_false(is_known(ctx, &t, K));
    uint64_t print = t.base->fingerprint;
    vh_journal_free(t.base->journal);
    vh_base_free(t.base);
    models->hmm[700].pi[0] = nextafter(models->hmm[700].pi[0], 2);
    assert_ok(ctx, vh_base_new(ctx, models, &t.base));
    assert_true(t.base->fingerprint != print);
    remove(path);
    free(first);
    vh_reduce_sums_free(&t.sums);
    vh_pack_free(t.pk);
    vh_scratch_free(&t.scratch);
    vh_base_free(t.base);
    vh_h3m_free(t.centers);
    vh_h3m_free(models);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(remembered) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
