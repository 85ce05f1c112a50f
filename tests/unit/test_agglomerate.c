/* SPDX-License-Identifier: BSD-3-Clause */
/* test_agglomerate.c - agglomerative clustering against the plain loop over all pairs of clusters. */
#include "support.h"

#include "math/agglomerate.h"
#include "vhem.h"

enum { MAX = 40 };

/* The distance of clusters p and q from all their things. */
static double linked(int n, const double *D, const double *w, const int *label, vh_linkage how, int p, int q)
{
    double sum = 0, mass = 0, most = -INFINITY, least = INFINITY;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (label[i] == p && label[j] == q) {
                sum += w[i] * w[j] * D[i * n + j];
                mass += w[i] * w[j];
                most = fmax(most, D[i * n + j]);
                least = fmin(least, D[i * n + j]);
            }
    return how == VH_LINK_AVERAGE ? sum / mass : how == VH_LINK_COMPLETE ? most : least;
}

static void naive(int n, const double *D, const double *w, vh_linkage how, int k, int *label)
{
    for (int i = 0; i < n; i++)
        label[i] = i;
    for (int left = n; left > k; left--) {
        double best = INFINITY;
        int a = -1, b = -1;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                int members[2] = { 0, 0 };
                for (int i = 0; i < n; i++) {
                    members[0] += label[i] == p;
                    members[1] += label[i] == q;
                }
                if (!members[0] || !members[1])
                    continue;
                double d = linked(n, D, w, label, how, p, q);
                if (a < 0 || d < best) {
                    best = d;
                    a = p;
                    b = q;
                }
            }
        for (int i = 0; i < n; i++)
            label[i] = label[i] == b ? a : label[i];
    }
    for (int i = 0, next = 0; i < n; i++) /* numbers in the order of first things */
        if (label[i] == i)
            for (int j = n - 1, now = next++; j >= i; j--)
                label[j] = label[j] == i ? -1 - now : label[j];
    for (int i = 0; i < n; i++)
        label[i] = -1 - label[i];
}

static void random_distances(vh_rng *rng, int n, double *D, double *w)
{
    for (int i = 0; i < n; i++) {
        w[i] = 0.1 + vh_rng_uniform(rng);
        D[i * n + i] = 0;
        for (int j = 0; j < i; j++)
            D[i * n + j] = D[j * n + i] = vh_rng_exponential(rng) - 0.1;
    }
}

static void test_naive(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        vh_rng rng;
        double D[MAX * MAX], left[MAX * MAX], w[MAX], mass[MAX];
        int label[MAX], want[MAX], above[MAX], n = 1 + (int)(seed % 17);
        int k = 1 + (int)(seed / 3 % (uint64_t)n);
        vh_linkage how = (vh_linkage)(seed % 3);
        vh_rng_init(&rng, seed, VH_RNG_TEST, 20);
        random_distances(&rng, n, D, w);
        memcpy(left, D, sizeof *D * (size_t)(n * n));
        assert_ok(ctx, vh_agglomerate(ctx, n, w, how, k, left, label));
        naive(n, D, w, how, k, want);
        assert_memory_equal(label, want, sizeof *label * (size_t)n);
        for (int p = 0; p < k; p++)
            for (int q = 0; q < k; q++)
                if (p != q)
                    assert_near(left[p * k + q], linked(n, D, w, label, how, p, q), 1e-12, 1e-12);
        /* Going on from there is the same tree. */
        memset(mass, 0, sizeof mass);
        for (int i = 0; i < n; i++)
            mass[label[i]] += w[i];
        int fewer = (k + 1) / 2;
        assert_ok(ctx, vh_agglomerate(ctx, k, mass, how, fewer, left, above));
        naive(n, D, w, how, fewer, want);
        for (int i = 0; i < n; i++)
            assert_int_equal(above[label[i]], want[i]);
    }
    vhem_free(ctx);
}

/* Ties, equal things and infinite distances: the same answer each time, and no more than asked for. */
static void test_ties(void **state)
{
    vhem_ctx *ctx = test_ctx();
    double same[25] = { 0 }, far[16], w[5] = { 1, 1, 1, 1, 1 };
    int label[5];
    (void)state;
    assert_ok(ctx, vh_agglomerate(ctx, 5, w, VH_LINK_AVERAGE, 2, same, label));
    int want[5] = { 0, 0, 0, 0, 1 };
    assert_memory_equal(label, want, sizeof label);
    for (int l = 0; l < 3; l++) {
        for (int k = 0; k < 16; k++)
            far[k] = INFINITY;
        far[1] = far[4] = 1;
        assert_ok(ctx, vh_agglomerate(ctx, 4, w, (vh_linkage)l, 2, far, label));
        assert_int_equal(label[0], 0);
        assert_int_equal(label[1], 0);
        assert_int_equal(label[3] == 1 || label[2] == 1, 1);
        assert_true(isinf(far[1]));
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_naive), cmocka_unit_test(test_ties) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
