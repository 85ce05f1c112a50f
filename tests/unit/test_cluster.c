/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cluster.c - clustering: options and presets, restarts, the shape of the result, threads, stopping. */
#include "cluster_samples.h"

#include "methods/state_order.h"
#include "methods/methods.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

static void test_finds_clusters(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    vhem_hmm_view v;
    (void)state;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    assert_int_equal(c->Kb, 18);
    assert_int_equal(c->Kr, 3);
    assert_true(found_clusters(c, 3));
    assert_string_equal(c->method, "vhem");
    assert_string_equal(c->name[4], "model \"4\"");
    assert_true(c->n_run < c->options.restarts); /* the best bound was found again before the last */
    assert_int_equal(c->centers->K, 3);
    assert_ok(ctx, vh_h3m_validate(ctx, c->centers));
    assert_ok(ctx, vh_h3m_view(c->centers, 1, &v));
    assert_string_equal(v.name, "cluster_1");
    double top = -INFINITY;
    int finished = 0;
    for (int r = 0; r < c->n_run; r++) {
        top = c->run[r].finished ? fmax(top, c->run[r].bound) : top;
        finished += c->run[r].finished;
    }
    assert_true(finished >= 3);
    assert_true(top == c->bound[c->n_iter]);
    for (int64_t i = 0; i < c->Kb; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++) {
            sum += c->z[i * 3 + j];
            assert_true(c->z[i * 3 + j] <= c->z[i * 3 + c->label[i]]);
        }
        assert_near(sum, 1, 1e-12, 0);
        assert_int_equal(c->state_map_at[i + 1] - c->state_map_at[i], 2);
        assert_int_not_equal(c->state_map[2 * i], c->state_map[2 * i + 1]); /* far apart: one to one */
    }
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The first HMM by the time spent in its states; the others so that a number means the same, what is left
 * over last. */
static void test_states_go_together(void **state)
{
    static const double pi[3][3] = { { 0.2, 0.5, 0.3 }, { 0.7, 0.1, 0.2 }, { 0.5, 0.5, 0 } };
    static const double A[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, two[4] = { 1, 0, 0, 1 };
    static const double mu[3][3] = { { 10, 0, 5 }, { 10.2, 30, 0.1 }, { 5.3, 0.2, 0 } };
    static const double c[3] = { 1, 1, 1 }, cov[3] = { 1, 1, 1 };
    static const double want[3][3] = { { 0, 5, 10 }, { 0.1, 30, 10.2 }, { 0.2, 5.3, 0 } };
    vhem_ctx *ctx = test_ctx();
    vhem_models *models = NULL;
    vhem_hmm_view view[3];
    (void)state;
    for (int j = 0; j < 3; j++)
        view[j] = (vhem_hmm_view){ .S = j < 2 ? 3 : 2,
                                   .M = 1,
                                   .d = 1,
                                   .omega = 1.0 / 3,
                                   .pi = pi[j],
                                   .A = j < 2 ? A : two,
                                   .c = c,
                                   .mu = mu[j],
                                   .cov = cov };
    assert_ok(ctx, vhem_models_new_hmms(ctx, "gaussian-diag", 1, 3, view, &models));
    assert_ok(ctx, vh_order_states(ctx, models->h3m, 10));
    for (int j = 0; j < 3; j++) {
        assert_ok(ctx, vhem_models_hmm(models, j, &view[j]));
        for (int s = 0; s < view[j].S; s++)
            assert_true(view[j].mu[s] == want[j][s]);
    }
    assert_true(view[1].pi[0] == 0.2 && view[1].pi[2] == 0.7);
    vhem_free(models);
    vhem_free(ctx);
}

/* The result belongs to its own centres: starting there again with no iterations gives the same tables. */
static void test_result_is_consistent(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 5, 2, 7, 3, 2, 2, 1, 2.0);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL, *again = NULL;
    (void)state;
    opt.nv = 0.5;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    opt.start = HMMS(c->centers);
    opt.max_iter = 0;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &again));
    assert_int_equal(again->n_iter, 0);
    assert_near(again->bound[0], c->bound[c->n_iter], 1e-10, 0);
    for (int k = 0; k < c->Kb * c->Kr; k++) {
        assert_near(again->L_hmm[k], c->L_hmm[k], 1e-9, 1e-9);
        assert_near(again->z[k], c->z[k], 1e-7, 1e-9);
    }
    assert_true(vh_h3m_compare(again->centers, c->centers) == 0);
    assert_string_equal(again->run[0].init, "given");
    assert_null(again->options.start);
    vh_clustering_free(again);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void same_result(const vh_clustering *a, const vh_clustering *b)
{
    size_t pairs = (size_t)a->Kb * (size_t)a->Kr * sizeof *a->z;
    assert_int_equal(a->n_iter, b->n_iter);
    assert_memory_equal(a->bound, b->bound, (size_t)(a->n_iter + 1) * sizeof *a->bound);
    assert_memory_equal(a->z, b->z, pairs);
    assert_memory_equal(a->L_hmm, b->L_hmm, pairs);
    assert_int_equal(a->n_run, b->n_run);
    for (int r = 0; r < a->n_run; r++)
        assert_true(a->run[r].bound == b->run[r].bound && a->run[r].seed == b->run[r].seed);
    assert_true(vh_h3m_compare(a->centers, b->centers) == 0);
}

static void test_threads(void **state)
{
    static const int threads[] = { 1, 2, 7 }, restarts[] = { 1, 12 };
    (void)state;
    for (int r = 0; r < 2; r++) {
        vh_clustering *first = NULL;
        for (int t = 0; t < 3; t++) {
            vhem_ctx *ctx = test_ctx_with(NULL, threads[t], 11);
            vh_h3m *h3m = clustered_h3m(ctx, 8, 4, 40, 2, 2, 2, 0, 4.0);
            vhem_cluster_options opt = cluster_options();
            vh_clustering *c = NULL;
            opt.restarts = restarts[r];
            opt.max_iter = 15;
            assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
            if (first)
                same_result(first, c);
            if (first)
                vh_clustering_free(c);
            else
                first = c;
            vh_h3m_free(h3m);
            vhem_free(ctx);
        }
        vh_clustering_free(first);
    }
}

/* With a start, tol 0 and no floor a run is n iterations of the equations and nothing else. */
static void test_exact(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 21, 3, 5, 3, 1, 2, 0, 1.0);
    vh_h3m *start = clustered_h3m(ctx, 22, 2, 1, 2, 2, 2, 0, 0.0);
    vh_h3m *plain = clustered_h3m(ctx, 22, 2, 1, 2, 2, 2, 0, 0.0);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    vh_base *base = NULL;
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };
    vh_vhem_options o = { .N = 100.0 * 15, .tau = 6, .max_iter = 7 };
    (void)state;
    opt.start = HMMS(start);
    opt.tol = opt.cov_floor = 0;
    opt.max_iter = 7;
    opt.tau = 6;
    opt.nv = 100;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    assert_int_equal(c->n_iter, 7);
    assert_int_equal(c->options.repair, 0);
    assert_int_equal(c->options.soft, 0);
    assert_ok(ctx, vh_base_new(ctx, h3m, &base));
    assert_ok(ctx, vh_vhem(ctx, base, &o, &(vh_workers){ 1, &scratch }, plain, &run));
    assert_memory_equal(c->bound, run.J, 8 * sizeof *run.J);
    assert_true(vh_h3m_compare(c->centers, plain) == 0);
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_base_free(base);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vh_h3m_free(start);
    vh_h3m_free(plain);
    vhem_free(ctx);
}

static void test_presets(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 4, 2, 6, 2, 1, 2, 0, 0.5);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    vhem_hmm_view v;
    (void)state;
    opt.restarts = 2;
    opt.preset = "emhmm";
    opt.tau = 4;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    assert_near(c->options.nv, 12.0 / 4, 1e-15, 0);
    assert_near(c->options.cov_add, 0.001, 0, 0);
    assert_int_equal(c->options.max_iter, 101);
    assert_true(c->options.cov_floor == 0);
    assert_true(c->n_iter >= 2);
    assert_ok(ctx, vh_h3m_view(c->centers, 0, &v));
    assert_string_equal(v.emission, "gaussian-full");
    assert_true(found_clusters(c, 2));
    vh_clustering_free(c);
    opt.preset = "paper";
    opt.tau = -1;
    opt.nv = -1;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    assert_near(c->options.nv, 1e4, 0, 0);
    assert_int_equal(c->options.tau, 10);
    assert_true(c->options.cov_floor == 0 && c->options.cov_add == 0);
    vh_clustering_free(c);
    opt.nv = 3; /* what is given wins over the preset */
    opt.cov_floor = 0.1;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    assert_near(c->options.nv, 3, 0, 0);
    assert_near(c->options.cov_floor, 0.1, 0, 0);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

#define REFUSED(field, value, text)                                                    \
    do {                                                                               \
        vhem_cluster_options o_ = cluster_options();                                   \
        o_.field = (value);                                                            \
        assert_fails(ctx, call_cluster_hmms(ctx, h3m, 2, &o_, &c), VHEM_EINVAL, text); \
        assert_null(c);                                                                \
    } while (0)

#define REFUSED_K(K, text)                                                                \
    do {                                                                                  \
        assert_fails(ctx, call_cluster_hmms(ctx, h3m, (K), NULL, &c), VHEM_EINVAL, text); \
        assert_null(c);                                                                   \
    } while (0)

static void test_refuses(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 4, 2, 4, 2, 1, 2, 0, 0.5);
    vh_h3m *other_d = clustered_h3m(ctx, 4, 2, 1, 2, 1, 3, 0, 0.5);
    vh_h3m *other_family = clustered_h3m(ctx, 4, 2, 1, 2, 1, 2, 1, 0.5);
    vh_h3m *other_K = clustered_h3m(ctx, 4, 3, 1, 2, 1, 2, 0, 0.5);
    vh_clustering *c = NULL;
    (void)state;
    REFUSED_K(0, "K is 0, must be at least 1");
    REFUSED_K(-1, "K is -1");
    REFUSED_K(9, "K is 9, but there are only 8 models");
    REFUSED(S, 0, "S is 0, must be at least 1");
    REFUSED(M, 5000, "M is 5000");
    REFUSED(tau, 0, "tau is 0");
    REFUSED(tau, VHEM_AUTO, "tau 'auto' needs the lengths of the sequences");
    REFUSED(nv, 0, "nv is 0");
    REFUSED(nv, NAN, "nv is");
    REFUSED(tol, NAN, "tol is");
    REFUSED(cov_floor, INFINITY, "cov_floor is inf");
    REFUSED(cov_add, NAN, "cov_add is");
    REFUSED(restarts, 70000, "restarts is 70000");
    REFUSED(method, "kmeans", "method 'kmeans' is unknown; known are vhem");
    REFUSED(preset, "lab", "preset 'lab' is unknown; known are paper, emhmm");
    REFUSED(init, "magic", "init 'magic' is unknown; known are auto, base, far");
    REFUSED(start, HMMS(other_d), "the start has dimension 3, but the models have 2");
    REFUSED(start, HMMS(other_family), "the start has gaussian-full emissions, the models gaussian-diag");
    REFUSED(start, HMMS(other_K), "K is 2, the start has 3 HMMs");
    for (int i = 0; i < 8; i++)
        h3m->omega[i] = 0;
    REFUSED_K(2, "the weights of the models sum to 0");
    vh_h3m_free(h3m);
    vh_h3m_free(other_d);
    vh_h3m_free(other_family);
    vh_h3m_free(other_K);
    vhem_free(ctx);
}

static void stop_soon(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)what;
    (void)total;
    if (done >= 2)
        vhem_ctx_stop(*(vhem_ctx **)arg);
}

static void test_stop(void **state)
{
    vhem_ctx *ctx = NULL;
    vhem_ctx_options co;
    (void)state;
    VHEM_INIT(VHEM_CTX_OPTIONS, &co);
    co.threads = 1;
    co.seed = 1;
    co.progress = stop_soon;
    co.progress_arg = &ctx;
    assert_int_equal(vhem_ctx_new(&co, &ctx), VHEM_OK);
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 1, 2, 0, 0.3);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    assert_int_equal(call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_ESTOPPED);
    assert_non_null(c);
    assert_non_null(strstr(vhem_ctx_error(ctx), "stopped"));
    assert_int_equal(c->n_run, 1); /* the other one had no bound yet */
    assert_non_null(c->z);
    assert_non_null(c->centers);
    assert_ok(ctx, vh_h3m_validate(ctx, c->centers));
    vh_clustering_free(c);
    c = NULL; /* stopped before it began: still something */
    assert_int_equal(call_cluster_hmms(ctx, h3m, 3, &opt, &c), VHEM_ESTOPPED);
    assert_int_equal(c->n_run, 1);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The same restart by itself: its seed and kind are all it takes. */
static void test_restart_can_be_repeated(void **state)
{
    vhem_ctx *ctx = test_ctx();
    vh_h3m *h3m = clustered_h3m(ctx, 3, 3, 6, 2, 1, 2, 0, 5.0);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL, *one = NULL;
    (void)state;
    opt.restarts = 3;
    opt.repair = 0;
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 3, &opt, &c));
    vhem_ctx *other = test_ctx_with(NULL, 1, c->run[1].seed);
    opt.restarts = 1;
    opt.init = c->run[1].init;
    assert_ok(other, call_cluster_hmms(other, h3m, 3, &opt, &one));
    assert_true(one->bound[one->n_iter] == c->run[1].bound);
    vh_clustering_free(one);
    vh_clustering_free(c);
    vh_h3m_free(h3m);
    vhem_free(other);
    vhem_free(ctx);
}

/* The words of the option are the methods of the table, in its order. */
static void test_names(void **state)
{
    char text[512] = "";
    vhem_method_facts facts;
    vhem_option option;
    int n = 0;
    (void)state;
    for (; vhem_method_info(n, &facts) == VHEM_OK; n++) {
        strcat(text, n == 0 ? "" : "|");
        strcat(text, facts.name);
        assert_true(facts.takes_hmms + facts.takes_textures + facts.takes_data == 1);
        assert_true(facts.about[0] != '\0');
    }
    assert_true(n > 10);
    for (int i = 0; vhem_option_info(VHEM_CLUSTER_OPTIONS, i, &option) == VHEM_OK; i++)
        if (strcmp(option.name, "method") == 0)
            assert_string_equal(option.argument, text);
    for (int i = 0; vhem_option_info(VHEM_TRAIN_OPTIONS, i, &option) == VHEM_OK; i++)
        if (strcmp(option.name, "estimator") == 0)
            assert_string_equal(option.argument, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_clusters),
        cmocka_unit_test(test_states_go_together),
        cmocka_unit_test(test_result_is_consistent),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_restart_can_be_repeated),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
