/* SPDX-License-Identifier: BSD-3-Clause */
/* test_method_distance.c - clustering by distances, spectral and agglomerative: clusters that cannot be
 * missed, what stands for them, trees, threads, and models that are all alike or nothing alike. */
#include "cluster_samples.h"

#include "methods/clustering.h"
#include "vhem.h"
#include "vhem/analysis.h"

static const char *const methods[] = { "ppk-sc",        "ppk-sc-hybrid", "kl-sc", "knn-sc",
                                       "kl-sampled-sc", "ppk-ac",        "kl-ac", "kl-sampled-ac" };
enum { N_METHODS = sizeof methods / sizeof methods[0] };

static bool is_spectral(const char *method)
{
    return strstr(method, "-sc") != NULL;
}

static vh_clustering *cluster(vhem_ctx *ctx, const char *method, const vh_h3m *h3m, int K)
{
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    opt.method = method;
    opt.restarts = is_spectral(method) ? 5 : -1;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, K, &opt, &c));
    return c;
}

static bool among(const vh_h3m *h3m, const vh_h3m *centers, int j)
{
    for (int64_t i = 0; i < h3m->K; i++)
        if (h3m->hmm[i].S == centers->hmm[j].S
            && memcmp(h3m->hmm[i].theta, centers->hmm[j].theta, sizeof(double) * h3m->hmm[i].n_theta) == 0)
            return true;
    return false;
}

static void check_shape(vhem_ctx *ctx, const vh_h3m *h3m, const vh_clustering *c, const char *method)
{
    double sum = 0;
    assert_string_equal(c->method, method);
    assert_null(c->bound);
    assert_int_equal(c->n_run, is_spectral(method) ? 5 : 0);
    assert_ok(ctx, vh_h3m_validate(ctx, c->centers));
    for (int j = 0; j < c->Kr; j++) {
        int members = 0;
        for (int64_t i = 0; i < c->Kb; i++)
            members += c->label[i] == j;
        assert_near(c->centers->omega[j], (double)members / c->Kb, 1e-12, 0);
        assert_int_equal(among(h3m, c->centers, j), strcmp(method, "ppk-sc-hybrid") != 0);
        sum += c->centers->omega[j];
    }
    assert_near(sum, 1, 1e-12, 0);
    for (int k = 0; k < c->Kb * c->Kr; k++) {
        assert_true(c->z[k] == (c->label[k / c->Kr] == k % c->Kr));
        assert_true(isfinite(c->L_hmm[k]));
        assert_true(c->L_hmm[k] <= c->L_hmm[k / c->Kr * c->Kr + c->label[k / c->Kr]] + 1e-9);
    }
}

static void test_finds_clusters(void **state)
{
    vhem_ctx *ctx = test_ctx();
    (void)state;
    for (int full = 0; full < 2; full++) {
        vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 2, 2, full, 0.3);
        for (int m = 0; m < N_METHODS; m++) {
            vh_clustering *c = cluster(ctx, methods[m], h3m, 3);
            if (!found_clusters(c, 3))
                fail_msg("%s missed the clusters", methods[m]);
            check_shape(ctx, h3m, c, methods[m]);
            vh_clustering_free(c);
        }
        vh_h3m_free(h3m);
    }
    vhem_free(ctx);
}

/* The centre of a cluster is the best of several starts: none is worse than from the first alone, some are
 * better. */
static void test_hybrid_restarts(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_cluster_options opt = cluster_options();
    int better = 0;
    (void)state;
    opt.method = "ppk-sc-hybrid";
    for (int seed = 1; seed <= 4; seed++) {
        vh_h3m *h3m = clustered_h3m(ctx, seed, 2, 8, 3, 2, 2, 0, 1.0);
        double fit[2] = { 0 };
        for (int k = 0; k < 2; k++) {
            vh_clustering *c = NULL;
            opt.restarts = k ? 30 : 1;
            assert_ok(ctx, call_cluster_hmms(ctx, h3m, 1, &opt, &c));
            for (int64_t i = 0; i < c->Kb; i++)
                fit[k] += c->L_hmm[i];
            vh_clustering_free(c);
        }
        assert_true(fit[1] > fit[0] - 1e-9);
        better += fit[1] > fit[0] + 1e-3;
        vh_h3m_free(h3m);
    }
    assert_true(better >= 2);
    vhem_free(ctx);
}

static void test_options(void **state)
{
    static const char *const kernels[] = { "normalised", "raw", "scaled" },
                             *const diagonals[] = { "zero", "keep" },
                             *const linkages[] = { "average", "complete", "single" };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 5, 3, 6, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    for (int k = 0; k < 12; k++) {
        opt.method = k < 6 ? "ppk-sc" : "ppk-ac";
        opt.restarts = k < 6 ? 5 : -1;
        opt.kernel = k < 6 ? kernels[k % 3] : NULL;
        opt.diagonal = k < 6 ? diagonals[k / 2 % 2] : NULL;
        opt.linkage = k < 6 ? NULL : linkages[k % 3];
        opt.lambda = k % 2 ? 1 : 0.5;
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
        assert_true(found_clusters(c, 3));
        vh_clustering_free(c);
    }
    c = NULL;
    opt.kernel = "raw";
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_EINVAL,
                 "method ppk-ac does not use kernel");
    opt.kernel = NULL;
    opt.start = HMMS(h3m);
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 0, &opt, &c), VHEM_EINVAL, "method ppk-ac takes no start");
    opt.start = NULL;
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 19, &opt, &c), VHEM_EINVAL, "K is 19");
    opt.linkage = "ward";
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_EINVAL, "linkage 'ward' is unknown");
    assert_null(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void test_threads(void **state)
{
    (void)state;
    for (int m = 0; m < N_METHODS; m++) {
        vh_clustering *c[2];
        for (int t = 0; t < 2; t++) {
            vhem_ctx *ctx = test_ctx_with(NULL, t + 1, 11);
            vh_h3m *h3m = clustered_h3m(ctx, 8, 4, 12, 2, 2, 2, 0, 4.0);
            c[t] = cluster(ctx, methods[m], h3m, 3);
            vh_h3m_free(h3m);
            vhem_free(ctx);
        }
        assert_memory_equal(c[0]->label, c[1]->label, sizeof(int) * 48);
        assert_memory_equal(c[0]->L_hmm, c[1]->L_hmm, sizeof(double) * 48 * 3);
        assert_true(vh_h3m_compare(c[0]->centers, c[1]->centers) == 0);
        for (int r = 0; r < c[0]->n_run; r++)
            assert_true(c[0]->run[r].bound == c[1]->run[r].bound);
        vh_clustering_free(c[0]);
        vh_clustering_free(c[1]);
    }
}

/* 4 clusters, in two pairs.  Levels are nested, and weights are shares of the input models. */
static void test_tree(void **state)
{
    static const int K[] = { 4, 2, 1 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 9, 4, 5, 2, 1, 2, 0, 0.05);
    (void)state;
    for (int64_t i = 0; i < h3m->K; i++) /* clusters 2 and 3 are 0 and 1 moved a little */
        if (i % 4 >= 2) {
            memcpy(h3m->hmm[i].pi, h3m->hmm[i - 2].pi, sizeof(double) * (6 + h3m->hmm[i].n_theta));
            for (int k = 0; k < 4; k++)
                vh_hmm_param(h3m, &h3m->hmm[i], 0)[k] += 1;
        }
    for (int m = 0; m < N_METHODS; m++) {
        vhem_cluster_options opt = cluster_options();
        vhem_tree *tree = NULL;
        int64_t dim;
        int pairs[20];
        vhem_agreement g;
        opt.method = methods[m];
        opt.restarts = is_spectral(methods[m]) ? 10 : -1;
        assert_ok(ctx, call_tree_build(ctx, h3m, 3, K, &opt, &tree));
        assert_true(found_clusters(vh_tree_level(tree, 0), 4));
        for (int i = 0; i < 20; i++)
            pairs[i] = i % 2;
        vhem_partition_compare(20, vh_tree_base_labels(tree, 1), pairs, &g);
        /* In an embedding of 4 directions all of 4 clusters are equally far apart. */
        if (!is_spectral(methods[m]))
            assert_near(g.adjusted_rand, 1, 1e-12, 0);
        for (int l = 0; l < 3; l++) {
            const vh_clustering *c = vh_tree_level(tree, l);
            assert_int_equal(c->Kr, K[l]);
            assert_non_null(vh_clustering_place(c, &dim));
            assert_int_equal(dim, is_spectral(methods[m]) ? 4 : K[l]);
            for (int j = 0; j < c->Kr; j++) {
                int n = 0;
                for (int i = 0; i < 20; i++)
                    n += vh_tree_base_labels(tree, l)[i] == j;
                assert_near(c->centers->omega[j], n / 20.0, 1e-12, 0);
            }
        }
        vhem_free(tree);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Models that are all the same, that have nothing in common, and as many clusters as models. */
static void test_extremes(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *same = clustered_h3m(ctx, 3, 1, 5, 2, 1, 2, 0, 0),
           *apart = clustered_h3m(ctx, 4, 5, 1, 2, 1, 2, 0, 0);
    (void)state;
    for (int k = 0; k < 5 * 4; k++)
        vh_hmm_param(apart, &apart->hmm[k / 4], 0)[k % 4] = 1e160 * (k / 4);
    for (int m = 0; m < N_METHODS; m++) {
        for (int K = 1; K <= 5; K++) {
            vh_clustering *c = cluster(ctx, methods[m], same, K);
            assert_ok(ctx, vh_h3m_validate(ctx, c->centers));
            for (int k = 0; k < c->Kb * c->Kr; k++)
                assert_true(isfinite(c->L_hmm[k]));
            vh_clustering_free(c);
        }
        vhem_cluster_options opt = cluster_options();
        vh_clustering *c = NULL;
        opt.method = methods[m];
        vhem_status st = call_cluster_hmms(ctx, apart, 2, &opt, &c);
        if (st == VHEM_OK)
            assert_ok(ctx, vh_h3m_validate(ctx, c->centers));
        else
            assert_true(vhem_ctx_error(ctx)[0]);
        vh_clustering_free(c);
    }
    vh_h3m_free(same);
    vh_h3m_free(apart);
    vhem_free(ctx);
}

static void test_stop(void **state)
{
    static const int K[] = { 3, 2 };
    (void)state;
    for (int m = 0; m < N_METHODS; m++) {
        vhem_ctx *ctx = test_ctx();
        vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 1, 2, 0, 0.3);
        vhem_cluster_options opt = cluster_options();
        vh_clustering *c = NULL;
        vhem_tree *tree = NULL;
        opt.method = methods[m];
        vhem_ctx_stop(ctx);
        assert_int_equal(call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_ESTOPPED);
        if (c)
            assert_non_null(c->centers);
        assert_int_equal(call_tree_build(ctx, h3m, 2, K, &opt, &tree), VHEM_ESTOPPED);
        vh_clustering_free(c);
        vhem_free(tree);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
}

/* Eigenvectors of a third of the models, and of so many that none is left out, find the groups of all of
 * them. */
static void test_landmarks(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 5, 4, 15, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    opt.restarts = 5;
    for (int m = 0; m < N_METHODS; m++)
        for (int n = 20; is_spectral(methods[m]) && n <= 100; n += 40) {
            opt.method = methods[m];
            opt.landmarks = n;
            assert_ok(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &c));
            for (int64_t i = 0; i < c->Kb; i++)
                for (int64_t k = 0; k < i; k++)
                    if ((c->label[i] == c->label[k]) != (i % 4 == k % 4))
                        fail_msg("%s, %d landmarks: models %d and %d", methods[m], n, (int)k, (int)i);
            vh_clustering_free(c);
            c = NULL;
        }
    opt.method = "ppk-sc";
    opt.landmarks = 3;
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &c), VHEM_EINVAL,
                 "landmarks is 3, must be at least the number of clusters, 4");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The same clusters by landmarks with any number of threads. */
static void test_landmarks_threads(void **state)
{
    (void)state;
    for (int m = 0; m < N_METHODS; m++) {
        vh_clustering *c[2] = { NULL, NULL };
        if (!is_spectral(methods[m]))
            continue;
        for (int t = 0; t < 2; t++) {
            vhem_ctx *ctx = test_ctx_with(NULL, 1 + 2 * t, 11);
            vh_h3m *h3m = clustered_h3m(ctx, 5, 3, 20, 2, 1, 2, 0, 4);
            vhem_cluster_options opt = cluster_options();
            opt.method = methods[m];
            opt.restarts = 2;
            opt.landmarks = 24;
            assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c[t]));
            vh_h3m_free(h3m);
            vhem_free(ctx);
        }
        assert_memory_equal(c[0]->label, c[1]->label, sizeof *c[0]->label * (size_t)c[0]->Kb);
        assert_memory_equal(c[0]->L_hmm, c[1]->L_hmm, sizeof *c[0]->L_hmm * (size_t)(c[0]->Kb * c[0]->Kr));
        vh_clustering_free(c[0]);
        vh_clustering_free(c[1]);
    }
}

static vhem_ctx *to_stop;

/* Of 20,001 models: keeps what is said about landmarks, and stops there. */
static void hear_landmarks(void *arg, int level, const char *text)
{
    (void)level;
    if (!strstr(text, "landmarks"))
        return;
    snprintf(arg, 256, "%s", text);
    vhem_ctx_stop(to_stop);
}

/* At most 20,000 landmarks, asked for or not, and the first thing that is wrong is told before any work. */
static void test_too_many(void **state)
{
    char said[256] = "";
    vhem_ctx_options how;
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    VHEM_INIT(VHEM_CTX_OPTIONS, &how);
    how.threads = 1;
    how.log = hear_landmarks;
    how.log_arg = said;
    assert_int_equal(vhem_ctx_new(&how, &to_stop), VHEM_OK);
    vh_h3m *h3m = clustered_h3m(to_stop, 3, 1, 20001, 1, 1, 1, 0, 1);
    opt.method = "kl-sc";
    opt.landmarks = 30000;
    assert_fails(to_stop, call_cluster_hmms(to_stop, h3m, 2, &opt, &c), VHEM_EINVAL,
                 "20001 landmarks are too many, method kl-sc takes at most 20000");
    opt.landmarks = -1;
    assert_fails(to_stop, call_cluster_hmms(to_stop, h3m, 20001, &opt, &c), VHEM_EINVAL,
                 "20001 clusters are too many");
    assert_fails(to_stop, call_cluster_hmms(to_stop, h3m, 2001, &opt, &c), VHEM_ESTOPPED,
                 "0 of 20001 HMMs were placed");
    assert_non_null(strstr(said, "20000 of 20001 models are landmarks"));
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(to_stop);
}

static void stop_at_second(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)total;
    if (strcmp(what, "cluster") == 0 && done == 2)
        vhem_ctx_stop(to_stop);
}

/* A stop between restarts of k-means is told, and the best so far is whole; so is too little time. */
static void test_cut_short(void **state)
{
    vhem_ctx_options how;
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    VHEM_INIT(VHEM_CTX_OPTIONS, &how);
    how.threads = 1;
    how.progress = stop_at_second;
    assert_int_equal(vhem_ctx_new(&how, &to_stop), VHEM_OK);
    vh_h3m *h3m = clustered_h3m(to_stop, 3, 3, 6, 2, 1, 2, 0, 0.3);
    opt.method = "ppk-sc";
    opt.restarts = 5;
    opt.max_iter = 0;
    assert_fails(to_stop, call_cluster_hmms(to_stop, h3m, 3, &opt, &c), VHEM_ESTOPPED,
                 "the best of 2 restarts");
    assert_int_equal(c->n_run, 2);
    assert_null(c->L_hmm);
    assert_int_equal(c->converged, 0);
    assert_non_null(c->centers);
    for (int64_t i = 0; i < c->Kb; i++)
        assert_true(c->z[i * c->Kr + c->label[i]] == 1);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(to_stop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_clusters), cmocka_unit_test(test_hybrid_restarts),
        cmocka_unit_test(test_options),        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_tree),           cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_stop),           cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_landmarks),      cmocka_unit_test(test_landmarks_threads),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
