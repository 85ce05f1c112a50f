/* SPDX-License-Identifier: BSD-3-Clause */
/* test_sample.c - drawn sequences: moments, transitions, labels, seeds, singular covariances. */
#include "engine.h"
#include "vhem.h"

static void chain_and_moments(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 7);
    enum { S = 3, N = 200, T = 100 };
    double pi[] = { 0.2, 0.8, 0 }, A[] = { 0.7, 0.3, 0, 0.1, 0.6, 0.3, 0.5, 0, 0.5 };
    double mu[] = { 0, 1000, 2000 }, cov[] = { 1, 4, 0.25 }; /* a frame tells its state */
    vh_h3m *h3m = simple_hmm(ctx, S, 1, pi, A, mu, cov);
    vhem_data *data = NULL;
    double count[S * S] = { 0 }, from[S] = { 0 }, first[S] = { 0 }, sum[S] = { 0 }, square[S] = { 0 },
                     n[S] = { 0 };
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, N, T, &data));
    assert_int_equal(vh_data_size(data), N);
    for (int i = 0; i < N; i++) {
        vhem_seq_view v;
        char name[32];
        int last = -1;
        assert_int_equal(vhem_data_view(data, i, &v), VHEM_OK);
        snprintf(name, sizeof name, "sample_%d", i);
        assert_string_equal(v.name, name);
        assert_string_equal(v.label, "");
        assert_int_equal(v.T, T);
        for (int t = 0; t < T; t++) {
            int s = (int)lround(v.y[t] / 1000);
            assert_true(s >= 0 && s < S);
            double u = v.y[t] - mu[s];
            sum[s] += u;
            square[s] += u * u;
            n[s]++;
            if (last < 0)
                first[s]++;
            else {
                count[last * S + s]++;
                from[last]++;
            }
            last = s;
        }
    }
    for (int s = 0; s < S; s++) { /* 5 standard errors each */
        assert_near(first[s] / N, pi[s], 0, 5 * sqrt(pi[s] * (1 - pi[s]) / N));
        assert_near(sum[s] / n[s], 0, 0, 5 * sqrt(cov[s] / n[s]));
        assert_near(square[s] / n[s], cov[s], 0, 5 * cov[s] * sqrt(2 / n[s]));
        for (int q = 0; q < S; q++) {
            double a = A[s * S + q];
            assert_near(count[s * S + q] / from[s], a, 0, 5 * sqrt(a * (1 - a) / from[s]));
        }
    }
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Two HMMs of weights 0.9 and 0.1, mixtures inside; the label says which. */
static void labels_and_mixtures(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 8);
    enum { N = 2000 };
    double one = 1, c[] = { 0.25, 0.75 }, mu[2][2] = { { 0, 10 }, { 100, 110 } }, cov[] = { 1, 1 };
    vhem_hmm_view v[2];
    for (int i = 0; i < 2; i++)
        v[i] = (vhem_hmm_view){ .S = 1,
                                .M = 2,
                                .d = 1,
                                .omega = i ? 0.1 : 0.9,
                                .pi = &one,
                                .A = &one,
                                .c = c,
                                .mu = mu[i],
                                .cov = cov,
                                .name = i ? "high" : "low",
                                .label = "x" };
    vh_h3m *h3m = NULL;
    vhem_data *data = NULL;
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 2, v, &h3m));
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, N, 2, &data));
    double high = 0, heavy = 0;
    for (int n = 0; n < N; n++) {
        vhem_seq_view s;
        assert_int_equal(vhem_data_view(data, n, &s), VHEM_OK);
        assert_string_equal(s.label, s.y[0] > 50 ? "high" : "low");
        assert_true((s.y[0] > 50) == (s.y[1] > 50));
        high += s.y[0] > 50;
        heavy += fmod(s.y[0] + 5, 100) > 10;
    }
    assert_near(high / N, 0.1, 0, 5 * sqrt(0.09 / N));
    assert_near(heavy / N, 0.75, 0, 5 * sqrt(0.1875 / N));
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void seeds(void **state)
{
    (void)state;
    vhem_data *data[4] = { NULL };
    vh_rng rng;
    vh_rng_init(&rng, 181, VH_RNG_TEST, 0);
    vhem_ctx *ctx = test_ctx_with(NULL, 1, 9), *threads = test_ctx_with(NULL, 3, 9);
    vhem_ctx *other = test_ctx_with(NULL, 1, 10);
    vh_h3m *h3m = random_h3m(ctx, &rng, 3, 3, 2, 2, 1, 2);
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, 10, 20, &data[0]));
    assert_ok(threads, vh_h3m_sample(threads, h3m, 10, 20, &data[1]));
    assert_ok(other, vh_h3m_sample(other, h3m, 10, 20, &data[2]));
    assert_ok(ctx, vh_h3m_sample(ctx, h3m, 5, 20, &data[3]));
    assert_memory_equal(data[0]->y, data[1]->y, 10 * 20 * 2 * sizeof(double));
    /* sequence n has its own numbers */
    assert_memory_equal(data[0]->y, data[3]->y, 5 * 20 * 2 * sizeof(double));
    assert_memory_not_equal(data[0]->y, data[2]->y, 20 * 2 * sizeof(double));
    for (int i = 0; i < 4; i++)
        vhem_free(data[i]);
    vh_h3m_free(h3m);
    vhem_free(ctx);
    vhem_free(threads);
    vhem_free(other);
}

static void singular(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double one = 1, mu[] = { 1, 2 }, rank_one[] = { 1, 1, 1, 1 }, zero[4] = { 0 };
    vhem_hmm_view v = {
        .S = 1, .M = 1, .d = 2, .omega = 1, .pi = &one, .A = &one, .c = &one, .mu = mu, .cov = rank_one
    };
    for (int k = 0; k < 2; k++) {
        vh_h3m *h3m = NULL;
        vhem_data *data = NULL;
        v.cov = k ? zero : rank_one;
        assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-full", 2, 1, &v, &h3m));
        assert_ok(ctx, vh_h3m_sample(ctx, h3m, 1, 50, &data));
        for (int t = 0; t < 50; t++) {
            assert_near(data->y[2 * t + 1] - data->y[2 * t], 1, 0, 1e-7); /* sqrt of 1e-16, the rounding */
            if (k)
                assert_true(data->y[2 * t] == 1);
        }
        vhem_free(data);
        vh_h3m_free(h3m);
    }
    vhem_free(ctx);
}

static void errors(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vhem_data *data = NULL;
    vh_rng_init(&rng, 182, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 1, 2, 1, 1, 0, 1);
    assert_fails(ctx, vh_h3m_sample(ctx, h3m, 0, 5, &data), VHEM_EINVAL, "0 sequences were asked for");
    assert_fails(ctx, vh_h3m_sample(ctx, h3m, 5, 0, &data), VHEM_EINVAL,
                 "sequences of 0 frames were asked for");
    assert_null(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chain_and_moments),
                                        cmocka_unit_test(labels_and_mixtures), cmocka_unit_test(seeds),
                                        cmocka_unit_test(singular), cmocka_unit_test(errors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
