/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kalman.c - the Kalman filter and smoother against the dense Gaussian; singular covariances; gains that
 * have settled; unstable textures; samples. */
#include "dtm/infer.h"
#include "textures.h"

#include "dtm/kalman.h"
#include "vhem.h"

static void check_sequence(vhem_ctx *ctx, const vh_dtm *dtm, const double *y, int T, int trial)
{
    const vh_dt *dt = &dtm->dt[0];
    int n = dt->n, d = dtm->d;
    dense z = dense_of(dt, d, T);
    vh_dt_gains g = { 0 };
    vh_scratch scratch = { 0 };
    vh_dt_stats s = { 0 }, want = { 0 };
    double *x = calloc((size_t)(T * n), sizeof *x), *cov = calloc((size_t)(T * n * n), sizeof *cov), loglik,
           alone;

    assert_ok(ctx, vh_dt_gains_new(ctx, dt, d, T + 3, true, &g));
    assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &s));
    assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &want));
    assert_ok(ctx,
              vh_kalman_smooth(ctx, &g, y, T, &scratch, &(vh_kalman_result){ x, cov, &loglik, &s, 0.7 }));
    assert_ok(ctx, vh_kalman_score(ctx, &g, y, T, &scratch, &alone));
    assert_true(alone == loglik);
    if (!is_near(loglik, dense_expected(&z, y, NULL), 1e-10, 1e-10))
        fail_msg("trial %d: log-likelihood %.15g, dense %.15g", trial, loglik, dense_expected(&z, y, NULL));
    for (int i = 0; i < T * n; i++) {
        double m = z.mx[i];
        for (int k = 0; k < z.ny; k++)
            m += z.G[i * z.ny + k] * (y[k] - z.my[k]);
        assert_near(x[i], m, 1e-9, 1e-9);
        for (int j = 0; j < n; j++)
            assert_near(cov[i * n + j], z.V[i * z.nx + i / n * n + j], 1e-9, 1e-9);
    }
    dense_stats(&z, dt, y, NULL, 0.7, &want);
    assert_same_stats(&s, &want, 1e-9, 1e-9);
    vh_dt_stats_free(&s);
    vh_dt_stats_free(&want);
    vh_dt_gains_free(&g);
    vh_scratch_free(&scratch);
    dense_free(&z);
    free(x);
    free(cov);
}

/* Also d < n, Q and Sigma of rank 1 or 0, and A just past stability; far past it the dense Gaussian is the
 * one that loses digits, since its V is a small difference of large covariances. */
static void against_dense(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 60; trial++) {
        int n = 1 + trial % 4, d = 1 + trial / 4 % 5, T = 1 + trial % 9,
            rank = trial % 3 == 2 ? trial % 2 : n;
        vh_rng rng;
        vh_rng_init(&rng, 181, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *dtm = random_dtm(ctx, &rng, 1, n, d, trial % 5 == 0 ? 1.1 : 0.8, rank);
        double *y = random_frames(&rng, T, d, 4);
        check_sequence(ctx, dtm, y, T, trial);
        vh_dtm_free(dtm);
        free(y);
    }
    vhem_free(ctx);
}

/* Long enough for both recursions to settle: the tables end early, and the answer is that of the dense
 * Gaussian. */
static void settled(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_dt_gains g = { 0 };
    vh_rng_init(&rng, 182, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 1, 2, 2, 0.6, 2);
    double *y = random_frames(&rng, 150, 2, 3);
    assert_ok(ctx, vh_dt_gains_new(ctx, &dtm->dt[0], 2, 150, true, &g));
    assert_in_range(g.n_forward, 2, 70);
    assert_in_range(g.n_backward, 2, 70);
    check_sequence(ctx, dtm, y, 150, 0);
    vh_dt_gains_free(&g);
    vh_dtm_free(dtm);
    free(y);
    vhem_free(ctx);
}

/* Noise a million times below the signal, offsets a million above it: the likelihood keeps its digits. */
static void small_noise(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 6;
    vh_rng_init(&rng, 183, VH_RNG_TEST, 0);
    vh_dtm *near = random_dtm(ctx, &rng, 1, 2, 3, 0.8, 2), *far = NULL;
    for (int k = 0; k < 3; k++)
        near->dt[0].R[k] = 1e-6;
    double *y = random_frames(&rng, T, 3, 1), a, b;
    assert_ok(ctx, vh_dtm_subset(ctx, near, NULL, 1, &far));
    dense z = dense_of(&near->dt[0], 3, T);
    vhem_data *data = wrap(ctx, 1, &T, 3, y);
    assert_ok(ctx, vh_dtm_score(ctx, near, data, &a));
    assert_near(a, dense_expected(&z, y, NULL), 1e-8, 0);
    vhem_free(data);
    for (int k = 0; k < 3; k++)
        far->dt[0].ybar[k] += 0x1p20;
    for (int k = 0; k < 3 * T; k++)
        y[k] += 0x1p20;
    data = wrap(ctx, 1, &T, 3, y);
    assert_ok(ctx, vh_dtm_score(ctx, far, data, &b));
    assert_near(a, b, 1e-3, 0); /* y itself has lost six digits of the noise */
    vhem_free(data);
    dense_free(&z);
    vh_dtm_free(near);
    vh_dtm_free(far);
    free(y);
    vhem_free(ctx);
}

/* What is observed may grow without bounds; what is not observed has no covariance in the end. */
static void unstable(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 5000;
    vh_rng_init(&rng, 184, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 1, 1, 1, 0.5, 1), *two = random_dtm(ctx, &rng, 2, 1, 1, 0.5, 1);
    double *y = random_frames(&rng, T, 1, 1), ll, both[] = { 77, 77 };
    vhem_data *data = wrap(ctx, 1, &T, 1, y), *drawn = NULL;
    dtm->dt[0].A[0] = two->dt[1].A[0] = 1.5;
    assert_ok(ctx, vh_dtm_score(ctx, dtm, data, &ll));
    assert_fails(ctx, vh_dtm_sample(ctx, dtm, 1, T, &drawn), VHEM_ENUMERIC, "A is unstable");
    dtm->dt[0].C[0] = two->dt[1].C[0] = 0;
    assert_fails(ctx, vh_dtm_score(ctx, dtm, data, &ll), VHEM_ENUMERIC, "A is unstable");
    assert_fails(ctx, vh_dtm_score(ctx, two, data, both), VHEM_ENUMERIC, "texture 1");
    assert_true(both[0] == 77 && both[1] == 77); /* though the first can be scored */
    vh_dtm_free(two);
    vhem_free(data);
    vh_dtm_free(dtm);
    free(y);
    vhem_free(ctx);
}

/* Moments of drawn sequences are those of the dense Gaussian, within five standard errors. */
static void samples(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 2, 9);
    vh_rng rng;
    enum { N = 20000, T = 3, D = 2, Y = T * D };
    vh_rng_init(&rng, 185, VH_RNG_TEST, 0);
    vh_dtm *dtm = random_dtm(ctx, &rng, 1, 2, D, 0.8, 2);
    dense z = dense_of(&dtm->dt[0], D, T);
    vhem_data *data = NULL;
    double mean[Y] = { 0 }, second[Y][Y] = { { 0 } };
    assert_ok(ctx, vh_dtm_sample(ctx, dtm, N, T, &data));
    for (int s = 0; s < N; s++)
        for (int i = 0; i < Y; i++) {
            const double *y = vh_data_frames(data, s);
            mean[i] += y[i] / N;
            for (int j = 0; j < Y; j++)
                second[i][j] += (y[i] - z.my[i]) * (y[j] - z.my[j]) / N;
        }
    for (int i = 0; i < Y; i++) {
        assert_near(mean[i], z.my[i], 0, 5 * sqrt(z.Sy[i * Y + i] / N));
        for (int j = 0; j < Y; j++)
            assert_near(second[i][j], z.Sy[i * Y + j], 0,
                        5 * sqrt(2 * z.Sy[i * Y + i] * z.Sy[j * Y + j] / N));
    }
    vhem_free(data);
    dense_free(&z);
    vh_dtm_free(dtm);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_dense), cmocka_unit_test(settled), cmocka_unit_test(small_noise),
        cmocka_unit_test(unstable),      cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
