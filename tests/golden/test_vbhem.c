/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vbhem.c - the golden runs of VBHEM: the bound after every update, L_hmm, z, and every number of the
 * posterior and of the centres, to 1e-9, on every backend; and the numbers of the EMHMM toolbox. */
#include "golden.h"

#include "files/posterior_json.h"
#include "files/prior_json.h"
#include "vhem/vb.h"
#include "vhem.h"

#include <string.h>

static void check_near_all(const char *what, const double *got, json_t *want, double rtol, double scale)
{
    size_t n;
    double *w = golden_numbers(want, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_near(got[i], w[i], rtol, rtol * scale))
            fail_msg("%s[%zu] is %.17g, must be %.17g", what, i, got[i], w[i]);
    free(w);
}

static json_t *parse(char *text)
{
    json_t *v = json_loads(text, 0, NULL);
    assert_non_null(v);
    free(text);
    return v;
}

/* Every number of two objects of one shape, by name. */
static void check_same(const char *what, json_t *got, json_t *want, double tol)
{
    const char *key;
    json_t *w;
    char name[256];
    size_t i;

    if (json_is_object(want)) {
        json_object_foreach(want, key, w)
        {
            snprintf(name, sizeof name, "%s.%s", what, key);
            if (!json_object_get(got, key))
                fail_msg("%s is missing", name);
            check_same(name, json_object_get(got, key), w, tol);
        }
    } else if (json_is_array(want)) {
        assert_int_equal(json_array_size(got), json_array_size(want));
        json_array_foreach(want, i, w)
        {
            snprintf(name, sizeof name, "%s[%zu]", what, i);
            check_same(name, json_array_get(got, i), w, tol);
        }
    } else if (json_is_number(want)
               && !is_near(json_number_value(got), json_number_value(want), tol, tol * 1e-3)) {
        fail_msg("%s is %.17g, must be %.17g", what, json_number_value(got), json_number_value(want));
    }
}

static vh_vb start_of(vhem_ctx *ctx, json_t *root)
{
    vh_vb m = { 0 };
    char *prior = json_dumps(json_object_get(root, "prior"), JSON_REAL_PRECISION(17)),
         *init = json_dumps(json_object_get(root, "init"), JSON_REAL_PRECISION(17));
    assert_ok(ctx, vh_prior_read(ctx, prior, &m.prior));
    assert_ok(ctx, vh_posteriors_read(ctx, init, &m.post));
    free(prior);
    free(init);
    return m;
}

static vh_vb_options options_of(json_t *root, int n_iter)
{
    const char *mode = json_string_value(json_object_get(root, "mode"));
    return (vh_vb_options){ .run = { .N = json_number_value(json_object_get(root, "N")),
                                     .tau = (int)json_integer_value(json_object_get(root, "tau")),
                                     .max_iter = n_iter },
                            .learn = (int)json_integer_value(json_object_get(root, "learn_prior")),
                            .toolbox = strcmp(mode, "emhmm") == 0 };
}

static void check_end(vhem_ctx *ctx, const vh_vb *m, json_t *root, json_t *want, double tol)
{
    json_t *at_end = json_object_get(root, "at_end"), *got;
    vh_h3m *mean = NULL;
    char *text = NULL;

    if (json_object_get(want, "posterior")) {
        assert_ok(ctx, vh_posteriors_text(ctx, m->post, &text));
        got = parse(text);
        check_same("posterior", got, json_object_get(want, "posterior"), tol);
        json_decref(got);
    }
    if (json_object_get(want, "prior")) {
        assert_ok(ctx, vh_prior_text(ctx, m->prior, &text));
        got = parse(text);
        check_same("prior", got, json_object_get(want, "prior"), tol);
        json_decref(got);
        assert_near(vh_posteriors_log_symmetries(m->post),
                    json_number_value(json_object_get(at_end, "log_symmetries")), tol, tol);
    }
    if (json_object_get(want, "centers")) {
        vh_h3m *centers = golden_model(ctx, json_object_get(want, "centers"));
        assert_ok(ctx, vh_posteriors_mean(ctx, m->post, &mean));
        assert_true(vh_h3m_compare(mean, centers) <= tol);
        vh_h3m_free(mean);
        vh_h3m_free(centers);
    }
}

static void check_after(vhem_ctx *ctx, json_t *root, const vh_base *base, int n_iter, double tol)
{
    char key[16];
    snprintf(key, sizeof key, "%d", n_iter);
    json_t *want = json_object_get(json_object_get(root, "after"), key),
           *bound = json_object_get(root, "bound");
    vh_vb m = start_of(ctx, root);
    vh_vb_options opt = options_of(root, n_iter);
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };

    assert_ok(ctx, vh_vb_run(ctx, base, &opt, &(vh_workers){ 1, &scratch }, &m, &run));
    assert_int_equal(run.n_iter, n_iter);
    assert_int_equal(run.n_fell, 0);
    for (int k = 0; k <= n_iter && k < (int)json_array_size(bound); k++)
        assert_near(run.J[k], json_number_value(json_array_get(bound, (size_t)k)), tol, tol);
    if (json_object_get(want, "L_hmm"))
        check_near_all("L_hmm", run.L, json_object_get(want, "L_hmm"), tol, 1);
    if (json_object_get(want, "z"))
        check_near_all("z", run.z, json_object_get(want, "z"), tol, 1);
    check_end(ctx, &m, root, want, tol);
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_vb_free(&m);
}

static void check_file(const char *file, double tol)
{
    json_t *root = golden_load(file), *want;
    const char *key, *name;
    for (int n = 0; (name = test_backend(n)); n++) {
        vhem_ctx *ctx = test_ctx_with(name, 1, 1);
        vh_h3m *h3m = golden_model(ctx, json_object_get(root, "base"));
        vh_base *base = NULL;
        assert_ok(ctx, vh_base_new(ctx, h3m, &base));
        json_object_foreach(json_object_get(root, "after"), key, want)
            check_after(ctx, root, base, atoi(key), tol);
        vh_base_free(base);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
    json_decref(root);
}

static void test_vbhem(void **state)
{
    (void)state;
    check_file("vbhem/vbhem01_one_gaussian.json", 1e-9);
    check_file("vbhem/vbhem02_full.json", 1e-9);
    check_file("vbhem/vbhem03_diag_mix.json", 1e-9);
}

static void test_toolbox(void **state)
{
    (void)state;
    check_file("vbhem/vbhem_emhmm_t1.json", 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_vbhem), cmocka_unit_test(test_toolbox) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
