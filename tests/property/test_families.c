/* SPDX-License-Identifier: BSD-3-Clause */
/* test_families.c - random models of every family: the bound of VHEM never falls, nor the likelihood of
 * Baum-Welch with and without missing cells, and HMMs are found again from what they give. */
#include "family_models.h"

#include "core/ctx.h"
#include "data/data.h"
#include "fit/fit.h"
#include "fit/sample.h"
#include "fit/infer.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#include <math.h>

static const char *const names[] = { "gaussian-diag", "gaussian-full", "poisson", "bernoulli",    "gamma",
                                     "von-mises",     "categorical",   "product", "gaussian-tied" };
enum { N_NAMES = sizeof names / sizeof *names };

static void bound_never_falls(void **state)
{
    enum { RUNS = 130 }; /* a thousand in all */
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++)
        for (int r = 0; r < RUNS; r++) {
            vh_rng rng;
            vh_rng_init(&rng, 7, VH_RNG_TEST, (uint64_t)(f * RUNS + r));
            int S = 1 + r % 3, M = 1 + r % 2;
            vh_h3m *base = random_models(ctx, &rng, names[f], 6, S, M),
                   *centers = random_models(ctx, &rng, names[f], 2, 2, 1 + r / 2 % 2);
            vh_vhem_options opt = { .N = pow(10, r % 5), .tau = 1 + r % 7, .max_iter = 12 };
            vh_vhem_run run = { 0 };
            vh_scratch scratch = { { 0 }, { 0 } };
            vh_base *b = NULL;
            assert_ok(ctx, vh_base_new(ctx, base, &b));
            assert_ok(ctx, vh_vhem(ctx, b, &opt, &(vh_workers){ 1, &scratch }, centers, &run));
            assert_int_equal(run.n_fell, 0);
            vh_vhem_run_free(&run);
            vh_scratch_free(&scratch);
            vh_base_free(b);
            vh_h3m_free(base);
            vh_h3m_free(centers);
        }
    vhem_free(ctx);
}

static double log_likelihood(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data)
{
    double *L = calloc((size_t)data->N * (size_t)h3m->K, sizeof *L), sum = 0;
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, L));
    for (int64_t n = 0; n < data->N; n++)
        sum += L[n];
    free(L);
    return sum;
}

/* Iteration by iteration, from a start that is not the truth; deleted: the share of cells that are
 * missing. */
static void climb(vhem_ctx *ctx, const char *family, double deleted, uint64_t item)
{
    enum { N = 4, T = 60 };
    vh_rng rng;
    vh_rng_init(&rng, 11, VH_RNG_TEST, item);
    vh_h3m *truth = random_models(ctx, &rng, family, 1, 2, 1),
           *start = random_models(ctx, &rng, family, 1, 2, 2);
    vhem_data *data = NULL, *gaps = NULL;
    int lengths[N] = { T, T, T, T };
    double before = -INFINITY;
    assert_ok(ctx, vh_h3m_sample(ctx, truth, N, T, &data));
    int d = data->d;
    double *y = malloc(sizeof *y * (size_t)(N * T * d));
    for (int i = 0; i < N * T * d; i++)
        y[i] = vh_rng_uniform(&rng) < deleted ? NAN : data->y[i];
    assert_ok(ctx, call_wrap(ctx, N, lengths, d, y, &gaps));
    gaps->layout = truth->shape.layout;
    for (int n = 0; n <= 6; n++) {
        vhem_fit_options opt;
        vh_h3m *out = NULL;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.start = HMMS(start);
        opt.max_iter = n > 0;
        opt.tol = opt.cov_floor = 0;
        opt.repair = 0;
        opt.K = 1;
        assert_ok(ctx, vh_fit_mixture(ctx, gaps, &opt, &out, NULL));
        double now = log_likelihood(ctx, out, gaps);
        assert_true(now >= before - 1e-8 * fabs(now));
        before = now;
        vh_h3m_free(start);
        start = out;
    }
    free(y);
    vhem_free(data);
    vhem_free(gaps);
    vh_h3m_free(truth);
    vh_h3m_free(start);
}

static void likelihood_never_falls(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++) {
        climb(ctx, names[f], 0, (uint64_t)f);
        climb(ctx, names[f], 0.3, (uint64_t)f);
    }
    vhem_free(ctx);
}

/* The fit of data of which 30 % of the cells were deleted is near the fit of all of it. */
static void deleted_cells(void **state)
{
    enum { N = 1, T = 4000 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++) {
        vh_rng rng;
        vh_rng_init(&rng, 13, VH_RNG_TEST, (uint64_t)f);
        vh_h3m *truth = random_models(ctx, &rng, names[f], 1, 2, 1), *fit[2] = { NULL, NULL };
        vhem_data *data = NULL, *gaps = NULL;
        int lengths[N] = { T };
        truth->hmm[0].A[0] = truth->hmm[0].A[3] = 0.9;
        truth->hmm[0].A[1] = truth->hmm[0].A[2] = 0.1;
        assert_ok(ctx, vh_h3m_sample(ctx, truth, N, T, &data));
        int d = data->d;
        double *y = malloc(sizeof *y * (size_t)(T * d));
        for (int i = 0; i < T * d; i++)
            y[i] = vh_rng_uniform(&rng) < 0.3 ? NAN : data->y[i];
        assert_ok(ctx, call_wrap(ctx, N, lengths, d, y, &gaps));
        gaps->layout = truth->shape.layout;
        for (int g = 0; g < 2; g++) {
            vhem_fit_options opt;
            VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
            opt.start = HMMS(truth);
            assert_ok(ctx, vh_fit_each(ctx, g ? gaps : data, &opt, &fit[g], NULL));
        }
        /* what the two fits say of the complete data differs by far less than either from the truth may */
        double both = log_likelihood(ctx, fit[0], data) - log_likelihood(ctx, fit[1], data);
        assert_true(both > -1e-6 * T && both < 20);
        for (int g = 0; g < 2; g++)
            vh_h3m_free(fit[g]);
        free(y);
        vhem_free(data);
        vhem_free(gaps);
        vh_h3m_free(truth);
    }
    vhem_free(ctx);
}

/* VHEM on such models is Baum-Welch on the sequences, step by step. */
static void vhem_is_baum_welch(void **state)
{
    enum { N = 5, T = 12, STEPS = 5 };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 17, VH_RNG_TEST, 0);
    vh_h3m *truth = random_models(ctx, &rng, "categorical", 1, 3, 1), *base = NULL,
           *center = random_models(ctx, &rng, "categorical", 1, 2, 1), *fit = NULL, *start = NULL;
    vhem_data *data = NULL;
    vh_base *b = NULL;

    assert_ok(ctx, vh_h3m_sample(ctx, truth, N, T, &data));
    assert_ok(ctx, vh_h3m_new(ctx, truth->family, truth->shape, N, &base));
    for (int i = 0; i < N; i++) {
        assert_ok(ctx, vh_h3m_shape(ctx, base, i, T, 1));
        spreadless(vh_data_frames(data, i), T, base, &base->hmm[i]);
    }
    assert_ok(ctx, vh_base_new(ctx, base, &b));
    start = center;
    center = NULL;
    for (int n = 0; n < STEPS; n++) {
        vhem_fit_options opt;
        vh_vhem_options o = { .N = 100, .tau = T, .max_iter = 1 };
        vh_vhem_run run = { 0 };
        vh_scratch scratch = { { 0 }, { 0 } };
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.start = HMMS(start);
        opt.max_iter = 1;
        opt.tol = opt.cov_floor = 0;
        opt.repair = 0;
        opt.K = 1;
        assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &fit, NULL));
        assert_ok(ctx, vh_vhem(ctx, b, &o, &(vh_workers){ 1, &scratch }, start, &run));
        assert_true(vh_h3m_compare(start, fit) < 1e-12);
        for (int i = 0; i < N; i++) {
            double L[N];
            assert_ok(ctx, vh_h3m_score(ctx, fit, data, L));
            assert_near(run.L[i], L[i], 1e-12, 1e-12);
        }
        vh_vhem_run_free(&run);
        vh_scratch_free(&scratch);
        vh_h3m_free(start);
        start = fit;
        fit = NULL;
    }
    vh_base_free(b);
    vh_h3m_free(base);
    vh_h3m_free(truth);
    vh_h3m_free(start);
    vhem_free(data);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bound_never_falls),
                                        cmocka_unit_test(vhem_is_baum_welch),
                                        cmocka_unit_test(likelihood_never_falls),
                                        cmocka_unit_test(deleted_cells) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
