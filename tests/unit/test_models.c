/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of either kind behind one type: looks, files, subsets and pools; and whatever is in a file by
 * vhem_load. */
#include "support.h"

#include "textures.h"
#include "vhem.h"
#include "vhem/analysis.h"

static vhem_models *hmms(vhem_ctx *ctx, int K)
{
    vhem_models *m = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_hmms(ctx, random_h3m(ctx, &rng, K, 3, 2, 2, 0, 2), &m));
    return m;
}

static vhem_models *textures(vhem_ctx *ctx, int K)
{
    vhem_models *m = NULL;
    vh_rng rng;
    vh_rng_init(&rng, 6, VH_RNG_TEST, 0);
    assert_ok(ctx, vh_models_take_textures(ctx, random_dtm(ctx, &rng, K, 2, 3, 0.8, 2), &m));
    return m;
}

static void looks(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *h = hmms(ctx, 4), *t = textures(ctx, 3);
    vhem_models_facts facts;
    vhem_hmm_view hmm;
    vhem_dt_view dt;
    vhem_column_view column;
    (void)state;
    vhem_models_info(h, &facts);
    assert_true(facts.kind == VHEM_HMMS && facts.K == 4 && facts.d == 2 && facts.S == 3 && facts.M == 2);
    assert_string_equal(facts.emission, "gaussian-diag");
    vhem_models_info(t, &facts);
    assert_true(facts.kind == VHEM_TEXTURES && facts.K == 3 && facts.d == 3 && facts.S == 2);
    assert_null(facts.provenance);
    assert_int_equal(vhem_models_hmm(h, 3, &hmm), VHEM_OK);
    assert_int_equal(vhem_models_hmm(h, 4, &hmm), VHEM_EINVAL);
    assert_int_equal(vhem_models_hmm(t, 0, &hmm), VHEM_EINVAL);
    assert_int_equal(vhem_models_texture(t, 2, &dt), VHEM_OK);
    assert_int_equal(vhem_models_texture(h, 0, &dt), VHEM_EINVAL);
    assert_int_equal(vhem_models_texture(t, (int64_t)1 << 32, &dt), VHEM_EINVAL);
    assert_true(isinf(vhem_models_compare(h, t)));
    assert_int_equal(vhem_models_column(h, 1, &column), VHEM_OK);
    assert_string_equal(column.emission, "gaussian-diag");
    assert_string_equal(column.name, "");
    assert_int_equal(column.symbols.n, 0);
    assert_int_equal(vhem_models_column(h, 2, &column), VHEM_EINVAL);
    assert_int_equal(vhem_models_column(t, 0, &column), VHEM_EINVAL);
    vhem_free(h);
    vhem_free(t);
    vhem_free(NULL);
    vhem_free(ctx);
}

/* What a sequence says about the states, by one call for both kinds. */
static void posteriors(void **state)
{
    enum { T = 5 };
    vhem_ctx *ctx = test_ctx();
    vhem_models *all[] = { hmms(ctx, 2), textures(ctx, 2) };
    (void)state;
    for (int k = 0; k < 2; k++) {
        double gamma[T][3], more[T * 9], loglik = NAN, score[2];
        vhem_data *data = NULL;
        assert_ok(ctx, vhem_sample(ctx, all[k], 1, T, &data));
        assert_ok(ctx, vhem_score(ctx, all[k], &(vhem_source){ .data = data }, score));
        assert_ok(ctx, vhem_posterior(ctx, all[k], 1, data, 0, gamma[0], more, &loglik));
        assert_near(loglik, score[1], 1e-9, 0);
        assert_ok(ctx, vhem_posterior(ctx, all[k], 1, data, 0, gamma[0], NULL, NULL));
        for (int t = 0; k == 0 && t < T; t++)
            assert_near(gamma[t][0] + gamma[t][1] + gamma[t][2], 1, 1e-12, 0);
        assert_fails(ctx, vhem_posterior(ctx, all[k], 2, data, 0, gamma[0], NULL, NULL), VHEM_EINVAL,
                     k == 0 ? "HMM 2 was asked for, but there are 2"
                            : "texture 2 was asked for, but there are 2");
        vhem_free(data);
        vhem_free(all[k]);
    }
    vhem_free(ctx);
}

static void files(void **state)
{
    static const char *const endings[] = { "m.json", "m.h5" };
    vhem_ctx *ctx = test_ctx();
    vhem_models *all[] = { hmms(ctx, 4), textures(ctx, 3) };
    (void)state;
    NEEDS_HDF5();
    for (int k = 0; k < 2; k++)
        for (int e = 0; e < 2; e++) {
            const char *path = test_scratch(endings[e]);
            vhem_models *back = NULL, *again = NULL;
            vhem_models_facts facts;
            assert_ok(ctx, vhem_models_save(ctx, all[k], "{\"seed\": 4}", path));
            assert_ok(ctx, vhem_models_load(ctx, path, &back));
            assert_true(vhem_models_compare(all[k], back) == 0);
            vhem_models_info(back, &facts);
            assert_string_equal(facts.provenance, "{\"seed\": 4}");
            assert_ok(ctx, vhem_models_save(ctx, back, NULL, path)); /* what there is stays */
            assert_ok(ctx, vhem_models_load(ctx, path, &again));
            vhem_models_info(again, &facts);
            assert_string_equal(facts.provenance, "{\"seed\": 4}");
            assert_fails(ctx, vhem_models_save(ctx, back, "7", path), VHEM_EINVAL, "provenance: ");
            vhem_free(back);
            vhem_free(again);
            remove(path);
        }
    vhem_free(all[0]);
    vhem_free(all[1]);
    vhem_free(ctx);
}

static void subsets_and_pools(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *all[] = { hmms(ctx, 4), textures(ctx, 4) };
    (void)state;
    for (int k = 0; k < 2; k++) {
        vhem_models *part = NULL, *pool = NULL, *copy = NULL;
        double *omega = vh_models_omega(all[k]);
        omega[1] = 0;
        assert_ok(ctx, vh_models_with_weight(ctx, all[k], &part));
        assert_int_equal(vh_models_size(part), 3);
        assert_near(vh_models_omega(part)[0] + vh_models_omega(part)[1] + vh_models_omega(part)[2], 1, 1e-14,
                    0);
        assert_ok(ctx, vh_models_pool(ctx, (const vhem_models *[]){ part, all[k] }, (double[]){ 0.25, 0.75 },
                                      2, &pool));
        assert_int_equal(vh_models_size(pool), 7);
        assert_near(vh_models_omega(pool)[3], 0.75 * omega[0], 1e-15, 0);
        assert_ok(ctx, vh_models_subset(ctx, all[k], NULL, 4, &copy));
        assert_true(vhem_models_compare(copy, all[k]) == 0);
        vhem_free(part);
        vhem_free(pool);
        vhem_free(copy);
        for (int i = 0; i < 4; i++)
            omega[i] = 0;
        assert_fails(ctx, vh_models_with_weight(ctx, all[k], &part), VHEM_ENUMERIC,
                     k ? "no texture has any weight" : "no HMM has any weight");
    }
    vhem_models *mixed = NULL;
    assert_fails(ctx, vh_models_pool(ctx, (const vhem_models *const *)all, NULL, 2, &mixed), VHEM_EINVAL,
                 "cannot be pooled");
    vhem_free(all[0]);
    vhem_free(all[1]);
    vhem_free(ctx);
}

/* A file of models, of clusters, of a tree, of sequences: each is what it is, and models can be had from
 * three. */
static void whatever(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vhem_models *h = hmms(ctx, 6), *got = NULL;
    vhem_tree *tree = NULL, *of_models = NULL;
    vhem_data *data = NULL;
    vhem_contents c = { 0 };
    const char *path = test_scratch("any.json"), *table = test_scratch("any.csv");
    (void)state;
    assert_ok(ctx, vhem_models_save(ctx, h, NULL, path));
    assert_ok(ctx, vhem_load(ctx, path, NULL, &c));
    assert_true(c.models && !c.tree && !c.classes && !c.data);
    vhem_free(c.models);
    assert_ok(ctx, vhem_tree_load(ctx, path, &of_models)); /* a level without items */
    const vhem_clustering *level = vhem_tree_level(of_models, 0);
    assert_true(level->Kb == 0 && level->Kr == 6 && vhem_models_compare(level->centers, h) == 0);
    assert_fails(ctx, vhem_tree_save(ctx, of_models, NULL, path), VHEM_EINVAL,
                 "these are models, not clusters");

    assert_ok(ctx, vhem_sample(ctx, h, 5, 30, &data));
    int label[5];
    double score[5], all[5 * 6], best = -INFINITY;
    assert_ok(ctx, vhem_assign(ctx, of_models, &(vhem_source){ .data = data }, label, NULL, score));
    assert_ok(ctx, vhem_score(ctx, h, &(vhem_source){ .data = data }, all));
    for (int k = 0; k < 6; k++) /* equal weights */
        best = fmax(best, all[k]);
    assert_near(score[0], best, 1e-12, 0);
    vhem_free(of_models);

    for (int levels = 1; levels <= 2; levels++) {
        assert_ok(ctx,
                  vhem_cluster(ctx, &(vhem_source){ .models = h }, levels, (int64_t[]){ 3, 2 }, NULL, &tree));
        assert_ok(ctx, vhem_tree_save(ctx, tree, "{\"seed\": 9}", path));
        memset(&c, 0, sizeof c);
        assert_ok(ctx, vhem_load(ctx, path, NULL, &c));
        assert_true(!c.models && c.tree && !c.classes && !c.data);
        vhem_tree_facts facts;
        vhem_tree_info(c.tree, &facts);
        assert_int_equal(facts.levels, levels);
        assert_string_equal(facts.provenance, "{\"seed\": 9}");
        assert_ok(ctx, vhem_models_load(ctx, path, &got)); /* the centres of the lowest level */
        assert_true(vhem_models_compare(got, vhem_tree_level(tree, 0)->centers) == 0);
        vhem_free(got);
        vhem_free(c.tree);
        vhem_free(tree);
    }
    assert_ok(ctx, vhem_data_save(ctx, data, table));
    memset(&c, 0, sizeof c);
    assert_ok(ctx, vhem_load(ctx, table, NULL, &c));
    assert_true(!c.models && !c.tree && !c.classes && c.data);
    vhem_free(c.data);
    test_write(path, "{\"format\": \"vhem-store\"}", 24);
    assert_fails(ctx, vhem_load(ctx, path, NULL, &c), VHEM_EFORMAT, "any.json: format is 'vhem-store'");
    vhem_free(data);
    vhem_free(h);
    remove(path);
    remove(table);
    vhem_free(ctx);
}

/* Of two Gaussians in a state, column by column; and how far draws from them reach. */
static void densities(void **state)
{
    static const double value[] = { -1, 0.5, 3 };
    vhem_ctx *ctx = test_ctx();
    vhem_models *h = hmms(ctx, 2), *t = textures(ctx, 1);
    vhem_hmm_view v;
    vhem_column_view column;
    double p[3][3], lo[2], hi[2], lo2[2], hi2[2];
    (void)state;
    assert_ok(ctx, vhem_models_density(ctx, h, 1, 1, 3, value, &p[0][0]));
    assert_int_equal(vhem_models_hmm(h, 1, &v), VHEM_OK);
    for (int s = 0; s < v.S; s++)
        for (int n = 0; n < 3; n++) {
            double want = 0;
            for (int m = 0; m < 2; m++) {
                double off = value[n] - v.mu[(s * 2 + m) * 2 + 1], var = v.cov[(s * 2 + m) * 2 + 1];
                want += v.c[s * 2 + m] * exp(-off * off / (2 * var)) / sqrt(2 * acos(-1) * var);
            }
            assert_near(p[s][n], want, 1e-12, 1e-300);
        }
    assert_fails(ctx, vhem_models_density(ctx, h, 2, 0, 1, value, p[0]), VHEM_EINVAL, "HMM 2");
    assert_fails(ctx, vhem_models_density(ctx, h, 0, 2, 1, value, p[0]), VHEM_EINVAL, "column 2");
    assert_fails(ctx, vhem_models_density(ctx, t, 0, 0, 1, value, p[0]), VHEM_EINVAL, "must be HMMs");
    assert_int_equal(vhem_models_column(h, 0, &column), VHEM_OK);
    assert_string_equal(column.values, "real");
    assert_int_equal(column.full, 0);

    const vhem_models *sets[] = { h, h };
    assert_ok(ctx, vhem_models_reach(ctx, 1, sets, lo, hi));
    assert_ok(ctx, vhem_models_reach(ctx, 1, sets, lo2, hi2));
    assert_memory_equal(lo, lo2, sizeof lo);
    assert_memory_equal(hi, hi2, sizeof hi);
    assert_ok(ctx, vhem_models_reach(ctx, 2, sets, lo2, hi2));
    for (int k = 0; k < 2; k++) {
        assert_true(lo[k] < v.mu[k] && v.mu[k] < hi[k]);
        assert_true(lo2[k] <= lo[k] && hi[k] <= hi2[k]);
    }
    sets[1] = t;
    assert_fails(ctx, vhem_models_reach(ctx, 2, sets, lo, hi), VHEM_EINVAL, "set 1 holds no HMMs");
    assert_fails(ctx, vhem_models_reach(ctx, 0, sets, lo, hi), VHEM_EINVAL, "must be 1 or more");
    vhem_free(h);
    vhem_free(t);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks),    cmocka_unit_test(posteriors),
        cmocka_unit_test(files),    cmocka_unit_test(subsets_and_pools),
        cmocka_unit_test(whatever), cmocka_unit_test(densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
