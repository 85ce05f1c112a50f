/* SPDX-License-Identifier: BSD-3-Clause */
/* test_infer.c - scores, paths and posteriors against the sum over all state
 * paths; tiles of many HMMs; errors. */
#include "engine.h"
#include "vhem.h"

static void all_paths(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 40; trial++) {
        vh_rng rng;
        int S = 1 + trial % 4, T[] = { 1 + trial % 6, 1, 3 }, d = 1 + trial % 3;
        vh_rng_init(&rng, 171, VH_RNG_TEST, (uint64_t)trial);
        vh_h3m *h3m = random_h3m(ctx, &rng, 2, S, 1 + trial % 3, d, trial % 2, 2);
        double *y = random_frames(&rng, T[0] + 4, d, 3), score[6], xi[16], gamma[64], loglik, logprob;
        vhem_data *data = wrap(ctx, 3, T, d, y);
        int path[16];
        assert_ok(ctx, vh_h3m_score(ctx, h3m, data, score));
        for (int n = 0, at = 0; n < 3; at += T[n++])
            for (int i = 0; i < 2; i++) {
                enumeration e;
                vhem_hmm_view v = view_of(h3m, i);
                enumerate(&v, y + at * d, T[n], &e);
                if (!is_near(score[n * 2 + i], (double)e.loglik, 1e-10, 1e-10))
                    fail_msg("seed 171/%d: score %.15g, all paths %.15Lg", trial, score[n * 2 + i], e.loglik);
                assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ i }, data, n, 1,
                                             &(vhem_decoding){ .path = path, .logprob = &logprob }));
                assert_near(logprob, (double)e.best, 1e-12, 1e-12);
                for (int t = 0; t < T[n]; t++)
                    if (path[t] != e.path[t])
                        fail_msg("seed 171/%d: frame %d is in state %d, should be %d", trial, t, path[t],
                                 e.path[t]);
                assert_ok(ctx, vh_h3m_posterior(ctx, h3m, i, data, n, gamma, xi, &loglik));
                assert_near(loglik, (double)e.loglik, 1e-12, 1e-12);
                for (int k = 0; k < T[n] * S; k++)
                    assert_near(gamma[k], (double)e.gamma[k], 1e-10, 1e-12);
                for (int k = 0; k < S * S; k++)
                    assert_near(xi[k], (double)e.xi[k], 1e-10, 1e-12);
                assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ i }, data, n, 1,
                                             &(vhem_decoding){ .path = path, .logprob = NULL }));
                assert_ok(ctx, vh_h3m_posterior(ctx, h3m, i, data, n, gamma, NULL, NULL));
            }
        vhem_free(data);
        vh_h3m_free(h3m);
        free(y);
    }
    vhem_free(ctx);
}

/* Many at once, each under an HMM of its own: what each alone gives, to the last bit, at any number of
 * threads; that other sequences lack cells makes no difference. */
static void together(void **state)
{
    (void)state;
    enum { N = 40, D = 2, MOST = 400 };
    vhem_ctx *ctx = test_ctx_with(NULL, 3, 1);
    vh_rng rng;
    int T[N], path[MOST], one[MOST];
    int64_t hmm[N], frames = 0;
    double gamma[4 * MOST], xi[16 * N], loglik[N], logprob[N], alone[4 * MOST], own_xi[16], a, b;
    vh_rng_init(&rng, 174, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 3, 4, 2, D, 0, 2);
    for (int n = 0; n < N; n++) {
        hmm[n] = n % 3;
        frames += T[n] = 1 + n % 9;
    }
    double *y = random_frames(&rng, (int)frames, D, 2);
    y[D * (T[0] + T[1]) + 1] = NAN; /* of sequence 2 */
    vhem_data *data = wrap(ctx, N, T, D, y);
    assert_ok(ctx, vh_h3m_decode(ctx, h3m, hmm + 1, data, 1, N - 1,
                                 &(vhem_decoding){ path, logprob, gamma, xi, loglik }));
    for (int n = 1, at = 0, row = 0; n < N; at += T[n], row += T[n] * 4, n++) {
        vhem_data *single = wrap(ctx, 1, &T[n], D, y + D * (at + T[0]));
        assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ hmm[n] }, single, 0, 1,
                                     &(vhem_decoding){ .path = one, .logprob = &a }));
        assert_ok(ctx, vh_h3m_posterior(ctx, h3m, hmm[n], single, 0, alone, own_xi, &b));
        assert_memory_equal(one, path + at, sizeof *one * (size_t)T[n]);
        assert_memory_equal(alone, gamma + row, sizeof *alone * 4 * (size_t)T[n]);
        assert_memory_equal(own_xi, xi + 16 * (n - 1), sizeof own_xi);
        assert_true(a == logprob[n - 1] && b == loglik[n - 1]);
        vhem_free(single);
    }
    assert_fails(ctx, vh_h3m_decode(ctx, h3m, hmm, data, 1, N, &(vhem_decoding){ .path = path }), VHEM_EINVAL,
                 "sequence 40 was asked for, but there are 40");
    vhem_free(data);
    vh_h3m_free(h3m);
    free(y);
    vhem_free(ctx);
}

/* Equal paths: the lowest index. */
static void ties(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 0.25, 0.25, 0.5 }, A[] = { 0.5, 0.5, 0, 0.5, 0.5, 0, 0, 0, 1 }, mu[] = { 0, 0, 50 };
    double cov[] = { 1, 1, 1 }, y[] = { 0, 1, -1, 0 };
    int T = 4, path[4];
    vh_h3m *h3m = simple_hmm(ctx, 3, 1, pi, A, mu, cov);
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ 0 }, data, 0, 1,
                                 &(vhem_decoding){ .path = path, .logprob = NULL }));
    for (int t = 0; t < 4; t++)
        assert_int_equal(path[t], 0);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* More components than a tile of 512, HMMs of different shapes, one of them
 * larger than a tile: each as when alone. */
static void tiles(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx_with(NULL, 2, 1);
    vh_rng rng;
    enum { K = 90, D = 2, N = 5 };
    vh_h3m *part[K], *h3m = NULL;
    vhem_hmm_view v[K];
    int T[N] = { 30, 1, 17, 200, 4 };
    double score[N * K], alone[N];
    vh_rng_init(&rng, 172, VH_RNG_TEST, 0);
    for (int k = 0; k < K; k++) {
        int S = k == 40 ? 30 : 1 + k % 7, M = k == 40 ? 20 : 1 + k % 5;
        part[k] = random_h3m(ctx, &rng, 1, S, M, D, 0, 2);
        v[k] = view_of(part[k], 0);
        v[k].omega = 1.0 / K;
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", D, K, v, &h3m));
    double *y = random_frames(&rng, 252, D, 2);
    vhem_data *data = wrap(ctx, N, T, D, y);
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, score));
    for (int k = 0; k < K; k++) {
        assert_ok(ctx, vh_h3m_score(ctx, part[k], data, alone));
        for (int n = 0; n < N; n++)
            if (!is_near(score[n * K + k], alone[n], 1e-12, 1e-12))
                fail_msg("HMM %d, sequence %d: %.15g with the others, %.15g alone", k, n, score[n * K + k],
                         alone[n]);
        vh_h3m_free(part[k]);
    }
    vhem_free(data);
    vh_h3m_free(h3m);
    free(y);
    vhem_free(ctx);
}

/* Data and model a million deviations from zero, and data a million deviations from the model. */
static void far_away(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 0.5, 0.5 }, A[] = { 0.9, 0.1, 0.2, 0.8 }, mu[] = { 0, 3 }, cov[] = { 1, 2 };
    double far_mu[] = { 1048576, 1048579 }, y[] = { 0.5, 2.75, 3.5, -0.25 }, far_y[4], near_ll, far_ll, off;
    int T = 4;
    for (int t = 0; t < 4; t++)
        far_y[t] = y[t] + 1048576; /* exact */
    vh_h3m *near = simple_hmm(ctx, 2, 1, pi, A, mu, cov), *far = simple_hmm(ctx, 2, 1, pi, A, far_mu, cov);
    vhem_data *a = wrap(ctx, 1, &T, 1, y), *b = wrap(ctx, 1, &T, 1, far_y);
    assert_ok(ctx, vh_h3m_score(ctx, near, a, &near_ll));
    assert_ok(ctx, vh_h3m_score(ctx, far, b, &far_ll));
    assert_near(near_ll, far_ll, 1e-13, 1e-13);
    assert_ok(ctx, vh_h3m_score(ctx, near, b, &off));
    enumeration e;
    vhem_hmm_view v = view_of(near, 0);
    enumerate(&v, far_y, 4, &e);
    assert_near(off, (double)e.loglik, 1e-12, 0);
    vhem_free(a);
    vhem_free(b);
    vh_h3m_free(near);
    vh_h3m_free(far);
    vhem_free(ctx);
}

/* So far away that the square of the distance is infinite: a score of -inf,
 * no posterior, a path all the same. */
static void out_of_range(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 0.5, 0.5 }, A[] = { 0.9, 0.1, 0.2, 0.8 }, mu[] = { 0, 3 }, cov[] = { 1, 2 },
           y[] = { 0, 1e200, 3 };
    double loglik, gamma[6] = { 0 };
    int T = 3, path[3];
    vh_h3m *h3m = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, &loglik));
    assert_true(loglik == -INFINITY);
    assert_fails(ctx, vh_h3m_posterior(ctx, h3m, 0, data, 0, gamma, NULL, NULL), VHEM_ENUMERIC,
                 "sequence 0 has the log-likelihood -inf under HMM 0");
    assert_true(gamma[0] == 0);
    assert_ok(ctx, vh_h3m_decode(ctx, h3m, &(int64_t){ 0 }, data, 0, 1,
                                 &(vhem_decoding){ .path = path, .logprob = &loglik }));
    assert_true(loglik == -INFINITY && path[0] >= 0 && path[0] < 2);
    vhem_free(data);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

static void errors(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 173, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_h3m(ctx, &rng, 2, 2, 1, 2, 0, 1), *other = random_h3m(ctx, &rng, 1, 2, 1, 3, 0, 1);
    vh_h3m *full = random_h3m(ctx, &rng, 1, 2, 1, 2, 1, 1);
    double y[] = { 1, 2, 3, 4 }, bad[] = { 1, 2, NAN, 4 }, out[8];
    int T[] = { 2 }, path[2];
    vhem_data *data = wrap(ctx, 1, T, 2, y), *holes = wrap(ctx, 1, T, 2, bad);
    out[0] = 77;
    assert_fails(ctx, vh_h3m_score(ctx, other, data, out), VHEM_EINVAL,
                 "the models have dimension 3, but the data has 2");
    assert_true(out[0] == 77);
    assert_ok(ctx, vh_h3m_score(ctx, full, holes, out));
    assert_true(isfinite(out[0]));
    assert_fails(ctx,
                 vh_h3m_decode(ctx, h3m, &(int64_t){ 2 }, data, 0, 1,
                               &(vhem_decoding){ .path = path, .logprob = out }),
                 VHEM_EINVAL, "HMM 2 was asked for, but there are 2");
    assert_fails(ctx,
                 vh_h3m_decode(ctx, h3m, &(int64_t){ -1 }, data, 0, 1,
                               &(vhem_decoding){ .path = path, .logprob = out }),
                 VHEM_EINVAL, "HMM -1");
    assert_fails(ctx,
                 vh_h3m_decode(ctx, h3m, &(int64_t){ 0 }, data, 1, 1,
                               &(vhem_decoding){ .path = path, .logprob = out }),
                 VHEM_EINVAL, "sequence 1 was asked for, but there are 1");
    assert_fails(ctx, vh_h3m_posterior(ctx, h3m, 0, data, -1, out, NULL, NULL), VHEM_EINVAL, "sequence -1");
    assert_fails(ctx, vh_h3m_posterior(ctx, other, 0, data, 0, out, NULL, NULL), VHEM_EINVAL, "dimension 3");
    vh_hmm_param(h3m, &h3m->hmm[1], 1)[2] = 0;
    assert_fails(ctx, vh_h3m_score(ctx, h3m, data, out), VHEM_ENUMERIC,
                 "HMM 1: the covariance of state 1, component 0 is singular");
    assert_fails(ctx,
                 vh_h3m_decode(ctx, h3m, &(int64_t){ 1 }, data, 0, 1,
                               &(vhem_decoding){ .path = path, .logprob = out }),
                 VHEM_ENUMERIC, "HMM 1: the covariance of state 1");
    vhem_ctx_stop(ctx);
    assert_fails(ctx, vh_h3m_score(ctx, h3m, data, out), VHEM_ESTOPPED, "stopped; 0 of 2 HMMs were scored");
    vhem_free(data);
    vhem_free(holes);
    vh_h3m_free(full);
    vh_h3m_free(h3m);
    vh_h3m_free(other);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_paths), cmocka_unit_test(together),
                                        cmocka_unit_test(ties),      cmocka_unit_test(tiles),
                                        cmocka_unit_test(far_away),  cmocka_unit_test(out_of_range),
                                        cmocka_unit_test(errors) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
