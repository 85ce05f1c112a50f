/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dtm_pair.c - one texture under another: expected log-likelihood and every expected statistic against
 * the dense Gaussian, which is exact, and against sequences drawn from the texture. */
#include "dtm/infer.h"
#include "textures.h"

#include "dtm/kalman.h"
#include "dtm/pair.h"
#include "vhem.h"

/* State dimensions differ, d < n, singular Q and Sigma of either. */
static void against_dense(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 60; trial++) {
        int nb = 1 + trial % 3, n = 1 + trial / 3 % 3, d = 1 + trial % 4, tau = 1 + trial % 7;
        double L;
        vh_rng rng;
        vh_dt_gains g = { 0 };
        vh_scratch scratch = { 0 };
        vh_dt_stats s = { 0 }, want = { 0 };
        vh_rng_init(&rng, 211, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *b = random_dtm(ctx, &rng, 1, nb, d, 0.8, trial % 4 == 1 ? 0 : nb);
        vh_dtm *r = random_dtm(ctx, &rng, 1, n, d, 0.8, trial % 4 == 2 ? 0 : n);
        dense zb = dense_of(&b->dt[0], d, tau), zr = dense_of(&r->dt[0], d, tau);
        assert_ok(ctx, vh_dt_gains_new(ctx, &r->dt[0], d, tau, true, &g));
        assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &s));
        assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &want));
        assert_ok(ctx, vh_dt_pair_score(ctx, &b->dt[0], &g, tau, &scratch, &L));
        if (!is_near(L, dense_expected(&zr, zb.my, zb.Sy), 1e-10, 1e-10))
            fail_msg("trial %d: %.15g, dense %.15g", trial, L, dense_expected(&zr, zb.my, zb.Sy));
        assert_ok(ctx, vh_dt_pair_accumulate(ctx, &b->dt[0], &g, tau, 0.7, &scratch, &s));
        dense_stats(&zr, &r->dt[0], zb.my, zb.Sy, 0.7, &want);
        assert_same_stats(&s, &want, 1e-9, 1e-9);
        dense_free(&zb);
        dense_free(&zr);
        vh_dt_stats_free(&s);
        vh_dt_stats_free(&want);
        vh_dt_gains_free(&g);
        vh_scratch_free(&scratch);
        vh_dtm_free(b);
        vh_dtm_free(r);
    }
    vhem_free(ctx);
}

/* Long after both recursions have settled. */
static void settled(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    enum { TAU = 150, D = 2 };
    double L;
    vh_rng rng;
    vh_dt_gains g = { 0 };
    vh_scratch scratch = { 0 };
    vh_dt_stats s = { 0 }, want = { 0 };
    vh_rng_init(&rng, 212, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 2, 2, D, 0.6, 2);
    dense zb = dense_of(&dtm->dt[0], D, TAU), zr = dense_of(&dtm->dt[1], D, TAU);
    assert_ok(ctx, vh_dt_gains_new(ctx, &dtm->dt[1], D, TAU, true, &g));
    assert_ok(ctx, vh_dt_stats_new(ctx, 2, D, &s));
    assert_ok(ctx, vh_dt_stats_new(ctx, 2, D, &want));
    assert_ok(ctx, vh_dt_pair_score(ctx, &dtm->dt[0], &g, TAU, &scratch, &L));
    assert_near(L, dense_expected(&zr, zb.my, zb.Sy), 1e-10, 0);
    assert_ok(ctx, vh_dt_pair_accumulate(ctx, &dtm->dt[0], &g, TAU, 1, &scratch, &s));
    dense_stats(&zr, &dtm->dt[1], zb.my, zb.Sy, 1, &want);
    assert_same_stats(&s, &want, 1e-9, 1e-8);
    dense_free(&zb);
    dense_free(&zr);
    vh_dt_stats_free(&s);
    vh_dt_stats_free(&want);
    vh_dt_gains_free(&g);
    vh_scratch_free(&scratch);
    vh_dtm_free(dtm);
    vhem_free(ctx);
}

/* The mean over drawn sequences of what the Kalman smoother says, within five of its standard errors. */
static void against_samples(void **state)
{
    (void)state;
    enum { N = 4000, TAU = 8, D = 4 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_dt_gains g = { 0 };
    vh_scratch scratch = { 0 };
    vh_dt_stats s = { 0 }, one = { 0 }, sum = { 0 }, square = { 0 };
    vhem_data *data = NULL;
    vh_dtm *b = NULL;
    double L, mean = 0, spread = 0, x[TAU * 3];
    int64_t first = 0;
    vh_rng_init(&rng, 213, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 2, 3, D, 0.8, 3);
    assert_ok(ctx, vh_dtm_subset(ctx, dtm, &first, 1, &b));
    assert_ok(ctx, vh_dtm_sample(ctx, b, N, TAU, &data));
    assert_ok(ctx, vh_dt_gains_new(ctx, &dtm->dt[1], D, TAU, true, &g));
    assert_ok(ctx, vh_dt_stats_new(ctx, 3, D, &s));
    assert_ok(ctx, vh_dt_stats_new(ctx, 3, D, &one));
    assert_ok(ctx, vh_dt_stats_new(ctx, 3, D, &sum));
    assert_ok(ctx, vh_dt_stats_new(ctx, 3, D, &square));
    for (int k = 0; k < N; k++) {
        double ll;
        memset(one.block, 0, sizeof *one.block * one.size);
        assert_ok(ctx,
                  vh_kalman_smooth(ctx, &g, vh_data_frames(data, k), TAU, &scratch,
                                   &(vh_kalman_result){ .x = x, .loglik = &ll, .stats = &one, .weight = 1 }));
        mean += ll / N;
        spread += ll * ll / N;
        for (size_t e = 0; e < one.size; e++) {
            sum.block[e] += one.block[e] / N;
            square.block[e] += one.block[e] * one.block[e] / N;
        }
    }
    assert_ok(ctx, vh_dt_pair_score(ctx, &dtm->dt[0], &g, TAU, &scratch, &L));
    assert_near(L, mean, 0, 5 * sqrt((spread - mean * mean) / N));
    assert_ok(ctx, vh_dt_pair_accumulate(ctx, &dtm->dt[0], &g, TAU, 1, &scratch, &s));
    for (size_t e = 0; e < s.size; e++)
        assert_near(s.block[e], sum.block[e], 1e-12,
                    5 * sqrt(fmax(square.block[e] - sum.block[e] * sum.block[e], 0) / N));
    vh_dt_stats_free(&s);
    vh_dt_stats_free(&one);
    vh_dt_stats_free(&sum);
    vh_dt_stats_free(&square);
    vh_dt_gains_free(&g);
    vh_scratch_free(&scratch);
    vhem_free(data);
    vh_dtm_free(dtm);
    vh_dtm_free(b);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_dense),
        cmocka_unit_test(settled),
        cmocka_unit_test(against_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
