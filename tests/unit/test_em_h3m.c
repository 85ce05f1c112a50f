/* SPDX-License-Identifier: BSD-3-Clause */
/* test_em_h3m.c - clustering sequences by EM-H3M and models by SHEM-H3M: assignments against brute force,
 * known clusters, trees, given starts, repairs, and requests that make no sense. */
#include "cluster_samples.h"
#include "engine.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* Two states at -a and a; which of them a chain stays in is all that tells the clusters apart. */
static vh_h3m *switchers(vhem_ctx *ctx, int K)
{
    vhem_hmm_view v[4];
    static const double stay[] = { 0.95, 0.5, 0.05, 0.8 };
    static const double pi[] = { 0.5, 0.5 }, c[] = { 1, 1 }, mu[] = { -3, 0, 3, 0 }, cov[] = { 1, 1, 1, 1 };
    double A[4][4];
    vh_h3m *h3m = NULL;
    for (int i = 0; i < K; i++) {
        double row[] = { stay[i], 1 - stay[i], 1 - stay[i], stay[i] };
        memcpy(A[i], row, sizeof row);
        v[i] = (vhem_hmm_view){ .S = 2,
                                .M = 1,
                                .d = 2,
                                .omega = 1.0 / K,
                                .pi = pi,
                                .A = A[i],
                                .c = c,
                                .mu = mu,
                                .cov = cov,
                                .name = "",
                                .label = "" };
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, K, v, &h3m));
    return h3m;
}

/* Sequence n from HMM truth[n], three to a group; groups do not mix. */
static vhem_data *sequences(vhem_ctx *ctx, const vh_h3m *h3m, int N, int T, int *truth)
{
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    for (int n = 0; n < N; n++) {
        vh_rng rng;
        char name[16], group[16];
        double(*y)[2] = malloc(sizeof *y * (size_t)T);
        vh_rng_init(&rng, 11, VH_RNG_TEST, (uint64_t)n);
        truth[n] = n / 3 % (int)h3m->K;
        vhem_hmm_view v = view_of(h3m, truth[n]);
        int64_t s = vh_rng_pick(&rng, 2, v.pi);
        for (int t = 0; t < T; t++) {
            for (int k = 0; k < 2; k++)
                y[t][k] = v.mu[s * 2 + k] + vh_rng_normal(&rng);
            s = vh_rng_pick(&rng, 2, v.A + s * 2);
        }
        snprintf(name, sizeof name, "s%d", n);
        snprintf(group, sizeof group, "g%d", n / 3);
        add_sequence(ctx, b, y[0], T, name, NULL, group, 1 + n % 2);
        free(y);
    }
    return finish(ctx, b);
}

static vhem_cluster_options em_options(void)
{
    vhem_cluster_options opt;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.method = "em-h3m";
    opt.S = 2;
    return opt;
}

/* z, L and J of the answer, from vh_h3m_score alone; for groups that fit into a cache and for larger ones. */
static void against_brute_force(void **state)
{
    enum { N = 12, K = 3 };
    static const int T[] = { 9, 9, 6000 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 3);
    int truth[N];
    double score[N * K];
    (void)state;
    for (int trial = 0; trial < 3; trial++) {
        vhem_data *data = sequences(ctx, h3m, N, T[trial], truth);
        int by_group = trial > 0;
        vhem_cluster_options opt = em_options();
        vh_clustering *c = NULL;
        int per = by_group ? 3 : 1;
        opt.max_iter = 4;
        opt.tol = 0;
        assert_ok(ctx, call_cluster_data(ctx, data, by_group, K, &opt, &c));
        assert_int_equal(c->Kb, N / per);
        assert_string_equal(c->name[1], by_group ? "g1" : "s1");
        assert_ok(ctx, vh_h3m_score(ctx, c->centers, data, score));
        double J = 0;
        for (int g = 0; g < N / per; g++) {
            double x[K], sum = 0, top = -INFINITY;
            for (int j = 0; j < K; j++) {
                double L = 0;
                for (int n = g * per; n < (g + 1) * per; n++)
                    L += (1 + n % 2) * score[n * K + j];
                assert_near(c->L_hmm[g * K + j], L, 1e-10, 0);
                x[j] = log(view_of(c->centers, j).omega) + L;
                top = fmax(top, x[j]);
            }
            for (int j = 0; j < K; j++)
                sum += x[j] = exp(x[j] - top);
            J += log(sum) + top;
            for (int j = 0; j < K; j++)
                assert_near(c->z[g * K + j], x[j] / sum, 1e-8, 1e-12);
        }
        assert_int_equal(c->n_iter, 4);
        assert_near(c->bound[4], J, 1e-10, 0);
        for (int k = 1; k <= 4; k++)
            assert_true(c->bound[k] >= c->bound[k - 1] - 1e-9 * fabs(J) || c->n_empty + c->n_revived > 0);
        vh_clustering_free(c);
        vhem_free(data);
    }
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Dynamics alone tell the clusters apart: every sequence finds its own, whatever the start. */
static void finds_clusters(void **state)
{
    enum { N = 60 };
    static const char *const init[] = { "far", "dealt", "auto" };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 3);
    int truth[N];
    (void)state;
    vhem_data *data = sequences(ctx, h3m, N, 80, truth);
    for (int k = 0; k < 3; k++) {
        vhem_cluster_options opt = em_options();
        vh_clustering *c = NULL;
        vhem_agreement g;
        opt.init = init[k];
        assert_ok(ctx, call_cluster_data(ctx, data, false, 3, &opt, &c));
        vhem_partition_compare(N, c->label, truth, &g);
        assert_true(g.adjusted_rand > 0.99);
        assert_true(c->converged);
        assert_int_equal(c->n_fell, 0);
        assert_int_equal(c->n_run, 10);
        vh_clustering_free(c);
    }
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* All sequences of a cluster stay together, level by level. */
static void tree_of_sequences(void **state)
{
    enum { N = 48 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 4);
    int truth[N], K[] = { 6, 4, 2 };
    vhem_tree *tree = NULL;
    const char *path = test_scratch("tree.json");
    (void)state;
    vhem_data *data = sequences(ctx, h3m, N, 60, truth);
    vhem_cluster_options opt = em_options();
    opt.restarts = 4;
    assert_ok(ctx, call_tree_build_data(ctx, data, true, 3, K, &opt, &tree));
    for (int l = 0; l < 3; l++) {
        const vh_clustering *c = vh_tree_level(tree, l);
        const int *base = vh_tree_base_labels(tree, l);
        assert_int_equal(c->Kr, K[l]);
        assert_int_equal(vh_tree_level(tree, 0)->Kb, N / 3);
        for (int a = 0; l > 0 && a < N / 3; a++)
            for (int b = 0; b < N / 3; b++)
                if (vh_tree_base_labels(tree, l - 1)[a] == vh_tree_base_labels(tree, l - 1)[b])
                    assert_int_equal(base[a], base[b]);
    }
    assert_ok(ctx, vhem_tree_save(ctx, tree, NULL, path));
    vhem_free(tree);
    tree = NULL;
    assert_ok(ctx, vhem_tree_load(ctx, path, &tree));
    assert_int_equal(tree->n, 3);
    assert_string_equal(vh_tree_level(tree, 1)->name[0], "cluster_0");
    remove(path);
    vhem_free(tree);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* A start is where the run begins, to the last digit; its states keep their numbers. */
static void given_start(void **state)
{
    enum { N = 12 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 3), *start = switchers(ctx, 2);
    int truth[N];
    vh_clustering *c = NULL;
    (void)state;
    vhem_data *data = sequences(ctx, h3m, N, 20, truth);
    vhem_cluster_options opt = em_options();
    opt.S = -1;
    opt.start = HMMS(start);
    opt.tol = opt.cov_floor = 0;
    opt.max_iter = 0;
    assert_ok(ctx, call_cluster_data(ctx, data, false, 0, &opt, &c));
    assert_int_equal(c->Kr, 2);
    assert_int_equal(c->n_iter, 0);
    assert_true(vh_h3m_compare(c->centers, start) == 0);
    assert_string_equal(c->run[0].init, "given");
    vh_clustering_free(c);
    vhem_free(data);
    vh_h3m_free(h3m);
    vh_h3m_free(start);
    vhem_free(ctx);
}

/* A cluster so far away that nobody belongs to it comes back; without repairs it stays away. */
static void empty_cluster(void **state)
{
    enum { N = 30 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 2), *start = switchers(ctx, 2);
    int truth[N];
    (void)state;
    vhem_data *data = sequences(ctx, h3m, N, 80, truth);
    for (int k = 0; k < 4; k++)
        vh_hmm_param(start, &start->hmm[1], 0)[k] = 1e4;
    for (int repair = 0; repair <= 1; repair++) {
        vhem_cluster_options opt = em_options();
        vh_clustering *c = NULL;
        opt.start = HMMS(start);
        opt.repair = repair;
        assert_ok(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c));
        assert_int_equal(c->n_empty > 0, repair);
        assert_int_equal(view_of(c->centers, 1).omega > 0, repair);
        for (int n = 0; repair && n < N; n++)
            assert_int_equal(c->label[n] == c->label[0], truth[n] == truth[0]);
        vh_clustering_free(c);
    }
    vhem_free(data);
    vh_h3m_free(h3m);
    vh_h3m_free(start);
    vhem_free(ctx);
}

/* One sequence says the same all the time: without a floor the cluster it ends up alone in collapses.
 * Restarts in which that does not happen stand; when it happens in all, the call fails. */
static void collapse(void **state)
{
    enum { N = 12, T = 6 };
    vhem_ctx *ctx = test_ctx();
    vhem_cluster_options opt = em_options();
    vh_clustering *c = NULL;
    vhem_data *data = NULL;
    double y[N * T];
    int length[N];
    vh_rng rng;
    (void)state;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    for (int k = 0; k < N * T; k++) {
        y[k] = k < T ? 5 : 3 * vh_rng_normal(&rng);
        length[k / T] = T;
    }
    assert_ok(ctx, call_wrap(ctx, N, length, 1, y, &data));
    opt.S = 1;
    opt.cov_floor = 0;
    opt.max_iter = 20;
    opt.restarts = 8;
    assert_ok(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c));
    assert_true(c->n_run >= 1 && c->n_run < 8);
    assert_true(isfinite(c->bound[c->n_iter]));
    vh_clustering_free(c);
    c = NULL;
    vhem_free(data);
    for (int k = 0; k < N * T; k++)
        y[k] = k / T % 2;
    assert_ok(ctx, call_wrap(ctx, N, length, 1, y, &data));
    assert_fails(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c), VHEM_ENUMERIC, "cov_floor");
    assert_null(c);
    vhem_free(data);
    vhem_free(ctx);
}

/* A start from a sequence with few frames for each component: none of them sits on a frame or two. */
static void few_frames(void **state)
{
    enum { N = 12, T = 30 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *two = switchers(ctx, 2);
    vhem_cluster_options opt = em_options();
    vh_clustering *c = NULL;
    int truth[N];
    (void)state;
    vhem_data *data = sequences(ctx, two, N, T, truth);
    opt.M = 4;
    opt.restarts = 1;
    opt.max_iter = 0;
    assert_ok(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c));
    for (int k = 0; k < 2; k++)
        for (int e = 0; e < 2 * 4 * 2; e++)
            assert_true(view_of(c->centers, k).cov[e] > 0.02);
    vh_clustering_free(c);
    vhem_free(data);
    vh_h3m_free(two);
    vhem_free(ctx);
}

static void bad_requests(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = switchers(ctx, 3), *out = NULL;
    int truth[6], K[] = { 7, 2 };
    vh_clustering *c = NULL;
    vhem_tree *tree = NULL;
    vhem_fit_options fit;
    (void)state;
    vhem_data *data = sequences(ctx, h3m, 6, 20, truth);
    vhem_cluster_options opt = em_options();
    assert_fails(ctx, call_cluster_data(ctx, data, false, 7, &opt, &c), VHEM_EINVAL,
                 "K is 7, but there are only 6 sequences");
    assert_fails(ctx, call_cluster_data(ctx, data, true, 7, &opt, &c), VHEM_EINVAL,
                 "K is 7, but there are only 2 groups");
    assert_fails(ctx, call_tree_build_data(ctx, data, true, 2, K, &opt, &tree), VHEM_EINVAL,
                 "there are only 2");
    opt = em_options();
    opt.init = "pooled";
    assert_fails(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c), VHEM_EINVAL,
                 "known are auto, far, dealt");
    opt = em_options();
    opt.tau = 5;
    assert_fails(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c), VHEM_EINVAL,
                 "method em-h3m does not use tau");
    opt = em_options();
    opt.preset = "emhmm";
    assert_fails(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c), VHEM_EINVAL, "does not use preset");
    opt = em_options();
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c), VHEM_EINVAL,
                 "method em-h3m clusters sequences");
    opt.method = "vhem";
    assert_fails(ctx, call_cluster_data(ctx, data, false, 2, &opt, &c), VHEM_EINVAL,
                 "method vhem clusters models");
    assert_null(c);
    VHEM_INIT(VHEM_FIT_OPTIONS, &fit);
    assert_fails(ctx, vh_fit_mixture(ctx, data, &fit, &out, NULL), VHEM_EINVAL, "at least one HMM");
    fit.K = 9;
    assert_fails(ctx, vh_fit_mixture(ctx, data, &fit, &out, NULL), VHEM_EINVAL, "only 6 sequences");
    assert_null(out);
    assert_true(vh_method_find("em-h3m")->takes == VH_DATA && vh_method_find("shem")->takes == VH_MODELS);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* SHEM finds clusters of models, the same at any number of threads; L is about what VHEM bounds. */
static void shem(void **state)
{
    enum { KB = 24 };
    vh_clustering *c[3] = { NULL };
    double above = 0;
    (void)state;
    for (int k = 0; k < 3; k++) {
        vhem_ctx *ctx = test_ctx_with(NULL, 1 + k % 2, 3);
        vh_h3m *three = switchers(ctx, 3), *h3m = NULL;
        vhem_hmm_view v[KB];
        vhem_cluster_options opt;
        for (int i = 0; i < KB; i++) {
            v[i] = view_of(three, i % 3);
            v[i].omega = 1.0 / KB;
        }
        assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 2, KB, v, &h3m));
        VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
        opt.method = k == 2 ? "vhem" : "shem";
        opt.nv = k == 2 ? -1 : 30;
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c[k]));
        for (int i = 0; i < KB; i++)
            assert_int_equal(c[k]->label[i] == c[k]->label[i % 3], 1);
        vh_h3m_free(three);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
    assert_true(same_bits(c[0]->centers, c[1]->centers));
    assert_memory_equal(c[0]->z, c[1]->z, sizeof(double) * KB * 3);
    for (int i = 0; i < KB; i++)
        above += (c[0]->L_hmm[i * 3 + c[0]->label[i]] - c[2]->L_hmm[i * 3 + c[2]->label[i]]) / KB;
    assert_true(above > -0.5 && above < 3); /* an estimate above its bound, but for noise */
    for (int k = 0; k < 3; k++)
        vh_clustering_free(c[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_brute_force),
        cmocka_unit_test(finds_clusters),
        cmocka_unit_test(tree_of_sequences),
        cmocka_unit_test(given_start),
        cmocka_unit_test(empty_cluster),
        cmocka_unit_test(collapse),
        cmocka_unit_test(few_frames),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(shem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
