/* SPDX-License-Identifier: BSD-3-Clause */
/* test_recursion.c - forward, backward and posteriors in logs against the sum over all state paths. */
#include "engine.h"

#include "fit/forward_backward.h"
#include "vhem.h"

static void check(const vhem_hmm_view *v, const double *y, int T, const char *what)
{
    int S = v->S;
    double log_b[16 * 8] = { 0 }, alpha[16 * 8], beta[16 * 8], xi[64], gamma[16 * 8];
    enumeration e;
    enumerate(v, y, T, &e);
    double tol = 1e-12 + 2e-15 * fabs((double)e.loglik); /* logs have steps of 2e-16 |loglik|, a few of them
                                                            add up */
    for (int t = 0; t < T; t++)
        for (int s = 0; s < S; s++)
            log_b[t * S + s] = (double)slow_state(v, s, y + t * v->d);
    const vh_chain c = { S, T, v->pi, v->A, log_b, NULL };
    double loglik = vh_log_forward(&c, alpha);
    vh_log_backward(&c, beta);
    for (int k = 0; k < S * S; k++)
        xi[k] = 100; /* it is added to */
    vh_log_posterior(&c, alpha, beta, 2.0, gamma, xi);
    if (!is_near(loglik, (double)e.loglik, 1e-12, 1e-12))
        fail_msg("%s: loglik %.17g, all paths %.17Lg", what, loglik, e.loglik);
    for (int k = 0; k < T * S; k++)
        assert_near(gamma[k], (double)e.gamma[k], tol, tol);
    for (int k = 0; k < S * S; k++)
        assert_near(xi[k], 100 + 2 * (double)e.xi[k], 0, 4 * T * tol);
    vh_log_posterior(&c, alpha, beta, 1.0, alpha, NULL); /* in place, without xi */
    assert_memory_equal(alpha, gamma, sizeof *gamma * (size_t)(T * S));
}

static void all_paths(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 60; trial++) {
        vh_rng rng;
        char what[40];
        int S = 1 + trial % 4, T = 1 + trial % 7, M = 1 + trial % 2, d = 1 + trial % 3;
        vh_rng_init(&rng, 71, VH_RNG_TEST, (uint64_t)trial);
        vh_h3m *h3m = random_h3m(ctx, &rng, 1, S, M, d, trial % 2, 3);
        double *y = random_frames(&rng, T, d, trial % 5 == 0 ? 300 : 3); /* also frames no state expects */
        vh_hmm *h = &h3m->hmm[0];
        if (trial % 3 == 0 && S > 1) { /* structural zeros */
            h->pi[1] += h->pi[0];
            h->pi[0] = 0;
            h->A[1] += h->A[0];
            h->A[0] = 0;
        }
        vhem_hmm_view v = view_of(h3m, 0);
        snprintf(what, sizeof what, "seed 71/%d", trial);
        check(&v, y, T, what);
        vh_h3m_free(h3m);
        free(y);
    }
    vhem_free(ctx);
}

/* The winner is 1e-300 behind after half of the frames, in chains that never change. */
static void late_winner(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 0.5, 0.5 }, A[] = { 1, 0, 0, 1 }, mu[] = { 0, 100 }, cov[] = { 1, 1 };
    double y[] = { 0, 0, 0, 100, 100, 100.5 };
    vh_h3m *h3m = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    vhem_hmm_view v = view_of(h3m, 0);
    check(&v, y, 6, "late winner");
    y[5] = 99;
    check(&v, y, 6, "late loser");
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Frames that no state can explain: -inf comes out, not NaN. */
static void impossible(void **state)
{
    (void)state;
    double pi[] = { 1, 0 }, A[] = { 1, 0, 0, 1 }, log_b[] = { 0, 0, -INFINITY, 0 }, alpha[4], beta[4];
    const vh_chain c = { 2, 2, pi, A, log_b, NULL };
    assert_true(vh_log_forward(&c, alpha) == -INFINITY);
    vh_log_backward(&c, beta);
    assert_true(beta[0] == -INFINITY && beta[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_paths), cmocka_unit_test(late_winner),
                                        cmocka_unit_test(impossible) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
