/* SPDX-License-Identifier: BSD-3-Clause */
/* test_order.c - medians against sorted numbers; orders by radix against a sort. */
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

/* The order by radix is that of a sort of pairs: of ties, infinities, both zeros and numbers of any size. */
static void orders(void **state)
{
    (void)state;
    double x[MOST];
    uint64_t key[2 * MOST];
    int order[2 * MOST];
    vh_ranked want[MOST];
    vh_rng rng;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 2000; trial++) {
        const double few[] = { 0, -0.0, 1, -1, INFINITY, -INFINITY, 5e-324, -5e-324, 1e308, 1 + 1e-15 };
        size_t n = trial < 3 ? (size_t)trial : 1 + (size_t)vh_rng_below(&rng, MOST);
        for (size_t i = 0; i < n; i++) {
            int64_t size = vh_rng_below(&rng, 600) - 300;
            x[i] = trial % 3 == 0   ? few[vh_rng_below(&rng, 10)]
                   : trial % 3 == 1 ? vh_rng_normal(&rng) * pow(10, (double)size)
                                    : (double)vh_rng_below(&rng, 20) - 5;
            want[i] = (vh_ranked){ x[i], (int64_t)i };
        }
        vh_rank_ascending(n, want);
        vh_order(n, x, key, order);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(order[i], want[i].i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(medians), cmocka_unit_test(in_order),
                                        cmocka_unit_test(orders) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
