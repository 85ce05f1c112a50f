/* SPDX-License-Identifier: BSD-3-Clause */
/* test_hem_dtm.c - HEM-DTM: J never falls, the M-step is a maximum, clusters are found, trees and files of
 * them, threads, given starts, assignment. */
#include "dtm/infer.h"
#include "textures.h"

#include "dtm/pair.h"
#include "dtm/hem_dtm.h"
#include "vhem.h"

/* Per of each of K random textures, each a little different from the others of its kind and in a basis of its
 * own: x -> F x leaves what frames look like alone. */
static vh_dtm *families(vhem_ctx *ctx, vh_rng *rng, int K, int per, int n, int d)
{
    vh_dtm *kind = random_dtm(ctx, rng, K, n, d, 0.8, n), *all = NULL;
    assert_ok(ctx, vh_dtm_new(ctx, d, K * per, &all));
    for (int i = 0; i < K * per; i++) {
        const vh_dt *from = &kind->dt[i % K];
        vh_dt *dt = &all->dt[i];
        double F[16], inverse[16], work[16];
        int pivot[4];
        char name[16];
        assert_ok(ctx, vh_dt_shape(ctx, d, n, dt));
        vh_dt_copy(dt, from);
        for (int k = 0; k < n * n; k++)
            F[k] = (k % (n + 1) == 0) + 0.3 * vh_rng_normal(rng);
        memcpy(work, F, sizeof work);
        assert_true(vh_inverse(n, work, pivot, inverse, NULL));
        vh_gemm(false, false, n, n, n, 1, F, n, from->A, n, 0, work, n);
        vh_gemm(false, false, n, n, n, 1, work, n, inverse, n, 0, dt->A, n);
        vh_gemm(false, false, n, n, n, 1, F, n, from->Q, n, 0, work, n);
        vh_gemm(false, true, n, n, n, 1, work, n, F, n, 0, dt->Q, n);
        vh_gemm(false, false, n, n, n, 1, F, n, from->Sigma, n, 0, work, n);
        vh_gemm(false, true, n, n, n, 1, work, n, F, n, 0, dt->Sigma, n);
        vh_gemm(false, false, n, 1, n, 1, F, n, from->mu, 1, 0, dt->mu, 1);
        vh_gemm(false, false, d, n, n, 1, from->C, n, inverse, n, 0, dt->C, n);
        for (int k = 0; k < d; k++)
            dt->ybar[k] += 0.05 * vh_rng_normal(rng);
        snprintf(name, sizeof name, "dt_%d", i);
        dt->name = strdup(name);
    }
    vh_dtm_free(kind);
    assert_ok(ctx, vh_dtm_validate(ctx, all));
    return all;
}

static void rises(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 8; trial++) {
        vh_rng rng;
        vh_scratch scratch = { 0 };
        vh_vhem_run run = { 0 };
        int n = 1 + trial % 3, d = 1 + trial % 4;
        vh_rng_init(&rng, 221, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *base = random_dtm(ctx, &rng, 9, n, d, 0.8, n),
               *centers = random_dtm(ctx, &rng, 3, 2, d, 0.6, 2);
        const vh_vhem_options opt = { .N = trial % 2 ? 9 : 0.9, .tau = 1 + trial, .max_iter = 25 };
        assert_ok(ctx, vh_hem_dtm(ctx, base, &opt, &(vh_workers){ 1, &scratch }, centers, &run));
        assert_int_equal(run.n_iter, 25);
        assert_int_equal(run.n_fell, 0);
        for (int k = 1; k <= run.n_iter; k++)
            if (run.J[k] < run.J[k - 1] - 1e-9 * fabs(run.J[k]))
                fail_msg("trial %d: J fell from %.12g to %.12g", trial, run.J[k - 1], run.J[k]);
        assert_true(run.J[25] > run.J[0]);
        for (int i = 0; i < 9; i++)
            assert_near(run.z[3 * i] + run.z[3 * i + 1] + run.z[3 * i + 2], 1, 1e-12, 0);
        assert_ok(ctx, vh_dtm_validate(ctx, centers));
        vh_vhem_run_free(&run);
        vh_scratch_free(&scratch);
        vh_dtm_free(base);
        vh_dtm_free(centers);
    }
    vhem_free(ctx);
}

static void mstep(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 6; trial++) {
        vh_rng rng;
        vh_scratch scratch = { 0 };
        vh_dt_stats s = { 0 };
        vh_dt_gains g = { 0 };
        int n = 1 + trial % 3, d = 1 + trial % 4, n_floored;
        double floor[4] = { 1e-9, 1e-9, 1e-9, 1e-9 }, origin[4];
        vh_rng_init(&rng, 222, VH_RNG_TEST, (uint64_t)trial);
        vh_dtm *base = random_dtm(ctx, &rng, 4, 2, d, 0.8, 2),
               *center = random_dtm(ctx, &rng, 1, n, d, 0.8, n);
        assert_ok(ctx, vh_dt_stats_new(ctx, n, d, &s));
        assert_ok(ctx, vh_dt_gains_new(ctx, &center->dt[0], d, 9, true, &g));
        for (int i = 0; i < 4; i++)
            assert_ok(ctx, vh_dt_pair_accumulate(ctx, &base->dt[i], &g, 9, 0.1 * (i + 1), &scratch, &s));
        memcpy(origin, center->dt[0].ybar, sizeof *origin * (size_t)d);
        const vh_dt_limits lim = { floor, false };
        assert_ok(ctx, vh_dt_maximise(ctx, &s, &lim, &center->dt[0], &n_floored));
        assert_maximal(&s, &center->dt[0], origin, false);
        vh_dt_stats_free(&s);
        vh_dt_gains_free(&g);
        vh_scratch_free(&scratch);
        vh_dtm_free(base);
        vh_dtm_free(center);
    }
    vhem_free(ctx);
}

/* Three kinds of textures in any basis: a tree of 3 and 2, the same at any number of threads and from its
 * file; textures and sequences find their way back. */
static void clusters(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 5), *threads = test_ctx_with(NULL, 3, 5);
    vh_rng rng;
    enum { K = 3, N = 15 };
    int levels[] = { 3, 2 }, label[N * 2], again[N * 2];
    double posterior[N * K];
    vhem_tree *one = NULL, *three = NULL, *read = NULL;
    vhem_cluster_options opt;
    vh_rng_init(&rng, 223, VH_RNG_TEST, 0);
    vh_dtm *base = families(ctx, &rng, K, N / K, 2, 3);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.restarts = 4;
    assert_ok(ctx, call_tree_build_dtm(ctx, base, 2, levels, &opt, &one));
    assert_ok(threads, call_tree_build_dtm(threads, base, 2, levels, &opt, &three));
    const vh_clustering *c = vh_tree_level(one, 0), *t = vh_tree_level(three, 0);
    assert_string_equal(c->method, "hem-dtm");
    assert_true(vh_dtm_compare(c->textures, t->textures) == 0);
    assert_memory_equal(c->z, t->z, sizeof(double) * N * K);
    assert_int_equal(c->n_fell, 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_int_equal(c->label[i] == c->label[j], i % K == j % K);
    assert_int_equal(vh_tree_level(one, 1)->Kb, 3);
    const char *path = test_scratch("tree.json");
    assert_ok(ctx, vhem_tree_save(ctx, one, NULL, path));
    assert_ok(ctx, vhem_tree_load(ctx, path, &read));
    remove(path);
    assert_true(vh_dtm_compare(c->textures, vh_tree_level(read, 0)->textures) == 0);
    assert_ok(ctx, call_assign_dtm(ctx, read, base, label, posterior, NULL));
    for (int i = 0; i < N; i++) {
        assert_int_equal(label[2 * i], c->label[i]);
        assert_int_equal(label[2 * i + 1], vh_tree_base_labels(one, 1)[i]);
    }
    for (int64_t i = 0; i < K; i++) {
        vh_dtm *pick = NULL;
        vhem_data *data = NULL;
        assert_ok(ctx, vh_dtm_subset(ctx, base, &i, 1, &pick));
        assert_ok(ctx, vh_dtm_sample(ctx, pick, 3, 60, &data));
        assert_ok(ctx, call_assign_data(ctx, read, data, again, NULL, NULL));
        for (int s = 0; s < 3; s++)
            assert_int_equal(again[2 * s], c->label[i]);
        vhem_free(data);
        vh_dtm_free(pick);
    }
    vhem_free(one);
    vhem_free(three);
    vhem_free(read);
    vh_dtm_free(base);
    vhem_free(ctx);
    vhem_free(threads);
}

/* A start is taken as it is; centres may have more or fewer states than the textures; sentences. */
static void options(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_clustering *c = NULL;
    vhem_cluster_options opt;
    vh_rng_init(&rng, 224, VH_RNG_TEST, 0);
    vh_dtm *base = random_dtm(ctx, &rng, 5, 2, 3, 0.8, 2), *start = random_dtm(ctx, &rng, 2, 2, 3, 0.8, 2);
    vh_h3m *h3m = random_h3m(ctx, &rng, 5, 2, 1, 3, 0, 1);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.start = TEXTURES(start);
    opt.max_iter = 0;
    assert_ok(ctx, call_cluster_dtm(ctx, base, 0, &opt, &c));
    assert_true(vh_dtm_compare(c->textures, start) == 0);
    assert_string_equal(c->run[0].init, "given");
    vh_clustering_free(c);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.restarts = 2;
    for (opt.S = 1; opt.S <= 4; opt.S++) {
        assert_ok(ctx, call_cluster_dtm(ctx, base, 2, &opt, &c));
        assert_int_equal(c->textures->dt[0].n, opt.S);
        assert_int_equal(c->n_fell, 0);
        assert_ok(ctx, vh_dtm_validate(ctx, c->textures));
        vh_clustering_free(c);
    }
    opt.S = -1;
    opt.method = "vhem";
    assert_fails(ctx, call_cluster_dtm(ctx, base, 2, &opt, &c), VHEM_EINVAL,
                 "does not cluster dynamic textures");
    opt.method = "hem-dtm";
    assert_fails(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c), VHEM_EINVAL,
                 "clusters dynamic textures: fit them first");
    opt.init = "pooled";
    assert_fails(ctx, call_cluster_dtm(ctx, base, 2, &opt, &c), VHEM_EINVAL,
                 "method hem-dtm does not use init 'pooled'; known are auto, base, far");
    opt.init = NULL;
    opt.M = 2;
    assert_fails(ctx, call_cluster_dtm(ctx, base, 2, &opt, &c), VHEM_EINVAL, "method hem-dtm does not use M");
    opt.M = -1;
    assert_fails(ctx, call_cluster_dtm(ctx, base, 6, &opt, &c), VHEM_EINVAL,
                 "K is 6, but there are only 5 textures");
    vh_h3m_free(h3m);
    vh_dtm_free(base);
    vh_dtm_free(start);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rises),
        cmocka_unit_test(mstep),
        cmocka_unit_test(clusters),
        cmocka_unit_test(options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
