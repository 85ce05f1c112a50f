/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fit.c - what must hold for every fit: the likelihood never falls, distributions stay
 * distributions, zeros stay zeros, the same seed gives the same bits at any number of threads,
 * and units of the data do not matter. */
#include "engine.h"
#include "vhem.h"

#ifdef _WIN32
static long peak_memory(void) /* not asked for there */
{
    return 0;
}
#else
#include <sys/resource.h>

static long peak_memory(void) /* in KiB */
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}
#endif

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const char *const family[] = { "gaussian-diag", "gaussian-full" };

/* Sequences with states, so that there is something to find. */
static double *sequences_of(vhem_ctx *ctx, vh_rng *rng, int N, const int *T, int d, int S)
{
    vh_h3m *h3m = random_h3m(ctx, rng, 1, S, 1, d, 0, 3);
    vhem_hmm_view v = view_of(h3m, 0);
    int64_t frames = 0, at = 0;
    for (int n = 0; n < N; n++)
        frames += T[n];
    double *y = malloc(sizeof *y * (size_t)(frames * d));
    for (int n = 0; n < N; n++) {
        int64_t s = vh_rng_pick(rng, S, v.pi);
        for (int t = 0; t < T[n]; t++, at++) {
            for (int k = 0; k < d; k++)
                y[at * d + k] = v.mu[s * d + k] + sqrt(v.cov[s * d + k]) * vh_rng_normal(rng);
            s = vh_rng_pick(rng, S, v.A + s * S);
        }
    }
    vh_h3m_free(h3m);
    return y;
}

/* All sequences in one group. */
static vhem_data *one_group(vhem_ctx *ctx, int N, const int *T, int d, const double *y)
{
    vh_builder *b = NULL;
    int64_t at = 0;
    assert_ok(ctx, vh_builder_new(ctx, d, &b));
    for (int n = 0; n < N; at += T[n++])
        add_sequence(ctx, b, y + at * d, T[n], NULL, NULL, "g", 1 + n % 3);
    return finish(ctx, b);
}

static void check_distribution(int n, const double *p, const char *what, int trial)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += p[i];
        if (!(p[i] >= 0))
            fail_msg("seed 301/%d: %s has the entry %g", trial, what, p[i]);
    }
    if (!is_near(sum, 1, 1e-12, 0))
        fail_msg("seed 301/%d: %s sums to %.17g", trial, what, sum);
}

/* Random cases of all kinds, iteration by iteration: each from where the last one ended. */
/* Proper probabilities, with the zeros of the topology: 1 left-right, 2 linear. */
static void check_chain(const vhem_hmm_view *v, int topology, int trial)
{
    check_distribution(v->S, v->pi, "pi", trial);
    for (int s = 0; s < v->S; s++) {
        check_distribution(v->S, v->A + s * v->S, "a row of A", trial);
        check_distribution(v->M, v->c + s * v->M, "a row of c", trial);
        for (int q = 0; q < v->S; q++)
            if ((topology > 0 && q < s) || (topology == 2 && q > s + 1))
                assert_true(v->A[s * v->S + q] == 0);
    }
}

static void never_falls(void **state)
{
    (void)state;
    static const char *const topology[] = { "free", "left-right", "linear" };
    static const double floor[] = { 1e-4, 0.3, 5e-9 };
    for (int trial = 0; trial < 60; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[] = { 20, 1, 13, 40 }, d = 1 + trial % 4;
        vh_rng_init(&rng, 301, VH_RNG_TEST, (uint64_t)trial);
        double *y = sequences_of(ctx, &rng, 4, T, d, 3), last = -INFINITY;
        vhem_data *data = one_group(ctx, 4, T, d, y);
        vhem_fit_options opt;
        vh_h3m *model = NULL;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = 1 + trial % 5;
        opt.M = 1 + trial % 3;
        opt.emission = family[trial / 2 % 2];
        opt.topology = topology[trial % 3];
        opt.cov_floor = floor[trial / 3 % 3];
        opt.by_group = 1;
        opt.prior = "none";
        opt.repair = 0;
        opt.tol = 0;
        opt.restarts = 1;
        opt.max_iter = 0;
        for (int iter = 0; iter < 25; iter++) {
            vh_h3m *next = NULL;
            vhem_fit_report *r = NULL;
            opt.start = HMMS(model);
            opt.max_iter = iter > 0;
            if (vh_fit_each(ctx, data, &opt, &next, &r) != VHEM_OK) {
                assert_non_null(strstr(vhem_ctx_error(ctx), "collapsed")); /* allowed with almost no floor */
                assert_true(opt.cov_floor < 1e-8);
                break;
            }
            double loglik = r->run[0].loglik;
            if (!(loglik >= last - 1e-9 * (fabs(last) + 1)))
                fail_msg("seed 301/%d: %.15g after %.15g in iteration %d (S %d M %d d %d %s %s floor %g)",
                         trial, loglik, last, iter, opt.S, opt.M, d, opt.emission, opt.topology,
                         opt.cov_floor);
            last = loglik;
            vhem_hmm_view v = view_of(next, 0);
            check_chain(&v, trial % 3, trial);
            vhem_free(r);
            vh_h3m_free(model);
            model = next;
        }
        vh_h3m_free(model);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
    }
}

/* The same along one run, repairs on: max_iter cuts it short, and what warns of a fall stays silent. */
static void count_warning(void *arg, int level, const char *text)
{
    if (level == VHEM_LOG_WARN && strstr(text, "fell"))
        ++*(int *)arg;
}

static void no_warning(void **state)
{
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        vhem_ctx_options copt;
        vhem_ctx *ctx = NULL;
        vh_rng rng;
        int T[] = { 50, 60 }, warnings = 0;
        VHEM_INIT(VHEM_CTX_OPTIONS, &copt);
        copt.threads = 1;
        copt.log = count_warning;
        copt.log_arg = &warnings;
        assert_int_equal(vhem_ctx_new(&copt, &ctx), VHEM_OK);
        vh_rng_init(&rng, 302, VH_RNG_TEST, (uint64_t)trial);
        double *y = sequences_of(ctx, &rng, 2, T, 2, 3);
        vhem_data *data = wrap(ctx, 2, T, 2, y);
        vhem_fit_options opt;
        vh_h3m *out = NULL;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = 4;
        opt.M = 2;
        opt.emission = family[trial % 2];
        opt.topology = trial % 3 ? "free" : "left-right";
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, NULL));
        if (warnings)
            fail_msg("seed 302/%d: the likelihood fell %d times", trial, warnings);
        vh_h3m_free(out);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
    }
}

/* ---- bits ---------------------------------------------------------------------------------------------- */

static vh_h3m *fit_with(int threads, uint64_t seed, const vhem_data *data, int by_group, double *score)
{
    vhem_ctx *ctx = test_ctx_with(NULL, threads, seed);
    vhem_fit_options opt;
    vh_h3m *out = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.max_iter = 8;
    opt.restarts = 2;
    opt.M = 2;
    opt.by_group = by_group;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, NULL));
    assert_ok(ctx, vh_h3m_score(ctx, out, data, score));
    vhem_free(ctx);
    return out;
}

static void same_bits_at_any_threads(void **state)
{
    (void)state;
    enum { N = 60, D = 3 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T[N];
    vh_rng_init(&rng, 303, VH_RNG_TEST, 0);
    for (int n = 0; n < N; n++)
        T[n] = 1 + (int)vh_rng_below(&rng, n % 10 == 0 ? 900 : 60);
    double *y = sequences_of(ctx, &rng, N, T, D, 3);
    vhem_data *each = wrap(ctx, N, T, D, y), *group = one_group(ctx, N, T, D, y);
    size_t size = sizeof(double) * N * N;
    double *score = malloc(size), *other = malloc(size);
    for (int by_group = 0; by_group <= 1; by_group++) {
        const vhem_data *data = by_group ? group : each;
        vh_h3m *one = fit_with(1, 4, data, by_group, score);
        static const int threads[] = { 2, 7, 1 };
        for (int k = 0; k < 3; k++) {
            vh_h3m *many = fit_with(threads[k], 4, data, by_group, other);
            if (!same_bits(one, many) || memcmp(score, other, by_group ? sizeof(double) * N : size) != 0)
                fail_msg("%d threads give other bits than one, by %s", threads[k],
                         by_group ? "group" : "sequence");
            vh_h3m_free(many);
        }
        vh_h3m *seeded = fit_with(1, 5, data, by_group, other);
        assert_false(same_bits(one, seeded));
        vh_h3m_free(seeded);
        vh_h3m_free(one);
    }
    free(score);
    free(other);
    free(y);
    vhem_free(each);
    vhem_free(group);
    vhem_free(ctx);
}

/* ---- units --------------------------------------------------------------------------------------------- */

/* Data moved by a million deviations and scaled per column: means and variances follow, the rest stays. */
static void units(void **state)
{
    (void)state;
    enum { D = 2, N = 300 };
    static const double shift[] = { 1048576, -2097152 }, scale[] = { 0.5, 4 }; /* exact in binary */
    vhem_ctx *ctx = test_ctx();
    for (int full = 0; full <= 1; full++)
        for (int floored = 0; floored <= 1; floored++) {
            vh_rng rng;
            int T = N;
            vh_rng_init(&rng, 304, VH_RNG_TEST, (uint64_t)full);
            double *y = sequences_of(ctx, &rng, 1, &T, D, 3), z[N * D];
            for (int i = 0; i < N * D; i++) {
                y[i] = round(y[i] * 4096) / 4096; /* so that moving loses nothing */
                z[i] = scale[i % D] * y[i] + shift[i % D];
            }
            vhem_data *a = wrap(ctx, 1, &T, D, y), *b = wrap(ctx, 1, &T, D, z);
            vhem_fit_options opt;
            vh_h3m *p = NULL, *q = NULL;
            vhem_fit_report *r = NULL, *s = NULL;
            VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
            opt.emission = family[full];
            opt.cov_floor = floored ? 0.2 : 1e-4;
            opt.tol = 0;
            opt.max_iter = 10;
            assert_ok(ctx, vh_fit_each(ctx, a, &opt, &p, &r));
            assert_ok(ctx, vh_fit_each(ctx, b, &opt, &q, &s));
            vhem_hmm_view v = view_of(p, 0), w = view_of(q, 0);
            assert_near(r->run[r->best[0]].loglik, s->run[s->best[0]].loglik + N * log(scale[0] * scale[1]),
                        1e-7, 0);
            for (int k = 0; k < 9; k++)
                assert_near(v.A[k], w.A[k], 1e-6, 1e-8); /* ten iterations multiply a rounding of 1e-12 or so
                                                            */
            for (int k = 0; k < 3 * D; k++)
                assert_near(scale[k % D] * v.mu[k] + shift[k % D], w.mu[k], 0, 1e-6);
            for (int k = 0; k < 3; k++)
                for (int i = 0; i < D; i++)
                    for (int j = 0; j < (full ? D : 1); j++) {
                        int at = full ? (k * D + i) * D + j : k * D + i;
                        assert_near(v.cov[at] * scale[i] * (full ? scale[j] : scale[i]), w.cov[at], 1e-6,
                                    1e-8);
                    }
            vhem_free(r);
            vhem_free(s);
            vh_h3m_free(p);
            vh_h3m_free(q);
            vhem_free(a);
            vhem_free(b);
            free(y);
        }
    vhem_free(ctx);
}

/* ---- length -------------------------------------------------------------------------------------------- */

/* A million frames: exp(loglik) is far below every number, memory stays linear in T S. */
static void very_long(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = SANITIZED ? 100000 : 1000000;
    vh_rng_init(&rng, 305, VH_RNG_TEST, 0);
    double *y = sequences_of(ctx, &rng, 1, &T, 2, 3), before, after;
    vhem_data *data = wrap(ctx, 1, &T, 2, y);
    vhem_fit_options opt;
    vh_h3m *out = NULL;
    vhem_fit_report *r = NULL;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.max_iter = 0;
    opt.restarts = 1;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &r));
    before = r->run[0].loglik;
    vh_h3m_free(out);
    vhem_free(r);
    opt.max_iter = 2;
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, &r));
    after = r->run[0].loglik;
    assert_true(isfinite(after) && after > before && after < -0.5 * T);
    assert_ok(ctx, vh_h3m_score(ctx, out, data, &before));
    assert_near(before, after, 1e-10, 0);
    long peak = peak_memory();
    if (!SANITIZED && peak > 600 * 1024)
        fail_msg("a million frames took %ld MB", peak / 1024);
    vhem_free(r);
    vh_h3m_free(out);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_falls), cmocka_unit_test(no_warning),
                                        cmocka_unit_test(same_bits_at_any_threads), cmocka_unit_test(units),
                                        cmocka_unit_test(very_long) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
