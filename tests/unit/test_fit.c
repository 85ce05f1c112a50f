/* SPDX-License-Identifier: BSD-3-Clause */
/* test_fit.c - vh_fit_each: options and their errors, groups, names, weights, restarts, starts,
 * stopping, and data that is hardly data. */
#include "engine.h"

#include "math/linalg.h"
#include "vhem.h"

static vhem_fit_options options(int S, int M)
{
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = S;
    opt.M = M;
    return opt;
}

/* Every number finite, every distribution one, and the likelihood in the report that of the model. */
static void check_fit(vhem_ctx *ctx, const vh_h3m *h3m, const vhem_data *data, const vhem_fit_report *r)
{
    assert_ok(ctx, vh_h3m_validate(ctx, h3m));
    assert_int_equal(r->K, h3m->K);
    for (int i = 0; i < r->K; i++) {
        assert_true(r->best[i] >= 0 && r->best[i] < r->R);
        for (int k = 0; k < r->R; k++) {
            const vhem_fit_run *run = &r->run[i * r->R + k];
            if (!isfinite(run->loglik))
                fail_msg("HMM %d, restart %d has the log-likelihood %g", i, k, run->loglik);
            double best = r->run[i * r->R + r->best[i]].bound;
            assert_true(run->bound <= best + 1e-9 * fabs(best)); /* within 1e-9 the first wins */
        }
    }
    if (r->K == data->N && !data->weight) {
        double *score = malloc(sizeof *score * (size_t)(r->K * r->K));
        assert_ok(ctx, vh_h3m_score(ctx, h3m, data, score));
        for (int i = 0; i < r->K; i++)
            assert_near(score[i * r->K + i], r->run[i * r->R + r->best[i]].loglik, 1e-9, 1e-9);
        free(score);
    }
}

/* Fits, checks, and hands over the model; the report too when asked for. */
static vh_h3m *fit(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, vhem_fit_report **out)
{
    vh_h3m *h3m = NULL;
    vhem_fit_report *report = NULL;
    assert_ok(ctx, vh_fit_each(ctx, data, opt, &h3m, &report));
    check_fit(ctx, h3m, data, report);
    if (out)
        *out = report;
    else
        vhem_free(report);
    return h3m;
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void option_errors(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[] = { 1, 2, 3, 4, 5, 6 }, holes[] = { NAN, NAN, NAN, 4, 5, 6 },
           infinite[] = { 1, 2, 3, 4, 5, INFINITY };
    int T[] = { 3, 3 };
    vhem_data *data = wrap(ctx, 2, T, 1, y), *bad = wrap(ctx, 2, T, 1, holes),
              *inf = wrap(ctx, 2, T, 1, infinite);
    vh_h3m *out = NULL;
    vhem_fit_report *report = NULL;
#define REFUSED(change, text)                                                              \
    do {                                                                                   \
        vhem_fit_options opt = options(2, 1);                                              \
        change;                                                                            \
        assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, &report), VHEM_EINVAL, text); \
        assert_null(out);                                                                  \
        assert_null(report);                                                               \
    } while (0)
    REFUSED(opt.S = 0, "S is 0, must be at least 1");
    REFUSED(opt.S = 100000, "S is 100000, must be from 1 to 4096");
    REFUSED(opt.M = 0, "M is 0, must be at least 1");
    REFUSED(opt.M = 5000, "M is 5000, must be from 1 to 4096");
    REFUSED(opt.restarts = 0, "restarts is 0");
    REFUSED(opt.restarts = 70000, "restarts is 70000");
    REFUSED(opt.tol = NAN, "tol is nan");
    REFUSED(opt.cov_floor = INFINITY, "cov_floor is inf");
    REFUSED(opt.emission = "cauchy",
            "emission 'cauchy' is unknown; known are gaussian-diag, gaussian-full, poisson");
    REFUSED(opt.init = "magic", "init 'magic' is unknown; known are kmeans, random, segment");
    REFUSED(opt.topology = "ring", "topology 'ring' is unknown; known are free, left-right");
    REFUSED(opt.by_group = 1, "the data has no groups");
    const double row[] = { 0.5, 0.25, NAN, NAN };
    REFUSED(opt.fixed_A = row, "row 0 of A has no free entry and sums to 0.75, must be 1");
    const double pi[] = { 2, NAN };
    REFUSED(opt.fixed_pi = pi, "pi has the entry 2");
    vhem_fit_options opt = options(2, 1);
    opt.emission = "gaussian-full";
    assert_fails(ctx, vh_fit_each(ctx, bad, &opt, &out, NULL), VHEM_EINVAL,
                 "HMM 0: none of its frames has a value, so there is nothing to fit");
    assert_fails(ctx, vh_fit_each(ctx, inf, &opt, &out, NULL), VHEM_EINVAL,
                 "sequence 1: frame 2 (counted from 0), column 'y0' is infinite");
    assert_null(out);
    vhem_free(data);
    vhem_free(bad);
    vhem_free(inf);
    vhem_free(ctx);
}

static void defaults(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 60;
    vh_rng_init(&rng, 201, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 60, 2, 1);
    vhem_data *data = wrap(ctx, 1, &T, 2, y);
    vhem_fit_options opt;
    vhem_fit_report *report;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    vh_h3m *a = fit(ctx, data, NULL, &report), *b = fit(ctx, data, &opt, NULL), *c = NULL;
    assert_int_equal(report->R, 10);
    assert_int_equal(report->frames[0], 60);
    assert_int_equal(view_of(a, 0).S, 3);
    assert_true(same_bits(a, b));
    assert_ok(ctx, vh_fit_each(ctx, data, NULL, &c, NULL)); /* no report wanted */
    assert_true(same_bits(a, c));
    vhem_free(report);
    vhem_free(NULL);
    vh_h3m_free(a);
    vh_h3m_free(b);
    vh_h3m_free(c);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

/* ---- groups, names, weights ---------------------------------------------------------------------------- */

static void groups_and_names(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_builder *b = NULL;
    vh_rng_init(&rng, 202, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 100, 1, 1);
    assert_ok(ctx, vh_builder_new(ctx, 1, &b));
    add_sequence(ctx, b, y, 20, "a", "walk", "zebra", 1);
    add_sequence(ctx, b, y + 20, 20, "b", "run", "ant", 1);
    add_sequence(ctx, b, y + 40, 20, "c", "walk", "zebra", 1);
    add_sequence(ctx, b, y + 60, 20, "d", "walk", "ant", 1);
    vhem_data *data = finish(ctx, b);
    vhem_fit_options opt = options(2, 1);
    vhem_fit_report *report;
    vh_h3m *each = fit(ctx, data, &opt, NULL);
    assert_int_equal(each->K, 4);
    assert_string_equal(view_of(each, 1).name, "b");
    assert_string_equal(view_of(each, 1).label, "run");
    assert_near(view_of(each, 2).omega, 0.25, 1e-15, 0);

    opt.by_group = 1;
    vh_h3m *grouped = fit(ctx, data, &opt, &report);
    assert_int_equal(grouped->K, 2);
    assert_string_equal(view_of(grouped, 0).name, "zebra"); /* in the order of appearance */
    assert_string_equal(view_of(grouped, 0).label, "walk");
    assert_string_equal(view_of(grouped, 1).name, "ant");
    assert_string_equal(view_of(grouped, 1).label, ""); /* they do not agree */
    assert_int_equal(report->frames[0], 40);

    double score[8], sum = 0; /* the report counts both sequences of a group */
    assert_ok(ctx, vh_h3m_score(ctx, grouped, data, score));
    sum = score[0] + score[4];
    assert_near(report->run[report->best[0]].loglik, sum, 1e-9, 1e-9);
    vhem_free(report);
    vh_h3m_free(each);
    vh_h3m_free(grouped);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

/* A sequence of weight 3 is as good as three of them, from the same start. */
static void weights(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_builder *b = NULL, *c = NULL;
    vh_rng_init(&rng, 203, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 70, 2, 1);
    vh_h3m *start = random_h3m(ctx, &rng, 1, 3, 2, 2, 1, 1);
    assert_ok(ctx, vh_builder_new(ctx, 2, &b));
    assert_ok(ctx, vh_builder_new(ctx, 2, &c));
    add_sequence(ctx, b, y, 30, "a", NULL, "g", 3);
    add_sequence(ctx, b, y + 60, 40, "b", NULL, "g", 1);
    for (int k = 0; k < 3; k++)
        add_sequence(ctx, c, y, 30, "a", NULL, "g", 1);
    add_sequence(ctx, c, y + 60, 40, "b", NULL, "g", 1);
    vhem_data *weighted = finish(ctx, b), *repeated = finish(ctx, c);
    vhem_fit_options opt = options(0, 0);
    opt.S = opt.M = 1; /* the start has its own */
    opt.start = HMMS(start);
    opt.by_group = 1;
    opt.cov_floor = 0;
    opt.tol = 0;
    opt.max_iter = 10;
    vhem_fit_report *r, *q;
    vh_h3m *a = fit(ctx, weighted, &opt, &r), *d = fit(ctx, repeated, &opt, &q);
    assert_int_equal(view_of(a, 0).S, 3);
    assert_string_equal(view_of(a, 0).emission, "gaussian-full");
    assert_near(r->run[0].loglik, q->run[0].loglik, 1e-9, 0);
    assert_near(vh_h3m_compare(a, d), 0, 0, 1e-8);
    vhem_free(r);
    vhem_free(q);
    vh_h3m_free(a);
    vh_h3m_free(d);
    vh_h3m_free(start);
    vhem_free(weighted);
    vhem_free(repeated);
    free(y);
    vhem_free(ctx);
}

/* ---- restarts, starts, stopping ------------------------------------------------------------------------ */

static void tol_and_max_iter(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 100;
    vh_rng_init(&rng, 204, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, T, 1, 1);
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vh_h3m *start = random_h3m(ctx, &rng, 1, 2, 1, 1, 0, 1), *out;
    vhem_fit_report *r;
    vhem_fit_options opt = options(2, 1);
    opt.start = HMMS(start);
    opt.restarts = -1;
    opt.max_iter = 0;
    out = fit(ctx, data, &opt, &r); /* nothing happens, but the likelihood is told */
    assert_int_equal(r->R, 1);
    assert_int_equal(r->run[0].n_iter, 0);
    assert_false(r->run[0].converged);
    assert_true(same_bits(out, start));
    vhem_free(r);
    vh_h3m_free(out);

    opt.max_iter = 7;
    opt.tol = 0; /* never satisfied */
    out = fit(ctx, data, &opt, &r);
    assert_int_equal(r->run[0].n_iter, 7);
    assert_false(r->run[0].converged);
    vhem_free(r);
    vh_h3m_free(out);

    opt.max_iter = 500;
    opt.tol = 1e-3;
    out = fit(ctx, data, &opt, &r);
    assert_true(r->run[0].converged && r->run[0].n_iter > 0 && r->run[0].n_iter < 500);
    double at_end = r->run[0].loglik;
    opt.max_iter = r->run[0].n_iter - 1; /* the last iteration gained less than tol a frame, ... */
    opt.tol = 0;
    vhem_free(r);
    vh_h3m_free(out);
    out = fit(ctx, data, &opt, &r);
    assert_true(at_end - r->run[0].loglik <= 1e-3 * T);
    double before = r->run[0].loglik;
    opt.max_iter--; /* ... the one before more */
    vhem_free(r);
    vh_h3m_free(out);
    out = fit(ctx, data, &opt, &r);
    if (opt.max_iter > 0)
        assert_true(before - r->run[0].loglik > 1e-3 * T);
    vhem_free(r);
    vh_h3m_free(out);
    vh_h3m_free(start);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

static void starts(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T[] = { 30, 30, 30 };
    vh_rng_init(&rng, 205, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 90, 1, 1);
    vhem_data *data = wrap(ctx, 3, T, 1, y);
    vh_h3m *three = random_h3m(ctx, &rng, 3, 2, 1, 1, 0, 1), *two = random_h3m(ctx, &rng, 2, 2, 1, 1, 0, 1);
    vh_h3m *plane = random_h3m(ctx, &rng, 1, 2, 1, 2, 0, 1), *out = NULL;
    vhem_fit_options opt = options(2, 1);
    opt.max_iter = 0;
    opt.start = HMMS(three);
    out = fit(ctx, data, &opt, NULL); /* one for each */
    assert_true(same_bits(out, three));
    vh_h3m_free(out);
    out = NULL;
    opt.start = HMMS(two);
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_EINVAL,
                 "the start has 2 HMMs, must have 1 or one for each of the 3 to fit");
    opt.start = HMMS(plane);
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_EINVAL,
                 "the start has dimension 2, but the data has 1");
    vh_h3m_free(plane);
    plane = random_h3m(ctx, &rng, 1, 3, 1, 1, 0, 1);
    vhem_hmm_view v[3] = { view_of(three, 0), view_of(three, 1), view_of(plane, 0) };
    for (int i = 0; i < 3; i++)
        v[i].omega = 1.0 / 3;
    vh_h3m *mixed = NULL;
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, 3, v, &mixed));
    opt.start = HMMS(mixed);
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_EINVAL,
                 "HMMs of different size (HMM 2)");
    assert_null(out);

    vh_hmm_param(three, &three->hmm[1], 1)[0] = 0; /* a singular start */
    opt.start = HMMS(three);
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_ENUMERIC, "HMM 1: ");
    assert_non_null(strstr(vhem_ctx_error(ctx), "singular"));
    assert_null(out);
    vh_h3m_free(mixed);
    vh_h3m_free(plane);
    vh_h3m_free(three);
    vh_h3m_free(two);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

/* A start that breaks the topology is brought in line, so that the likelihood still never falls. */
static void start_and_topology(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T = 60;
    vh_rng_init(&rng, 206, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, T, 1, 1), last = -INFINITY;
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vh_h3m *start = random_h3m(ctx, &rng, 1, 3, 1, 1, 0, 1);
    vhem_fit_options opt = options(3, 1);
    opt.start = HMMS(start);
    opt.topology = "left-right";
    opt.tol = 0;
    opt.repair = 0;
    for (opt.max_iter = 0; opt.max_iter < 6; opt.max_iter++) {
        vhem_fit_report *r;
        vh_h3m *out = fit(ctx, data, &opt, &r);
        vhem_hmm_view v = view_of(out, 0);
        assert_true(v.pi[0] == 1 && v.A[3] == 0 && v.A[6] == 0 && v.A[7] == 0);
        if (r->run[0].loglik < last - 1e-9)
            fail_msg("iteration %d: %.15g after %.15g", opt.max_iter, r->run[0].loglik, last);
        last = r->run[0].loglik;
        vhem_free(r);
        vh_h3m_free(out);
    }
    vh_h3m_free(start);
    vhem_free(data);
    free(y);
    vhem_free(ctx);
}

typedef struct {
    vhem_ctx *ctx;
    int64_t after;
} stopper;

static void stop_after(void *arg, const char *what, int64_t done, int64_t total)
{
    stopper *s = arg;
    assert_true(strcmp(what, "fit") == 0 || strcmp(what, "prior") == 0);
    assert_int_equal(total, 6);
    if (done >= s->after)
        vhem_ctx_stop(s->ctx);
}

static void stopping(void **state)
{
    (void)state;
    const char *prior[] = { "none", "vb" };
    for (int run = 0; run < 8; run++) {
        int after = run / 2 * 2,
            kept = run % 2 ? 0 : after; /* with a prior, six steps are not enough for it */
        vhem_ctx_options copt;
        stopper s = { NULL, after };
        vhem_ctx *ctx = NULL;
        vh_rng rng;
        int T[] = { 20, 21, 22, 23, 24, 25 };
        VHEM_INIT(VHEM_CTX_OPTIONS, &copt);
        copt.threads = 1;
        copt.progress = stop_after;
        copt.progress_arg = &s;
        assert_int_equal(vhem_ctx_new(&copt, &ctx), VHEM_OK);
        s.ctx = ctx;
        vh_rng_init(&rng, 207, VH_RNG_TEST, 0);
        double *y = random_frames(&rng, 135, 1, 1);
        vhem_data *data = wrap(ctx, 6, T, 1, y);
        vhem_fit_options opt = options(2, 1);
        opt.prior = prior[run % 2];
        vh_h3m *out = NULL;
        vhem_fit_report *r = NULL;
        vhem_status st = vh_fit_each(ctx, data, &opt, &out, &r);
        assert_int_equal(st, VHEM_ESTOPPED);
        if (kept == 0) {
            assert_null(out);
            assert_null(r);
            assert_non_null(strstr(vhem_ctx_error(ctx),
                                   run % 2 ? "while the prior was being learnt" : "stopped; 0 of 6"));
        } else {
            assert_non_null(out);
            assert_int_equal(out->K, after);
            assert_int_equal(r->K, after);
            assert_int_equal(r->frames[after - 1], T[after - 1]);
            assert_near(view_of(out, 0).omega, 1.0 / after, 1e-15, 0);
            assert_ok(ctx, vh_h3m_validate(ctx, out));
        }
        vh_h3m_free(out);
        vhem_free(r);
        vhem_free(data);
        free(y);
        vhem_free(ctx);
    }
}

/* ---- hardly data --------------------------------------------------------------------------------------- */

/* Fits in all families, starts and topologies. */
static void fit_all_ways(const char *what, int N, const int *T, int d, const double *y, int S, int M)
{
    static const char *const family[] = { "gaussian-diag", "gaussian-full" };
    static const char *const init[] = { "kmeans", "segment", "random" };
    static const char *const topology[] = { "free", "left-right" };
    (void)what;
    for (int way = 0; way < 12; way++) {
        vhem_ctx *ctx = test_ctx();
        vhem_data *data = wrap(ctx, N, T, d, y);
        vhem_fit_options opt = options(S, M);
        opt.emission = family[way % 2];
        opt.init = init[way / 2 % 3];
        opt.topology = topology[way / 6];
        opt.max_iter = 20;
        opt.restarts = 2;
        vh_h3m *out = NULL;
        vhem_fit_report *r = NULL;
        if (vh_fit_each(ctx, data, &opt, &out, &r) != VHEM_OK)
            fail_msg("%s, %s, %s, %s: %s", what, opt.emission, opt.init, opt.topology, vhem_ctx_error(ctx));
        check_fit(ctx, out, data, r);
        vhem_free(r);
        vh_h3m_free(out);
        vhem_free(data);
        vhem_free(ctx);
    }
}

static void hardly_data(void **state)
{
    (void)state;
    vh_rng rng;
    vh_rng_init(&rng, 208, VH_RNG_TEST, 0);
    double *y = random_frames(&rng, 120, 2, 1), z[240];
    int one = 1, two = 2, ones[] = { 1, 1, 1, 1 }, T = 120, some[] = { 5, 1, 30 };
    fit_all_ways("one frame", 1, &one, 2, y, 3, 2);
    fit_all_ways("sequences of one frame", 4, ones, 2, y, 2, 1);
    fit_all_ways("two frames", 1, &two, 2, y, 4, 3);
    fit_all_ways("more components than frames", 3, some, 2, y, 2, 7);
    fit_all_ways("one state", 3, some, 2, y, 1, 1);
    for (int i = 0; i < 240; i++)
        z[i] = 0.1;
    fit_all_ways("identical frames", 1, &T, 2, z, 3, 2);
    for (int i = 0; i < 240; i += 2)
        z[i] = y[i];
    fit_all_ways("a constant column", 1, &T, 2, z, 3, 1);
    for (int i = 0; i < 240; i++)
        z[i] = i % 2 ? 5 : i / 2 % 2;
    fit_all_ways("two different frames", 1, &T, 2, z, 3, 2);
    for (int i = 0; i < 240; i++)
        z[i] = y[i] * 1e-100;
    fit_all_ways("tiny", 1, &T, 2, z, 2, 1);
    for (int i = 0; i < 240; i++)
        z[i] = y[i] * (i % 2 ? 1e100 : 1e-100);
    fit_all_ways("huge and tiny", 1, &T, 2, z, 2, 1);
    for (int i = 0; i < 240; i++)
        z[i] = y[i] * 1e150;
    fit_all_ways("huge", 1, &T, 2, z, 2, 1);
    for (int i = 0; i < 240; i++)
        z[i] = i == 100 ? 1e9 : y[i];
    fit_all_ways("an outlier", 1, &T, 2, z, 3, 1);
    free(y);
}

/* Past what a variance can hold there is a sentence, not a model of infinities. */
static void beyond_range(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[] = { 1e200, -1e200, 2e200, 0, 5e199, 1e200 };
    int T = 6;
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vh_h3m *out = NULL;
    vhem_fit_options opt = options(2, 1);
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_EINVAL,
                 "column 'y0' has values too large");
    assert_null(out);
    vhem_free(data);
    vhem_free(ctx);
}

/* No floor: what collapses is an error that says which state. */
static void collapse(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double y[40];
    int T = 40;
    vh_h3m *out = NULL;
    for (int t = 0; t < 40; t++)
        y[t] = t < 20 ? 3 : t;
    vhem_data *data = wrap(ctx, 1, &T, 1, y);
    vhem_fit_options opt = options(2, 1);
    opt.prior = "none";
    opt.cov_floor = 0;
    assert_fails(ctx, vh_fit_each(ctx, data, &opt, &out, NULL), VHEM_ENUMERIC,
                 "collapsed onto too few frames");
    assert_null(out);
    opt.cov_floor = 1e-4;
    vhem_fit_report *r;
    out = fit(ctx, data, &opt, &r);
    assert_true(r->run[r->best[0]].n_floored >= 1);
    vhem_free(r);
    vh_h3m_free(out);
    vhem_free(data);
    vhem_free(ctx);
}

/* Two tight clusters a million deviations apart, with a floor and without: means and variances come out
 * right. */
static void far_apart(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    enum { N = 400 };
    int T = N;
    double y[N], sum[2] = { 0 }, var[2] = { 0 };
    vh_rng_init(&rng, 209, VH_RNG_TEST, 0);
    for (int t = 0; t < N; t++)
        y[t] = (t / 10 % 2 ? 1e6 : 0) + vh_rng_normal(&rng);
    for (int t = 0; t < N; t++)
        sum[t / 10 % 2] += y[t] / (N / 2);
    for (int t = 0; t < N; t++)
        var[t / 10 % 2] += pow(y[t] - sum[t / 10 % 2], 2) / (N / 2);
    for (int c = 0; c < 4; c++) {
        vhem_data *data = wrap(ctx, 1, &T, 1, y);
        vhem_fit_options opt = options(2, 1);
        opt.cov_floor = c / 2 ? 1e-4 : 0;
        opt.emission = c % 2 ? "gaussian-full" : "gaussian-diag";
        for (int way = 0; way <= 2; way++) { /* a prior of 3 frames changes variances by so much */
            const bool bayes = way == 1;
            opt.prior = bayes ? "vb" : "none";
            opt.K = way == 2; /* a mixture of one */
            vh_h3m *out = NULL;
            assert_ok(ctx, (opt.K ? vh_fit_mixture : vh_fit_each)(ctx, data, &opt, &out, NULL));
            vhem_hmm_view v = view_of(out, 0);
            int high = v.mu[1] > v.mu[0];
            for (int k = 0; k < 2; k++) {
                int s = k == 1 ? high : !high;
                assert_near(v.mu[s], sum[k], 0, 1e-8);
                assert_near(v.cov[s], var[k], bayes ? 0.02 : 1e-8, 0);
            }
            vh_h3m_free(out);
        }
        vhem_free(data);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_errors),      cmocka_unit_test(defaults),
        cmocka_unit_test(groups_and_names),   cmocka_unit_test(weights),
        cmocka_unit_test(tol_and_max_iter),   cmocka_unit_test(starts),
        cmocka_unit_test(start_and_topology), cmocka_unit_test(stopping),
        cmocka_unit_test(hardly_data),        cmocka_unit_test(beyond_range),
        cmocka_unit_test(collapse),           cmocka_unit_test(far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
