/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pack.c - models laid out for the kernels: offsets, the table of log-densities, which components go the
 * direct way, and what is said of singular ones. */
#include "engine.h"

#include "hmm/pack.h"
#include "vhem.h"

static const double zero[8], one[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

/* The table by the three steps of the kernels, against the definition. */
static void check_table(vhem_ctx *ctx, const vh_h3m *h3m, const vh_packed *pk, const double *y, int n,
                        double tol)
{
    size_t ld = (size_t)n + 3;
    double *T = calloc((size_t)(n * pk->n_stat), sizeof *T), *G = calloc((size_t)pk->n_comp * ld, sizeof *G);
    double *work = calloc(vh_emission_work(&pk->shape), sizeof *work);
    int first = n / 3; /* frames from two places */
    vh_table_stats(pk, y, first, T);
    vh_table_stats(pk, y + first * pk->d, n - first, T + first * pk->n_stat);
    vh_table_product(pk, 0, pk->n_comp, n, T, G, ld);
    const vh_known_frames part[] = { { y, T, first },
                                     { y + first * pk->d, T + first * pk->n_stat, n - first } };
    assert_ok(ctx, vh_table_direct(ctx, pk, 0, pk->n_comp, &part[0], G, ld, work));
    assert_ok(ctx, vh_table_direct(ctx, pk, 0, pk->n_comp, &part[1], G + first, ld, work));
    for (int k = 0; k < pk->K; k++) {
        vhem_hmm_view v = view_of(h3m, k);
        int dd = is_full(&v) ? v.d * v.d : v.d;
        for (int q = 0; q < v.S * v.M; q++)
            for (int t = 0; t < n; t++) {
                double want =
                    (double)(logl(v.c[q])
                             + slow_gaussian(v.d, is_full(&v), v.mu + q * v.d, v.cov + q * dd, y + t * v.d));
                assert_near(G[(size_t)(pk->comp0[k] + q) * ld + (size_t)t], want, tol, tol);
            }
    }
    free(T);
    free(G);
    free(work);
}

static void layout(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_packed *pk = NULL;
    vh_rng_init(&rng, 61, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 5, 3, 2, 2, 0, 2);
    int64_t index[] = { 4, 1 };
    assert_ok(ctx, vh_pack_new(ctx, h3m, index, 2, zero, one, &pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, index, pk));
    assert_int_equal(pk->K, 2);
    assert_int_equal(pk->n_state, 6);
    assert_int_equal(pk->n_comp, 12);
    assert_int_equal(pk->n_trans, 18);
    assert_int_equal(pk->n_direct, 0);
    vhem_hmm_view v = view_of(h3m, 1);
    assert_memory_equal(pk->pi + pk->state0[1], v.pi, 3 * sizeof(double));
    assert_memory_equal(pk->A + pk->trans0[1], v.A, 9 * sizeof(double));
    assert_ptr_equal(pk->par[6 * VH_MAX_PARAM], v.mu);
    vh_pack_free(pk);
    vh_pack_free(NULL);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void table(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 62, VH_RNG_TEST, 0);
    for (int full = 0; full <= 1; full++)
        for (int d = 1; d <= 6; d++) {
            vh_packed *pk = NULL;
            vh_h3m *h3m = random_h3m(ctx, &rng, 3, 2, 2, d, full, 3);
            double *y = random_frames(&rng, 20, d, 3);
            assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, 3, zero, one, &pk));
            assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
            check_table(ctx, h3m, pk, y, 20, 1e-10);
            vh_pack_free(pk);
            vh_h3m_free(h3m);
            free(y);
        }
    vhem_free(ctx);
}

/* Two clusters a million deviations apart: no origin suits both, so both
 * go the direct way and lose nothing. */
static void far_apart(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_packed *pk = NULL;
    double pi[] = { 0.5, 0.5 }, A[] = { 0.9, 0.1, 0.1, 0.9 }, mu[] = { -5e5, 5e5 }, cov[] = { 1, 1 };
    double origin = 0, scale = 5e5, y[] = { -5e5 + 1, -5e5, 5e5 - 2, 5e5 + 0.25 };
    vh_h3m *h3m = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, 1, &origin, &scale, &pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
    assert_int_equal(pk->n_direct, 2);
    assert_ptr_equal(pk->about[1].origin, view_of(h3m, 0).mu + 1);
    check_table(ctx, h3m, pk, y, 4, 1e-13);
    vh_pack_free(pk);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Condition 1e12: relative errors of 1e12 eps in the quadratic form are the matrix's own. */
static void nearly_singular(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 63, VH_RNG_TEST, 0);
    double pi = 1, A = 1, c = 1, mu[4] = { 0 }, cov[16], root[16], y[40], work[4096];
    vh_h3m *h3m = NULL;
    vh_packed *pk = NULL;
    random_covariance(&rng, 4, 1e12, cov);
    vhem_hmm_view v = {
        .S = 1, .M = 1, .d = 4, .omega = 1, .pi = &pi, .A = &A, .c = &c, .mu = mu, .cov = cov
    };
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-full", 4, 1, &v, &h3m));
    const double *par[] = { mu, cov };
    assert_true(vh_gaussian_full.root(&(vh_shape){ .d = 4 }, par, root, work));
    for (int t = 0; t < 10; t++)
        vh_gaussian_full.draw(&rng, &(vh_shape){ .d = 4 }, par, root, y + 4 * t);
    assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, 1, zero, one, &pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
    assert_int_equal(pk->n_direct, 1);
    check_table(ctx, h3m, pk, y, 10, 1e-3);
    vh_pack_free(pk);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void zero_weight_and_singular(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_packed *pk = NULL;
    vh_h3m *h3m = NULL;
    double pi = 1, A = 1, c[] = { 1, 0 }, mu[] = { 0, 3 }, cov[] = { 1, 1 }, T[2 * 3], G[4], y[] = { 3, 1e9 };
    vhem_hmm_view v = {
        .S = 1, .M = 2, .d = 1, .omega = 1, .pi = &pi, .A = &A, .c = c, .mu = mu, .cov = cov
    };
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 1, &v, &h3m));
    assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, 1, zero, one, &pk));
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
    vh_table_stats(pk, y, 2, T);
    vh_table_product(pk, 0, pk->n_comp, 2, T, G, 2);
    assert_true(G[2] < -1e299 && G[3] < -1e299 && isfinite(G[2])); /* never, even where it fits best */
    assert_near(G[0], -0.5 * LOG_2PI - 4.5, 1e-14, 0);
    ((double *)view_of(h3m, 0).cov)[1] = 0; /* singular, but never used */
    assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
    vh_table_product(pk, 0, pk->n_comp, 2, T, G, 2);
    assert_true(G[2] < -1e299 && isfinite(G[2]));
    ((double *)view_of(h3m, 0).cov)[0] = 0;
    assert_fails(ctx, vh_pack_update(ctx, h3m, NULL, pk), VHEM_ENUMERIC,
                 "the covariance of state 0, component 0 is singular");
    vh_pack_free(pk);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(layout), cmocka_unit_test(table),
                                        cmocka_unit_test(far_apart), cmocka_unit_test(nearly_singular),
                                        cmocka_unit_test(zero_weight_and_singular) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
