/* SPDX-License-Identifier: BSD-3-Clause */
/* test_graph.c - graphs of nearest neighbours against their definition, cell by cell of a dense matrix;
 * their modularity; embedding against LAPACK; partitions of groups that are plain to see. */
#include "support.h"

#include "math/graph.h"
#include "math/kmeans.h"
#include "math/linalg.h"
#include "vhem.h"

enum { MOST = 130 };

/* n points of K groups in three dimensions, i % K, and their distances. */
static double *distances(vh_rng *rng, int n, int K, double apart)
{
    double *x = malloc(3 * sizeof *x * (size_t)n), *D = malloc(sizeof *D * (size_t)(n * n));
    for (int p = 0; p < 3 * n; p++)
        x[p] = vh_rng_normal(rng) + (p % 3 == (p / 3 % K) % 3 ? apart * (1 + p / 3 % K / 3) : 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            D[i * n + j] =
                hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]);
    free(x);
    return D;
}

static vh_near lists(vhem_ctx *ctx, vh_rng *rng, int n, int K, double apart, int k)
{
    vh_near near = { 0 };
    double *D = distances(rng, n, K, apart);
    assert_ok(ctx, vh_near_mutual(ctx, n, D, k, &near));
    free(D);
    return near;
}

/* Does item i choose j, of those in `is`? */
static bool chooses(const vh_near *near, int k, const bool *is, int i, int j)
{
    int before = 0;
    for (int e = 0; e < near->k && near->near[i * near->k + e] >= 0; e++) {
        int to = near->near[i * near->k + e];
        if (to == j)
            return before < k && is[j];
        before += is[to];
    }
    return false;
}

static void assert_graph(vhem_ctx *ctx, const vh_near *near, int k, int n, const int64_t *item)
{
    vh_graph g = { 0 };
    bool is[MOST] = { false };
    double total = 0;
    assert_ok(ctx, vh_graph_new(ctx, near, k, n, item, &g));
    assert_int_equal(g.n, n);
    for (int a = 0; a < n; a++)
        is[item ? item[a] : a] = true;
    for (int a = 0; a < n; a++) {
        double row[MOST] = { 0 }, degree = 0;
        for (int64_t e = g.at[a]; e < g.at[a + 1]; e++) {
            assert_true(g.to[e] >= 0 && g.to[e] < n && (e == g.at[a] || g.to[e] > g.to[e - 1]));
            row[g.to[e]] = g.w[e];
        }
        for (int b = 0; b < n; b++) {
            int i = (int)(item ? item[a] : a), j = (int)(item ? item[b] : b);
            double want = 0.5 * chooses(near, k, is, i, j) + 0.5 * chooses(near, k, is, j, i);
            assert_true(row[b] == (a == b ? 0 : want));
            degree += want;
        }
        assert_true(g.degree[a] == degree);
        total += degree;
    }
    assert_true(n > 1 || total == 0);
    vh_graph_free(&g);
    assert_null(g.at);
}

/* All items and some of them, in any order; few neighbours and all; lists shorter than the others are
 * many. */
static void edges(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 1, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 40; trial++) {
        const int sizes[] = { 1, 2, 3, 20, MOST };
        int n = sizes[trial % 5], m = trial % 3 == 0 ? n : 1 + (int)vh_rng_below(&rng, n);
        int64_t item[MOST];
        vh_near near = lists(ctx, &rng, n, 3, 2, m);
        for (int i = 0; i < n; i++)
            item[i] = i;
        for (int i = n - 1; i > 0; i--) {
            int64_t j = vh_rng_below(&rng, i + 1), t = item[i];
            item[i] = item[j];
            item[j] = t;
        }
        for (int k = 1; k <= m; k += 1 + m / 3) {
            assert_graph(ctx, &near, k, n, NULL);
            assert_graph(ctx, &near, k, n, item);
            assert_graph(ctx, &near, k, (n + 1) / 2, item);
            assert_graph(ctx, &near, k, 1, item);
        }
        assert_graph(ctx, &near, m, 0, item);
        vh_near_free(&near);
    }
    vhem_free(ctx);
}

/* sum_ij (W_ij - d_i d_j / 2m) [same part] / 2m, over all pairs. */
static double modularity(const vh_graph *g, const int *label)
{
    double two_m = 0, sum = 0;
    for (int i = 0; i < g->n; i++)
        two_m += g->degree[i];
    for (int i = 0; i < g->n; i++) {
        for (int64_t e = g->at[i]; e < g->at[i + 1]; e++)
            sum += label[i] == label[g->to[e]] ? g->w[e] : 0;
        for (int j = 0; j < g->n; j++)
            sum -= label[i] == label[j] ? g->degree[i] * g->degree[j] / two_m : 0;
    }
    return two_m > 0 ? sum / two_m : 0;
}

/* By the lists alone: each edge once, whichever end chose it. */
static double modularity_of_lists(const vh_near *near, const int *label)
{
    bool is[MOST];
    double m = 0, inside = 0, degree[MOST] = { 0 }, chance = 0;
    memset(is, true, sizeof is);
    for (int i = 0; i < near->n; i++)
        for (int j = 0; j < i; j++)
            if (chooses(near, near->k, is, i, j) || chooses(near, near->k, is, j, i)) {
                m++;
                inside += label[i] == label[j];
                degree[label[i]]++;
                degree[label[j]]++;
            }
    for (int c = 0; c < MOST; c++)
        chance += degree[c] / (2 * m) * (degree[c] / (2 * m));
    return inside / m - chance;
}

static void modularities(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    double Q;
    (void)state;
    vh_rng_init(&rng, 2, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 30; trial++) {
        int label[MOST], parts = 1 + trial % 9, none = 0;
        vh_near near = lists(ctx, &rng, MOST, 4, 1.5, 6);
        vh_graph g = { 0 };
        for (int i = 0; i < MOST; i++)
            label[i] = (int)vh_rng_below(&rng, parts);
        assert_ok(ctx, vh_graph_new(ctx, &near, 6, MOST, NULL, &g));
        assert_ok(ctx, vh_graph_modularity(ctx, &g, label, &Q));
        assert_near(Q, modularity(&g, label), 0, 1e-13);
        assert_ok(ctx, vh_modularity(ctx, &near, label, &Q));
        assert_true(Q == modularity_of_lists(&near, label));
        vh_graph_free(&g);
        const int64_t one = 5;
        assert_ok(ctx, vh_graph_new(ctx, &near, 6, 1, &one, &g));
        assert_ok(ctx, vh_graph_modularity(ctx, &g, &none, &Q));
        assert_true(Q == 0);
        vh_graph_free(&g);
        vh_near_free(&near);
    }
    vhem_free(ctx);
}

/* Cosines between the rows of X [n][k] are those between rows of the leading eigenvectors by LAPACK. */
static void assert_embedding(const vh_graph *g, int k, const double *w, const double *X)
{
    int n = g->n;
    double *L = calloc((size_t)(n * n), sizeof *L), *V = malloc(sizeof *V * (size_t)(n * k)),
           *want = malloc(sizeof *want * (size_t)k);
    for (int i = 0; i < n; i++)
        for (int64_t e = g->at[i]; e < g->at[i + 1]; e++)
            L[i * n + g->to[e]] = g->w[e] / sqrt(g->degree[i] * g->degree[g->to[e]]);
    assert_true(vh_eigen_leading(n, L, k, want, V));
    for (int c = 0; c < k; c++)
        assert_near(w[c], want[c], 0, 1e-11);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double dot[3] = { 0 }, got = 0;
            for (int c = 0; c < k; c++) {
                dot[0] += V[c * n + i] * V[c * n + j];
                dot[1] += V[c * n + i] * V[c * n + i];
                dot[2] += V[c * n + j] * V[c * n + j];
                got += X[i * k + c] * X[j * k + c];
            }
            assert_near(got, dot[0] / sqrt(dot[1] * dot[2]), 0, 1e-6);
        }
    free(L);
    free(V);
    free(want);
}

static void embeddings(void **state)
{
    enum { N = 240, K = 6 };
    static double X[N * N], V[K * N], w[N], u[K];
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_graph g = { 0 }, small = { 0 };
    int64_t half[N / 2];
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    vh_near near = lists(ctx, &rng, N, K, 4, 20);
    assert_ok(ctx, vh_graph_new(ctx, &near, 10, N, NULL, &g));
    assert_ok(ctx, vh_graph_embed(ctx, &g, K, w, NULL, X));
    assert_embedding(&g, K, w, X);
    for (int turn = 0; turn < 2; turn++) { /* from nothing, and from the vectors themselves */
        assert_ok(ctx, vh_graph_embed(ctx, &g, K, u, V, X));
        assert_embedding(&g, K, u, X);
        for (int c = 0; c < K; c++)
            for (int i = 0; i < N; i++) {
                double sum = 0;
                for (int64_t e = g.at[i]; e < g.at[i + 1]; e++)
                    sum += g.w[e] / sqrt(g.degree[i] * g.degree[g.to[e]]) * V[c * N + g.to[e]];
                assert_near(sum, u[c] * V[c * N + i], 0, 2e-9);
            }
    }
    assert_ok(ctx, vh_graph_embed(ctx, &g, N, w, NULL, X)); /* all eigenvectors */
    assert_near(w[0], 1, 0, 1e-12);
    assert_true(w[N - 1] >= -1);
    for (int i = 0; i < N / 2; i++)
        half[i] = 2 * i + (i & 1);
    assert_ok(ctx, vh_graph_new(ctx, &near, 5, N / 2, half, &small));
    assert_ok(ctx, vh_graph_embed(ctx, &small, 3, w, NULL, X));
    assert_embedding(&small, 3, w, X);
    vh_graph_free(&g);
    vh_graph_free(&small);
    vh_near_free(&near);
    vhem_free(ctx);
}

/* Rings of nodes, each one component; a list has the next node of the ring only.  size [K]; those of one
 * node are isolated. */
static vh_near rings(int K, const int *size, int *component)
{
    vh_near near = { .k = 1 };
    for (int c = 0; c < K; c++)
        near.n += size[c];
    near.near = malloc(sizeof *near.near * (size_t)near.n);
    for (int c = 0, i = 0; c < K; c++)
        for (int e = 0; e < size[c]; e++, i++) {
            near.near[i] = size[c] == 1 ? -1 : e + 1 < size[c] ? i + 1 : i + 1 - size[c];
            component[i] = c;
        }
    return near;
}

static void assert_same_parts(int n, const int *a, const int *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_true((a[i] == a[j]) == (b[i] == b[j]));
}

/* Embeds, from V (NULL: from nothing), and divides. */
static vhem_status partition(vhem_ctx *ctx, const vh_graph *g, int K, int runs, uint64_t seed, double *V,
                             int *label)
{
    double *own = calloc((size_t)K * (size_t)g->n, sizeof *own);
    assert_non_null(own);
    vhem_status st = vh_graph_embed(ctx, g, K, NULL, V ? V : own, NULL);
    if (st == VHEM_OK)
        st = vh_graph_partition(ctx, g, V ? V : own, K, runs, seed, label);
    free(own);
    return st;
}

/* Components have orthogonal places, and are the parts; nodes without edges are at 0 and take no part. */
static void components(void **state)
{
    enum { K = 8, N = 4 + 90 + 7 + 30 + 3 + 60 + 1 + 1 };
    vhem_ctx *ctx = test_ctx();
    const int size[K] = { 4, 90, 7, 30, 3, 60, 1, 1 };
    int component[N], label[N];
    double X[N * 6], w[6];
    vh_graph g = { 0 };
    (void)state;
    vh_near near = rings(K, size, component);
    assert_int_equal(near.n, N);
    assert_ok(ctx, vh_graph_new(ctx, &near, 1, N, NULL, &g));
    assert_ok(ctx, vh_graph_embed(ctx, &g, 6, w, NULL, X));
    for (int c = 0; c < 6; c++)
        assert_near(w[c], 1, 0, 1e-12);
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double dot = 0;
            for (int c = 0; c < 6; c++)
                dot += X[i * 6 + c] * X[j * 6 + c];
            /* residuals of 1e-9, in rows as short as 0.1 */
            assert_near(dot, component[i] < 6 && component[i] == component[j], 0, 1e-7);
        }
    assert_ok(ctx, partition(ctx, &g, 6, 10, 1, NULL, label));
    assert_same_parts(N - 2, label, component);
    for (int i = 0; i < N; i++)
        assert_true(label[i] >= 0 && label[i] < 6);
    vh_graph_free(&g);
    free(near.near);
    vhem_free(ctx);
}

/* No edges at all, a single node, as many parts as nodes. */
static void edge_cases(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const int size[5] = { 1, 1, 1, 1, 1 }, two[1] = { 2 };
    int component[5], label[5];
    double X[25], w[5];
    vh_graph g = { 0 };
    (void)state;
    vh_near near = rings(5, size, component);
    assert_ok(ctx, vh_graph_new(ctx, &near, 1, 5, NULL, &g));
    assert_ok(ctx, vh_graph_embed(ctx, &g, 5, w, NULL, X));
    for (int p = 0; p < 25; p++)
        assert_true(X[p] == 0 && w[p / 5] == 0);
    assert_ok(ctx, partition(ctx, &g, 5, 3, 1, NULL, label));
    vh_graph_free(&g);
    assert_ok(ctx, vh_graph_new(ctx, &near, 1, 1, NULL, &g));
    assert_ok(ctx, partition(ctx, &g, 1, 3, 1, NULL, label));
    assert_int_equal(label[0], 0);
    vh_graph_free(&g);
    free(near.near);
    near = rings(1, two, component);
    assert_ok(ctx, vh_graph_new(ctx, &near, 1, 2, NULL, &g));
    assert_int_equal(g.at[2], 2);
    assert_true(g.w[0] == 1);
    assert_ok(ctx, partition(ctx, &g, 2, 3, 1, NULL, label));
    assert_true(label[0] != label[1]);
    vh_graph_free(&g);
    free(near.near);
    vhem_free(ctx);
}

/* The best of several runs of k-means, from any vectors, by any number of threads. */
static void partitions(void **state)
{
    enum { N = 300, K = 6, RUNS = 8 };
    static double X[N * K], V[K * N], centre[K * K];
    int label[3][N], truth[N], again[N], best_label[N];
    double best = INFINITY;
    vh_rng rng;
    vh_graph g = { 0 };
    vhem_ctx *ctx = test_ctx();
    (void)state;
    vh_rng_init(&rng, 4, VH_RNG_TEST, 0);
    vh_near near = lists(ctx, &rng, N, K, 9, 12);
    assert_ok(ctx, vh_graph_new(ctx, &near, 8, N, NULL, &g));
    for (int i = 0; i < N; i++)
        truth[i] = i % K;
    for (int t = 0; t < 3; t++) {
        vhem_ctx *own = test_ctx_with(NULL, t == 0 ? 1 : t == 1 ? 2 : 5, 1);
        assert_ok(own, partition(own, &g, K, RUNS, 7, NULL, label[t]));
        assert_memory_equal(label[t], label[0], sizeof label[0]);
        vhem_free(own);
    }
    assert_same_parts(N, label[0], truth);
    for (int turn = 0; turn < 2; turn++) {
        assert_ok(ctx, partition(ctx, &g, K, RUNS, 7, V, again));
        assert_same_parts(N, again, truth);
    }
    vh_graph_free(&g);
    vh_near_free(&near);
    near = lists(ctx, &rng, N, 1, 0, 12); /* no groups: the runs differ */
    assert_ok(ctx, vh_graph_new(ctx, &near, 8, N, NULL, &g));
    assert_ok(ctx, partition(ctx, &g, K, RUNS, 7, NULL, label[0]));
    assert_ok(ctx, vh_graph_embed(ctx, &g, K, NULL, NULL, X));
    for (int r = 0; r < RUNS; r++) {
        const vh_points points = { N, K, X, NULL };
        vh_kmeans_result found = { .centre = centre, .label = again };
        vh_rng_init(&rng, vh_rng_seed(7, (uint64_t)r), VH_RNG_INIT, 0);
        assert_ok(ctx, vh_kmeans(ctx, &rng, &points, K, 200, &found));
        if (found.spread < best) {
            best = found.spread;
            memcpy(best_label, again, sizeof again);
        }
    }
    assert_memory_equal(label[0], best_label, sizeof best_label);
    vhem_ctx_stop(ctx);
    assert_int_equal(partition(ctx, &g, K, RUNS, 7, NULL, again), VHEM_ESTOPPED);
    vh_graph_free(&g);
    vh_near_free(&near);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),      cmocka_unit_test(modularities), cmocka_unit_test(embeddings),
        cmocka_unit_test(components), cmocka_unit_test(edge_cases),   cmocka_unit_test(partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
