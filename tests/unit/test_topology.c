/* SPDX-License-Identifier: BSD-3-Clause */
/* test_topology.c - which entries of pi and A are free, from names, numbers and a start. */
#include "engine.h"

#include "fit/options.h"
#include "hmm/topology.h"
#include "vhem.h"

static void named(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_fit_options opt;
    vh_topology t = { 0 };
    opt = vh_fit_filled(NULL);
    assert_ok(ctx, vh_topology_new(ctx, &opt, 3, NULL, &t));
    assert_false(t.ordered);
    for (int k = 0; k < 9; k++)
        assert_true(isnan(t.A[k]) && isnan(t.pi[k % 3]));
    vh_topology_free(&t);

    opt.topology = "left-right";
    assert_ok(ctx, vh_topology_new(ctx, &opt, 3, NULL, &t));
    assert_true(t.ordered);
    assert_true(t.pi[0] == 1 && t.pi[1] == 0 && t.pi[2] == 0);
    for (int s = 0; s < 3; s++)
        for (int q = 0; q < 3; q++)
            assert_true(q >= s ? isnan(t.A[s * 3 + q]) : t.A[s * 3 + q] == 0);
    vh_topology_free(&t);

    opt.topology = "linear";
    assert_ok(ctx, vh_topology_new(ctx, &opt, 3, NULL, &t));
    assert_true(t.A[2] == 0 && isnan(t.A[1]) && isnan(t.A[8]));
    vh_topology_free(&t);
    opt.topology = "ring";
    assert_fails(ctx, vh_topology_new(ctx, &opt, 3, NULL, &t), VHEM_EINVAL, "topology 'ring' is unknown");
    vhem_free(ctx);
}

static void numbers(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_fit_options opt;
    vh_topology t = { 0 };
    double pi[] = { NAN, 0.25 }, A[] = { NAN, 0, 0.5, 0.5 };
    opt = vh_fit_filled(NULL);
    opt.fixed_pi = pi;
    opt.fixed_A = A;
    opt.topology = "left-right"; /* the numbers win */
    assert_ok(ctx, vh_topology_new(ctx, &opt, 2, NULL, &t));
    assert_true(isnan(t.pi[0]) && t.pi[1] == 0.25 && t.A[2] == 0.5);
    vh_topology_free(&t);

    pi[1] = 1.5;
    assert_fails(ctx, vh_topology_new(ctx, &opt, 2, NULL, &t), VHEM_EINVAL, "pi has the entry 1.5");
    pi[1] = -0.5;
    assert_fails(ctx, vh_topology_new(ctx, &opt, 2, NULL, &t), VHEM_EINVAL, "pi has the entry -0.5");
    pi[1] = 1;
    assert_fails(ctx, vh_topology_new(ctx, &opt, 2, NULL, &t), VHEM_EINVAL,
                 "leaves nothing for the free ones");
    pi[1] = 0.25;
    A[2] = 0.25;
    assert_fails(ctx, vh_topology_new(ctx, &opt, 2, NULL, &t), VHEM_EINVAL,
                 "row 1 of A has no free entry and sums to 0.75, must be 1");
    assert_null(t.pi);
    vhem_free(ctx);
}

static void start(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vhem_fit_options opt;
    vh_topology t = { 0 };
    double pi[] = { 1, 0 }, A[] = { 0.5, 0.5, 0, 1 }, mu[] = { 0, 1 }, cov[] = { 1, 1 };
    vh_h3m *h3m = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    opt = vh_fit_filled(NULL);
    assert_ok(ctx, vh_topology_new(ctx, &opt, 2, &h3m->hmm[0], &t));
    assert_true(isnan(t.pi[0]) && t.pi[1] == 0 && isnan(t.A[0]) && isnan(t.A[1]) && t.A[2] == 0
                && isnan(t.A[3]));
    vh_topology_free(&t);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(named), cmocka_unit_test(numbers),
                                        cmocka_unit_test(start) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
