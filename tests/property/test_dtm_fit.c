/* SPDX-License-Identifier: BSD-3-Clause */
/* test_dtm_fit.c - learning dynamic textures: the closed form, EM that never falls, an M-step that is a
 * maximum, mixtures, threads, and data that are too poor. */
#include "dtm/fit.h"
#include "dtm/infer.h"
#include "textures.h"

#include "dtm/em.h"
#include "dtm/kalman.h"
#include "vhem.h"

/* n_seq sequences of unequal length from the textures, in turn, with groups of two and weights. */
static vhem_data *draw(vhem_ctx *ctx, const vh_dtm *dtm, int n_seq, int T, bool weighted)
{
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, dtm->d, &b));
    for (int s = 0; s < n_seq; s++) {
        vhem_data *one = NULL;
        vh_dtm *pick = NULL;
        char group[16], label[16];
        int64_t i = s / 2 % dtm->K;
        vhem_ctx *own = test_ctx_with(NULL, 1, (uint64_t)s + 77);
        assert_ok(ctx, vh_dtm_subset(ctx, dtm, &i, 1, &pick));
        assert_ok(own, vh_dtm_sample(own, pick, 1, T + s % 3, &one));
        snprintf(group, sizeof group, "g%d", s / 2);
        snprintf(label, sizeof label, "t%lld", (long long)i);
        add_sequence(ctx, b, vh_data_frames(one, 0), T + s % 3, NULL, label, group,
                     weighted ? 0.5 + s % 2 : 1);
        vhem_free(one);
        vh_dtm_free(pick);
        vhem_free(own);
    }
    return finish(ctx, b);
}

/* C has orthonormal columns, and R of all dimensions is what the leading components leave over. */
static void closed_form(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 6; trial++) {
        vh_rng rng;
        int n = 1 + trial % 3, d = n + 4 + trial,
            T = trial % 2 ? 40 : d - 1; /* more and fewer frames than d */
        vh_rng_init(&rng, 201, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *dtm = random_dtm(ctx, &rng, 1, n, d, 0.8, n), *out = NULL;
        vhem_data *data = draw(ctx, dtm, 1, T, false);
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = n;
        opt.cov_floor = 1e-12;
        assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &out, NULL));
        assert_ok(ctx, vh_dtm_validate(ctx, out));
        double *S = calloc((size_t)(d * d + d), sizeof *S), *w = S + d * d, left = 0, R = 0;
        for (int t = 0; t < T; t++)
            for (int a = 0; a < d; a++)
                for (int b = 0; b < d; b++)
                    S[a * d + b] += (data->y[t * d + a] - out->dt[0].ybar[a])
                                    * (data->y[t * d + b] - out->dt[0].ybar[b]) / T;
        assert_true(vh_eigen(d, S, w));
        for (int k = 0; k < d; k++) {
            left += k < d - n ? w[k] : 0;
            R += out->dt[0].R[k];
        }
        assert_near(R, left, 1e-8, 1e-10);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double dot = 0;
                for (int k = 0; k < d; k++)
                    dot += out->dt[0].C[k * n + i] * out->dt[0].C[k * n + j];
                assert_near(dot, i == j, 0, 1e-8);
            }
        free(S);
        vhem_free(data);
        vh_dtm_free(dtm);
        vh_dtm_free(out);
    }
    vhem_free(ctx);
}

/* One iteration after the other: J never falls, and each M-step is a maximum. */
static void em_rises(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 8; trial++) {
        vh_rng rng;
        int n = 1 + trial % 3, d = 2 + trial % 2, K = 1 + trial % 2;
        vh_rng_init(&rng, 202, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *truth = random_dtm(ctx, &rng, K, n, d, 0.8, n), *dtm = random_dtm(ctx, &rng, K, n, d, 0.5, n);
        vhem_data *data = draw(ctx, truth, 8, 15, trial % 3 == 0);
        vh_sets sets = { 0 };
        vh_scratch scratch[2];
        vh_em_run run = { 0 };
        double floor[4] = { 1e-9, 1e-9, 1e-9, 1e-9 };
        memset(scratch, 0, sizeof scratch);
        assert_ok(ctx, vh_sets_new(ctx, data, trial % 2, &sets));
        const vh_em_dtm_task task = {
            .data = data, .sets = &sets, .last = sets.n, .max_iter = 30, .limits = { floor, trial >= 4 }
        };
        assert_ok(ctx, vh_em_dtm(ctx, &task, scratch, 1, dtm, &run));
        assert_int_equal(run.n_iter, 30);
        assert_int_equal(run.n_fell, 0);
        for (int k = 1; k <= 30; k++)
            if (run.J[k] < run.J[k - 1] - 1e-10 * fabs(run.J[k]))
                fail_msg("trial %d: J fell from %.12g to %.12g", trial, run.J[k - 1], run.J[k]);
        assert_true(run.J[30] > run.J[0] + 1);
        free(run.J);
        for (int k = 0; k < 2; k++)
            vh_scratch_free(&scratch[k]);
        vh_sets_free(&sets);
        vhem_free(data);
        vh_dtm_free(truth);
        vh_dtm_free(dtm);
    }
    vhem_free(ctx);
}

static void mstep(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 6; trial++) {
        vh_rng rng;
        int n = 1 + trial % 3, d = 1 + trial % 4, T = 12, n_floored;
        vh_rng_init(&rng, 203, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *dtm = random_dtm(ctx, &rng, 1, n, d, 0.8, n);
        double *y = random_frames(&rng, 3 * T, d, 3), floor[4] = { 1e-9, 1e-9, 1e-9, 1e-9 }, x[64], origin[4];
        vh_dt_stats s = { 0 };
        vh_dt_gains g = { 0 };
        vh_scratch scratch = { 0 };
        assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &s));
        assert_ok(ctx, vh_dt_gains_new(ctx, &dtm->dt[0], d, T, true, &g));
        for (int q = 0; q < 3; q++)
            assert_ok(ctx, vh_kalman_smooth(ctx, &g, y + q * T * d, T, &scratch,
                                            &(vh_kalman_result){ .x = x, .stats = &s, .weight = 1 + q }));
        memcpy(origin, dtm->dt[0].ybar, sizeof *origin * (size_t)d);
        const vh_dt_limits lim = { floor, trial % 2 };
        assert_ok(ctx, vh_dt_maximise(ctx, &s, &lim, &dtm->dt[0], &n_floored));
        assert_int_equal(n_floored, 0);
        assert_ok(ctx, vh_dtm_validate(ctx, dtm));
        assert_maximal(&s, &dtm->dt[0], origin, trial % 2);
        vh_dt_stats_free(&s);
        vh_dt_gains_free(&g);
        vh_scratch_free(&scratch);
        vh_dtm_free(dtm);
        free(y);
    }
    vhem_free(ctx);
}

/* Two textures that differ: a mixture of two tells their sequences apart, at any number of threads alike. */
static void mixture(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 3), *threads = test_ctx_with(NULL, 3, 3);
    vh_rng rng;
    vh_rng_init(&rng, 204, VH_RNG_TEST, 0);
    vh_dtm *truth = random_dtm(ctx, &rng, 2, 2, 3, 0.8, 2), *one = NULL, *three = NULL;
    vhem_data *data = draw(ctx, truth, 16, 40, false);
    vhem_fit_report *report = NULL;
    vhem_fit_options opt;
    double ll[16 * 2];
    memcpy(truth->dt[1].ybar, truth->dt[0].ybar, sizeof(double) * 3);
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 2;
    opt.K = 2;
    opt.by_group = 1;
    assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &one, &report));
    assert_ok(threads, vh_dtm_fit(threads, data, &opt, &three, NULL));
    assert_true(vh_dtm_compare(one, three) == 0);
    assert_int_equal(report->R, 4);
    assert_ok(ctx, vh_dtm_score(ctx, one, data, ll));
    int first = ll[0] > ll[1];
    for (int s = 0; s < 16; s++)
        assert_int_equal((ll[2 * s] > ll[2 * s + 1]) == first, data->label[s][1] == '0');
    vhem_free(report);
    vhem_free(data);
    vh_dtm_free(truth);
    vh_dtm_free(one);
    vh_dtm_free(three);
    vhem_free(ctx);
    vhem_free(threads);
}

/* Constant columns, fewer directions than states, one dimension and three states, growth, two frames: a valid
 * texture; less than that: a sentence. */
static void poor_data(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[60];
    vhem_fit_options opt;
    vh_dtm *dtm = NULL;
    vhem_fit_report *report = NULL;
    int T = 20;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    for (int em = 0; em < 2; em++) {
        opt.learn = em ? "em" : "svd";
        for (int t = 0; t < 20; t++) {
            y[3 * t] = sin(t);
            y[3 * t + 1] = 2 * sin(t);
            y[3 * t + 2] = 5;
        }
        vhem_data *data = wrap(ctx, 1, &T, 3, y);
        assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL));
        assert_ok(ctx, vh_dtm_validate(ctx, dtm));
        vh_dtm_free(dtm);
        vhem_free(data);
        for (int t = 0; t < 20; t++)
            y[t] = sin(0.7 * t) + 0.01 * (t % 3);
        data = wrap(ctx, 1, &T, 1, y);
        assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL)); /* windows of three frames */
        assert_ok(ctx, vh_dtm_validate(ctx, dtm));
        assert_true(dtm->dt[0].R[0] < 0.05); /* they foresee a sine */
        vh_dtm_free(dtm);
        vhem_free(data);
        for (int t = 0; t < 20; t++)
            y[t] = exp(0.3 * t);
        data = wrap(ctx, 1, &T, 1, y);
        opt.S = 1;
        assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, &report));
        assert_int_equal(report->run[0].n_revived, !em);
        assert_true(em || dtm->dt[0].A[0] < 1);
        vhem_free(report);
        vh_dtm_free(dtm);
        vhem_free(data);
        T = 2;
        data = wrap(ctx, 1, &T, 1, y);
        assert_ok(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL));
        assert_ok(ctx, vh_dtm_validate(ctx, dtm));
        vh_dtm_free(dtm);
        opt.S = 3;
        assert_fails(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL), VHEM_EINVAL, "too few frames");
        opt.cov_floor = 0;
        assert_fails(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL), VHEM_EINVAL, "cov_floor is 0");
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.learn = "pca";
        assert_fails(ctx, vh_dtm_fit(ctx, data, &opt, &dtm, NULL), VHEM_EINVAL, "learn 'pca' is unknown");
        vhem_free(data);
        T = 20;
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form), cmocka_unit_test(em_rises),  cmocka_unit_test(mstep),
        cmocka_unit_test(mixture),     cmocka_unit_test(poor_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
