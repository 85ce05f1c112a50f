/* SPDX-License-Identifier: BSD-3-Clause */
/* test_gamma.c - psi at points with closed forms, by its recurrence, and as a derivative; divergences and
 * quantiles of the distributions that hang on the gamma function. */
#include "support.h"

#include "math/gamma.h"
#include "math/student.h"

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

static void log_gamma(void **state)
{
    (void)state;
    double factorial = 0;
    for (int n = 1; n < 300; n++) {
        assert_near(vh_lgamma(n), factorial, 1e-14, 1e-15);
        factorial += log(n);
    }
    for (double x = 9.9; x < 1e17; x *= 1.07) /* 10 and 1e15 are among these */
        assert_near(vh_lgamma(x), lgamma(x), 4e-15, 0);
}

static void wishart(void **state)
{
    (void)state;
    assert_near(vh_digamma_wishart(1, 5), vh_digamma(2.5), 1e-15, 0);
    assert_near(vh_digamma_wishart(3, 7), vh_digamma(3.5) + vh_digamma(3) + vh_digamma(2.5), 1e-15, 0);
    assert_near(vh_lgamma_wishart(2, 4), vh_lgamma(2) + vh_lgamma(1.5), 1e-15, 0);
}

/* KL of gamma distributions by the trapezoid rule in log x, where the integrand is smooth and falls off at
 * both ends. */
static double slow_kl(double a, double b, double a0, double b0)
{
    double sum = 0, h = 1e-3;
    for (double u = -60; u < 8; u += h) {
        double x = exp(u), log_p = a * log(b) - vh_lgamma(a) + a * u - b * x,
               log_q = a0 * log(b0) - vh_lgamma(a0) + a0 * u - b0 * x;
        sum += h * exp(log_p) * (log_p - log_q);
    }
    return sum;
}

static void divergences(void **state)
{
    (void)state;
    const double pair[][4] = { { 2, 3, 1, 1 }, { 0.7, 0.2, 5, 2 }, { 30, 4, 0.5, 0.1 } };
    for (int k = 0; k < 3; k++)
        assert_near(vh_kl_gamma(pair[k][0], pair[k][1], pair[k][2], pair[k][3]),
                    slow_kl(pair[k][0], pair[k][1], pair[k][2], pair[k][3]), 1e-7, 1e-9);
    const double a[] = { 2.5, 0.3, 7 }, a0[] = { 1, 1, 1 }, one[] = { 4 };
    assert_near(vh_kl_dirichlet(3, a, a), 0, 0, 1e-12);
    assert_near(vh_kl_dirichlet(1, one, a), 0, 0, 0); /* nothing to choose */
    /* two entries: that of the ratio of gamma variables, Beta(2, 1) from Beta(1, 1) is log 2 - 1/2 */
    assert_near(vh_kl_dirichlet(2, (double[]){ 2, 1 }, a0), log(2) - 0.5, 1e-12, 0);
    assert_true(vh_kl_dirichlet(3, a, a0) > 0);
}

static void gamma_quantiles(void **state)
{
    (void)state;
    assert_near(vh_incomplete_gamma(1, 2), 1 - exp(-2), 1e-14, 0);
    assert_near(vh_incomplete_gamma(3, 0.5), 1 - exp(-0.5) * (1 + 0.5 + 0.125), 1e-13, 0);
    assert_near(vh_incomplete_gamma(3, 9), 1 - exp(-9) * (1 + 9 + 40.5), 1e-13, 0);
    assert_near(vh_incomplete_gamma(0.5, 2), erf(sqrt(2)), 1e-13, 0);
    assert_near(vh_gamma_quantile(1, 0.975), -log(0.025), 1e-10, 0);
    for (double a = 0.05; a < 1e7; a *= 7)
        for (double p = 0.025; p < 1; p += 0.475)
            assert_near(vh_incomplete_gamma(a, vh_gamma_quantile(a, p)), p, 1e-6, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(digamma), cmocka_unit_test(log_gamma),
                                        cmocka_unit_test(wishart), cmocka_unit_test(divergences),
                                        cmocka_unit_test(gamma_quantiles) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
