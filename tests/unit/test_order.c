/* SPDX-License-Identifier: BSD-3-Clause */
/* test_order.c - medians against sorted numbers. */
#include "support.h"

#include "core/rng.h"
#include "math/order.h"

enum { MOST = 300 };

static void check_median(size_t n, const double *x)
{
    double a[MOST], b[MOST];
    memcpy(a, x, sizeof *x * n);
    memcpy(b, x, sizeof *x * n);
    vh_sort(n, a);
    for (size_t i = 1; i < n; i++)
        assert_true(a[i - 1] <= a[i]);
    double got = vh_median(n, b), want = 0.5 * (a[(n - 1) / 2] + a[n / 2]);
    assert_true(got == want);
    vh_sort(n, b);
    assert_memory_equal(a, b, sizeof *a * n); /* it moves numbers and makes none */
}

static void medians(void **state)
{
    (void)state;
    double x[MOST];
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 3000; trial++) {
        size_t n = 1 + (size_t)vh_rng_below(&rng, MOST);
        int values = 1 + trial % 7; /* few different ones: many are equal */
        for (size_t i = 0; i < n; i++)
            x[i] = trial % 2 ? vh_rng_normal(&rng) : (double)vh_rng_below(&rng, values);
        check_median(n, x);
    }
}

/* What is in order already, up, down, or up and down. */
static void in_order(void **state)
{
    (void)state;
    double x[MOST];
    for (size_t n = 1; n < MOST; n++)
        for (int kind = 0; kind < 4; kind++) {
            for (size_t i = 0; i < n; i++)
                x[i] = kind == 0   ? (double)i
                       : kind == 1 ? -(double)i
                       : kind == 2 ? fabs((double)i - 0.5 * (double)n)
                                   : 1;
            check_median(n, x);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(medians), cmocka_unit_test(in_order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
