/* SPDX-License-Identifier: BSD-3-Clause */
/* test_extremes.c - random models with extreme numbers through one step of VHEM, one of Baum-Welch and one
 * kernel, on every usable backend: means up to 1e12 deviations away, variances from 1e-300 to 1e300, weights
 * and transitions down to 1e-320, tau up to 1e6; a third of them of other families than Gaussians, and a
 * quarter with missing values.
 *
 * Every number that comes out is finite, or the call fails with a sentence that says which model is at fault;
 * and it is that of ref within the bound on rounding errors of extremes.h, where that leaves any digits.
 *
 * A failure prints the number of the problem; VHEM_TEST_FIRST=<number> begins there, VHEM_TEST_COUNT=<n> says
 * how many are tried, VHEM_TEST_SECONDS=<s> ends early. */
#include "support.h"

#include "extremes.h"
#include "vhem.h"

#include <time.h>

enum { COUNT = 200 };

typedef struct { /* what one backend says */
    vhem_status st[3];
    char why[3][2048];
    vhem_tree *start, *tree; /* before and after one M-step */
    vhem_models *fitted;
    double loglik, gamma[MOST_FRAMES * MOST_STATES]; /* of the sequence under the start of the fit */
    double *D;                                       /* [Kb][Kb]  log kernels */
} outcome;

static void run_vhem(vhem_ctx *ctx, const problem *p, outcome *o)
{
    vhem_cluster_options opt;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.tau = p->tau;
    opt.nv = p->nv;
    opt.max_iter = 1;
    opt.restarts = 1;
    opt.tol = 0;
    opt.cov_floor = p->floor;
    opt.soft = 0;
    opt.repair = 0;
    opt.start = p->centers;
    vhem_models_facts facts;
    vhem_models_info(p->centers, &facts);
    o->st[0] = vhem_cluster(ctx, &(vhem_source){ .models = p->base }, 1, &facts.K, &opt, &o->tree);
    opt.max_iter = 0;
    if (!o->st[0])
        o->st[0] = vhem_cluster(ctx, &(vhem_source){ .models = p->base }, 1, &facts.K, &opt, &o->start);
}

static void run_fit(vhem_ctx *ctx, const problem *p, outcome *o)
{
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = p->first;
    opt.max_iter = 1;
    opt.restarts = 1;
    opt.tol = 0;
    opt.cov_floor = p->floor;
    opt.prior = "none";
    opt.repair = 0;
    opt.emission = family_of[p->family].name;
    o->st[1] = vhem_fit(ctx, p->data, &opt, &o->fitted, NULL);
    if (!o->st[1])
        o->st[1] = vhem_posterior(ctx, p->first, 0, p->data, 0, o->gamma, NULL, &o->loglik);
}

static void run_kernel(vhem_ctx *ctx, const problem *p, outcome *o)
{
    vhem_distance_options opt;
    VHEM_INIT(VHEM_DISTANCE_OPTIONS, &opt);
    opt.kind = "ppk";
    opt.tau = p->tau;
    opt.normalised = 0;
    o->D = calloc((size_t)p->Kb * (size_t)p->Kb, sizeof *o->D);
    o->st[2] = vhem_distance(ctx, p->base, p->base, &opt, o->D, NULL);
}

static outcome run(const char *backend, const problem *p)
{
    outcome o = { 0 };
    void (*const step[])(vhem_ctx *, const problem *, outcome *) = { run_vhem, run_fit, run_kernel };
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    for (int k = 0; k < 3; k++) {
        step[k](ctx, p, &o);
        snprintf(o.why[k], sizeof o.why[k], "%s", o.st[k] ? vhem_ctx_error(ctx) : "");
    }
    vhem_free(ctx);
    return o;
}

static void outcome_free(outcome *o)
{
    vhem_free(o->start);
    vhem_free(o->tree);
    vhem_free(o->fitted);
    free(o->D);
}

/* ---- every number is one ------------------------------------------------------------------------------- */

static bool all_finite(const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

static bool finite_models(const vhem_models *m)
{
    vhem_models_facts facts;
    vhem_models_info(m, &facts);
    for (int64_t i = 0; i < facts.K; i++) {
        vhem_hmm_view v;
        assert_int_equal(vhem_models_hmm(m, i, &v), VHEM_OK);
        if (!isfinite(v.omega) || !all_finite(v.pi, (size_t)v.S) || !all_finite(v.A, (size_t)(v.S * v.S))
            || !all_finite(v.theta, (size_t)v.n_theta))
            return false;
    }
    return true;
}

/* A probability or a kernel may be too small for a number: its logarithm is then -inf.  NaN and inf are
 * wrong. */
static bool good_logs(const double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (isnan(x[k]) || x[k] > DBL_MAX)
            return false;
    return true;
}

static bool names_model(const char *why)
{
    return strstr(why, "HMM ") || strstr(why, "model ") || strstr(why, "cluster ") || strstr(why, "centre ");
}

static int check_sane(const char *what, const problem *p, const outcome *o)
{
    static const char *const step[] = { "VHEM", "Baum-Welch", "kernel" };
    const vhem_clustering *c = o->tree ? vhem_tree_level(o->tree, 0) : NULL;
    int failed = 0;
    for (int k = 0; k < 3; k++)
        if (o->st[k] && (o->st[k] != VHEM_ENUMERIC || !names_model(o->why[k])))
            failed += fprintf(stderr, "%s: %s: status %d: %s\n", what, step[k], o->st[k], o->why[k]) > 0;
    if (c
        && !(all_finite(c->z, (size_t)(c->Kb * c->Kr)) && good_logs(c->L_hmm, (size_t)(c->Kb * c->Kr))
             && all_finite(c->bound, (size_t)c->n_iter + 1) && finite_models(c->centers)))
        failed += fprintf(stderr, "%s: VHEM gives numbers that are none\n", what) > 0;
    if (o->fitted && !(isfinite(o->loglik) && finite_models(o->fitted)))
        failed += fprintf(stderr, "%s: Baum-Welch gives numbers that are none\n", what) > 0;
    if (!o->st[2] && !good_logs(o->D, (size_t)p->Kb * (size_t)p->Kb))
        failed += fprintf(stderr, "%s: kernels that are none\n", what) > 0;
    return failed;
}

/* ---- the same as ref ----------------------------------------------------------------------------------- */

/* Posteriors are exp of differences of two logarithms made in all frames together. */
static int check_sequence(const char *what, const problem *p, const outcome *want, const outcome *got,
                          long *n)
{
    vhem_data_facts facts;
    vhem_data_info(p->data, &facts);
    double limit = error_bound(p, want->loglik, (double)facts.frames);
    if (!(limit < 1e-3 * fabs(want->loglik)))
        return 0;
    *n += 1;
    if (fabs(want->loglik - got->loglik) > limit)
        return fprintf(stderr, "%s: log-likelihood %.17g, ref has %.17g, the error bound is %.3g\n", what,
                       got->loglik, want->loglik, limit)
               > 0;
    for (int k = 0; limit < 1e-3 && k < MOST_FRAMES * MOST_STATES; k++)
        if (++*n && fabs(want->gamma[k] - got->gamma[k]) > 4 * limit)
            return fprintf(stderr, "%s: gamma[%d] is %.17g, ref has %.17g, the error bound is %.3g\n", what,
                           k, got->gamma[k], want->gamma[k], 4 * limit)
                   > 0;
    return 0;
}

/* How many comparisons were made goes to *n. */
static int check_same(const char *what, const problem *p, const outcome *want, const outcome *got, long *n)
{
    int failed = 0;
    const vhem_clustering *a = want->start ? vhem_tree_level(want->start, 0) : NULL,
                          *b = got->start ? vhem_tree_level(got->start, 0) : NULL;
    for (int64_t k = 0; a && b && k < a->Kb * a->Kr; k++) {
        double limit = error_bound(p, a->L_hmm[k], p->tau);
        if (isfinite(a->L_hmm[k]) && limit < 1e-3 * fabs(a->L_hmm[k]) && ++*n
            && fabs(a->L_hmm[k] - b->L_hmm[k]) > limit)
            failed += fprintf(stderr, "%s: L_hmm[%d] is %.17g, ref has %.17g, the error bound is %.3g\n",
                              what, (int)k, b->L_hmm[k], a->L_hmm[k], limit)
                      > 0;
    }
    if (!want->st[1] && !got->st[1])
        failed += check_sequence(what, p, want, got, n);
    for (int k = 0; !want->st[2] && !got->st[2] && k < p->Kb * p->Kb; k++) {
        double limit = error_bound(p, want->D[k], p->tau);
        if (isfinite(want->D[k]) && limit < 1e-3 * fabs(want->D[k]) && ++*n
            && fabs(want->D[k] - got->D[k]) > limit)
            failed += fprintf(stderr, "%s: log kernel[%d] is %.17g, ref has %.17g, the error bound is %.3g\n",
                              what, k, got->D[k], want->D[k], limit)
                      > 0;
    }
    return failed;
}

typedef struct {
    long problems, models, refused[3], compared;
} tally;

static int check(vhem_ctx *ctx, uint64_t number, tally *t)
{
    problem p = random_problem(ctx, number);
    outcome want = run("ref", &p);
    const char *name;
    char what[64];
    int failed;
    snprintf(what, sizeof what, "problem %lld, ref", (long long)number);
    failed = check_sane(what, &p, &want);
    for (int n = 0; (name = test_backend(n)); n++) {
        if (strcmp(name, "ref") == 0)
            continue;
        snprintf(what, sizeof what, "problem %lld, %s", (long long)number, name);
        outcome got = run(name, &p);
        failed += check_sane(what, &p, &got) + check_same(what, &p, &want, &got, &t->compared);
        outcome_free(&got);
    }
    t->problems++;
    t->models += p.Kb + p.Kr;
    for (int k = 0; k < 3; k++)
        t->refused[k] += want.st[k] != VHEM_OK;
    outcome_free(&want);
    problem_free(&p);
    return failed;
}

/* ---- states far from every centre ---------------------------------------------------------------------- */

/* Up to three states, each with one Gaussian of one dimension. */
static vhem_models *one_hmm(vhem_ctx *ctx, int S, const double *pi, const double *A, const double *mu,
                            const double *cov)
{
    static const double c[3] = { 1, 1, 1 };
    const vhem_hmm_view v = { .S = S,
                              .M = 1,
                              .d = 1,
                              .name = "",
                              .label = "",
                              .omega = 1,
                              .pi = pi,
                              .A = A,
                              .c = c,
                              .mu = mu,
                              .cov = cov };
    vhem_models *out = NULL;
    assert_ok(ctx, vhem_models_new_hmms(ctx, "gaussian-diag", 1, 1, &v, &out));
    return out;
}

/* A base HMM with a state that is never reached, `far` deviations away from all others, at one place or
 * another: what its row of the recursion does, of the size of far^2, must not hide what the others do. */
static vhem_models *with_far_state(vhem_ctx *ctx, double far, int place)
{
    double pi[3] = { 1, 0, 0 }, A[9] = { 0.9, 0.1, 0, 0.05, 0.95, 0, 0.25, 0.25, 0.5 };
    double mu[3] = { 0, 3, far }, cov[3] = { 1, 1, 1 }, pi2[3], A2[9], mu2[3];
    for (int s = 0; s < 3; s++) { /* state s comes to (s + place) % 3 */
        pi2[(s + place) % 3] = pi[s];
        mu2[(s + place) % 3] = mu[s];
        for (int r = 0; r < 3; r++)
            A2[(s + place) % 3 * 3 + (r + place) % 3] = A[s * 3 + r];
    }
    return one_hmm(ctx, 3, pi2, A2, mu2, cov);
}

static outcome run_one(const char *backend, const problem *p)
{
    outcome o = { 0 };
    vhem_ctx *ctx = test_ctx_with(backend, 1, 1);
    run_vhem(ctx, p, &o);
    assert_ok(ctx, o.st[0]);
    vhem_free(ctx);
    return o;
}

static void check_far_state(vhem_ctx *ctx, double far, int place, int tau)
{
    double pi[2] = { 0.3, 0.7 }, A[4] = { 0.999, 0.001, 0.002, 0.998 }, mu[2] = { 0, 2.5 }, cov[2] = { 1, 2 };
    problem p = { .d = 1, .tau = tau, .Kb = 1, .Kr = 1, .nv = 1, .base = with_far_state(ctx, far, place) };
    p.centers = one_hmm(ctx, 2, pi, A, mu, cov);
    outcome want = run_one("ref", &p);
    const char *name;
    for (int n = 0; (name = test_backend(n)); n++) {
        outcome got = run_one(name, &p);
        const vhem_clustering *x = vhem_tree_level(want.start, 0), *y = vhem_tree_level(got.start, 0);
        assert_near(y->L_hmm[0], x->L_hmm[0], 1e-10, 0);
        x = vhem_tree_level(want.tree, 0);
        y = vhem_tree_level(got.tree, 0);
        assert_true(vhem_models_compare(x->centers, y->centers) < 1e-8);
        outcome_free(&got);
    }
    outcome_free(&want);
    problem_free(&p);
}

static void test_far_state(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int place = 0; place < 3; place++)
        for (double far = 1; far < 1e13; far *= 1e4)
            for (int tau = 10; tau <= 10000; tau *= 10)
                check_far_state(ctx, far, place, tau);
    vhem_free(ctx);
}

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

/* Problems that a backend once answered wrongly, or with numbers that are none. */
static void test_found(void **state)
{
    static const uint64_t found[] = {
        1000000635, 1000001676, 1000001919, 1000004446, 1000004891, 1000005273
    };
    (void)state;
    vhem_ctx *ctx = test_ctx();
    tally t = { 0 };
    int failed = 0;
    for (size_t k = 0; k < sizeof found / sizeof *found; k++)
        failed += check(ctx, found[k], &t);
    assert_int_equal(failed, 0);
    vhem_free(ctx);
}

static void test_extremes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    uint64_t first = (uint64_t)setting("VHEM_TEST_FIRST", 1),
             count = (uint64_t)setting("VHEM_TEST_COUNT", COUNT);
    long seconds = setting("VHEM_TEST_SECONDS", 1L << 40);
    time_t begin = time(NULL);
    tally t = { 0 };
    int failed = 0;
    for (uint64_t n = first; n < first + count && failed < 20 && time(NULL) - begin < seconds; n++)
        failed += check(ctx, n, &t);
    printf("extremes: %ld problems, %ld models, refused by VHEM %ld, Baum-Welch %ld, kernel %ld, %ld numbers "
           "compared with ref, %d failures\n",
           t.problems, t.models, t.refused[0], t.refused[1], t.refused[2], t.compared, failed);
    assert_int_equal(failed, 0);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_far_state), cmocka_unit_test(test_found),
                                        cmocka_unit_test(test_extremes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
