/* SPDX-License-Identifier: BSD-3-Clause */
/* test_baum_welch.c - one iteration against the sum over all state paths, and
 * restarts that do not disturb one another. */
#include "engine.h"
#include "vhem.h"

enum { S = 3 };

typedef struct { /* of two sequences, weighted */
    double nu1[S], xi[S * S], n[S], sum[S], square[S], loglik;
} expected;

/* What sequence y [T] of weight w adds, by enumeration of all paths. */
static void add_paths(const vhem_hmm_view *v, const double *y, int T, double w, expected *x)
{
    enumeration e;
    enumerate(v, y, T, &e);
    x->loglik += w * (double)e.loglik;
    for (int s = 0; s < S; s++) {
        x->nu1[s] += w * (double)e.gamma[s];
        for (int q = 0; q < S; q++)
            x->xi[s * S + q] += w * (double)e.xi[s * S + q];
        for (int t = 0; t < T; t++) {
            double g = w * (double)e.gamma[t * S + s];
            x->n[s] += g;
            x->sum[s] += g * y[t];
            x->square[s] += g * y[t] * y[t];
        }
    }
}

/* The M-step by hand; total is the weight of both sequences. */
static void check_mstep(const vhem_hmm_view *f, const expected *x, double total, int trial)
{
    for (int s = 0; s < S; s++) {
        const double *xi = x->xi + s * S;
        double m = x->sum[s] / x->n[s], row = xi[0] + xi[1] + xi[2];
        if (!is_near(f->pi[s], x->nu1[s] / total, 1e-9, 1e-10) || !is_near(f->mu[s], m, 1e-9, 1e-9)
            || !is_near(f->cov[s], x->square[s] / x->n[s] - m * m, 1e-8, 1e-9))
            fail_msg("seed 221/%d, state %d: pi %.12g, mu %.12g, cov %.12g", trial, s, f->pi[s], f->mu[s],
                     f->cov[s]);
        for (int q = 0; q < S; q++)
            assert_near(f->A[s * S + q], xi[q] / row, 1e-9, 1e-10);
    }
}

/* Diagonal covariances, no floor, M = 1. */
static void one_iteration(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[] = { 6, 5 };
        vh_rng_init(&rng, 221, VH_RNG_TEST, (uint64_t)trial);
        vh_h3m *start = random_h3m(ctx, &rng, 1, S, 1, 1, 0, 1), *out = NULL;
        double *y = random_frames(&rng, 11, 1, 2), w[] = { 1, 2.5 };
        vhem_hmm_view v = view_of(start, 0);
        expected x = { 0 };
        add_paths(&v, y, T[0], w[0], &x);
        add_paths(&v, y + T[0], T[1], w[1], &x);
        vh_builder *b = NULL;
        assert_ok(ctx, vh_builder_new(ctx, 1, &b));
        add_sequence(ctx, b, y, T[0], "a", NULL, "g", w[0]);
        add_sequence(ctx, b, y + T[0], T[1], "b", NULL, "g", w[1]);
        vhem_data *data = finish(ctx, b);
        vhem_fit_options opt;
        vhem_fit_report *r = NULL;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.start = HMMS(start);
        opt.by_group = 1;
        opt.cov_floor = 0;
        opt.max_iter = 0;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &r));
        assert_near(r->run[0].loglik, x.loglik, 1e-10, 1e-10);
        vh_h3m_free(out);
        vhem_free(r);
        opt.max_iter = 1;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, NULL));
        v = view_of(out, 0);
        check_mstep(&v, &x, w[0] + w[1], trial);
        vh_h3m_free(out);
        vh_h3m_free(start);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
    }
}

/* Restart r is what it is, however many others run beside it and leave before it. */
static void restarts_are_independent(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 150;
    vh_rng_init(&rng, 222, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, T, 2, 1);
    vhem_data *data = wrap(ctx, 1, &T, 2, y);
    vhem_fit_options opt;
    vhem_fit_report *few = NULL, *many = NULL;
    vh_h3m *a = NULL, *b = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.init = "random";
    opt.restarts = 3;
    opt.tol = 1e-4;
    opt.prior = "none"; /* one that is learnt depends on the best of them */
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &a, &few));
    opt.restarts = 12;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &b, &many));
    int lengths = 0;
    for (int r = 0; r < 3; r++) {
        assert_int_equal(few->run[r].n_iter, many->run[r].n_iter);
        assert_near(few->run[r].loglik, many->run[r].loglik, 1e-9, 1e-9);
    }
    for (int r = 1; r < 12; r++)
        lengths += many->run[r].n_iter != many->run[0].n_iter;
    assert_true(lengths > 0); /* some did leave before others */
    assert_true(many->run[many->best[0]].loglik >= few->run[few->best[0]].loglik - 1e-9);
    vhem_free(few);
    vhem_free(many);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

/* A state nobody wants is revived when repair is on, and kept as it is when off. */
static void repair(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    enum { N = 200 };
    int T = N;
    double y[N], pi[] = { 0.5, 0.5, 0 }, A[9], mu[] = { 0, 10, 1e5 }, cov[] = { 1, 1, 1 };
    vh_rng_init(&rng, 223, VH_RNG_TEST, 0);
    for (int t = 0; t < N; t++)
        y[t] = 10 * (t / 5 % 2) + (t % 3) + 0.1 * vh_rng_normal(&rng);
    for (int e = 0; e < 9; e++)
        A[e] = 1.0 / 3;
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vh_h3m *start = simple_hmm(ctx, 3, 1, pi, A, mu, cov), *out = NULL;
    vhem_fit_options opt;
    vhem_fit_report *r = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(start);
    opt.repair = 0;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &r));
    assert_true(view_of(out, 0).mu[2] == 1e5);
    assert_int_equal(r->run[0].n_revived, 0);
    double without = r->run[0].loglik;
    vh_h3m_free(out);
    vhem_free(r);
    opt.repair = 1;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &r));
    assert_true(r->run[0].n_revived >= 1);
    assert_true(view_of(out, 0).mu[2] < 20);
    assert_true(view_of(out, 0).pi[2] == 0); /* a zero of the start stays */
    assert_true(r->run[0].loglik > without);
    vh_h3m_free(out);
    vhem_free(r);
    vh_h3m_free(start);
    vhem_free(data);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_iteration),
                                        cmocka_unit_test(restarts_are_independent),
                                        cmocka_unit_test(repair) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
