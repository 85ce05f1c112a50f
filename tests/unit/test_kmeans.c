/* SPDX-License-Identifier: BSD-3-Clause */
/* test_kmeans.c - nearest centres against all distances; k-means on clusters that cannot be missed. */
#include "engine.h"

#include "math/kmeans.h"
#include "vhem.h"

static double distance(int d, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

static void nearest(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 21, VH_RNG_TEST, 0);
    enum { N = 600, D = 3, K = 7 }; /* more points than one block of 256 */
    double *X = random_frames(&rng, N, D, 1), *C = random_frames(&rng, K, D, 1);
    int label[N];
    memcpy(C + 5 * D, C + 2 * D, sizeof *C * D); /* a tie: the lower index wins */
    assert_ok(ctx, vh_nearest(ctx, N, D, X, K, C, label));
    for (int i = 0; i < N; i++) {
        assert_int_not_equal(label[i], 5);
        for (int c = 0; c < K; c++)
            assert_true(distance(D, X + i * D, C + label[i] * D)
                        <= distance(D, X + i * D, C + c * D) + 1e-12);
    }
    free(X);
    free(C);
    vhem_free(ctx);
}

static void separated(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    enum { N = 500, D = 2, K = 5 };
    for (int seed = 1; seed <= 20; seed++) {
        vh_rng rng;
        double X[N * D], centre[K * D], again[K * D];
        int label[N], twice[N];
        vh_rng_init(&rng, (uint64_t)seed, VH_RNG_TEST, 0);
        for (int i = 0; i < N; i++) {
            X[i * D] = 100 * (i % K) + vh_rng_normal(&rng);
            X[i * D + 1] = vh_rng_normal(&rng);
        }
        vh_rng copy = rng;
        assert_ok(ctx, vh_kmeans(ctx, &rng, &(vh_points){ N, D, X, NULL }, K, 20,
                                 &(vh_kmeans_result){ centre, label, 0, false }));
        /* k-means++ may seed one cluster twice with probability about (D sigma/distance)^2 K = 1e-3 here */
        for (int i = 0; i < N; i++)
            if ((label[i] == label[i % K]) + (i < K) < 1)
                fail_msg("seed %d: point %d left its cluster", seed, i);
        for (int a = 0; a < K; a++)
            for (int b = 0; b < a; b++)
                if (label[a] == label[b])
                    fail_msg("seed %d: clusters %d and %d are one", seed, a, b);
        for (int c = 0; c < K; c++) { /* a centre is the mean of its points */
            double sum = 0;
            int n = 0;
            for (int i = 0; i < N; i++)
                if (label[i] == c) {
                    sum += X[i * D];
                    n++;
                }
            assert_near(centre[c * D], sum / n, 1e-12, 1e-12);
        }
        assert_ok(ctx, vh_kmeans(ctx, &copy, &(vh_points){ N, D, X, NULL }, K, 20,
                                 &(vh_kmeans_result){ again, twice, 0, false }));
        assert_memory_equal(label, twice, sizeof label);
        assert_memory_equal(centre, again, sizeof centre);
    }
    vhem_free(ctx);
}

/* Fewer different points than clusters, one point, and points that are all the same. */
static void too_few(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 22, VH_RNG_TEST, 0);
    double X[] = { 1, 1, 1, 4, 4, 4 }, centre[5];
    int label[6];
    assert_ok(ctx, vh_kmeans(ctx, &rng, &(vh_points){ 6, 1, X, NULL }, 5, 20,
                             &(vh_kmeans_result){ centre, label, 0, false }));
    for (int i = 0; i < 6; i++)
        assert_true(centre[label[i]] == X[i]);
    for (int c = 0; c < 5; c++)
        assert_true(centre[c] == 1 || centre[c] == 4);
    assert_ok(ctx, vh_kmeans(ctx, &rng, &(vh_points){ 1, 1, X, NULL }, 3, 20,
                             &(vh_kmeans_result){ centre, label, 0, false }));
    assert_true(centre[0] == 1 && centre[1] == 1 && centre[2] == 1);
    assert_int_equal(label[0], 0);
    assert_ok(ctx, vh_kmeans(ctx, &rng, &(vh_points){ 3, 1, X, NULL }, 2, 20,
                             &(vh_kmeans_result){ centre, label, 0, false }));
    assert_int_equal(label[2], 0);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nearest), cmocka_unit_test(separated),
                                        cmocka_unit_test(too_few) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
