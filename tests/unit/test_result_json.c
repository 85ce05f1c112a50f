/* SPDX-License-Identifier: BSD-3-Clause */
/* test_result_json.c - clustering files: every number comes back, wrong files give their sentence. */
#include "cluster_samples.h"
#include "files/hmm_file.h"
#include "vhem.h"

static vh_clustering *sample(vhem_ctx *ctx)
{
    vh_h3m *h3m = clustered_h3m(ctx, 3, 2, 4, 2, 1, 2, 0, 3.0);
    vhem_cluster_options opt = cluster_options();
    vh_clustering *c = NULL;
    opt.nv = 0.3;
    opt.restarts = 6;
    opt.preset = "paper";
    assert_ok(ctx, call_cluster_hmms(ctx, h3m, 2, &opt, &c));
    c->provenance = strdup("{\"command\": \"vhem cluster\"}");
    vh_h3m_free(h3m);
    return c;
}

static void same_options(const vhem_cluster_options *a, const vhem_cluster_options *b)
{
    assert_string_equal(a->method, b->method);
    assert_string_equal(a->preset, b->preset);
    assert_string_equal(a->init, b->init);
    assert_true(a->S == b->S && a->M == b->M && a->tau == b->tau && a->max_iter == b->max_iter);
    assert_true(a->restarts == b->restarts && a->nv == b->nv && a->tol == b->tol
                && a->cov_floor == b->cov_floor);
    assert_true(a->cov_add == b->cov_add && a->soft == b->soft && a->repair == b->repair);
    assert_int_equal(a->weighted_omega, b->weighted_omega);
}

static void test_round_trip(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("clustering.json");
    vh_clustering *a = sample(ctx), *b = NULL;
    (void)state;
    assert_ok(ctx, call_clustering_save(ctx, a, path));
    assert_ok(ctx, call_clustering_load(ctx, path, &b));
    assert_true(a->Kb == b->Kb && a->Kr == b->Kr && a->n_iter == b->n_iter && a->converged == b->converged);
    assert_true(a->n_empty == b->n_empty && a->n_revived == b->n_revived && a->n_fell == b->n_fell);
    assert_memory_equal(a->z, b->z, (size_t)(a->Kb * a->Kr) * sizeof *a->z);
    assert_memory_equal(a->L_hmm, b->L_hmm, (size_t)(a->Kb * a->Kr) * sizeof *a->z);
    assert_memory_equal(a->bound, b->bound, (size_t)(a->n_iter + 1) * sizeof *a->bound);
    assert_memory_equal(a->label, b->label, (size_t)a->Kb * sizeof *a->label);
    assert_memory_equal(a->state_map_at, b->state_map_at, (size_t)(a->Kb + 1) * sizeof *a->state_map_at);
    assert_memory_equal(a->state_map, b->state_map, (size_t)a->state_map_at[a->Kb] * sizeof *a->state_map);
    assert_int_equal(a->n_run, b->n_run);
    for (int r = 0; r < a->n_run; r++) {
        assert_true(a->run[r].seed == b->run[r].seed && a->run[r].bound == b->run[r].bound);
        assert_true(a->run[r].n_iter == b->run[r].n_iter && a->run[r].finished == b->run[r].finished);
        assert_string_equal(a->run[r].init, b->run[r].init);
    }
    for (int64_t i = 0; i < a->Kb; i++)
        assert_string_equal(a->name[i], b->name[i]);
    assert_string_equal(a->provenance, b->provenance);
    same_options(&a->options, &b->options);
    assert_true(vh_h3m_compare(a->centers, b->centers) == 0);
    vh_h3m *centers = NULL; /* a clustering file is also a model file */
    assert_ok(ctx, vh_h3m_load(ctx, path, &centers));
    assert_true(vh_h3m_compare(a->centers, centers) == 0);
    vh_h3m_free(centers);
    vh_clustering_free(a);
    vh_clustering_free(b);
    remove(path);
    vhem_free(ctx);
}

static void test_refuses_infinity(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("infinite.json");
    vh_clustering *c = sample(ctx);
    (void)state;
    c->L_hmm[3] = -INFINITY;
    assert_fails(ctx, call_clustering_save(ctx, c, path), VHEM_ENUMERIC, "L_hmm[1][1] is -inf");
    assert_false(vh_path_exists(path));
    vh_clustering_free(c);
    vhem_free(ctx);
}

/* What went wrong in a restart that was not kept does not stand in the way of the one that was. */
static void test_lost_restarts(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("lost.json");
    vh_clustering *c = sample(ctx), *b = NULL;
    int n = c->n_run;
    (void)state;
    assert_true(n >= 2);
    free(c->run[0].bounds);
    free(c->run[1].bounds);
    c->run[0].n_iter = 1;
    c->run[0].bounds = calloc(2, sizeof *c->run[0].bounds);
    c->run[0].bounds[0] = -INFINITY;
    c->run[1].bound = NAN;
    c->run[1].bounds = NULL;
    assert_ok(ctx, call_clustering_save(ctx, c, path));
    assert_ok(ctx, call_clustering_load(ctx, path, &b));
    assert_int_equal(b->n_run, n - 1);
    assert_null(b->run[0].bounds);
    assert_true(b->run[0].bound == c->run[0].bound);
    vh_clustering_free(b);
    vh_clustering_free(c);
    remove(path);
    vhem_free(ctx);
}

#define OPTIONS "{\"format\": \"vhem-clustering\", \"version\": 1, \"options\": {\"K\": 2, "
#define HEAD    "{\"format\": \"vhem-clustering\", \"version\": 1, \"options\": {\"K\": 2}"

static void test_wrong_files(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        { "", "the file is empty" },
        { "[1]", "the file holds an array" },
        { "{\"format\": \"vhem-store\", \"version\": 1}", "format is 'vhem-store', must be 'vhem-tree'" },
        { "{\"format\": \"vhem-clustering\", \"version\": 2}",
          "version 2 of the format, this program reads up to 1" },
        { "{\"format\": \"vhem-clustering\"}", "version is missing" },
        { HEAD "}", "labels is missing" },
        { HEAD ", \"labels\": 3}", "labels is a number, must be an array" },
        { HEAD ", \"labels\": []}", "labels has 0 entries" },
        { HEAD ", \"labels\": [0, 2]}", "labels[1] is 2, must be a whole number from 0 to 1" },
        { HEAD ", \"labels\": [0, 1], \"names\": [\"a\"]}", "names has 1 entries, labels has 2" },
        { HEAD ", \"labels\": [0, 1], \"z\": [[1, 0]]}", "z has 1 rows, must have 2" },
        { HEAD ", \"labels\": [0, 1], \"z\": [[1, 0], [1]]}", "z[1] has 1 numbers, must have 2" },
        { HEAD ", \"labels\": [0, 1], \"z\": [[1, 0], [1, \"x\"]]}", "z[1][1] is text, must be a number" },
        { HEAD ", \"labels\": [0, 1], \"z\": [[1, 0], [1.5, -0.5]]}", "z[1][1] is -0.5, must be 0 or more" },
        { HEAD ", \"labels\": [0, 1], \"z\": [[1, 0], [0.3, 0.3]]}", "z[1] sums to 0.6, must be 1" },
        { HEAD ", \"labels\": [0, 1], \"share\": [1]}", "share has 1 numbers, must have 2" },
        { HEAD ", \"labels\": [0, 1], \"share\": [1, -1]}", "share[1] is -1, must be from 0 to 1" },
        { HEAD ", \"labels\": [0, 1], \"method\": \"magic\"}", "method 'magic' is unknown" },
        { OPTIONS "\"tau\": -5}, \"labels\": [0, 1]}", "options: tau is -5, must be from 0 to 1e+07" },
        { OPTIONS "\"tau\": 2147483647}, \"labels\": [0, 1]}", "tau is 2147483647, must be from 0 to 1e+07" },
        { OPTIONS "\"nv\": -1e308}, \"labels\": [0, 1]}", "nv is -1e+308, must be from 0 to inf" },
        { HEAD ", \"labels\": [0, 1], \"n_iter\": 3, \"bound\": [1]}",
          "bound has 1 numbers, must have n_iter + 1 = 4" },
        { HEAD ", \"labels\": [0, 1], \"converged\": 3}", "converged is a number, must be true or false" },
        { HEAD ", \"labels\": [0, 1], \"restarts\": [{\"bound\": \"x\"}]}", "restarts[0]: bound is text" },
        { HEAD ", \"labels\": [0, 1], \"centers\": {}}", "centers: format is missing" },
        { HEAD ", \"labels\": [0, 1], \"state_map\": [[0]]}", "state_map has 1 rows" },
        { HEAD ", \"labels\": [0,", "not valid JSON" },
    };
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("wrong.json");
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        vh_clustering *c = NULL;
        test_write(path, wrong[k].text, strlen(wrong[k].text));
        assert_fails(ctx, call_clustering_load(ctx, path, &c), VHEM_EFORMAT, wrong[k].says);
        assert_non_null(strstr(vhem_ctx_error(ctx), "wrong.json: "));
        assert_null(c);
    }
    remove(path);
    vh_clustering *c = NULL;
    assert_fails(ctx, call_clustering_load(ctx, path, &c), VHEM_EIO, "cannot read");
    vhem_free(ctx);
}

/* A method without centres and tables leaves keys out; labels need not be where most of z is. */
static void test_little(void **state)
{
    vhem_ctx *ctx = test_ctx();
    const char *path = test_scratch("little.json"),
               *text = HEAD ", \"method\": \"kl-ac\", \"labels\": [0, 1, 1]}",
               *moved = HEAD ", \"labels\": [0, 1], \"z\": [[0.4, 0.6], [0.5001, 0.5]]}";
    vh_clustering *c = NULL;
    (void)state;
    test_write(path, text, strlen(text));
    assert_ok(ctx, call_clustering_load(ctx, path, &c));
    assert_true(c->Kb == 3 && c->Kr == 2 && !c->z && !c->centers && !c->bound && c->n_run == 0);
    assert_string_equal(c->method, "kl-ac");
    assert_ok(ctx, call_clustering_save(ctx, c, path));
    vh_clustering_free(c);
    c = NULL;
    assert_ok(ctx, call_clustering_load(ctx, path, &c));
    assert_int_equal(c->label[2], 1);
    vh_clustering_free(c);
    c = NULL;
    test_write(path, moved, strlen(moved));
    assert_ok(ctx, call_clustering_load(ctx, path, &c));
    assert_true(c->label[0] == 0 && c->label[1] == 1);
    vh_clustering_free(c);
    remove(path);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip),
                                        cmocka_unit_test(test_refuses_infinity),
                                        cmocka_unit_test(test_lost_restarts),
                                        cmocka_unit_test(test_wrong_files), cmocka_unit_test(test_little) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
