/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tree.c - hierarchies: levels, where the input models end up, empty clusters, files. */
#include "cluster_samples.h"

#include "methods/clustering.h"
#include "cluster/tree.h"
#include "vhem.h"

static vhem_tree *sample(vhem_ctx *ctx)
{
    static const int K[] = { 4, 2, 1 };
    vh_h3m *h3m = clustered_h3m(ctx, 12, 4, 5, 2, 1, 2, 0, 0.3);
    vhem_tree *tree = NULL;
    vhem_cluster_options opt = cluster_options();
    opt.restarts = 10;
    assert_ok(ctx, call_tree_build(ctx, h3m, 3, K, &opt, &tree));
    vh_h3m_free(h3m);
    return tree;
}

static void test_levels(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    (void)state;
    assert_int_equal(tree->n, 3);
    assert_true(found_clusters(vh_tree_level(tree, 0), 4));
    assert_null(vh_tree_level(tree, 3));
    assert_null(vh_tree_base_labels(tree, -1));
    for (int l = 1; l < 3; l++) {
        const vh_clustering *below = vh_tree_level(tree, l - 1), *c = vh_tree_level(tree, l);
        const int *lower = vh_tree_base_labels(tree, l - 1), *upper = vh_tree_base_labels(tree, l);
        assert_int_equal(c->Kb, below->Kr);
        assert_near(c->options.nv, 1e4, 0, 0);
        for (int i = 0; i < 20; i++)
            assert_int_equal(upper[i], c->label[lower[i]]);
        assert_true(c->run[0].seed != below->run[0].seed);
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(vh_tree_base_labels(tree, 2)[i], 0);
    vhem_free(tree);
    vhem_free(ctx);
}

static void test_file(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("tree.json"), *one = test_scratch("one.json");
    vhem_tree *a = sample(ctx), *b = NULL;
    (void)state;
    assert_fails(ctx, vhem_tree_save(ctx, a, "[1]", path), VHEM_EINVAL, "provenance is an array");
    assert_ok(ctx, vhem_tree_save(ctx, a, "{\"seed\": 1}", path));
    assert_ok(ctx, vhem_tree_load(ctx, path, &b));
    assert_int_equal(b->n, 3);
    assert_string_equal(b->provenance, "{\"seed\": 1}");
    for (int l = 0; l < 3; l++) {
        assert_memory_equal(a->base_labels[l], b->base_labels[l], 20 * sizeof(int));
        assert_true(vh_h3m_compare(a->level[l]->centers, b->level[l]->centers) == 0);
    }
    vhem_free(b);
    b = NULL;
    assert_ok(ctx, call_clustering_save(ctx, vh_tree_level(a, 0), one));
    assert_ok(ctx, vhem_tree_load(ctx, one, &b)); /* a clustering is a tree of one level */
    assert_int_equal(b->n, 1);
    assert_memory_equal(a->base_labels[0], b->base_labels[0], 20 * sizeof(int));
    vhem_free(a);
    vhem_free(b);
    remove(path);
    remove(one);
    vhem_free(ctx);
}

static void test_refuses(void **state)
{
    static const int up[] = { 2, 3 }, none[] = { 0 }, many[] = { 9 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 12, 4, 2, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vhem_tree *tree = NULL;
    (void)state;
    assert_fails(ctx, call_tree_build(ctx, h3m, 2, up, &opt, &tree), VHEM_EINVAL,
                 "K of level 2 is 3, level 1 has only 2");
    assert_fails(ctx, call_tree_build(ctx, h3m, 1, none, &opt, &tree), VHEM_EINVAL,
                 "K is 0, must be at least 1");
    assert_fails(ctx, call_tree_build(ctx, h3m, 1, many, &opt, &tree), VHEM_EINVAL,
                 "there are only 8 models");
    assert_fails(ctx, call_tree_build(ctx, h3m, 0, up, &opt, &tree), VHEM_EINVAL, "a tree of 0 levels");
    opt.start = HMMS(h3m);
    assert_fails(ctx, call_tree_build(ctx, h3m, 1, up, &opt, &tree), VHEM_EINVAL, "the start has 8 HMMs");
    const char *path = test_scratch("bad-tree.json");
    const char *text = "{\"format\": \"vhem-tree\", \"version\": 1, \"levels\": [{\"format\": \"x\"}]}";
    test_write(path, text, strlen(text));
    assert_fails(ctx, vhem_tree_load(ctx, path, &tree), VHEM_EFORMAT, "levels[0]: format is 'x'");
    remove(path);
    assert_null(tree);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* A level without the empty centre of the level below: rows move up by one behind it. */
static void test_empty_center(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = NULL;
    vh_clustering *low = NULL, *high = NULL;
    (void)state;
    assert_ok(ctx, vh_clustering_new(ctx, 3, &low));
    assert_ok(ctx, vh_clustering_new(ctx, 2, &high));
    low->Kr = 3;
    low->centers = clustered_h3m(ctx, 1, 3, 1, 2, 1, 2, 0, 0.3);
    low->centers->omega[1] = 0;
    low->label[0] = 2;
    low->label[1] = 0;
    low->label[2] = 2;
    high->Kr = 2;
    high->label[0] = 1;
    high->label[1] = 0;
    assert_ok(ctx, vh_tree_new(ctx, 2, &tree));
    assert_ok(ctx, vh_tree_add(ctx, tree, low));
    assert_ok(ctx, vh_tree_add(ctx, tree, high));
    assert_int_equal(tree->parent[0][1], -1);
    assert_int_equal(tree->parent[0][2], high->label[1]);
    assert_ptr_equal(vhem_tree_level(tree, 0)->parent, tree->parent[0]);
    assert_null(vhem_tree_level(tree, 1)->parent);
    assert_int_equal(tree->base_labels[1][0], 0);
    assert_int_equal(tree->base_labels[1][1], 1);
    vhem_free(tree);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_levels), cmocka_unit_test(test_file),
                                        cmocka_unit_test(test_refuses), cmocka_unit_test(test_empty_center) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
