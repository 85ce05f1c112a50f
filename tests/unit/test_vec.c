/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vec.c - the vector exp and log against the C library's, over all they are used for. */
#include "support.h"

#define VH_LANES 2
#include "simd/vec.h"

static double worst_ulp(double got, double want)
{
    return fabs(got - want) / (nextafter(fabs(want), INFINITY) - fabs(want));
}

static void test_exp(void **state)
{
    (void)state;
    vh_rng rng;
    double worst = 0;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int k = 0; k < 200000; k++) {
        double a = -700 * vh_rng_uniform(&rng), b = 1e-3 * (vh_rng_uniform(&rng) - 1);
        vec x = { a, b }, y = vec_exp(x);
        worst = fmax(worst, fmax(worst_ulp(y[0], exp(a)), worst_ulp(y[1], exp(b))));
    }
    if (!(worst <= 2))
        fail_msg("exp is off by %.2f ulp", worst);
    vec edge = { 0, -700 }, y = vec_exp(edge);
    assert_true(y[0] == 1);
    assert_near(y[1], exp(-700), 1e-15, 0);
    vec below = { -701, -1e300 }, z = vec_exp(below), none = vec_exp_or_0(below), some = vec_exp_or_0(edge);
    assert_near(z[0], exp(-700), 1e-15, 0);
    assert_near(z[1], exp(-700), 1e-15, 0);
    assert_true(none[0] == 0 && none[1] == 0 && some[0] == 1);
}

static void test_log(void **state)
{
    (void)state;
    vh_rng rng;
    double worst = 0;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 0);
    for (int k = 0; k < 200000; k++) {
        double a = exp(1400 * vh_rng_uniform(&rng) - 700), b = 0.5 + vh_rng_uniform(&rng);
        vec x = { a, b }, y = vec_log(x);
        worst = fmax(worst, fmax(worst_ulp(y[0], log(a)), worst_ulp(y[1], log(b))));
    }
    if (!(worst <= 2))
        fail_msg("log is off by %.2f ulp", worst);
    vec edge = { 1, 2 }, y = vec_log(edge);
    assert_true(y[0] == 0);
    assert_near(y[1], log(2), 3e-16, 0);
}

/* Several side by side have the bits of one. */
static void test_together(void **state)
{
    enum { N = 7 };
    (void)state;
    vec exps[N], logs[N];
    for (int n = 0; n <= N; n++) {
        for (int i = 0; i < N; i++) {
            exps[i] = (vec){ -0.7 * i, -697.0 - i }; /* some beyond -700 */
            logs[i] = (vec){ 0.3 + i, 1e-200 * (i + 1) };
        }
        vec_exp_or_0_all(n, exps);
        vec_log_all(n, logs);
        for (int i = 0; i < N; i++) {
            vec x = { -0.7 * i, -697.0 - i }, y = { 0.3 + i, 1e-200 * (i + 1) };
            x = i < n ? vec_exp_or_0(x) : x;
            y = i < n ? vec_log(y) : y;
            assert_memory_equal(&exps[i], &x, sizeof x);
            assert_memory_equal(&logs[i], &y, sizeof y);
        }
    }
}

static void test_transpose(void **state)
{
    (void)state;
    vec x[VH_LANES], y[VH_LANES];
    for (int i = 0; i < VH_LANES; i++)
        for (int l = 0; l < VH_LANES; l++)
            x[i][l] = y[i][l] = VH_LANES * i + l;
    vec_transpose(y);
    for (int i = 0; i < VH_LANES; i++)
        for (int l = 0; l < VH_LANES; l++)
            assert_true(y[i][l] == x[l][i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exp), cmocka_unit_test(test_log),
                                        cmocka_unit_test(test_together), cmocka_unit_test(test_transpose) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
