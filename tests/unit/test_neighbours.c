/* SPDX-License-Identifier: BSD-3-Clause */
/* test_neighbours.c - nearest neighbours against a sort of all distances; their graph; modularity by hand. */
#include "support.h"

#include "math/neighbours.h"
#include "vhem.h"

/* Points on a line: two groups of three, far apart. */
static const double at[6] = { 0, 1, 2.5, 100, 101, 102.5 };

static void distances(int n, const double *x, double *D)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            D[i * n + j] = fabs(x[i] - x[j]);
}

static void nearest_first(void **state)
{
    double D[36];
    int near[12];
    const int want[12] = { 1, 2, 0, 2, 1, 0, 4, 5, 3, 5, 4, 3 };
    (void)state;
    distances(6, at, D);
    vh_neighbours(6, D, 2, near);
    for (int k = 0; k < 12; k++)
        assert_int_equal(near[k], want[k]);
}

/* Every neighbour is at least as near as everything else, and none is met twice. */
static void against_all(void **state)
{
    enum { N = 40, K = 7 };
    double D[N * N];
    int near[N * K];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    for (int p = 0; p < N * N; p++)
        D[p] = floor(20 * vh_rng_uniform(&rng)) - 5; /* ties, and some are negative */
    vh_neighbours(N, D, K, near);
    for (int i = 0; i < N; i++) {
        bool is[N] = { false };
        double last = -INFINITY;
        for (int e = 0; e < K; e++) {
            int j = near[i * K + e];
            assert_int_not_equal(j, i);
            assert_false(is[j]);
            assert_true(D[i * N + j] >= last);
            is[j] = true;
            last = D[i * N + j];
        }
        for (int j = 0; j < N; j++)
            assert_true(is[j] || j == i || D[i * N + j] >= last);
    }
}

static void one_side_is_enough(void **state)
{
    const double x[3] = { 0, 1,
                          10 }; /* the nearest of the third is the second, but not the other way round */
    double D[9], A[9];
    int near[3];
    (void)state;
    distances(3, x, D);
    vh_neighbours(3, D, 1, near);
    vh_neighbours_affinity(3, 1, near, A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            assert_true(A[i * 3 + j] == A[j * 3 + i]);
            assert_true(A[i * 3 + j] == (abs(i - j) == 1 ? 0 : -INFINITY));
        }
}

static void by_hand(void **state)
{
    vhem_ctx *ctx = test_ctx();
    double D[36], Q;
    int near[12];
    const int right[6] = { 0, 0, 0, 1, 1, 1 }, one[6] = { 0 }, wrong[6] = { 0, 1, 2, 0, 1, 2 };
    (void)state;
    distances(6, at, D);
    vh_neighbours(6, D, 2, near); /* two triangles: 6 edges, all inside */
    assert_ok(ctx, vh_modularity(ctx, 6, 2, near, right, &Q));
    assert_near(Q, 0.5, 1e-15, 0);
    assert_ok(ctx, vh_modularity(ctx, 6, 2, near, one, &Q));
    assert_near(Q, 0, 0, 1e-15);
    assert_ok(ctx, vh_modularity(ctx, 6, 2, near, wrong, &Q)); /* no edge inside, a third of degrees each */
    assert_near(Q, -1.0 / 3, 1e-15, 0);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_first),
        cmocka_unit_test(against_all),
        cmocka_unit_test(one_side_is_enough),
        cmocka_unit_test(by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
