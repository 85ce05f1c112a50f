/* SPDX-License-Identifier: BSD-3-Clause */
/* test_assign.c - new models and sequences into clusters. */
#include "cluster_samples.h"
#include "vhem.h"

static vhem_tree *make_tree(vhem_ctx *ctx, const vh_h3m *h3m, const char *preset)
{
    static const int K[] = { 3, 2 };
    vhem_cluster_options opt = cluster_options();
    vhem_tree *tree = NULL;
    opt.restarts = 10;
    opt.preset = preset;
    assert_ok(ctx, call_tree_build(ctx, h3m, 2, K, &opt, &tree));
    return tree;
}

/* The models that were clustered go where they were. */
static void test_models(void **state)
{
    static const char *const presets[] = { NULL, "emhmm" };
    (void)state;
    for (int p = 0; p < 2; p++) {
        vhem_ctx *ctx = test_ctx();
        vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 5, 2, 1, 2, 0, 0.3);
        vhem_tree *tree = make_tree(ctx, h3m, presets[p]);
        const vh_clustering *c = vh_tree_level(tree, 0);
        int label[15][2];
        double posterior[15][3], score[15];
        assert_ok(ctx, call_assign_models(ctx, tree, h3m, &label[0][0], &posterior[0][0], score));
        for (int i = 0; i < 15; i++) {
            assert_int_equal(label[i][0], c->label[i]);
            assert_int_equal(label[i][1], vh_tree_base_labels(tree, 1)[i]);
            assert_near(score[i], c->L_hmm[i * 3 + c->label[i]], 1e-9, 1e-9);
            assert_near(posterior[i][0] + posterior[i][1] + posterior[i][2], 1, 1e-12, 0);
            assert_true(posterior[i][label[i][0]] > 0.99);
        }
        vhem_free(tree);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
}

/* People who overlap and do not weigh the same: each goes where the clustering has it, and where its
 * posterior is largest, however little or much nv virtual samples tell. */
static void test_as_clustered(void **state)
{
    enum { N = 40, K = 3 };
    (void)state;
    int soft = 0;
    for (int p = 0; p < 8; p++) {
        vhem_ctx *ctx = test_ctx_with(NULL, 1, (uint64_t)p);
        vh_rng rng;
        vh_rng_init(&rng, (uint64_t)p, VH_RNG_TEST, 3);
        vh_h3m *h3m = random_h3m(ctx, &rng, N, 2, 1, 2, p % 2, 0.5);
        random_simplex(&rng, N, h3m->omega);
        vhem_cluster_options opt = cluster_options();
        const int Kr = K;
        vhem_tree *tree = NULL;
        opt.restarts = 2;
        opt.nv = pow(10, p % 4 - 1);
        opt.weighted_omega = p % 3 == 0;
        assert_ok(ctx, call_tree_build(ctx, h3m, 1, &Kr, &opt, &tree));
        const vh_clustering *c = vh_tree_level(tree, 0);
        int label[N];
        double z[N][K], score[N];
        assert_ok(ctx, call_assign_models(ctx, tree, h3m, label, &z[0][0], score));
        for (int i = 0; i < N; i++) {
            assert_int_equal(label[i], c->label[i]);
            for (int j = 0; j < K; j++) {
                assert_near(z[i][j], c->z[i * K + j], 1e-9, 1e-9);
                assert_true(z[i][j] <= z[i][label[i]]);
                soft += z[i][j] > 0.1 && z[i][j] < 0.5;
            }
        }
        vhem_free(tree);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
    assert_true(soft > 50);
}

static void test_sequences(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 5, 2, 1, 2, 0, 0.1);
    vhem_tree *tree = make_tree(ctx, h3m, NULL);
    const vh_clustering *c = vh_tree_level(tree, 0);
    vhem_data *data = NULL;
    int label[40][2], wrong = 0;
    double posterior[40][3], loglik[40][3], score[40];
    (void)state;
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, 40, 20, &data));
    assert_ok(ctx, call_assign_data(ctx, tree, data, &label[0][0], &posterior[0][0], score));
    assert_ok(ctx, vh_h3m_score(ctx, c->centers, data, &loglik[0][0]));
    for (int n = 0; n < 40; n++) {
        vhem_seq_view v;
        int from = -1;
        assert_ok(ctx, vhem_data_view(data, n, &v));
        for (int i = 0; i < 15; i++)
            from = strcmp(v.label, c->name[i]) == 0 ? i : from;
        assert_true(from >= 0);
        wrong += label[n][0] != c->label[from];
        assert_int_equal(label[n][1], vh_tree_level(tree, 1)->label[label[n][0]]);
        assert_true(score[n] == loglik[n][label[n][0]]);
        assert_near(posterior[n][0] + posterior[n][1] + posterior[n][2], 1, 1e-12, 0);
    }
    assert_int_equal(wrong, 0);
    vhem_free(data);
    vhem_free(tree);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void test_refuses(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 5, 2, 1, 2, 0, 0.1),
           *d3 = clustered_h3m(ctx, 3, 3, 1, 2, 1, 3, 0, 0.1);
    vh_h3m *full = clustered_h3m(ctx, 3, 3, 1, 2, 1, 2, 1, 0.1);
    vhem_tree *tree = make_tree(ctx, h3m, NULL);
    int label[30] = { -7 };
    double score[30] = { 77 };
    (void)state;
    assert_fails(ctx, call_assign_models(ctx, tree, d3, label, NULL, NULL), VHEM_EINVAL,
                 "the models have dimension 3, but the centres have 2");
    assert_fails(ctx, call_assign_models(ctx, tree, full, label, NULL, NULL), VHEM_EINVAL,
                 "the models have gaussian-full emissions, the centres gaussian-diag");
    vhem_ctx_stop(ctx);
    assert_int_equal(call_assign_models(ctx, tree, h3m, label, NULL, score), VHEM_ESTOPPED);
    assert_true(label[0] == -7 && score[0] == 77);
    vhem_free(tree);
    vh_h3m_free(h3m);
    vh_h3m_free(d3);
    vh_h3m_free(full);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_models), cmocka_unit_test(test_as_clustered),
                                        cmocka_unit_test(test_sequences), cmocka_unit_test(test_refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
