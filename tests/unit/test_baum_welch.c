/* test_baum_welch.c - one iteration against the sum over all state paths, and
 * restarts that do not disturb one another. */
#include "engine.h"

/* M-step by hand from the enumeration of all paths of two sequences:
 * diagonal covariances, no floor, M = 1. */
static void one_iteration(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        enum { S = 3 };
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[] = { 6, 5 };
        vh_rng_init(&rng, 221, VH_RNG_TEST, (uint64_t)trial);
        vhem_h3m *start = random_h3m(ctx, &rng, 1, S, 1, 1, 0, 1), *out = NULL;
        double *y = random_frames(&rng, 11, 1, 2), w[] = { 1, 2.5 }, nu1[S] = { 0 }, xi[S * S] = { 0 },
               n[S] = { 0 };
        double sum[S] = { 0 }, square[S] = { 0 }, loglik = 0;
        vhem_hmm_view v = view_of(start, 0);
        for (int k = 0, at = 0; k < 2; at += T[k++]) {
            enumeration e;
            enumerate(&v, y + at, T[k], &e);
            loglik += w[k] * (double)e.loglik;
            for (int s = 0; s < S; s++) {
                nu1[s] += w[k] * (double)e.gamma[s];
                for (int q = 0; q < S; q++)
                    xi[s * S + q] += w[k] * (double)e.xi[s * S + q];
                for (int t = 0; t < T[k]; t++) {
                    double g = w[k] * (double)e.gamma[t * S + s];
                    n[s] += g;
                    sum[s] += g * y[at + t];
                    square[s] += g * y[at + t] * y[at + t];
                }
            }
        }
        vh_builder *b = NULL;
        assert_ok(ctx, vh_builder_new(ctx, 1, &b));
        add_sequence(ctx, b, y, T[0], "a", NULL, "g", w[0]);
        add_sequence(ctx, b, y + T[0], T[1], "b", NULL, "g", w[1]);
        vhem_data *data = finish(ctx, b);
        vhem_fit_options opt;
        vhem_fit_report *r = NULL;
        vhem_fit_options_init(&opt);
        opt.start = start;
        opt.by_group = 1;
        opt.cov_floor = 0;
        opt.max_iter = 0;
        assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &out, &r));
        assert_near(r->run[0].loglik, loglik, 1e-10, 1e-10);
        vhem_h3m_free(out);
        vhem_fit_report_free(r);
        opt.max_iter = 1;
        assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &out, NULL));
        vhem_hmm_view f = view_of(out, 0);
        for (int s = 0; s < S; s++) {
            double m = sum[s] / n[s], row = xi[s * S] + xi[s * S + 1] + xi[s * S + 2];
            if (!is_near(f.pi[s], nu1[s] / (w[0] + w[1]), 1e-9, 1e-10) || !is_near(f.mu[s], m, 1e-9, 1e-9) ||
                !is_near(f.cov[s], square[s] / n[s] - m * m, 1e-8, 1e-9))
                fail_msg("seed 221/%d, state %d: pi %.12g, mu %.12g, cov %.12g", trial, s, f.pi[s], f.mu[s],
                         f.cov[s]);
            for (int q = 0; q < S; q++)
                assert_near(f.A[s * S + q], xi[s * S + q] / row, 1e-9, 1e-10);
        }
        vhem_h3m_free(out);
        vhem_h3m_free(start);
        vhem_data_free(data);
        free(y);
        vhem_ctx_free(ctx);
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
    vhem_h3m *a = NULL, *b = NULL;
    vhem_fit_options_init(&opt);
    opt.init = "random";
    opt.restarts = 3;
    opt.tol = 1e-4;
    assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &a, &few));
    opt.restarts = 12;
    assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &b, &many));
    int lengths = 0;
    for (int r = 0; r < 3; r++) {
        assert_int_equal(few->run[r].n_iter, many->run[r].n_iter);
        assert_near(few->run[r].loglik, many->run[r].loglik, 1e-9, 1e-9);
    }
    for (int r = 1; r < 12; r++)
        lengths += many->run[r].n_iter != many->run[0].n_iter;
    assert_true(lengths > 0);                            /* some did leave before others */
    assert_true(many->run[many->best[0]].loglik >= few->run[few->best[0]].loglik - 1e-9);
    vhem_fit_report_free(few);
    vhem_fit_report_free(many);
    vhem_h3m_free(a);
    vhem_h3m_free(b);
    vhem_data_free(data);
    free(y);
    vhem_ctx_free(ctx);
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
    vhem_h3m *start = simple_hmm(ctx, 3, 1, pi, A, mu, cov), *out = NULL;
    vhem_fit_options opt;
    vhem_fit_report *r = NULL;
    vhem_fit_options_init(&opt);
    opt.start = start;
    opt.repair = 0;
    assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &out, &r));
    assert_true(view_of(out, 0).mu[2] == 1e5);
    assert_int_equal(r->run[0].n_revived, 0);
    double without = r->run[0].loglik;
    vhem_h3m_free(out);
    vhem_fit_report_free(r);
    opt.repair = 1;
    assert_ok(ctx, vhem_fit_each(ctx, data, &opt, &out, &r));
    assert_true(r->run[0].n_revived >= 1);
    assert_true(view_of(out, 0).mu[2] < 20);
    assert_true(view_of(out, 0).pi[2] == 0);             /* a zero of the start stays */
    assert_true(r->run[0].loglik > without);
    vhem_h3m_free(out);
    vhem_fit_report_free(r);
    vhem_h3m_free(start);
    vhem_data_free(data);
    vhem_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_iteration),
                                        cmocka_unit_test(restarts_are_independent),
                                        cmocka_unit_test(repair) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
