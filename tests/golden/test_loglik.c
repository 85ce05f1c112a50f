/* SPDX-License-Identifier: BSD-3-Clause */
/* test_loglik.c - the golden log-likelihoods, paths, posteriors and transition counts, to 1e-9, on every
 * backend. */
#include "golden.h"
#include "vhem.h"

static const double RTOL = 1e-9, ATOL = 1e-9;

static vhem_data *wrap(vhem_ctx *ctx, const double *y, size_t n, int d)
{
    vhem_data *data = NULL;
    int T = (int)n / d;
    assert_ok(ctx, call_wrap(ctx, 1, &T, d, y, &data));
    return data;
}

static void check_case(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *h3m = golden_model(ctx, json_object_get(c, "model"));
    vhem_hmm_view v;
    assert_ok(ctx, vh_h3m_view(h3m, 0, &v));
    size_t n;
    double *y = golden_numbers(json_object_get(c, "y"), &n), loglik, logprob, ll;
    int T = (int)n / v.d, *path = malloc(sizeof *path * (size_t)T);
    vhem_data *data = wrap(ctx, y, n, v.d);
    double *gamma = malloc(sizeof *gamma * (size_t)(T * v.S)), *xi = malloc(sizeof *xi * (size_t)(v.S * v.S));

    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, &loglik));
    assert_near(loglik, json_number_value(json_object_get(c, "loglik")), RTOL, ATOL);
    assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ 0 }, data, 0, 1,
                                 &(vhem_decoding){ .path = path, .logprob = &logprob }));
    assert_near(logprob, json_number_value(json_object_get(c, "viterbi_logprob")), RTOL, ATOL);
    for (int t = 0; t < T; t++)
        assert_int_equal(path[t], json_integer_value(
                                      json_array_get(json_object_get(c, "viterbi_path_0based"), (size_t)t)));
    assert_ok(ctx, vh_h3m_posterior(ctx, h3m, 0, data, 0, gamma, xi, &ll));
    assert_near(ll, loglik, RTOL, ATOL);
    size_t k;
    double *want = golden_numbers(json_object_get(c, "posterior_first5"), &k);
    for (size_t i = 0; i < k; i++)
        assert_near(gamma[i], want[i], RTOL, ATOL);
    free(want);
    want = golden_numbers(json_object_get(c, "posterior_last"), &k);
    for (size_t i = 0; i < k; i++)
        assert_near(gamma[(size_t)(T * v.S) - k + i], want[i], RTOL, ATOL);
    free(want);
    want = golden_numbers(json_object_get(c, "expected_transitions"), &k);
    for (size_t i = 0; i < k; i++)
        assert_near(xi[i], want[i], RTOL, ATOL);
    free(want);
    free(gamma);
    free(xi);
    free(path);
    vhem_free(data);
    vh_h3m_free(h3m);
    free(y);
}

static void check_h3m(vhem_ctx *ctx, json_t *c)
{
    vh_h3m *h3m = golden_model(ctx, json_object_get(c, "model"));
    vhem_hmm_view v;
    assert_ok(ctx, vh_h3m_view(h3m, 0, &v));
    size_t n, K;
    double *y = golden_numbers(json_object_get(c, "y"), &n),
           *want = golden_numbers(json_object_get(c, "per_hmm"), &K);
    vhem_data *data = wrap(ctx, y, n, v.d);
    double *loglik = malloc(sizeof *loglik * K), sum = 0;
    assert_int_equal(h3m->K, K);
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, loglik));
    for (size_t i = 0; i < K; i++) {
        assert_near(loglik[i], want[i], RTOL, ATOL);
        assert_ok(ctx, vh_h3m_view(h3m, (int)i, &v));
        sum += v.omega * exp(loglik[i] - want[0]);
    }
    assert_near(want[0] + log(sum), json_number_value(json_object_get(c, "loglik")), RTOL, ATOL);
    free(loglik);
    free(want);
    free(y);
    vhem_free(data);
    vh_h3m_free(h3m);
}

static void test_loglik(void **state)
{
    const char *name;
    (void)state;
    json_t *root = golden_load("loglik.json"), *c;
    size_t i;
    for (int n = 0; (name = test_backend(n)); n++) {
        vhem_ctx *ctx = test_ctx_with(name, 1, 1);
        json_array_foreach(json_object_get(root, "cases"), i, c) check_case(ctx, c);
        check_h3m(ctx, json_object_get(root, "h3m"));
        vhem_free(ctx);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_loglik) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
