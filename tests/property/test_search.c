/* SPDX-License-Identifier: BSD-3-Clause */
/* test_search.c - the search for clusters: candidates are added to restarts and never replace them; every
 * seed finds groups that are plain to see, however many models there are. */
#include "cluster_samples.h"
#include "vhem.h"
#include "vhem/analysis.h"

#define SLACK 0.003 /* nats per frame, dimension and model, within which modularity decides */

static const vhem_cluster_run *find_run(const vh_clustering *c, const char *init)
{
    for (int r = 0; r < c->n_run; r++)
        if (strcmp(c->run[r].init, init) == 0)
            return &c->run[r];
    return NULL;
}

static double bound_of(const vh_clustering *c)
{
    return c->bound[c->n_iter];
}

static double top_of(const vh_clustering *c)
{
    double top = -INFINITY;
    for (int r = 0; r < c->n_run; r++)
        top = fmax(top, c->run[r].bound);
    return top;
}

static void never_below_restarts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        vhem_ctx *ctx = test_ctx();
        vh_h3m *h3m = clustered_h3m(ctx, seed, 4, 10, 3, 1 + (int)(seed % 2), 2, seed % 3 == 0, 4.0);
        vhem_cluster_options opt = cluster_options();
        vh_clustering *alone = NULL, *all = NULL;
        opt.nv = seed % 4 == 0 ? 0.05 : 1e4;
        opt.restarts = 10;
        opt.search = "restarts";
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2 + (int)(seed % 4), &opt, &alone));
        opt.search = NULL;
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2 + (int)(seed % 4), &opt, &all));
        double slack = SLACK * 2 * all->options.tau * all->options.nv * all->Kb;
        assert_true(bound_of(all) >= bound_of(alone) - slack);
        assert_true(top_of(all) >= bound_of(alone));
        for (int r = 0; r < alone->n_run; r++) /* the restarts are those there were */
            assert_true(alone->run[r].bound == all->run[r].bound);
        assert_true(top_of(all) <= bound_of(all) + slack);
        vh_clustering_free(alone);
        vh_clustering_free(all);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
}

static void candidates_are_told(void **state)
{
    static const char *const names[] = { "settled", "ppk-sc", "kl-sc", "knn5-sc", "knn10-sc" };
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 2, 3, 10, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_true(found_clusters(c, 3));
    assert_string_equal(c->options.search, "auto");
    for (int k = 0; k < 5; k++) {
        const vhem_cluster_run *run = find_run(c, names[k]);
        assert_non_null(run);
        assert_true(run->finished);
        assert_near(run->agreement, 1, 1e-12, 0);
        assert_true(run->modularity > 0.6 && run->modularity < 0.7); /* three equal groups: at most 2/3 */
        assert_true(!run->bounds == !run->label);                    /* of all but the one that was kept */
    }
    vh_clustering_free(c);
    opt.search = "fast";
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_int_equal(c->n_run, 1);
    assert_string_equal(c->run[0].init, "ppk-sc");
    assert_true(found_clusters(c, 3));
    vh_clustering_free(c);
    opt.search = "slow";
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_EINVAL,
                 "search 'slow' is unknown; known are auto, fast, thorough, restarts");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void next_best_partition(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 7, 4, 8, 2, 1, 2, 0, 5.0); /* groups that run into each other */
    vhem_cluster_options opt = cluster_options();
    vh_clustering *best = NULL, *next = NULL, *c = NULL;
    vhem_agreement g;
    (void)state;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &best));
    opt.candidate = 2;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &next));
    vhem_partition_compare(best->Kb, best->label, next->label, &g);
    assert_true(g.adjusted_rand < 0.9);
    assert_true(bound_of(next) <= bound_of(best));
    for (int r = 0; r < best->n_run; r++) /* nothing better differs */
        assert_true(!(best->run[r].bound > bound_of(next)) || !(best->run[r].agreement < 0.9));
    vh_clustering_free(best);
    vh_clustering_free(next);
    opt.candidate = 10000;
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &c), VHEM_EINVAL, "candidate 10000 is asked for");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The run that was kept is the one of all runs that has the bound of the result. */
static const vhem_cluster_run *kept_run(const vh_clustering *c)
{
    for (int r = 0; r < c->n_run; r++)
        if (c->run[r].finished && !c->run[r].bounds && c->run[r].bound == bound_of(c))
            return &c->run[r];
    return NULL;
}

/* Candidates whose bounds are as good as equal are told apart by modularity; beyond that the bound decides.
 * */
static void near_ties(void **state)
{
    int lower = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        vhem_ctx *ctx = test_ctx();
        vh_h3m *h3m = clustered_h3m(ctx, seed, 4, 10, 2, 1, 2, 0, 6.0);
        vhem_cluster_options opt = cluster_options();
        vh_clustering *c = NULL;
        opt.restarts = 5;
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 4, &opt, &c));
        double slack = SLACK * 2 * c->options.tau * c->options.nv * c->Kb;
        const vhem_cluster_run *kept = kept_run(c);
        assert_non_null(kept);
        double top = top_of(c);
        assert_true(bound_of(c) >= top - slack);
        for (int r = 0; r < c->n_run; r++) /* candidates have their partition in the result */
            if (c->run[r].label && c->run[r].bound >= top - slack)
                assert_true(c->run[r].modularity <= kept->modularity);
        lower += bound_of(c) < top;
        vh_clustering_free(c);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
    assert_true(lower > 0); /* it made a difference */
}

/* Models with no spread have no kernel, and no divergence to them is finite: restarts remain. */
static void singular_models(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 2, 3, 6, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    (void)state;
    memset(vh_hmm_param(h3m, &h3m->hmm[4], 1), 0, 4 * sizeof(double));
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_null(find_run(c, "ppk-sc"));
    assert_non_null(find_run(c, "settled"));
    vh_clustering_free(c);
    opt.search = "fast";
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_true(c->n_run > 1);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* More models than starts are judged on, and than distances are found of. */
static void large_sets(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        vhem_ctx *ctx = NULL;
        vhem_ctx_options o;
        VHEM_INIT(VHEM_CTX_OPTIONS, &o);
        o.seed = seed;
        o.threads = 2;
        assert_int_equal(vhem_ctx_new(&o, &ctx), VHEM_OK);
        vh_h3m *h3m = clustered_h3m(ctx, 40 + seed, 8, 525, 2, 1, 2, 0, 0.5);
        vhem_cluster_options opt = cluster_options();
        vh_clustering *c = NULL;
        opt.restarts = 5; /* which miss the groups for most seeds */
        assert_ok(ctx, call_cluster_hmms(ctx, h3m, 8, &opt, &c));
        assert_true(found_clusters(c, 8));
        vh_clustering_free(c);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_below_restarts), cmocka_unit_test(candidates_are_told),
        cmocka_unit_test(next_best_partition),  cmocka_unit_test(singular_models),
        cmocka_unit_test(large_sets),           cmocka_unit_test(near_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
