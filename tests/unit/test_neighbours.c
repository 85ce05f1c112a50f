/* SPDX-License-Identifier: BSD-3-Clause */
/* test_neighbours.c - nearest neighbours against a sort of all distances, by mutual rank against its
 * definition; their graph; modularity by hand. */
#include "support.h"

#include "math/graph.h"
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
    assert_ok(ctx, vh_modularity(ctx, &(vh_near){ 6, 2, near }, right, &Q));
    assert_near(Q, 0.5, 1e-15, 0);
    assert_ok(ctx, vh_modularity(ctx, &(vh_near){ 6, 2, near }, one, &Q));
    assert_near(Q, 0, 0, 1e-15);
    assert_ok(ctx, vh_modularity(ctx, &(vh_near){ 6, 2, near }, wrong,
                                 &Q)); /* no edge inside, a third of degrees each */
    assert_near(Q, -1.0 / 3, 1e-15, 0);
    vhem_free(ctx);
}

/* Ranks and the lists of the k nearest by mutual rank as they are defined, by counting. */
enum { MOST = 90 };
static int rank_of(int n, const double *D, int i, int j)
{
    int before = 0;
    for (int q = 0; q < n; q++) {
        double d = D[i * n + q], own = D[i * n + j];
        before += q != i && (d < own || (d == own && q < j));
    }
    return before;
}

static bool nearer(int n, const double *D, const int *close, int i, int a, int b)
{
    double da = D[i * n + a] + D[a * n + i], db = D[i * n + b] + D[b * n + i];
    return close[a] != close[b] ? close[a] < close[b] : da != db ? da < db : a < b;
}

static void assert_mutual(vhem_ctx *ctx, int n, int k, const double *D)
{
    vh_near near = { 0 };
    assert_ok(ctx, vh_near_mutual(ctx, n, D, k, &near));
    assert_true(near.n == n && near.k == k);
    for (int i = 0; i < n; i++) {
        int close[MOST];
        for (int j = 0; j < n; j++)
            close[j] = rank_of(n, D, i, j) + rank_of(n, D, j, i);
        for (int j = 0; j < n; j++) {
            int place = 0;
            for (int q = 0; q < n && j != i; q++)
                place += q != i && q != j && nearer(n, D, close, i, q, j);
            if (j != i && place < k)
                assert_int_equal(near.near[i * k + place], j);
        }
        for (int e = n - 1; e < k; e++)
            assert_int_equal(near.near[i * k + e], -1);
    }
    vh_near_free(&near);
    assert_null(near.near);
}

/* Against the definition: few or many different distances, some infinite, symmetric or not; lists of
 * all. */
static void mutual_ranks(void **state)
{
    vhem_ctx *ctx = test_ctx();
    double D[MOST * MOST];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 7, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 60; trial++) {
        const int sizes[] = { 1, 2, 3, 32, 33, 64, MOST };
        int n = sizes[trial % 7], values = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 4 : 1 << 30;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double d = (double)vh_rng_below(&rng, values) - 2;
                d = vh_rng_below(&rng, 10) == 0 ? INFINITY : d;
                D[i * n + j] = trial % 2 && j < i ? D[j * n + i] : d;
            }
        assert_mutual(ctx, n, 1, D);
        assert_mutual(ctx, n, 7, D);
        assert_mutual(ctx, n, n, D);
    }
    vhem_free(ctx);
}

/* Two pairs and a hub that is nearest to all four.  By mutual rank it is not to the one that is last for
 * the hub: 3 + 0 for both of them, against 1 + 1 for the pair. */
static void a_hub(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const double D[25] = { 0, 2,   9, 9, 1, 2, 0,   9, 9,   1.1, 9,   9, 0,
                           2, 1.2, 9, 9, 2, 0, 1.3, 1, 1.1, 1.2, 1.3, 0 };
    const int by_rank[5] = { 4, 4, 4, 2, 0 };
    vh_near near = { 0 };
    int by_distance[5];
    (void)state;
    vh_neighbours(5, D, 1, by_distance);
    assert_ok(ctx, vh_near_mutual(ctx, 5, D, 1, &near));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(by_distance[i], i < 4 ? 4 : 0);
        assert_int_equal(near.near[i], by_rank[i]);
    }
    vh_near_free(&near);
    vhem_free(ctx);
}

static void any_threads(void **state)
{
    enum { N = 150, K = 12 };
    static double D[N * N];
    vh_near near[3];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 8, VH_RNG_TEST, 0);
    for (int p = 0; p < N * N; p++)
        D[p] = (double)vh_rng_below(&rng, 40);
    for (int t = 0; t < 3; t++) {
        vhem_ctx *ctx = test_ctx_with(NULL, t == 0 ? 1 : t == 1 ? 2 : 5, 1);
        assert_ok(ctx, vh_near_mutual(ctx, N, D, K, &near[t]));
        assert_memory_equal(near[t].near, near[0].near, sizeof(int) * N * K);
        vhem_free(ctx);
    }
    for (int t = 0; t < 3; t++)
        vh_near_free(&near[t]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_first), cmocka_unit_test(against_all),  cmocka_unit_test(one_side_is_enough),
        cmocka_unit_test(by_hand),       cmocka_unit_test(mutual_ranks), cmocka_unit_test(a_hub),
        cmocka_unit_test(any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
