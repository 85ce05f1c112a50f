/* SPDX-License-Identifier: BSD-3-Clause */
/* test_linear.c - HMMs with few transitions, most of them linear, whose states follow one another: scores
 * against the sum over all state paths, and against a recursion in long double where paths are too many, and
 * fits against those of ref, on every backend. */
#include "engine.h"
#include "family_models.h"

#include "fit/fit.h"
#include "fit/infer.h"
#include "fit/options.h"
#include "models/models.h"
#include "vhem.h"

enum { MOST_S = 13 };

/* Leaves the transitions of each state to itself and the next one, or only one of them; pi stays. */
static void make_linear(vh_rng *rng, vh_hmm *h)
{
    for (int s = 0; s < h->S; s++) {
        double kind = vh_rng_uniform(rng), p = vh_rng_uniform(rng);
        double stay = s + 1 == h->S || kind < 0.1 ? 1 : kind < 0.2 ? 0 : kind < 0.3 ? 1e-250 : p;
        memset(h->A + s * h->S, 0, sizeof *h->A * (size_t)h->S);
        h->A[s * h->S + s] = stay;
        if (s + 1 < h->S)
            h->A[s * h->S + s + 1] = 1 - stay;
    }
}

/* Leaves the transitions of each state to itself and the later ones, or to the next two in a ring. */
static void make_sparse(vh_rng *rng, vh_hmm *h, bool ring)
{
    for (int s = 0; s < h->S; s++) {
        double sum = 0;
        for (int q = 0; q < h->S; q++) {
            bool leads = ring ? (q - s + h->S) % h->S == 1 || (q - s + h->S) % h->S == 2 % h->S : q >= s;
            h->A[s * h->S + q] = leads ? 0.01 + vh_rng_uniform(rng) : 0;
            sum += h->A[s * h->S + q];
        }
        for (int q = 0; q < h->S; q++)
            h->A[s * h->S + q] /= sum;
    }
}

static long double log_add(int n, const long double *x)
{
    long double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = x[i] > top ? x[i] : top;
    for (int i = 0; i < n && top > -INFINITY; i++)
        sum += expl(x[i] - top);
    return top + logl(sum);
}

/* log p(y_1:T). */
static double slow_score(const vhem_hmm_view *v, const double *y, int T)
{
    long double alpha[MOST_S], next[MOST_S], from[MOST_S];
    for (int s = 0; s < v->S; s++)
        alpha[s] = logl(v->pi[s]) + slow_state(v, s, y);
    for (int t = 1; t < T; t++) {
        for (int q = 0; q < v->S; q++) {
            for (int s = 0; s < v->S; s++)
                from[s] = alpha[s] + logl(v->A[s * v->S + q]);
            next[q] = log_add(v->S, from) + slow_state(v, q, y + t * v->d);
        }
        memcpy(alpha, next, sizeof alpha);
    }
    return (double)log_add(v->S, alpha);
}

typedef struct { /* sequences one after the other */
    int N, d, T[64];
    const double *y;
} sequences;

/* Scores on a backend: [N][K]. */
static double *score_on(const char *backend, int threads, const vh_h3m *h3m, const sequences *x)
{
    vhem_ctx *ctx = test_ctx_with(backend, threads, 1);
    double *score = calloc((size_t)(x->N * h3m->K), sizeof *score);
    vhem_data *data = wrap(ctx, x->N, x->T, x->d, x->y);
    assert_ok(ctx, vh_h3m_score(ctx, h3m, data, score));
    vhem_free(data);
    vhem_free(ctx);
    return score;
}

/* Scores of all backends are those wanted, [N][K]. */
static void check_scores(const char *what, const vh_h3m *h3m, const sequences *x, const double *want)
{
    for (int b = 0; test_backend(b); b++) {
        double *score = score_on(test_backend(b), 1, h3m, x);
        for (int i = 0; i < x->N * (int)h3m->K; i++)
            if (score[i] != want[i] && !is_near(score[i], want[i], 1e-11, 1e-10))
                fail_msg("%s on %s: sequence %d, HMM %d: %.17g, should be %.17g", what, test_backend(b),
                         i / (int)h3m->K, i % (int)h3m->K, score[i], want[i]);
        free(score);
    }
}

/* One iteration from these HMMs, without anything that would hide what it sees. */
static vh_h3m *fit_on(const char *backend, const vh_h3m *h3m, const sequences *x)
{
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    vhem_data *data = wrap(ctx, x->N, x->T, x->d, x->y);
    vh_h3m *out = NULL;
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(h3m);
    opt.max_iter = 1;
    opt.tol = 0;
    opt.repair = 0;
    opt.prior = "none";
    assert_ok(ctx, vh_fit_each(ctx, data, &opt, &out, NULL));
    vhem_free(data);
    vhem_free(ctx);
    return out;
}

/* On all backends, one iteration from HMM k ends where it does on ref. */
static void check_fits(const char *what, const vh_h3m *h3m, int k, const sequences *x)
{
    vhem_ctx *ctx = test_ctx();
    vhem_hmm_view v = view_of(h3m, k);
    vh_h3m *start = NULL;
    v.omega = 1;
    assert_ok(ctx, vh_h3m_from_views(ctx, h3m->family->name, v.d, 1, &v, &start));
    vh_h3m *want = fit_on("ref", start, x);
    for (int b = 0; test_backend(b); b++) {
        vh_h3m *got = fit_on(test_backend(b), start, x);
        double apart = vh_h3m_compare(got, want);
        if (!(apart <= 1e-8))
            fail_msg("%s on %s: the fit of HMM %d is off by %.3g", what, test_backend(b), k, apart);
        vh_h3m_free(got);
    }
    vh_h3m_free(want);
    vh_h3m_free(start);
    vhem_free(ctx);
}

static double *slow_scores(const vh_h3m *h3m, const sequences *x)
{
    double *want = calloc((size_t)(x->N * h3m->K), sizeof *want);
    const double *y = x->y;
    for (int n = 0; n < x->N; y += x->T[n] * x->d, n++)
        for (int k = 0; k < h3m->K; k++) {
            vhem_hmm_view v = view_of(h3m, k);
            want[n * h3m->K + k] = slow_score(&v, y, x->T[n]);
        }
    return want;
}

static void all_paths(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 60; trial++) {
        vh_rng rng;
        char what[40];
        int S = 2 + trial % 3, T = 1 + trial % 7, M = 1 + trial % 2, d = 1 + trial % 3;
        vh_rng_init(&rng, 271, VH_RNG_TEST, (uint64_t)trial);
        vh_h3m *h3m = random_h3m(ctx, &rng, 1, S, M, d, 0, 3);
        if (trial % 4 < 2)
            make_linear(&rng, &h3m->hmm[0]);
        else
            make_sparse(&rng, &h3m->hmm[0], trial % 4 == 2);
        sequences x = { 1, d, { T }, random_frames(&rng, T, d, trial % 5 == 0 ? 300 : 3) };
        vhem_hmm_view v = view_of(h3m, 0);
        enumeration e;
        enumerate(&v, x.y, T, &e);
        snprintf(what, sizeof what, "seed 271/%d", trial);
        check_scores(what, h3m, &x, &(double){ (double)e.loglik });
        assert_near(slow_score(&v, x.y, T), (double)e.loglik, 1e-14, 1e-14); /* the other tests rely on it */
        vh_h3m_free(h3m);
        free((double *)x.y);
    }
    vhem_free(ctx);
}

/* Linear HMMs, others with few transitions, and dense ones of all sizes in one set. */
static vh_h3m *mixed_h3m(vhem_ctx *ctx, vh_rng *rng, int d, double spread)
{
    enum { SETS = 9, K = 3 };
    static const int S[SETS] = { 2, 3, 1, 8, 2, 3, MOST_S, 5, 3 }, M[SETS] = { 1, 1, 1, 1, 2, 2, 3, 1, 1 };
    vh_h3m *of[SETS], *mixed = NULL;
    vhem_hmm_view view[SETS * K];
    for (int i = 0; i < SETS; i++) {
        of[i] = random_h3m(ctx, rng, K, S[i], M[i], d, 0, spread);
        for (int k = 0; k < K; k++) {
            if (i < SETS - 2 && k < 1)
                make_linear(rng, &of[i]->hmm[k]);
            else if (i < SETS - 2)
                make_sparse(rng, &of[i]->hmm[k], k == 1);
            view[k * SETS + i] = view_of(of[i], k);
            view[k * SETS + i].omega = 1.0 / (SETS * K);
        }
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", d, SETS * K, view, &mixed));
    for (int i = 0; i < SETS; i++)
        vh_h3m_free(of[i]);
    return mixed;
}

/* Of all lengths up to 20, the last one again and again. */
static sequences many_lengths(vh_rng *rng, int d, double spread)
{
    sequences x = { .N = 29, .d = d };
    int frames = 0;
    for (int n = 0; n < x.N; n++)
        frames += x.T[n] = n < 20 ? 1 + n * 7 % 20 : 20;
    x.y = random_frames(rng, frames, d, spread);
    return x;
}

/* Sequences that no HMM expects: log-likelihoods from -1e2 to -1e12. */
static void strange(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int trial = 0; trial < 12; trial++) {
        vh_rng rng;
        char what[40];
        int d = 1 + trial % 2;
        vh_rng_init(&rng, 272, VH_RNG_TEST, (uint64_t)trial);
        vh_h3m *h3m = mixed_h3m(ctx, &rng, d, trial % 3 == 0 ? 1 : pow(10, trial % 6));
        sequences x = many_lengths(&rng, d, pow(10, trial % 5));
        double *want = slow_scores(h3m, &x);
        snprintf(what, sizeof what, "seed 272/%d", trial);
        check_scores(what, h3m, &x, want);
        free(want);
        free((double *)x.y);
        vh_h3m_free(h3m);
    }
    vhem_free(ctx);
}

/* Two outliers in a row cost 800 nats each if the chain stays, and 600 for each later frame if it leaves. */
static void outliers(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 1, 0 }, A[] = { 0.5, 0.5, 0, 1 }, mu[] = { 0, 34.64 }, cov[] = { 1, 1 }, y[40] = { 0 };
    vh_h3m *h3m = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    sequences x = { 1, 1, { 40 }, y };
    y[10] = y[11] = 40;
    double *want = slow_scores(h3m, &x);
    assert_near(want[0], -1665, 0.01, 0);
    check_scores("outliers", h3m, &x, want);
    check_fits("outliers", h3m, 0, &x);
    free(want);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* The best path goes through state 1 at once, at 690 nats and an improbable step: e^-717.  Then it gains 69 a
 * frame on the one that stays, until it loses 840 at the end: neither is in the range of a double. */
static void lost_path(void **state)
{
    (void)state;
    enum { T = 54, MANY = 10 };
    vhem_ctx *ctx = test_ctx();
    double pi[] = { 1, 0, 0 }, A[] = { 0.5, 0.5, 0, 0, 1 - 1e-12, 1e-12, 0, 0, 1 };
    double mu[] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, cov[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    static const double first[] = { 0, -2000, -2000, 0, -690, -690 }, gains[] = { -69, -2000, 0 },
                        loses[] = { 0, -2000, -420 };
    double y[3 * T]; /* a state gives the frame e^y_s times a constant */
    memcpy(y, first, sizeof first);
    for (int t = 2; t < T; t++)
        memcpy(y + 3 * t, t < T - 2 ? gains : loses, sizeof gains);
    vh_h3m *h3m = simple_hmm(ctx, 3, 3, pi, A, mu, cov);
    sequences x = { 1, 3, { T }, y };
    double *want = slow_scores(h3m, &x), many[3 * T * MANY];
    check_scores("lost path", h3m, &x, want);
    check_fits("lost path", h3m, 0, &x);
    for (int n = 0; n < MANY; n++)
        memcpy(many + 3 * T * n, y, sizeof y);
    sequences same = { .N = MANY, .d = 3, .y = many }; /* so many that a device takes them */
    for (int n = 0; n < MANY; n++)
        same.T[n] = T;
    check_fits("lost paths", h3m, 0, &same);
    free(want);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Bits of which a state gives one for certain; some sequences are impossible, in frames or for good. */
static void impossible(void **state)
{
    (void)state;
    enum { LONG = 3000 };
    static const double first[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0.5, 0.5 } };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 273, VH_RNG_TEST, 0);
    vh_h3m *h3m = random_models(ctx, &rng, "bernoulli", 3, 3, 1);
    double *y = calloc(2 * (8 + LONG), sizeof *y);
    for (int k = 0; k < 3; k++) {
        double A[] = { 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 1 }, *par[VH_MAX_PARAM];
        memcpy(h3m->hmm[k].A, A, sizeof A);
        memcpy(h3m->hmm[k].pi, first[k], sizeof first[k]);
        for (int s = 0; s < 3; s++) { /* states give 0 and a coin, 1 and a coin, 0 and a coin */
            vh_hmm_component(h3m, &h3m->hmm[k], s, 0, par);
            par[0][0] = s == 1;
            par[0][1] = 0.5;
        }
    }
    static const double bits[] = { 0, 1, 1, 0, 1, 1, 0, 1 };
    for (int t = 0; t < 8; t++)
        y[2 * t] = bits[t];
    for (int t = 0; t < LONG; t++)
        y[2 * (8 + t)] = t % 2;
    sequences x = { 3, 2, { 4, 4, LONG }, y };
    double want[9], path = log(0.5);
    for (int i = 0; i < 9; i++)
        want[i] = -INFINITY;
    want[0] = 7 * path; /* 0 1 1 0: one path of probability 1/2^3, and four coins */
    check_scores("impossible", h3m, &x, want);
    free(y);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Frames whose squares overflow, and missing cells: as on the reference. */
static void as_reference(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 274, VH_RNG_TEST, 0);
    vh_h3m *h3m = mixed_h3m(ctx, &rng, 2, 30);
    sequences x = many_lengths(&rng, 2, 100);
    double *y = (double *)x.y;
    for (int i = 0; i < 200; i += 3)
        y[i] = NAN;
    y[202] = y[203] = NAN; /* a whole frame */
    double *want = score_on("ref", 1, h3m, &x);
    check_scores("missing cells", h3m, &x, want);
    free(want);
    for (int i = 0; i < 204; i++)
        y[i] = i % 11 == 0 ? 1e170 : 0;
    want = score_on("ref", 1, h3m, &x);
    check_scores("huge frames", h3m, &x, want);
    free(want);
    free(y);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

/* Longer than a chunk of the kernels; and the same bits at any number of threads. */
static void long_ones(void **state)
{
    (void)state;
    enum { N = 3, T = 12000 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 275, VH_RNG_TEST, 0);
    vh_h3m *h3m = mixed_h3m(ctx, &rng, 2, 20);
    sequences x = { N, 2, { T, 1, T - 5 }, random_frames(&rng, N * T, 2, 20) };
    double *want = slow_scores(h3m, &x);
    check_scores("long", h3m, &x, want);
    double *one = score_on(NULL, 1, h3m, &x);
    for (int threads = 2; threads <= 5; threads += 3) {
        double *more = score_on(NULL, threads, h3m, &x);
        assert_memory_equal(one, more, sizeof *one * N * (size_t)h3m->K);
        free(more);
    }
    free(one);
    free(want);
    free((double *)x.y);
    vh_h3m_free(h3m);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_paths),  cmocka_unit_test(strange),
                                        cmocka_unit_test(outliers),   cmocka_unit_test(lost_path),
                                        cmocka_unit_test(impossible), cmocka_unit_test(as_reference),
                                        cmocka_unit_test(long_ones) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
