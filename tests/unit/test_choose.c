/* SPDX-License-Identifier: BSD-3-Clause */
/* test_choose.c - the choice of K and S: what each row says, and that the right one is seen. */
#include "cluster_samples.h"
#include "vhem.h"

static void test_rows(void **state)
{
    static const int K[] = { 1, 3, 6 }, S[] = { 0, 1 };
    vhem_ctx *ctx = test_ctx_with(NULL, 0, 1);
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 8, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vhem_choice rows[6];
    vh_clustering *c = NULL;
    (void)state;
    opt.restarts = 10;
    assert_ok(ctx, call_choose(ctx, h3m, 3, K, 2, S, 2, &opt, rows));
    for (int k = 0; k < 6; k++) {
        double n = K[k / 2], s = rows[k].S;
        assert_int_equal(rows[k].K, K[k / 2]);
        assert_int_equal(rows[k].S, k % 2 ? 1 : 2);
        assert_near(rows[k].n_param, n - 1 + n * (s - 1 + s * (s - 1) + s * 4), 1e-12, 0);
        assert_near(rows[k].bic, -2 * rows[k].loglik + rows[k].n_param * log(24), 1e-12, 0);
        assert_true(rows[k].icl >= rows[k].bic);
    }
    assert_true(rows[2].bic < rows[0].bic && rows[2].bic < rows[4].bic);
    assert_true(rows[2].stability > 0.99 && rows[4].stability < rows[2].stability);
    assert_true(isnan(rows[0].stability)); /* one cluster is always stable, which says nothing */
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_true(rows[2].bound == c->bound[c->n_iter]);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void test_refuses(void **state)
{
    static const int K[] = { 9 }, S[] = { 0 };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 2, 4, 2, 1, 2, 0, 0.3);
    vhem_choice row = { .K = 77 };
    (void)state;
    assert_fails(ctx, call_choose(ctx, h3m, 1, K, 1, S, 0, NULL, &row), VHEM_EINVAL,
                 "K is 9, but there are only 8 models");
    assert_int_equal(row.K, 77);
    assert_fails(ctx, call_choose(ctx, h3m, 0, K, 1, S, 0, NULL, &row), VHEM_EINVAL,
                 "nothing to choose from");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The evidence, what is needed, other seeds, and the path. */
static void test_evidence(void **state)
{
    static const int64_t K[] = { 2, 5 };
    static const int S[] = { 0 };
    const vhem_choose_options want = {
        .size = sizeof(vhem_choose_options), .n_K = 2, .n_S = 1, .K = K, .S = S, .n_seeds = 1, .n_path = 3
    };
    vhem_ctx *ctx = test_ctx_with(NULL, 0, 1);
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 8, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vhem_choice rows[5];
    (void)state;
    opt.restarts = 10;
    assert_ok(ctx, vhem_choose(ctx, &(vhem_source){ .models = HMMS(h3m) }, &want, &opt, rows));
    assert_true(rows[0].K_used == 2 && rows[1].K_used == 3 && rows[1].S_used == 2);
    assert_true(rows[1].evidence > rows[0].evidence && rows[0].frames == 10);
    assert_true(rows[1].same_runs > 0 && rows[0].same_seeds > 0);
    for (int k = 2; k < 5; k++) {
        assert_true(rows[k].path && rows[k].K == 5 && isnan(rows[k].bic));
        assert_near(rows[k].frames, 10 * pow(10, (k - 3) / 2.0), 1e-12, 0);
    }
    assert_true(rows[3].evidence == rows[1].evidence && !rows[1].path);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* What is finished is not made again: a choice that may not begin anything any more is made from its
 * checkpoint, with the same bits, and one with other options is not. */
static void test_checkpoint(void **state)
{
    static const int64_t K[] = { 1, 3 };
    static const int S[] = { 0 };
    const vhem_choose_options want = { .size = sizeof(vhem_choose_options),
                                       .n_K = 2,
                                       .n_S = 1,
                                       .K = K,
                                       .S = S,
                                       .n_splits = 2,
                                       .n_seeds = 1,
                                       .n_path = 1 };
    vhem_ctx *ctx = test_ctx_with(NULL, 0, 1), *again = test_ctx_with(NULL, 0, 1);
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 8, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vhem_choice plain[3], rows[3], other[3];
    const char *path = test_scratch("choose");
    (void)state;
    opt.restarts = 3;
    memset(plain, 0, sizeof plain);
    memset(rows, 0, sizeof rows);
    const vhem_source source = { .models = HMMS(h3m) };
    assert_ok(ctx, vhem_choose(ctx, &source, &want, &opt, plain));
    opt.checkpoint = path;
    assert_ok(ctx, vhem_choose(ctx, &source, &want, &opt, rows));
    vhem_ctx_stop(again);
    memset(rows, 0, sizeof rows);
    assert_ok(again, vhem_choose(again, &source, &want, &opt, rows));
    assert_memory_equal(rows, plain, sizeof rows);
    opt.tau = 7;
    assert_int_equal(vhem_choose(again, &source, &want, &opt, other), VHEM_ESTOPPED);
    opt.tau = -1;
    h3m->omega[0] += 1e-9;
    assert_int_equal(vhem_choose(again, &source, &want, &opt, other), VHEM_ESTOPPED);
    remove(path);
    vh_h3m_free(h3m);
    vhem_free(again);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_evidence),
                                        cmocka_unit_test(test_checkpoint), cmocka_unit_test(test_refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
