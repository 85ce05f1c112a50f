/* SPDX-License-Identifier: BSD-3-Clause */
/* test_repair.c - who leaves a cluster to found another. */
#include "support.h"

#include "reduce/repair.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(worst_leave), cmocka_unit_test(weightless_stay) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
