/* SPDX-License-Identifier: BSD-3-Clause */
/* test_examples.c - which sequences a report shows, and their states, by hand. */
#include "cluster_samples.h"
#include "vhem.h"
#include "vhem/analysis.h"

/* Items a, b, c in clusters 0, 0, 1.  The centre of cluster 0 has a state at 0 and one at 9, and stays where
 * it is; that of cluster 1 is at 50. */
static vhem_tree *sample(vhem_ctx *ctx)
{
    static const char *const text =
        "{\"format\": \"vhem-clustering\", \"version\": 1, \"method\": \"vhem\","
        "\"options\": {\"tau\": 2}, \"names\": [\"a\", \"b\", \"c\"], \"labels\": [0, 0, 1], \"n_iter\": 0,"
        "\"converged\": true,"
        "\"centers\": {\"format\": \"vhem-h3m\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,"
        "\"omega\": [0.5, 0.5], \"hmms\": ["
        "{\"S\": 2, \"M\": 1, \"pi\": [0.5, 0.5], \"A\": [[0.9, 0.1], [0.1, 0.9]], \"c\": [[1], [1]],"
        "\"mu\": [[[0]], [[9]]], \"cov\": [[[1]], [[1]]]},"
        "{\"S\": 1, \"M\": 1, \"pi\": [1], \"A\": [[1]], \"c\": [[1]], \"mu\": [[[50]]], \"cov\": "
        "[[[1]]]}]}}";
    const char *path = test_scratch("examples.json");
    vhem_tree *tree = NULL;
    test_write(path, text, strlen(text));
    assert_ok(ctx, vhem_tree_load(ctx, path, &tree));
    remove(path);
    return tree;
}

/* Five sequences; the second has a gap. */
static const double y[] = { 0, 9, 9, NAN, 0, 50, 9, 0, 0, 0 };
static const int T[] = { 3, 2, 1, 2, 2 };

static void check(const vhem_examples *e, int k, int64_t sequence, int cluster, int n, const int *path)
{
    assert_int_equal(e->sequence[k], sequence);
    assert_int_equal(e->cluster[k], cluster);
    assert_memory_equal(e->path[k], path, sizeof *path * (size_t)n);
}

/* By name or group; a sequence that has neither is not shown.  A gap is decoded with the rest. */
static void by_name(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    vhem_data *data = NULL;
    vhem_examples *e = NULL;
    (void)state;
    assert_ok(ctx, call_wrap(ctx, 5, T, 1, y, &data));
    assert_ok(ctx, call_describe(ctx, data, (const char *[]){ "new", "a", "x", "b", "a" }, NULL,
                                 (const char *[]){ "", "", "c", "", "" }, NULL, NULL));
    assert_ok(ctx, vhem_examples_find(ctx, tree, data, 2, &e));
    assert_int_equal(e->n, 3);
    check(e, 0, 1, 0, 2, (int[]){ 0, 0 });
    check(e, 1, 2, 1, 1, (int[]){ 0 });
    check(e, 2, 3, 0, 2, (int[]){ 1, 0 });
    vhem_free(e);
    assert_ok(ctx, vhem_examples_find(ctx, tree, data, 1, &e));
    assert_int_equal(e->n, 2);
    vhem_free(e);
    vhem_free(data);
    vhem_free(tree);
    vhem_free(ctx);
}

/* Without names each goes where it fits best. */
static void by_likelihood(void **state)
{
    static const double z[] = { 0, 9, 9, 50 };
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    vhem_data *data = NULL;
    vhem_examples *e = NULL;
    (void)state;
    assert_ok(ctx, call_wrap(ctx, 2, (int[]){ 3, 1 }, 1, z, &data));
    assert_ok(ctx, vhem_examples_find(ctx, tree, data, 2, &e));
    assert_int_equal(e->n, 2);
    check(e, 0, 0, 0, 3, (int[]){ 0, 1, 1 });
    check(e, 1, 1, 1, 1, (int[]){ 0 });
    vhem_free(e);
    vhem_free(data);
    vhem_free(tree);
    vhem_free(ctx);
}

static void refused(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_tree *tree = sample(ctx);
    vhem_data *data = NULL;
    vhem_examples *e = NULL;
    (void)state;
    assert_ok(ctx, call_wrap(ctx, 1, (int[]){ 2 }, 2, (double[]){ 0, 0, 1, 1 }, &data));
    assert_fails(ctx, vhem_examples_find(ctx, tree, data, 0, &e), VHEM_EINVAL, "must be 1 or more");
    assert_fails(ctx, vhem_examples_find(ctx, tree, data, 1, &e), VHEM_EINVAL,
                 "have dimension 2, but the centres have 1");
    assert_null(e);
    vhem_free(data);
    vhem_free(tree);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),
        cmocka_unit_test(by_likelihood),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
