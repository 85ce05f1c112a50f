/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bayes.c - what must hold for every fit with a prior: the bound of the evidence never falls, what the
 * topology forbids stays 0, units of the data do not matter, a sequence gets the same HMM whatever is beside
 * it and at any number of threads. */
#include "engine.h"
#include "vhem.h"

static const char *const family[] = { "gaussian-diag", "gaussian-full" };

/* Sequences of unequal length that wander between a few places. */
static double *wander(vh_rng *rng, int N, const int *T, int d)
{
    int64_t frames = 0;
    for (int n = 0; n < N; n++)
        frames += T[n];
    double *y = malloc(sizeof *y * (size_t)(frames * d)), *at = y;
    for (int n = 0; n < N; n++)
        for (int t = 0, place = n % 3; t < T[n]; t++, at += d) {
            place = vh_rng_uniform(rng) < 0.2 ? (int)vh_rng_below(rng, 3) : place;
            for (int k = 0; k < d; k++)
                at[k] = 4 * sin(3 * place + k) + (0.1 + place) * vh_rng_normal(rng);
        }
    return y;
}

static vhem_data *grouped(vhem_ctx *ctx, int N, const int *T, int d, const double *y)
{
    vh_builder *b = NULL;
    assert_ok(ctx, vh_builder_new(ctx, d, &b));
    for (int n = 0; n < N; y += T[n++] * d)
        add_sequence(ctx, b, y, T[n], NULL, NULL, n % 2 ? "odd" : "even", 0.5 + n % 3);
    return finish(ctx, b);
}

/* The prior of a fit as text, so that every later fit has the same. */
static char *prior_of(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt)
{
    vh_h3m *h3m = NULL;
    assert_ok(ctx, vh_fit_each(ctx, data, opt, &h3m, NULL));
    assert_non_null(h3m->prior);
    char *text = strdup(h3m->prior);
    vh_h3m_free(h3m);
    return text;
}

/* The bound after 1, 2, ... updates from one start, without a floor under anything. */
static void never_falls(void **state)
{
    (void)state;
    static const char *const topology[] = { "free", "left-right", "linear" };
    static const char *const prior[] = { "vb", "eb", "vb:nu0=0.2,count=0.1", "vb:frames=effective,lambda=2" };
    for (int trial = 0; trial < 48; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[] = { 20, 1, 13, 40 }, d = 1 + trial % 4, S = 1 + trial % 5, M = 1 + trial % 3;
        vh_rng_init(&rng, 421, VH_RNG_TEST, (uint64_t)trial);
        double *y = wander(&rng, 4, T, d), last = -INFINITY;
        vhem_data *data = grouped(ctx, 4, T, d, y);
        vh_h3m *start = random_h3m(ctx, &rng, 1, S, M, d, trial / 2 % 2, 2);
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = S;
        opt.M = M;
        opt.emission = family[trial / 2 % 2];
        opt.topology = topology[trial % 3];
        opt.by_group = 1;
        opt.prior = prior[trial % 4];
        char *text = prior_of(ctx, data, &opt);
        opt.prior = text;
        opt.start = HMMS(start);
        opt.tol = 0;
        for (opt.max_iter = 1; opt.max_iter < 30; opt.max_iter++) {
            vh_h3m *h3m = NULL;
            vhem_fit_report *r = NULL;
            assert_ok(ctx, vh_fit_each(ctx, data, &opt, &h3m, &r));
            double bound = r->run[0].bound + r->run[1].bound;
            if (!(bound >= last - 1e-9 * (fabs(last) + 1)))
                fail_msg("seed 421/%d: %.15g after %.15g in iteration %d (S %d M %d d %d %s %s %s)", trial,
                         bound, last, opt.max_iter, S, M, d, opt.emission, opt.topology, prior[trial % 4]);
            last = bound;
            vhem_hmm_view v = view_of(h3m, 0);
            for (int s = 0; s < S; s++)
                for (int q = 0; q < S; q++) {
                    bool forbidden = (trial % 3 > 0 && q < s) || (trial % 3 == 2 && q > s + 1);
                    assert_true(forbidden ? v.A[s * S + q] == 0 : v.A[s * S + q] > 0);
                }
            vhem_free(r);
            vh_h3m_free(h3m);
        }
        free(text);
        vh_h3m_free(start);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
    }
}

static void count_warning(void *arg, int level, const char *text)
{
    if (level == VHEM_LOG_WARN && strstr(text, "fell"))
        ++*(int *)arg;
}

/* Whole fits, first fits included; the same bits at any number of threads, from the prior that was written,
 * and of some of the sequences in another order. */
static void whole_fits(void **state)
{
    (void)state;
    static const char *const prior[] = { "vb", "eb", "vb:start=ml", "vb:nu0=1", "vb:frames=effective" };
    for (int trial = 0; trial < 20; trial++) {
        vhem_ctx_options copt;
        vhem_ctx *ctx = NULL, *many = NULL;
        vh_rng rng;
        int T[] = { 31, 22, 9, 40, 3 }, some[] = { 3, 1 }, d = 1 + trial % 3, warnings = 0;
        VHEM_INIT(VHEM_CTX_OPTIONS, &copt);
        copt.threads = 1;
        copt.seed = 5;
        copt.log = count_warning;
        copt.log_arg = &warnings;
        assert_int_equal(vhem_ctx_new(&copt, &ctx), VHEM_OK);
        copt.threads = 7;
        assert_int_equal(vhem_ctx_new(&copt, &many), VHEM_OK);
        vh_rng_init(&rng, 422, VH_RNG_TEST, (uint64_t)trial);
        double *y = wander(&rng, 5, T, d), part[72 * 3];
        vhem_data *data = wrap(ctx, 5, T, d, y);
        static const char *const name[] = { "a", "b", "c", "d", "e" }, *const part_name[] = { "d", "b" };
        assert_ok(ctx, call_describe(ctx, data, name, NULL, NULL, NULL, NULL));
        vh_h3m *a = NULL, *b = NULL, *c = NULL, *e = NULL;
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = 1 + trial % 4;
        opt.M = 1 + trial % 2;
        opt.emission = family[trial / 2 % 2];
        opt.prior = prior[trial % 5];
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &a, NULL));
        assert_ok(many, vh_fit_each(many, data, &opt, &b, NULL));
        assert_true(same_bits(a, b));
        opt.prior = a->prior;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &c, NULL));
        assert_true(same_bits(a, c));
        assert_string_equal(a->prior, c->prior);
        memcpy(part, y + 62 * d, sizeof *y * (size_t)(40 * d));
        memcpy(part + 40 * d, y + 31 * d, sizeof *y * (size_t)(22 * d));
        int few[] = { 40, 22 };
        vhem_data *subset = wrap(ctx, 2, few, d, part);
        assert_ok(ctx, call_describe(ctx, subset, part_name, NULL, NULL, NULL, NULL));
        assert_ok(ctx, vh_fit_each(ctx, subset, &opt, &e, NULL));
        for (int i = 0; i < 2; i++) {
            const vh_hmm *p = &a->hmm[some[i]], *q = &e->hmm[i];
            assert_memory_equal(p->pi, q->pi, ((size_t)(p->theta - p->pi) + p->n_theta) * sizeof *p->pi);
        }
        if (warnings)
            fail_msg("seed 422/%d: the bound fell %d times", trial, warnings);
        vh_h3m_free(a);
        vh_h3m_free(b);
        vh_h3m_free(c);
        vh_h3m_free(e);
        vhem_free(subset);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
        vhem_free(many);
    }
}

/* Metres or kilometres, from here or from there: the models say the same. */
static void units(void **state)
{
    (void)state;
    for (int trial = 0; trial < 8; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int T[] = { 30, 25 }, d = 2, full = trial % 2;
        const double unit[] = { 1e-4, 256 }, from[] = { 3, -1e3 };
        vh_rng_init(&rng, 423, VH_RNG_TEST, (uint64_t)trial);
        double *y = wander(&rng, 2, T, d), *u = malloc(sizeof *u * 110);
        vh_h3m *a = NULL, *b = NULL, *start = random_h3m(ctx, &rng, 1, 2, 1, d, full, 2), *moved = NULL;
        vhem_hmm_view v = view_of(start, 0);
        double mu[4], cov[8];
        for (int i = 0; i < 110; i++)
            u[i] = from[i % 2] + unit[i % 2] * y[i];
        for (int i = 0; i < 4; i++)
            mu[i] = from[i % 2] + unit[i % 2] * v.mu[i];
        for (int i = 0; i < (full ? 8 : 4); i++)
            cov[i] = v.cov[i] * unit[i % 2] * unit[full ? i / 2 % 2 : i % 2];
        vhem_hmm_view w = v;
        w.theta = NULL;
        w.mu = mu;
        w.cov = cov;
        assert_ok(ctx, vh_h3m_from_views(ctx, family[full], d, 1, &w, &moved));
        vhem_data *da = wrap(ctx, 2, T, d, y), *db = wrap(ctx, 2, T, d, u);
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.prior = trial < 4 ? "vb" : "eb";
        opt.tol = 0;
        opt.max_iter = 20;
        opt.start = HMMS(start);
        assert_ok(ctx, vh_fit_each(ctx, da, &opt, &a, NULL));
        opt.start = HMMS(moved);
        assert_ok(ctx, vh_fit_each(ctx, db, &opt, &b, NULL));
        for (int n = 0; n < 2; n++) {
            vhem_hmm_view p = view_of(a, n), q = view_of(b, n);
            for (int k = 0; k < 4; k++) {
                assert_near(p.A[k], q.A[k], 1e-6, 1e-9);
                assert_near(from[k % 2] + unit[k % 2] * p.mu[k], q.mu[k], 1e-6, 1e-6 * unit[k % 2]);
            }
            for (int k = 0; k < (full ? 8 : 4); k++) {
                double scale = unit[k % 2] * unit[full ? k / 2 % 2 : k % 2];
                assert_near(scale * p.cov[k], q.cov[k], 1e-6, 1e-6 * scale);
            }
        }
        vh_h3m_free(a);
        vh_h3m_free(b);
        vh_h3m_free(start);
        vh_h3m_free(moved);
        vhem_free(da);
        vhem_free(db);
        free(y);
        free(u);
        vhem_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_falls), cmocka_unit_test(whole_fits),
                                        cmocka_unit_test(units) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
