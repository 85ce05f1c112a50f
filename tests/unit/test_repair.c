/* SPDX-License-Identifier: BSD-3-Clause */
/* test_repair.c - who leaves a cluster to found another. */
#include "support.h"

#include "vhem/repair.h"
#include "vhem.h"

/* Four models in the first of three clusters: two empty ones get different models, the worst first, and the
 * last one has nobody left to part from. */
static void worst_leave(void **state)
{
    const double omega[] = { 0.25, 0.25, 0.25, 0.25 };
    const double L[] = { -1, 0, 0, -9, 0, 0, -2, 0, 0, -5, 0, 0 };
    double z[] = { 1, 0, 0, 1, 0, 0, 0.9, 0.1, 0, 1, 0, 0 };
    (void)state;
    assert_int_equal(vh_move_worst(4, omega, 3, L, 0, 1, z), 1);
    assert_true(z[3] == 0 && z[4] == 1 && z[5] == 0);
    assert_int_equal(vh_move_worst(4, omega, 3, L, 0, 2, z), 3);
    assert_true(z[9] == 0 && z[10] == 0 && z[11] == 1);
    assert_int_equal(vh_move_worst(4, omega, 3, L, 0, 2, z), 2);
    assert_int_equal(vh_move_worst(4, omega, 3, L, 0, 2, z), -1);
    assert_true(z[0] == 1);
}

/* A model without weight founds nothing. */
static void weightless_stay(void **state)
{
    const double omega[] = { 0.5, 0, 0.5 }, L[] = { -1, 0, -9, 0, -2, 0 };
    double z[] = { 1, 0, 1, 0, 1, 0 };
    (void)state;
    assert_int_equal(vh_move_worst(3, omega, 2, L, 0, 1, z), 2);
}

/* Repairs in every iteration: they go on while the best bound gains, through a fall as well, and are idle
 * once it has gained less than tol three times in a row. */
static void idle_end(void **state)
{
    double J[] = { -1000, -900, -950, -800, -800, -799.99, -799.98, -750, -749 };
    static const int idle[] = { 0, 0, 1, 0, 1, 2, 3, 3, 3 };
    const vh_vhem_options opt = { .tol = 1e-4, .N = 1 }, all = { .tol = 0, .N = 1 };
    vhem_ctx *ctx = test_ctx();
    (void)state;
    vh_vhem_run run = { .J = J };
    for (int k = 0; k < 9; k++) {
        assert_false(vh_vhem_converged(ctx, &opt, k, k > 0, &run));
        assert_int_equal(run.idle, idle[k]);
    }
    assert_true(vh_vhem_converged(ctx, &(vh_vhem_options){ .tol = 0.1, .N = 1 }, 8, false, &run));
    run = (vh_vhem_run){ .J = J };
    for (int k = 0; k < 7; k++) /* all iterations were asked for */
        assert_false(vh_vhem_converged(ctx, &all, k, k > 0, &run));
    assert_true(run.idle < VH_MOST_IDLE);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(worst_leave), cmocka_unit_test(weightless_stay),
                                        cmocka_unit_test(idle_end) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
