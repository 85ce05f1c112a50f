/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gamma.c - psi at points with closed forms, by its recurrence, and as a derivative. */
#include "support.h"

#include "math/gamma.h"

#define PI    3.14159265358979323846
#define EULER 0.57721566490153286061

static void digamma(void **state)
{
    (void)state;
    assert_near(vh_digamma(1), -EULER, 1e-14, 0);
    assert_near(vh_digamma(0.5), -EULER - 2 * log(2), 1e-14, 0);
    assert_near(vh_digamma(0.25), -EULER - PI / 2 - 3 * log(2), 1e-14, 0);
    assert_near(vh_digamma(1e9), log(1e9) - 0.5e-9, 1e-15, 0);
    assert_near(vh_digamma(1e-6), -1e6 - EULER, 1e-9, 0);
    for (double x = 0.01; x < 100; x *= 1.3) {
        double h = 1e-5 * x;
        assert_near(vh_digamma(x + 1), vh_digamma(x) + 1 / x, 1e-13, 1e-13);
        assert_near(vh_digamma(x), (vh_lgamma(x + h) - vh_lgamma(x - h)) / (2 * h), 1e-6, 1e-6);
    }
}

static void wishart(void **state)
{
    (void)state;
    assert_near(vh_digamma_wishart(1, 5), vh_digamma(2.5), 1e-15, 0);
    assert_near(vh_digamma_wishart(3, 7), vh_digamma(3.5) + vh_digamma(3) + vh_digamma(2.5), 1e-15, 0);
    assert_near(vh_lgamma_wishart(2, 4), vh_lgamma(2) + vh_lgamma(1.5), 1e-15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(digamma), cmocka_unit_test(wishart) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
