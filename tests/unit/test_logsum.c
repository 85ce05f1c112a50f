/* SPDX-License-Identifier: BSD-3-Clause */
/* test_logsum.c - log sums at the ends of the number range, and distributions with fixed entries. */
#include "support.h"

#include "math/logsum.h"

static void log_sums(void **state)
{
    (void)state;
    double none[] = { -INFINITY, -INFINITY, -INFINITY }, one[] = { -INFINITY, 3, -INFINITY };
    double far[] = { -1e4, -1e4 + log(3.0), -2e4 }, up[] = { 1e4, 1e4 }, infinite[] = { 1, INFINITY };
    double strided[] = { log(1.0), 99, 99, log(2.0), 99, 99, log(4.0), 99, 99 };
    assert_true(vh_logsum(3, none, 1) == -INFINITY);
    assert_true(vh_logsum(0, none, 1) == -INFINITY);
    assert_true(vh_logsum(3, one, 1) == 3);
    assert_near(vh_logsum(3, far, 1), -1e4 + log(4.0), 0, 1e-11);
    assert_near(vh_logsum(2, up, 1), 1e4 + log(2.0), 0, 1e-11);
    assert_true(vh_logsum(2, infinite, 1) == INFINITY);
    assert_near(vh_logsum(3, strided, 3), log(7.0), 1e-15, 0);
}

static void normalise(void **state)
{
    (void)state;
    double p[] = { 1, 0, 3 }, zero[] = { 0, 0 }, huge[] = { 1e308, 1e308 }, bad[] = { NAN, 1 };
    const double largest[] = { 1, 9, 3, 9, 3, 7 };
    assert_int_equal(vh_argmax(6, largest, 1), 1); /* ties: the lowest */
    assert_int_equal(vh_argmax(3, largest, 2), 1);
    assert_int_equal(vh_argmax(1, largest, 1), 0);
    assert_true(vh_normalise(3, p));
    assert_true(p[0] == 0.25 && p[1] == 0 && p[2] == 0.75);
    assert_false(vh_normalise(2, zero));
    assert_true(zero[0] == 0 && zero[1] == 0);
    assert_false(vh_normalise(2, huge));
    assert_true(huge[0] == 1e308);
    assert_false(vh_normalise(2, bad));
    assert_true(bad[1] == 1);
}

/* sum_q w_q log p_q over the free entries must not rise when mass moves between two of them. */
static double likelihood(int n, const double *w, const double *p)
{
    double sum = 0;
    for (int q = 0; q < n; q++)
        sum += w[q] > 0 ? w[q] * log(p[q]) : 0;
    return sum;
}

static void constrain(void **state)
{
    (void)state;
    double free_p[] = { 1, 2, 5 }, old[] = { 0.2, 0.3, 0.5 };
    vh_constrain(3, NULL, old, free_p);
    assert_near(free_p[2], 5.0 / 8, 1e-15, 0);

    double fixed[] = { NAN, 0.25, NAN, 0 }, w[] = { 2, 9, 4, 7 }, p[4], old4[] = { 0.75, 0.25, 0, 0 };
    memcpy(p, w, sizeof p);
    vh_constrain(4, fixed, old4, p);
    assert_true(p[1] == 0.25 && p[3] == 0);
    assert_near(p[0] + p[2], 0.75, 1e-15, 0);
    for (int sign = -1; sign <= 1; sign += 2) {
        double q[4];
        memcpy(q, p, sizeof q);
        q[0] += sign * 1e-3;
        q[2] -= sign * 1e-3;
        assert_true(likelihood(3, w, q) < likelihood(3, w, p));
    }

    double nothing[] = { 0, 9, 0, 7 }; /* the free ones saw nothing: the old ones stay */
    vh_constrain(4, fixed, old4, nothing);
    assert_true(nothing[0] == 0.75 && nothing[1] == 0.25 && nothing[2] == 0 && nothing[3] == 0);
    double zeros[] = { 0, 0, 0 };
    vh_constrain(3, NULL, old, zeros);
    assert_memory_equal(zeros, old, sizeof old);
    double tiny[] = { 1e-290, 3e-290, 0 }; /* little, but something */
    vh_constrain(3, NULL, old, tiny);
    assert_near(tiny[1], 0.75, 1e-15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(log_sums), cmocka_unit_test(normalise),
                                        cmocka_unit_test(constrain) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
