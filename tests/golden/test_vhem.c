/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vhem.c - the golden reductions after 0, 1, 3 and 10 iterations: J, L_hmm, z and every parameter, to
 * 1e-9, on every backend and on one that copies everything. */
#include "golden.h"

#include "../agree/copy_reduce.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

static void check_near_all(const char *what, const double *got, json_t *want, double scale)
{
    size_t n;
    double *w = golden_numbers(want, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_near(got[i], w[i], 1e-9, 1e-9 * scale))
            fail_msg("%s[%zu] is %.17g, must be %.17g", what, i, got[i], w[i]);
    free(w);
}

static void check_after(vhem_ctx *ctx, json_t *root, const vh_base *base, int n_iter, json_t *want)
{
    vh_h3m *centers = golden_model(ctx, json_object_get(root, "init"));
    vh_h3m *model = golden_model(ctx, json_object_get(want, "model"));
    vh_vhem_options opt = { .N = json_number_value(json_object_get(root, "N")),
                            .tau = (int)json_integer_value(json_object_get(root, "tau")),
                            .max_iter = n_iter };
    vh_vhem_run run = { 0 };
    vh_scratch scratch = { { 0 }, { 0 } };
    assert_ok(ctx, vh_vhem(ctx, base, &opt, &(vh_workers){ 1, &scratch }, centers, &run));
    assert_int_equal(run.n_iter, n_iter);
    assert_int_equal(run.n_fell, 0);
    for (int k = 0; k <= n_iter; k++)
        assert_near(run.J[k], json_number_value(json_array_get(json_object_get(root, "J"), (size_t)k)), 1e-9,
                    1e-9);
    check_near_all("L_hmm", run.L, json_object_get(want, "L_hmm"), 1);
    check_near_all("z", run.z, json_object_get(want, "z"), 1);
    double apart = vh_h3m_compare(centers, model);
    if (!(apart <= 1e-9))
        fail_msg("after %d iterations the model is off by %.3g", n_iter, apart);
    vh_vhem_run_free(&run);
    vh_scratch_free(&scratch);
    vh_h3m_free(centers);
    vh_h3m_free(model);
}

static void check_file(const char *file)
{
    const char *name;
    json_t *root = golden_load(file), *want;
    const char *key;
    const vh_backend copying = copy_all();
    bool last = false;
    for (int n = 0; !last; n++) {
        name = test_backend(n);
        vhem_ctx *ctx = test_ctx_with(name, 1, 1);
        last = !name;
        if (last)
            ctx->backend = &copying;
        vh_h3m *h3m = golden_model(ctx, json_object_get(root, "base"));
        vh_base *base = NULL;
        assert_ok(ctx, vh_base_new(ctx, h3m, &base));
        json_object_foreach(json_object_get(root, "after"), key, want)
            check_after(ctx, root, base, atoi(key), want);
        vh_base_free(base);
        vh_h3m_free(h3m);
        vhem_free(ctx);
    }
    json_decref(root);
}

static void test_vhem(void **state)
{
    (void)state;
    check_file("vhem01_gauss_s1m1d1_tau1.json");
    check_file("vhem02_s2m1d1_tau5.json");
    check_file("vhem03_sb3_sr2_d2_tau10.json");
    check_file("vhem04_sb2_sr3_mb1_mr2_d2.json");
    check_file("vhem05_mb3_mr2_d3.json");
    check_file("vhem06_full_s2m2d2.json");
    check_file("vhem07_full_sb3_sr2_mb2_mr3_d3.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_vhem) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
