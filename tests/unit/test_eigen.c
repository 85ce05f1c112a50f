/* SPDX-License-Identifier: BSD-3-Clause */
/* test_eigen.c - leading eigenvectors against LAPACK and against spectra known by heart; repeated
 * eigenvalues, starting vectors, threads. */
#include "support.h"

#include "core/ctx.h"
#include "math/eigen.h"
#include "math/linalg.h"
#include "vhem.h"

#include <stdatomic.h>

typedef struct { /* a matrix [n][n], whose products are counted */
    int n;
    const double *A;
    atomic_int rows;
} counted;

static void multiply(const void *arg, int first, int rows, int m, const double *X, double *Y)
{
    counted *c = (counted *)(uintptr_t)arg;
    c->rows += m > 1 ? rows : 0;
    vh_gemm(false, false, rows, m, c->n, 1, c->A + (size_t)first * (size_t)c->n, c->n, X, m, 0, Y, m);
}

/* A ring of n nodes with edges of weight w[s] to those step[s] further. */
typedef struct {
    int n, step[2];
    double w[2];
    atomic_int rows;
} ring;

static void multiply_ring(const void *arg, int first, int rows, int m, const double *X, double *Y)
{
    ring *r = (ring *)(uintptr_t)arg;
    r->rows += m > 1 ? rows : 0;
    memset(Y, 0, sizeof *Y * (size_t)rows * (size_t)m);
    for (int i = first; i < first + rows; i++, Y += m)
        for (int s = 0; s < 2; s++) {
            const double *a = X + (size_t)((i + r->step[s]) % r->n) * (size_t)m,
                         *b = X + (size_t)((i + r->n - r->step[s]) % r->n) * (size_t)m;
            for (int e = 0; e < m; e++)
                Y[e] += r->w[s] * (a[e] + b[e]);
        }
}

/* Returns how often the matrix was multiplied. */
static int find(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *w, double *V)
{
    counted c = { n, A, 0 };
    assert_ok(ctx, vh_eigen_find(ctx, &(vh_operator){ n, bound, multiply, &c }, k, w, V));
    return c.rows / n;
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* |A v - w v| of the worst vector. */
static double residual(int n, const double *A, int k, const double *w, const double *V)
{
    double worst = 0;
    for (int c = 0; c < k; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            double r = dot(n, A + i * n, V + c * n) - w[c] * V[c * n + i];
            sum += r * r;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

static void assert_near_orthonormal(int n, int k, const double *V, double tolerance)
{
    for (int a = 0; a < k; a++)
        for (int b = 0; b <= a; b++)
            assert_near(dot(n, V + a * n, V + b * n), a == b, 0, tolerance);
}

static void assert_orthonormal(int n, int k, const double *V)
{
    assert_near_orthonormal(n, k, V, 1e-11);
}

/* Finds the eigenvectors with V as they are; eigenvalues are those of LAPACK. */
static int compare(vhem_ctx *ctx, int n, const double *A, double bound, int k, double *V)
{
    size_t cells = (size_t)n * (size_t)n;
    double *copy = malloc(sizeof *copy * cells), *U = malloc(sizeof *U * (size_t)(n * k)),
           *w = malloc(2 * sizeof *w * (size_t)k), *want = w + k;
    memcpy(copy, A, sizeof *copy * cells);
    assert_true(vh_eigen_leading(n, copy, k, want, U));
    int products = find(ctx, n, A, bound, k, w, V);
    for (int c = 0; c < k; c++)
        assert_near(w[c], want[c], 0, 1e-11 * bound);
    assert_orthonormal(n, k, V);
    assert_true(residual(n, A, k, w, V) < 2e-9 * bound);
    free(copy);
    free(U);
    free(w);
    return products;
}

static int compare_cold(vhem_ctx *ctx, int n, const double *A, double bound, int k)
{
    double *V = calloc((size_t)(n * k), sizeof *V);
    int products = compare(ctx, n, A, bound, k, V);
    free(V);
    return products;
}

/* The normalised adjacency matrix of a graph with `links` random edges for each node, `far` of ten of
 * them to nodes of another of K groups (i % K); ten of ten: no groups.  Nodes may be without edges. */
static double *graph(vh_rng *rng, int n, int K, int links, int far)
{
    double *A = calloc((size_t)(n * n), sizeof *A), *degree = calloc((size_t)n, sizeof *degree);
    for (int i = 0; i < n; i++)
        for (int e = 0; e < links; e++) {
            int j = (int)vh_rng_below(rng, n);
            if (vh_rng_below(rng, 10) >= far)
                j = j / K * K + i % K;
            if (j != i && j < n)
                A[i * n + j] = A[j * n + i] = 1;
        }
    for (int p = 0; p < n * n; p++)
        degree[p / n] += A[p];
    for (int p = 0; p < n * n; p++)
        A[p] = A[p] != 0 ? A[p] / sqrt(degree[p / n] * degree[p % n]) : 0;
    free(degree);
    return A;
}

static void against_lapack(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 12; trial++) {
        const int sizes[] = { 40, 51, 64, 65, 200, 400 };
        int n = sizes[trial % 6], K = 2 + trial;
        double *A = graph(&rng, n, K, 4, trial < 6 ? 2 : 10);
        compare_cold(ctx, n, A, 1, 1);
        compare_cold(ctx, n, A, 1, K);
        compare_cold(ctx, n, A, 7, K); /* a loose bound */
        if (n <= 65)
            compare_cold(ctx, n, A, 1, n);
        free(A);
    }
    vhem_free(ctx);
}

/* Copies of one random block, so that every eigenvalue occurs `blocks` times. */
static double *copies(vh_rng *rng, int n, int blocks)
{
    double *A = calloc((size_t)(n * n), sizeof *A);
    int size = n / blocks;
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
            double a = vh_rng_normal(rng) / size;
            for (int b = 0; b < blocks; b++)
                A[(b * size + i) * n + b * size + j] = A[(b * size + j) * n + b * size + i] = a;
        }
    return A;
}

static void repeated(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double w[40];
    (void)state;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 0);
    double *A = graph(&rng, 360, 12, 6, 0), *V = calloc(360 * 40, sizeof *V); /* twelve components */
    for (int k = 5; k <= 15; k += 5) {
        compare_cold(ctx, 360, A, 1, k);
        memset(V, 0, sizeof *V * 360 * (size_t)k);
        find(ctx, 360, A, 1, k, w, V);
        for (int c = 0; c < k; c++)
            assert_true(c < 12 ? fabs(w[c] - 1) < 1e-12 : w[c] < 0.99);
    }
    free(A);
    A = graph(&rng, 360, 60, 6, 0); /* sixty, more than the block holds */
    assert_true(compare_cold(ctx, 360, A, 1, 10) < 100);
    free(A);
    A = copies(&rng, 300, 6);
    for (int k = 1; k < 20; k += 3)
        compare_cold(ctx, 300, A, 1, k);
    free(A);
    free(V);
    vhem_free(ctx);
}

/* Good vectors to start from save work; bad ones do no harm, not even eigenvectors that are not wanted,
 * twice the same, or the null vector. */
static void starts(void **state)
{
    enum { N = 400, K = 12 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double w[2 * K], *V = calloc(2 * K * N, sizeof *V), *U = calloc(2 * K * N, sizeof *U);
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    double *A = graph(&rng, N, K, 5, 4);
    int cold = find(ctx, N, A, 1, 2 * K, w, V);
    memcpy(U, V, sizeof *U * K * N);
    assert_true(3 * compare(ctx, N, A, 1, K, U) < 2 * cold);
    memcpy(U, V + K * N, sizeof *U * K * N); /* the next twelve */
    compare(ctx, N, A, 1, K, U);
    for (int c = 0; c < K; c++)
        memcpy(U + c * N, V, sizeof *U * N);
    compare(ctx, N, A, 1, K, U);
    memset(U, 0, sizeof *U * K * N);
    memcpy(U + 3 * N, V, sizeof *U * 3 * N);
    compare(ctx, N, A, 1, K, U);
    for (int p = 0; p < K * N; p++) /* of any length */
        U[p] = V[p] * 1e-150;
    compare(ctx, N, A, 1, K, U);
    for (int i = 0; i < N; i++) /* a similar matrix */
        for (int j = 0; j < N; j++)
            A[i * N + j] *= 1 - 1e-4 * ((i + j) % 7);
    memcpy(U, V, sizeof *U * K * N);
    int cold_again = compare_cold(ctx, N, A, 1, K);
    assert_true(compare(ctx, N, A, 1, K, U) < cold_again);
    free(A);
    free(V);
    free(U);
    vhem_free(ctx);
}

/* Matrices that have hardly a spectrum. */
static void plain_matrices(void **state)
{
    enum { N = 200 };
    vhem_ctx *ctx = test_ctx();
    double *A = calloc(N * N, sizeof *A);
    (void)state;
    compare_cold(ctx, N, A, 1, 5); /* zero */
    for (int i = 0; i < N; i++)
        A[i * N + i] = 0.7;
    compare_cold(ctx, N, A, 1, 5);
    for (int i = 0; i < N; i++)
        A[i * N + i] = -0.7;
    compare_cold(ctx, N, A, 1, 5);
    for (int i = 0; i < N; i++) /* a single outlier, up or down, and very small numbers */
        A[i * N + i] = i == 17 ? 1 : -0.7;
    compare_cold(ctx, N, A, 1, 3);
    for (int i = 0; i < N; i++)
        A[i * N + i] = i == 17 ? -1e-30 : 1e-31;
    compare_cold(ctx, N, A, 1e-30, 3);
    for (int p = 0; p < N * N; p++) /* of rank 1 */
        A[p] = 1.0 / N;
    compare_cold(ctx, N, A, 1, 4);
    compare_cold(ctx, 1, A, 1, 1);
    compare_cold(ctx, 2, A, 1, 2);
    for (int i = 0; i < N; i++) /* a ladder far below zero */
        for (int j = 0; j < N; j++)
            A[i * N + j] = i == j ? -3 - i : 0;
    compare_cold(ctx, N, A, 300, 6);
    free(A);
    vhem_free(ctx);
}

/* Eigenvalues cos(2 pi j / n), which differ by less than a short search can tell. */
static void flat_edge(void **state)
{
    enum { N = 3000, K = 10 };
    vhem_ctx *ctx = test_ctx();
    ring r = { N, { 1, 1 }, { 0.25, 0.25 }, 0 };
    double w[K], *V = calloc(K * N, sizeof *V);
    (void)state;
    assert_ok(ctx, vh_eigen_find(ctx, &(vh_operator){ N, 1, multiply_ring, &r }, K, w, V));
    assert_true(r.rows < 700 * N);
    for (int c = 0; c < K; c++) {
        double want = cos(2 * acos(-1) * ((c + 1) / 2) / N);
        assert_true(w[c] <= want + 1e-12);
        assert_near(w[c], want, 0, 1e-3);
    }
    assert_orthonormal(N, K, V);
    free(V);
    vhem_free(ctx);
}

/* Large enough for several threads: 350 separate rings of 40 nodes. */
static void any_threads(void **state)
{
    enum { N = 14000, K = 3 };
    const int threads[3] = { 1, 2, 5 };
    double w[3][K], *V[3];
    (void)state;
    for (int t = 0; t < 3; t++) {
        vhem_ctx *ctx = test_ctx_with(NULL, threads[t], 1);
        ring r = { N, { N / 40, N / 8 }, { 0.45, 0.05 }, 0 };
        V[t] = calloc(K * N, sizeof *V[t]);
        assert_ok(ctx, vh_eigen_find(ctx, &(vh_operator){ N, 1, multiply_ring, &r }, K, w[t], V[t]));
        assert_memory_equal(w[t], w[0], sizeof w[0]);
        assert_memory_equal(V[t], V[0], sizeof *V[0] * K * N);
        vhem_free(ctx);
    }
    for (int c = 0; c < K; c++)
        assert_near(w[0][c], 1, 0, 1e-12);
    for (int t = 0; t < 3; t++)
        free(V[t]);
}

/* A single large eigenvalue, and those below it a hundred times as small: from a kernel on a line of
 * groups. */
static void an_outlier(void **state)
{
    enum { N = 300 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double *A = calloc(N * N, sizeof *A);
    (void)state;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 0);
    double *B = graph(&rng, N, 10, 5, 3);
    for (int p = 0; p < N * N; p++)
        A[p] = 0.99 / N + 0.01 * B[p];
    for (int k = 1; k < 40; k += 12)
        assert_true(compare_cold(ctx, N, A, 1, k) < 200);
    for (int p = 0; p < N * N; p++)
        A[p] = 1.0 / N + 1e-5 * B[p];
    compare_cold(ctx, N, A, 1.1, 12);
    free(A);
    free(B);
    vhem_free(ctx);
}

static void in_memory(void **state)
{
    enum { N = 300, K = 4 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double w[K], u[K], *V = calloc(K * N, sizeof *V), *U = malloc(sizeof *U * K * N);
    (void)state;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    double *A = graph(&rng, N, K, 4, 3);
    find(ctx, N, A, 1, K, w, V);
    assert_ok(ctx, vh_eigen_find_dense(ctx, N, A, 1, K, u, U)); /* whatever was in U */
    vh_eigen_fix_signs(N, K, V);
    vh_eigen_fix_signs(N, K, U);
    for (int p = 0; p < K * N; p++)
        assert_near(U[p], V[p], 0, 1e-8);
    for (int c = 0; c < K; c++) {
        double least = 0, most = 0;
        for (int i = 0; i < N; i++) {
            least = fmin(least, V[c * N + i]);
            most = fmax(most, V[c * N + i]);
        }
        assert_true(most >= -least);
    }
    free(A);
    free(V);
    free(U);
    vhem_free(ctx);
}

static void ends(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double w[3], V[3 * 100] = { 0 };
    (void)state;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    double *A = graph(&rng, 100, 3, 4, 3);
    counted c = { 100, A, 0 };
    A[57] = NAN;
    assert_int_equal(vh_eigen_find(ctx, &(vh_operator){ 100, 1, multiply, &c }, 3, w, V), VHEM_ENUMERIC);
    A[57] = 0;
    vhem_ctx_stop(ctx);
    assert_fails(ctx, vh_eigen_find(ctx, &(vh_operator){ 100, 1, multiply, &c }, 3, w, V), VHEM_ESTOPPED,
                 "stopped");
    free(A);
    vhem_free(ctx);
}

/* Graphs that fall apart, and cliques: many eigenvalues are equal, of which LAPACK's fastest way misses some,
 * here and there, and does not say so. */
static void equal_eigenvalues(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3000; turn++) {
        enum { MOST = 44 };
        double copy[MOST * MOST], V[MOST * MOST], w[MOST];
        vh_rng rng;
        vh_rng_init(&rng, 5, VH_RNG_TEST, (uint64_t)turn);
        int n = 20 + (int)vh_rng_below(&rng, 25), K = 2 + (int)vh_rng_below(&rng, 5);
        int k = 1 + (int)vh_rng_below(&rng, n), links = 1 + (int)vh_rng_below(&rng, 4 * n);
        double *A = graph(&rng, n, K, links, 0);
        memcpy(copy, A, sizeof *copy * (size_t)(n * n));
        assert_true(vh_eigen_leading(n, copy, k, w, V));
        for (int c = 1; c < k; c++)
            assert_true(w[c] <= w[c - 1]);
        assert_near(w[0], 1, 1e-12, 0);
        assert_near_orthonormal(n, k, V, 1e-9); /* of equal eigenvalues LAPACK's vectors are less exact */
        assert_true(residual(n, A, k, w, V) < 1e-9);
        free(A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_lapack),    cmocka_unit_test(repeated),   cmocka_unit_test(starts),
        cmocka_unit_test(plain_matrices),    cmocka_unit_test(flat_edge),  cmocka_unit_test(any_threads),
        cmocka_unit_test(in_memory),         cmocka_unit_test(an_outlier), cmocka_unit_test(ends),
        cmocka_unit_test(equal_eigenvalues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
