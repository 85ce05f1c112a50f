/* SPDX-License-Identifier: BSD-3-Clause */
/* test_without.c - centres without each HMM in turn against a run without it. */
#include "cluster_samples.h"

#include "hmm/convert.h"
#include "vhem/without.h"
#include "vhem.h"

#include <math.h>

enum { K = 3, TAU = 8 };

typedef struct {
    const vh_h3m *h3m, *start;
    vh_vhem_options opt;
    int given, called;
} sample;

/* A run on some of the HMMs, from copies of the start, which become its centres. */
static int run_on(vhem_ctx *ctx, const vh_h3m *h3m, const vh_vhem_options *opt, double nv, vh_h3m *centers)
{
    vh_base *base = NULL;
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };
    vh_vhem_options o = *opt;
    o.N = nv * (double)h3m->K;
    assert_ok(ctx, vh_base_new(ctx, h3m, &base));
    assert_ok(ctx, vh_vhem(ctx, base, &o, &(vh_workers){ 1, &scratch }, centers, &run));
    int n = run.n_iter;
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_base_free(base);
    return n;
}

static vhem_status check(vhem_ctx *ctx, void *arg, int64_t without, const vh_h3m *centers)
{
    sample *s = arg;
    vh_h3m *rest = NULL, *want = NULL;
    int64_t index[256], n = 0;
#pragma omp critical
    {
        s->called++;
        s->given += centers != NULL;
    }
    if (!centers)
        return VHEM_OK;
    for (int64_t i = 0; i < s->h3m->K; i++)
        if (i != without)
            index[n++] = i;
    VH_TRY(vh_h3m_subset(ctx, s->h3m, index, n, &rest));
    VH_TRY(vh_h3m_subset(ctx, s->start, NULL, K, &want));
    int n_iter = run_on(ctx, rest, &s->opt, s->opt.N / (double)s->h3m->K, want);
    double apart = vh_h3m_compare(want, centers);
    vh_h3m_free(rest);
    vh_h3m_free(want);
    VH_CHECK(n_iter == 1, VHEM_ENUMERIC, "without %lld: %d iterations, not 1", (long long)without, n_iter);
    VH_CHECK(apart < 1e-9, VHEM_ENUMERIC, "without %lld: centres off by %g", (long long)without, apart);
    return VHEM_OK;
}

/* Returns how many of the HMMs had centres after one iteration. */
static int leave_out(int threads, int n, double noise, double nv, double tol, double first_omega)
{
    vhem_ctx *ctx = test_ctx_with(NULL, threads, 1);
    vh_h3m *h3m = clustered_h3m(ctx, 5, K, n, 2, 1, 2, 0, noise);
    vh_h3m *start = clustered_h3m(ctx, 5, K, 1, 2, 1, 2, 0, 0.0);
    bool wanted[256];
    sample s = { .h3m = h3m,
                 .start = start,
                 .opt = { .N = nv * K * n, .tau = TAU, .max_iter = 50, .tol = tol, .min_iter = 1 } };
    const vh_without w = {
        .h3m = h3m, .start = start, .opt = &s.opt, .wanted = wanted, .use = check, .arg = &s
    };
    for (int64_t i = 0; i < h3m->K; i++)
        wanted[i] = i != 7;
    h3m->omega[0] *= first_omega;
    run_on(ctx, h3m, &s.opt, nv, start);
    assert_ok(ctx, vh_vhem_without(ctx, &w));
    assert_int_equal(s.called, h3m->K - 1);
    vh_h3m_free(h3m);
    vh_h3m_free(start);
    vhem_free(ctx);
    return s.given;
}

static void apart(void **state)
{
    (void)state;
    assert_true(leave_out(1, 50, 0.1, 1e4, 1e-5, 1) > 100);
    assert_true(leave_out(2, 67, 0.1, 1e4, 1e-5, 1) > 100);
}

/* Clusters into each other: HMMs change their cluster, and where that gains much, runs go on.  The last has
 * soft shares. */
static void overlapping(void **state)
{
    int given;
    (void)state;
    given = leave_out(1, 85, 4, 1e4, 3e-5, 1);
    assert_in_range(given, 100, 240);
    given = leave_out(1, 85, 8, 1e4, 3e-5, 1);
    assert_in_range(given, 50, 200);
    given = leave_out(1, 40, 10, 1e4, 1e-4, 1);
    assert_in_range(given, 10, 118);
    given = leave_out(1, 85, 2, 0.05, 1e-4, 1);
    assert_in_range(given, 100, 253);
}

/* Without an HMM of another weight the others have other virtual samples: that is for a run. */
static void other_weights(void **state)
{
    (void)state;
    assert_int_equal(leave_out(1, 20, 0.1, 1e4, 1e-5, 1.5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(apart), cmocka_unit_test(overlapping),
                                        cmocka_unit_test(other_weights) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
