/* SPDX-License-Identifier: BSD-3-Clause */
/* test_baumwelch.c - the golden models and log-likelihoods after 1 and 5 iterations of Baum-Welch, to
 * 1e-9, on every backend. */
#include "golden.h"
#include "vhem.h"

static void check_after(vhem_ctx *ctx, const vhem_data *data, const vh_h3m *init, int n_iter, json_t *want)
{
    vhem_fit_options opt;
    vh_h3m *out = NULL, *model = golden_model(ctx, json_object_get(want, "model"));
    vhem_fit_report *report = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(init);
    opt.max_iter = n_iter;
    opt.tol = 0;
    opt.cov_floor = 0;
    opt.repair = 0;
    opt.by_group = 1;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &report));
    assert_int_equal(out->K, 1);
    assert_int_equal(report->run[0].n_iter, n_iter);
    json_t *loglik = json_object_get(want, "loglik");
    assert_near(report->run[0].loglik, json_number_value(json_array_get(loglik, json_array_size(loglik) - 1)),
                1e-9, 1e-9);
    double apart = vh_h3m_compare(out, model);
    if (!(apart <= 1e-9))
        fail_msg("after %d iterations the model is off by %.3g", n_iter, apart);
    vh_h3m_free(out);
    vh_h3m_free(model);
    vhem_free(report);
}

static void check_case(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *init = golden_model(ctx, json_object_get(c, "init"));
    json_t *seqs = json_object_get(c, "seqs"), *s;
    vh_builder *b = NULL;
    vhem_data *data = NULL;
    vhem_hmm_view v;
    size_t i;
    assert_ok(ctx, vh_h3m_view(init, 0, &v));
    assert_ok(ctx, vh_builder_new(ctx, v.d, &b));
    json_array_foreach(seqs, i, s)
    {
        size_t n;
        double *y = golden_numbers(s, &n);
        assert_ok(ctx, vh_builder_frames(b, y, (int64_t)n / v.d));
        assert_ok(ctx, vh_builder_end(b, "s", NULL, "all", 1.0));
        free(y);
    }
    assert_ok(ctx, vh_builder_finish(b, "memory", &data));
    json_t *after = json_object_get(c, "after"), *want;
    const char *key;
    json_object_foreach(after, key, want) check_after(ctx, data, init, atoi(key), want);
    vh_builder_free(b);
    vhem_free(data);
    vh_h3m_free(init);
}

static void test_baumwelch(void **state)
{
    const char *name;
    (void)state;
    json_t *root = golden_load("baumwelch.json"), *c;
    size_t i;
    for (int n = 0; (name = test_backend(n)); n++) {
        vhem_ctx *ctx = test_ctx_with(name, 1, 1);
        json_array_foreach(json_object_get(root, "cases"), i, c) check_case(ctx, c);
        vhem_free(ctx);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_baumwelch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
