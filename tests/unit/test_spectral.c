/* SPDX-License-Identifier: BSD-3-Clause */
/* test_spectral.c - the spectral embedding: affinities worked out by hand, both ways to the eigenvectors, and
 * what is far beyond the range of a double. */
#include "support.h"

#include "math/eigen.h"
#include "math/kmeans.h"
#include "math/linalg.h"
#include "math/spectral.h"
#include "vhem.h"

/* log affinities: `near` inside each of K groups of g things, `far` between groups, with some noise. */
static double *groups(vh_rng *rng, int K, int g, double near, double far, double noise)
{
    int n = K * g;
    double *A = malloc(sizeof *A * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            A[i * n + j] = A[j * n + i] = (i % K == j % K ? near : far) - noise * vh_rng_uniform(rng);
    return A;
}

static void assert_groups(int n, int K, int k, const double *X)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double dot = 0;
            for (int c = 0; c < k; c++)
                dot += X[i * k + c] * X[j * k + c];
            if (i % K == j % K)
                assert_near(dot, 1, 0, 0.02);
            else
                assert_near(dot, 0, 0, 0.02);
        }
}

/* Two pairs joined by a weak link.  Diagonal zero: rows sum to 1 + a, L = [0 p; p 0] + q [0 1; 1 0] between
 * the pairs, whose eigenvectors are (1,1,1,1)/2 and (1,1,-1,-1)/2 with eigenvalues 1 and (1 - a)/(1 + a). */
static void test_by_hand(void **state)
{
    vhem_ctx *ctx = test_ctx();
    double a = 0.1, A[16], X[8], s = sqrt(0.5);
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            A[i * 4 + j] = log(i / 2 == j / 2 ? 1 : i % 2 == j % 2 ? a : 1e-300);
    assert_ok(ctx, vh_spectral_embed(ctx, 4, A, false, 2, VH_EIGEN_AUTO, X));
    for (int i = 0; i < 4; i++) {
        assert_near(X[2 * i], s, 1e-12, 0);
        assert_near(fabs(X[2 * i + 1]), s, 1e-12, 0);
        assert_true((X[2 * i + 1] > 0) == (X[1] > 0) || i >= 2);
    }
    assert_true(X[1] * X[5] < 0);
    assert_ok(ctx, vh_spectral_embed(ctx, 4, A, true, 1, VH_EIGEN_AUTO, X));
    for (int i = 0; i < 4; i++)
        assert_near(X[i], 1, 1e-12, 0);
    vhem_free(ctx);
}

/* The leading vectors Q [2][SMALL] of L as the textbook has them: multiply, make orthogonal, repeat.  L + I
 * has the same vectors and no negative values. */
enum { SMALL = 6 };
static void by_iteration(const double *L, double *Q)
{
    for (int i = 0; i < SMALL; i++) {
        Q[i] = 1;
        Q[SMALL + i] = i - 2.2;
    }
    for (int turn = 0; turn < 2000; turn++) {
        double P[2 * SMALL], dot = 0;
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < SMALL; i++) {
                P[c * SMALL + i] = Q[c * SMALL + i];
                for (int j = 0; j < SMALL; j++)
                    P[c * SMALL + i] += L[i * SMALL + j] * Q[c * SMALL + j];
            }
        for (int c = 0; c < 2; c++) {
            double norm = 0;
            for (int i = 0; i < SMALL; i++)
                dot += c ? Q[i] * P[SMALL + i] : 0;
            for (int i = 0; i < SMALL; i++) {
                P[c * SMALL + i] -= c ? dot * Q[i] : 0;
                norm += P[c * SMALL + i] * P[c * SMALL + i];
            }
            for (int i = 0; i < SMALL; i++)
                Q[c * SMALL + i] = P[c * SMALL + i] / sqrt(norm);
        }
    }
}

static double cosine(const double *Q, int i, int j)
{
    double dot = Q[i] * Q[j] + Q[SMALL + i] * Q[SMALL + j];
    return dot / (hypot(Q[i], Q[SMALL + i]) * hypot(Q[j], Q[SMALL + j]));
}

/* The affinity of a thing to itself, unequal here, is left out or counts; angles between points tell. */
static void test_diagonal(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double Q[2][2 * SMALL];
    (void)state;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 26);
    double *log_A = groups(&rng, 2, SMALL / 2, -0.5, -1.5, 0.5);
    for (int i = 0; i < SMALL; i++)
        log_A[i * SMALL + i] = 0.4 * i;
    for (int keep = 0; keep < 2; keep++) {
        double L[SMALL * SMALL], d[SMALL] = { 0 }, X[2 * SMALL];
        for (int k = 0; k < SMALL * SMALL; k++) {
            L[k] = k % (SMALL + 1) || keep ? exp(log_A[k]) : 0;
            d[k / SMALL] += L[k];
        }
        for (int k = 0; k < SMALL * SMALL; k++)
            L[k] /= sqrt(d[k / SMALL] * d[k % SMALL]);
        by_iteration(L, Q[keep]);
        assert_ok(ctx, vh_spectral_embed(ctx, SMALL, log_A, keep, 2, VH_EIGEN_AUTO, X));
        for (int i = 0; i < SMALL; i++)
            for (int j = 0; j < SMALL; j++)
                assert_near(X[2 * i] * X[2 * j] + X[2 * i + 1] * X[2 * j + 1], cosine(Q[keep], i, j), 0,
                            1e-9);
    }
    assert_true(fabs(cosine(Q[0], 0, 5) - cosine(Q[1], 0, 5)) > 0.01);
    free(log_A);
    vhem_free(ctx);
}

/* A common factor changes nothing, nor do affinities that no double could hold. */
static void test_range(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double X[12 * 3], Y[12 * 3];
    (void)state;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 21);
    double *A = groups(&rng, 3, 4, -1, -9, 1);
    assert_ok(ctx, vh_spectral_embed(ctx, 12, A, false, 3, VH_EIGEN_AUTO, X));
    assert_groups(12, 3, 3, X);
    for (int k = 0; k < 144; k++)
        A[k] -= 5000;
    assert_ok(ctx, vh_spectral_embed(ctx, 12, A, false, 3, VH_EIGEN_AUTO, Y));
    for (int k = 0; k < 36; k++)
        assert_near(X[k], Y[k], 1e-9, 1e-9);
    for (int i = 0; i < 12; i++) /* groups of very different scales */
        for (int j = 0; j < 12; j++)
            A[i * 12 + j] = i % 3 == j % 3 ? -1000.0 * (i % 3) - 1 : -9000;
    assert_ok(ctx, vh_spectral_embed(ctx, 12, A, false, 3, VH_EIGEN_AUTO, Y));
    assert_groups(12, 3, 3, Y);
    free(A);
    vhem_free(ctx);
}

/* One thing far from two groups goes with the nearer; one without any affinity has no place; all equal. */
static void test_alone(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double X[9 * 2], all[81];
    (void)state;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 22);
    double *A = groups(&rng, 1, 9, 0, 0, 0.1);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++)
            if (i == 8 || j == 8)
                A[i * 9 + j] = i + j == 8 + 1 ? -4000 : -4100;
            else if (i % 2 != j % 2)
                A[i * 9 + j] = -20;
    assert_ok(ctx, vh_spectral_embed(ctx, 9, A, false, 2, VH_EIGEN_AUTO, X));
    for (int c = 0; c < 2; c++) {
        assert_near(X[16 + c], X[2 + c], 0, 1e-6);
        assert_near(X[4 + c], X[c], 0, 1e-6);
    }
    for (int i = 0; i < 9; i++)
        A[i * 9 + 8] = A[8 * 9 + i] = -INFINITY;
    assert_ok(ctx, vh_spectral_embed(ctx, 9, A, false, 2, VH_EIGEN_AUTO, X));
    assert_true(X[16] == 0 && X[17] == 0);
    assert_near(X[4], X[0], 0, 1e-9);
    for (int k = 0; k < 81; k++)
        A[k] = -INFINITY;
    assert_ok(ctx, vh_spectral_embed(ctx, 9, A, true, 2, VH_EIGEN_AUTO, X));
    for (int k = 0; k < 18; k++)
        assert_true(X[k] == 0);
    for (int k = 0; k < 81; k++)
        A[k] = 3;
    assert_ok(ctx, vh_spectral_embed(ctx, 9, A, false, 9, VH_EIGEN_AUTO, all));
    free(A);
    vhem_free(ctx);
}

/* Eigenvalues and the spaces of their eigenvectors, V V' x for random x, from both. */
static void same_space(vhem_ctx *ctx, vh_rng *rng, int n, int k, const double *A)
{
    double *copy = malloc(sizeof *A * (size_t)(n * n)), *V = malloc(2 * sizeof *V * (size_t)(n * k)),
           *U = V + n * k, w[64], u[64];
    memcpy(copy, A, sizeof *A * (size_t)(n * n));
    assert_true(vh_eigen_leading(n, copy, k, w, V));
    assert_ok(ctx, vh_eigen_find_dense(ctx, n, A, 2, k, u, U));
    for (int j = 0; j < k; j++) {
        assert_near(w[j], u[j], 1e-10, 1e-10);
        assert_true(j == 0 || w[j] <= w[j - 1]);
    }
    for (int turn = 0; turn < 3; turn++) {
        double *x = copy, *p = copy + n, *q = copy + 2 * n;
        for (int i = 0; i < n; i++) {
            x[i] = vh_rng_normal(rng);
            p[i] = q[i] = 0;
        }
        for (int j = 0; j < k; j++) {
            double along[2] = { 0, 0 };
            for (int i = 0; i < n; i++) {
                along[0] += V[j * n + i] * x[i];
                along[1] += U[j * n + i] * x[i];
            }
            for (int i = 0; i < n; i++) {
                p[i] += along[0] * V[j * n + i];
                q[i] += along[1] * U[j * n + i];
            }
        }
        for (int i = 0; i < n; i++)
            assert_near(p[i], q[i], 0, 1e-7);
    }
    free(copy);
    free(V);
}

static void test_iterated(void **state)
{
    enum { N = 120 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double *A = malloc(sizeof *A * N * N);
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 23);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++)
            A[i * N + j] = A[j * N + i] = vh_rng_normal(&rng) / N;
    same_space(ctx, &rng, N, 1, A);
    same_space(ctx, &rng, N, 6, A);
    for (int i = 0; i < N; i++) /* six equal blocks */
        for (int j = 0; j < N; j++)
            A[i * N + j] = i % 6 == j % 6 ? 6.0 / N : 0;
    same_space(ctx, &rng, N, 6, A);
    free(A);
    vhem_free(ctx);
}

/* The embedding by either way, up to a rotation: distances between points. */
static void test_solvers_agree(void **state)
{
    enum { K = 5, G = 30, N = K * G };
    static double X[N * K], Y[N * K], Z[N * K];
    vhem_ctx *ctx = test_ctx(), *two = test_ctx_with(NULL, 2, 1);
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 24);
    double *A = groups(&rng, K, G, -2, -6, 2);
    assert_ok(ctx, vh_spectral_embed(ctx, N, A, false, K, VH_EIGEN_DENSE, X));
    assert_ok(ctx, vh_spectral_embed(ctx, N, A, false, K, VH_EIGEN_ITERATED, Y));
    assert_ok(two, vh_spectral_embed(two, N, A, false, K, VH_EIGEN_ITERATED, Z));
    assert_memory_equal(Y, Z, sizeof Y);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double a = 0, b = 0;
            for (int c = 0; c < K; c++) {
                a += X[i * K + c] * X[j * K + c];
                b += Y[i * K + c] * Y[j * K + c];
            }
            assert_near(a, b, 0, 1e-8);
        }
    free(A);
    vhem_free(ctx);
    vhem_free(two);
}

/* A point of weight 3 is three points; a point of weight 0 moves nothing. */
static void test_weighted_kmeans(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double X[] = { 0, 1, 10, 13, 11 }, w[] = { 3, 1, 1, 1, 0 }, centre[2];
    int label[5];
    const vh_points points = { 5, 1, X, w };
    vh_kmeans_result found = { .centre = centre, .label = label };
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 25);
    assert_ok(ctx, vh_kmeans(ctx, &rng, &points, 2, 50, &found));
    assert_near(centre[label[0]], 0.25, 1e-12, 0);
    assert_near(centre[label[2]], 11.5, 1e-12, 0);
    assert_near(found.spread, 3 * 0.0625 + 0.5625 + 2 * 2.25, 1e-12, 0);
    assert_true(found.converged);
    assert_ok(ctx, vh_kmeans(ctx, &rng, &points, 2, 1, &found));
    assert_false(found.converged);
    vhem_free(ctx);
}

/* A newcomer with the affinities of one of the things is at its place; one that is near nothing is at 0. */
static void test_newcomers(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_spectrum s = { 0 };
    double X[12 * 3], x[3], row[12];
    (void)state;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 22);
    double *A = groups(&rng, 3, 4, -1, -9, 1);
    assert_ok(ctx, vh_spectral_solve(ctx, 12, A, false, 3, VH_EIGEN_AUTO, &s, X));
    for (int i = 0; i < 12; i++) {
        memcpy(row, A + 12 * i, sizeof row);
        row[i] = -INFINITY; /* of itself it knew nothing either */
        vh_spectral_place(&s, row, x);
        for (int c = 0; c < 3; c++)
            assert_near(x[c], X[3 * i + c], 1e-9, 1e-9);
        for (int j = 0; j < 12; j++) /* a common factor goes */
            row[j] -= 4000;
        vh_spectral_place(&s, row, x);
        for (int c = 0; c < 3; c++)
            assert_near(x[c], X[3 * i + c], 1e-9, 1e-9);
    }
    for (int j = 0; j < 12; j++)
        row[j] = -INFINITY;
    vh_spectral_place(&s, row, x);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
    vh_spectrum_free(&s);
    free(A);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),         cmocka_unit_test(test_diagonal),
        cmocka_unit_test(test_range),           cmocka_unit_test(test_alone),
        cmocka_unit_test(test_iterated),        cmocka_unit_test(test_solvers_agree),
        cmocka_unit_test(test_weighted_kmeans), cmocka_unit_test(test_newcomers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
