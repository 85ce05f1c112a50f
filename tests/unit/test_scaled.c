/* SPDX-License-Identifier: BSD-3-Clause */
#include "support.h"

#include "math/scaled.h"

/* Sums of terms of every size, in any order and in parts, against the sum of what matters. */
static void test_sums(void **state)
{
    (void)state;
    vh_rng rng;
    for (int trial = 0; trial < 200; trial++) {
        enum { N = 12 };
        double x[N], top = -INFINITY, want = 0, sum = 0, scale = VH_NO_SCALE;
        vh_rng_init(&rng, (uint64_t)trial, VH_RNG_TEST, 0);
        double size = pow(10, 8 * vh_rng_uniform(&rng));
        for (int i = 0; i < N; i++) {
            x[i] = size * (vh_rng_uniform(&rng) - 0.7);
            top = fmax(top, x[i]);
        }
        for (int i = 0; i < N; i++) {
            want += exp(x[i] - top);
            vh_scaled_add(&sum, &scale, x[i]);
        }
        assert_near(vh_scaled_log(sum, scale), top + log(want), 1e-15, 1e-13);
        assert_near(vh_scaled_value(sum, scale), exp(top + log(want)), 1e-12 + 1e-15 * fabs(top), 0);
        for (int cut = 0; cut <= N; cut++) {
            double part[2] = { 0 }, of[2] = { VH_NO_SCALE, VH_NO_SCALE };
            for (int i = 0; i < N; i++)
                vh_scaled_add(&part[i >= cut], &of[i >= cut], x[i]);
            vh_scaled_merge(&part[0], &of[0], part[1], of[1]);
            assert_near(vh_scaled_log(part[0], of[0]), top + log(want), 1e-15, 1e-13);
        }
    }
}

/* Numbers of ordinary size are at scale 0, where nothing is done to them. */
static void test_ordinary(void **state)
{
    (void)state;
    assert_true(vh_scale_of(0) == 0 && vh_scale_of(-88) == 0 && vh_scale_of(88) == 0);
    assert_true(vh_scale_of(-89) == -1 && vh_scale_of(89) == 1);
    assert_true(vh_at_scale(-1.5, 0) == exp(-1.5));
    assert_true(vh_at_scale(-231, 0) == 0 && vh_at_scale(-230, 0) > 0);
    assert_true(vh_scale_change(0, 0) == 1 && vh_scale_change(-1, 0) == ldexp(1, -256));
    assert_true(vh_scale_change(VH_NO_SCALE, -1e9) == 0);
}

/* Sums without terms, and terms of no weight. */
static void test_nothing(void **state)
{
    (void)state;
    double sum = 0, scale = VH_NO_SCALE;
    vh_scaled_add(&sum, &scale, -INFINITY);
    assert_true(sum == 0 && scale == VH_NO_SCALE);
    assert_true(isinf(vh_scaled_log(sum, scale)) && vh_scaled_value(sum, scale) == 0);
    vh_scaled_merge(&sum, &scale, 0, VH_NO_SCALE);
    assert_true(sum == 0 && scale == VH_NO_SCALE);
    vh_scaled_add(&sum, &scale, -1e6);
    vh_scaled_merge(&sum, &scale, 0, VH_NO_SCALE);
    assert_near(vh_scaled_log(sum, scale), -1e6, 1e-15, 0);
    assert_true(vh_scaled_value(sum, scale) == 0);
    for (double x = -1e14; x > -1e308; x *= 7) { /* logarithms whose last digit is worth more than a nat */
        sum = 0;
        scale = VH_NO_SCALE;
        vh_scaled_add(&sum, &scale, x);
        assert_true(x < VH_NOTHING ? sum == 0 && scale == VH_NO_SCALE
                                   : fabs(vh_scaled_log(sum, scale) - x) < 1);
        assert_true(x > VH_NOTHING || vh_at_scale(x, VH_NO_SCALE) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sums), cmocka_unit_test(test_ordinary),
                                        cmocka_unit_test(test_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
