/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vbhem.c - what must hold for VBHEM on any models: the bound never falls, learned priors raise it, and
 * it is what the special cases say: the log-evidence of one Gaussian, the variational Gaussian mixture on
 * points, the variational HMM on a sequence, and VHEM for many virtual samples.
 *
 * VHEM_TEST_COUNT says how many random runs there are. */
#include "engine.h"

#include "core/backend.h"
#include "vhem/estep_cpu.h"
#include "math/gamma.h"
#include "files/prior_json.h"
#include "vhem/vb.h"
#include "vhem.h"

#include <string.h>

enum { COUNT = 300 };

typedef struct {
    vhem_ctx *ctx;
    vh_h3m *h3m;
    vh_base *base;
    vh_vb m;
    vh_vhem_run run;
    vh_scratch scratch;
} problem;

static vh_prior *random_prior(vhem_ctx *ctx, vh_rng *rng, const vh_h3m *h3m)
{
    vh_prior *p = NULL;
    int d = h3m->d, full = h3m->family == &vh_gaussian_full;
    double *all[] = { NULL, NULL, NULL, NULL, NULL };
    assert_ok(ctx, vh_prior_new(ctx, h3m->family, d, &p));
    all[0] = &p->alpha, all[1] = &p->eta, all[2] = &p->eps, all[3] = &p->kappa, all[4] = &p->lambda;
    for (int k = 0; k < 5; k++)
        *all[k] = pow(10, -2 + 3 * vh_rng_uniform(rng));
    p->nu = (full ? d - 1 : 0) + pow(10, -1 + 2 * vh_rng_uniform(rng));
    for (int k = 0; k < d; k++) {
        p->m[k] = vh_rng_normal(rng);
        p->B[vh_scatter_at(h3m->family, d, k)] = pow(10, -1 + 2 * vh_rng_uniform(rng));
    }
    return p;
}

static void problem_free(problem *p)
{
    vh_vb_free(&p->m);
    vh_vhem_run_free(&p->run);
    vh_scratch_free(&p->scratch);
    vh_base_free(p->base);
    vh_h3m_free(p->h3m);
}

static void check_random(vhem_ctx *ctx, uint64_t seed)
{
    vh_rng rng;
    vh_rng_init(&rng, seed, VH_RNG_TEST, 7);
    int d = 1 + (int)vh_rng_below(&rng, 3), full = (int)(seed % 2), Kb = 2 + (int)vh_rng_below(&rng, 8);
    problem p = { .ctx = ctx };
    p.h3m =
        random_h3m(ctx, &rng, Kb, 1 + (int)vh_rng_below(&rng, 3), 1 + (int)vh_rng_below(&rng, 2), d, full, 2);
    vh_h3m *start = random_h3m(ctx, &rng, 1 + (int)vh_rng_below(&rng, 4), 1 + (int)vh_rng_below(&rng, 4),
                               1 + (int)vh_rng_below(&rng, 3), d, full, 2);
    vh_vb_options o = { .run = { .N = Kb * pow(10, -1 + 4 * vh_rng_uniform(&rng)),
                                 .tau = 1 + (int)vh_rng_below(&rng, 12),
                                 .max_iter = 15 },
                        .learn = seed % 3 == 0 ? 2 : 0 };
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    p.m.prior = random_prior(ctx, &rng, p.h3m);
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    for (int k = 1; k <= 15; k++)
        if (!(p.run.J[k] >= p.run.J[k - 1] - 1e-10 * (fabs(p.run.J[k - 1]) + 1)))
            fail_msg("seed %d: the bound fell from %.15g to %.15g in update %d", (int)seed, p.run.J[k - 1],
                     p.run.J[k], k);
    vh_h3m_free(start);
    problem_free(&p);
}

static void never_falls(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    const char *text = getenv("VHEM_TEST_COUNT");
    long count = text && *text ? atol(text) : COUNT;
    for (long n = 1; n <= count; n++)
        check_random(ctx, (uint64_t)n);
    vhem_free(ctx);
}

/* ---- one Gaussian -------------------------------------------------------------------------------------- */

/* log-evidence of n points in one dimension whose variance and precision have the priors, given what they
 * become: Bishop 2006, exercise 10.24, or any book on conjugate priors. */
static double log_evidence(const vh_prior *p, const vh_posterior *h, int k, double n)
{
    return (vh_lgamma(h->nu[0] / 2) - vh_lgamma(p->nu / 2)) + p->nu / 2 * log(p->B[k])
           - h->nu[0] / 2 * log(h->B[k]) + log(p->lambda / h->lambda[0]) / 2 - n / 2 * log(acos(-1));
}

static void one_gaussian(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (uint64_t seed = 0; seed < 20; seed++) {
        vh_rng rng;
        vh_rng_init(&rng, seed, VH_RNG_TEST, 8);
        problem p = { .ctx = ctx };
        p.h3m = random_h3m(ctx, &rng, 4, 3, 2, 2, 0, 2);
        vh_h3m *start = random_h3m(ctx, &rng, 1, 1, 1, 2, 0, 2);
        vh_vb_options o = { .run = { .N = 30, .tau = 4, .max_iter = 2 } };
        assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
        p.m.prior = random_prior(ctx, &rng, p.h3m);
        assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
        assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
        double want = 0, n = o.run.N * o.run.tau;
        for (int k = 0; k < 2; k++)
            want += log_evidence(p.m.prior, &p.m.post->hmm[0], k, n);
        for (int k = 0; k <= 2; k++)
            assert_near(p.run.J[k], want, 1e-9, 1e-9);
        vh_h3m_free(start);
        problem_free(&p);
    }
    vhem_free(ctx);
}

/* ---- points: the variational Gaussian mixture ---------------------------------------------------------- */

enum { POINTS = 40, PARTS = 3, ROUNDS = 20 };

typedef struct { /* in one dimension; Bishop's names: W = 1 / B */
    double alpha, beta, nu, m, W;
} part;

static double expected_log_precision(const part *c)
{
    return vh_digamma(c->nu / 2) + log(2) + log(c->W);
}

/* Responsibilities, Bishop 2006, equations 10.46, 10.64 and 10.65. */
static void respond(const double *x, const part *c, double r[POINTS][PARTS])
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++)
        sum += c[k].alpha;
    for (int n = 0; n < POINTS; n++) {
        double all = 0;
        for (int k = 0; k < PARTS; k++)
            all += r[n][k] = exp(vh_digamma(c[k].alpha) - vh_digamma(sum) + expected_log_precision(&c[k]) / 2
                                 - 0.5 / c[k].beta - c[k].nu / 2 * c[k].W * pow(x[n] - c[k].m, 2));
        for (int k = 0; k < PARTS; k++)
            r[n][k] /= all;
    }
}

/* The lower bound, equations 10.70 to 10.77. */
static double prml_bound(const double *x, const part *c, const part *c0, double r[POINTS][PARTS])
{
    double sum = 0, F = 0, two_pi = 2 * acos(-1);
    for (int k = 0; k < PARTS; k++)
        sum += c[k].alpha;
    F += vh_lgamma(PARTS * c0->alpha) - PARTS * vh_lgamma(c0->alpha) - vh_lgamma(sum);
    for (int k = 0; k < PARTS; k++) {
        double Elog = vh_digamma(c[k].alpha) - vh_digamma(sum), Elam = expected_log_precision(&c[k]);
        double B0 = -c0->nu / 2 * log(c0->W) - c0->nu / 2 * log(2) - vh_lgamma(c0->nu / 2);
        double B = -c[k].nu / 2 * log(c[k].W) - c[k].nu / 2 * log(2) - vh_lgamma(c[k].nu / 2);
        double entropy = -B - (c[k].nu - 2) / 2 * Elam + c[k].nu / 2;
        for (int n = 0; n < POINTS; n++) {
            F +=
                r[n][k] / 2
                * (Elam - 1 / c[k].beta - c[k].nu * c[k].W * pow(x[n] - c[k].m, 2) - log(two_pi)); /* 10.71 */
            F += r[n][k] * Elog;                                                                   /* 10.72 */
            F -= r[n][k] > 0 ? r[n][k] * log(r[n][k]) : 0;                                         /* 10.75 */
        }
        F += (c0->alpha - 1) * Elog - (c[k].alpha - 1) * Elog + vh_lgamma(c[k].alpha); /* 10.73, 10.76 */
        F += (log(c0->beta / two_pi) + Elam - c0->beta / c[k].beta
              - c0->beta * c[k].nu * c[k].W * pow(c[k].m - c0->m, 2))
                 / 2
             + B0 + (c0->nu - 2) / 2 * Elam - c[k].nu / 2 * c[k].W / c0->W; /* 10.74 */
        F -= Elam / 2 + log(c[k].beta / two_pi) / 2 - 0.5 - entropy;        /* 10.77 */
    }
    return F;
}

/* Equations 10.51 to 10.53 and 10.58 to 10.63. */
static void maximise(const double *x, part *c, const part *c0, double r[POINTS][PARTS])
{
    for (int k = 0; k < PARTS; k++) {
        double N = 0, mean = 0, S = 0;
        for (int n = 0; n < POINTS; n++)
            N += r[n][k];
        for (int n = 0; n < POINTS; n++)
            mean += r[n][k] * x[n] / N;
        for (int n = 0; n < POINTS; n++)
            S += r[n][k] * pow(x[n] - mean, 2);
        c[k].alpha = c0->alpha + N;
        c[k].beta = c0->beta + N;
        c[k].nu = c0->nu + N;
        c[k].m = (c0->beta * c0->m + N * mean) / c[k].beta;
        c[k].W = 1 / (1 / c0->W + S + c0->beta * N / c[k].beta * pow(mean - c0->m, 2));
    }
}

/* One Gaussian in one dimension, as an HMM of one state. */
static vhem_hmm_view gaussian(double omega, double *mu, double *cov, double *one)
{
    return (vhem_hmm_view){
        .S = 1, .M = 1, .d = 1, .omega = omega, .pi = one, .A = one, .c = one, .mu = mu, .cov = cov
    };
}

static void gaussian_mixture(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 9);
    double x[POINTS], one = 1, zero = 0, r[POINTS][PARTS];
    vhem_hmm_view point[POINTS], center[PARTS];
    part c[PARTS], c0 = { 0.7, 0.2, 2.5, 0.3, 0.8 };
    double at[PARTS] = { -2, 0, 2.5 };

    for (int n = 0; n < POINTS; n++) {
        x[n] = 2 * vh_rng_normal(&rng);
        point[n] = gaussian(1.0 / POINTS, &x[n], &zero, &one);
    }
    for (int k = 0; k < PARTS; k++)
        center[k] = gaussian(1.0 / PARTS, &at[k], &one, &one);
    problem p = { .ctx = ctx };
    vh_h3m *start = NULL;
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, POINTS, point, &p.h3m));
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, PARTS, center, &start));
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    assert_ok(ctx, vh_prior_new(ctx, p.h3m->family, 1, &p.m.prior));
    vh_prior *q = p.m.prior;
    q->alpha = c0.alpha, q->eta = q->eps = q->kappa = 1, q->lambda = c0.beta, q->nu = c0.nu, q->m[0] = c0.m;
    q->B[0] = 1 / c0.W;
    vh_vb_options o = { .run = { .N = POINTS, .tau = 1, .max_iter = ROUNDS } };
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    for (int k = 0; k < PARTS; k++) {
        const vh_posterior *h = &p.m.post->hmm[k];
        c[k] = (part){ p.m.post->alpha[k], h->lambda[0], h->nu[0], h->m[0], 1 / h->B[0] };
    }
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    for (int k = 0; k <= ROUNDS; k++) {
        respond(x, c, r);
        assert_near(p.run.J[k], prml_bound(x, c, &c0, r), 1e-9, 1e-9);
        if (k < ROUNDS)
            maximise(x, c, &c0, r);
    }
    for (int k = 0; k < PARTS; k++) {
        assert_near(p.m.post->alpha[k], c[k].alpha, 1e-9, 0);
        assert_near(p.m.post->hmm[k].m[0], c[k].m, 1e-9, 1e-9);
        assert_near(1 / p.m.post->hmm[k].B[0], c[k].W, 1e-9, 0);
    }
    vh_h3m_free(start);
    problem_free(&p);
    vhem_free(ctx);
}

/* ---- a sequence: the variational HMM ------------------------------------------------------------------- */

/* A base HMM that goes through the frames of a sequence, one state each. */
static vh_h3m *as_base(vhem_ctx *ctx, const double *y, int T, int d)
{
    vh_h3m *h3m = NULL;
    double *pi = calloc((size_t)(T + T * T + T + T * d), sizeof *pi), *A = pi + T, *c = A + T * T,
           *cov = c + T;
    pi[0] = 1;
    for (int t = 0; t < T; t++) {
        A[t * T + (t + 1 < T ? t + 1 : t)] = 1;
        c[t] = 1;
    }
    const vhem_hmm_view v = {
        .S = T, .M = 1, .d = d, .omega = 1, .pi = pi, .A = A, .c = c, .mu = y, .cov = cov
    };
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", d, 1, &v, &h3m));
    free(pi);
    return h3m;
}

static void sequence(void **state)
{
    (void)state;
    enum { T = 24, D = 2 };
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 10);
    double y[T * D];
    int lengths[] = { T };
    for (int t = 0; t < T * D; t++)
        y[t] = (t / D / 6 % 2 ? 2 : -1) + 0.7 * vh_rng_normal(&rng);
    problem p = { .ctx = ctx };
    p.h3m = as_base(ctx, y, T, D);
    vh_h3m *start = random_h3m(ctx, &rng, 1, 3, 2, D, 0, 1.5);
    vhem_data *data = wrap(ctx, 1, lengths, D, y);
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    p.m.prior = random_prior(ctx, &rng, p.h3m);
    char *prior = NULL;
    assert_ok(ctx, vh_prior_text(ctx, p.m.prior, &prior));
    vh_vb_options o = { .run = { .N = 1, .tau = T, .max_iter = 10 } };
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    vhem_fit_options f;
    VHEM_INIT(VHEM_FIT_OPTIONS, &f);
    f.S = 3;
    f.M = 2;
    f.start = HMMS(start);
    f.prior = prior;
    f.tol = 0;
    f.repair = 0;
    f.cov_floor = 0;
    for (f.max_iter = 1; f.max_iter <= 10; f.max_iter++) {
        vh_h3m *h3m = NULL;
        vhem_fit_report *r = NULL;
        assert_ok(ctx, vh_fit_each(ctx, data, &f, &h3m, &r));
        assert_near(p.run.J[f.max_iter - 1], r->run[0].bound, 1e-9, 1e-9);
        vhem_free(r);
        vh_h3m_free(h3m);
    }
    free(prior);
    vhem_free(data);
    vh_h3m_free(start);
    problem_free(&p);
    vhem_free(ctx);
}

/* ---- many virtual samples: VHEM ------------------------------------------------------------------------ */

static void many_samples(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    double last = INFINITY;
    for (double N = 1e5; N <= 1e8; N *= 10) {
        vh_rng rng;
        vh_rng_init(&rng, 11, VH_RNG_TEST, 11);
        problem p = { .ctx = ctx };
        p.h3m = random_h3m(ctx, &rng, 6, 2, 2, 2, 0, 2);
        vh_h3m *start = random_h3m(ctx, &rng, 2, 2, 2, 2, 0, 2), *mean = NULL;
        vh_vb_options o = { .run = { .N = N, .tau = 5, .max_iter = 9 } };
        assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
        p.m.prior = random_prior(ctx, &rng, p.h3m);
        assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
        assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
        assert_ok(ctx, vh_posteriors_mean(ctx, p.m.post, &mean));
        vh_vhem_run_free(&p.run);
        o.run.max_iter = 10;
        assert_ok(ctx, vh_vhem(ctx, p.base, &o.run, &(vh_workers){ 1, &p.scratch }, start, &p.run));
        memcpy(mean->omega, start->omega, sizeof *mean->omega * 2); /* it counts items, not samples */
        double apart = vh_h3m_compare(mean, start);
        if (!(apart < last / 8))
            fail_msg("with N = %g the centres are %g from VHEM's, with a tenth of it %g", N, apart, last);
        last = apart;
        vh_h3m_free(mean);
        vh_h3m_free(start);
        problem_free(&p);
    }
    assert_true(last < 1e-4);
    vhem_free(ctx);
}

/* ---- pruning ------------------------------------------------------------------------------------------- */

/* Two kinds of HMMs with two states each; five clusters of four states and two components are too many. */
static void prunes(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 21, VH_RNG_TEST, 12);
    problem p = { .ctx = ctx };
    p.h3m = random_h3m(ctx, &rng, 12, 2, 1, 1, 0, 0.05);
    for (int i = 0; i < 12; i++)
        for (int s = 0; s < 2; s++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(p.h3m, &p.h3m->hmm[i], s, 0, par);
            par[0][0] += 8 * s + 30 * (i % 2);
            p.h3m->hmm[i].A[s * 2 + s] = 0.8;
            p.h3m->hmm[i].A[s * 2 + 1 - s] = 0.2;
        }
    vh_h3m *start = random_h3m(ctx, &rng, 5, 4, 2, 1, 0, 20);
    vh_vb_options o = { .run = { .N = 24, .tau = 10, .max_iter = 500, .tol = 1e-8, .min_iter = 1 },
                        .prune = true };
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    assert_ok(ctx, vh_vb_default_prior(ctx, p.base, &p.m.prior));
    p.m.prior->alpha = p.m.prior->eta = p.m.prior->eps = p.m.prior->kappa = 0.01;
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    assert_true(p.run.converged);
    assert_true(p.m.post->K < 5);
    for (int j = 0; j < p.m.post->K; j++)
        assert_true(p.m.post->hmm[j].S < 4 && p.m.post->hmm[j].M <= 2);
    for (int i = 0; i < 12; i++) { /* tables are as wide as there are clusters left */
        double sum = 0;
        for (int j = 0; j < p.m.post->K; j++)
            sum += p.run.z[i * p.m.post->K + j];
        assert_near(sum, 1, 1e-12, 0);
    }
    vh_h3m_free(start);
    problem_free(&p);
    vhem_free(ctx);
}

/* Components that share the frames of one Gaussian never become empty; they are tried away. */
static void tries_components_away(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 23, VH_RNG_TEST, 14);
    problem p = { .ctx = ctx, .h3m = random_h3m(ctx, &rng, 8, 2, 1, 1, 0, 0.05) };
    for (int i = 0; i < 8; i++)
        for (int s = 0; s < 2; s++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(p.h3m, &p.h3m->hmm[i], s, 0, par);
            par[0][0] += 8 * s;
        }
    vh_h3m *start = random_h3m(ctx, &rng, 1, 2, 2, 1, 0, 0.5);
    for (int q = 0; q < 4; q++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(start, &start->hmm[0], q / 2, q % 2, par);
        par[0][0] += 8 * (q / 2);
    }
    vh_vb_options o = { .run = { .N = 800, .tau = 10, .max_iter = 100, .tol = 1e-6, .min_iter = 1 },
                        .prune = true };
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    assert_ok(ctx, vh_vb_default_prior(ctx, p.base, &p.m.prior));
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    assert_int_equal(p.m.post->hmm[0].M, 2);
    double before = vh_vb_value(&p.m, &p.run);
    assert_ok(ctx, vh_vb_shrink(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, 100, &p.m, &p.run));
    assert_int_equal(p.m.post->hmm[0].M, 1);
    assert_int_equal(p.m.post->hmm[0].S, 2);
    assert_true(vh_vb_value(&p.m, &p.run) > before);
    vh_h3m_free(start);
    problem_free(&p);
    vhem_free(ctx);
}

/* ---- stopping ------------------------------------------------------------------------------------------ */

enum { NEVER = 1 << 30 };
#define APART 0.5
static int steps_left; /* E-steps before one is stopped */

static vhem_status run_and_stop(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                                const vh_workers *workers, bool stops, vh_reduce_sums *out)
{
    if (steps_left-- > 0)
        return vh_cpu_reduce_run(ctx, state, step, workers, stops, out);
    vhem_ctx_stop(ctx);
    return VHEM_ESTOPPED;
}

/* Two kinds of HMMs, four clusters that share them, and what is left of these; the E-steps that this took.
 * It is stopped after so many of them. */
static int shrink_and_stop(int after)
{
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    vh_rng_init(&rng, 5, VH_RNG_TEST, 13);
    vh_backend own = *ctx->backend;
    vh_reduce_kernels stopping = *own.reduce;
    stopping.open = vh_cpu_reduce_open;
    stopping.run = run_and_stop;
    stopping.close = vh_cpu_reduce_close;
    own.reduce = &stopping;
    ctx->backend = &own;
    problem p = { .ctx = ctx, .h3m = random_h3m(ctx, &rng, 12, 2, 1, 1, 0, 0.5) };
    for (int i = 0; i < 12; i++) { /* two of the four clusters for each kind, a little apart */
        if (i > 0)
            vh_hmm_copy(&p.h3m->hmm[i], &p.h3m->hmm[0]);
        for (int s = 0; s < 2; s++) {
            double *par[VH_MAX_PARAM];
            vh_hmm_component(p.h3m, &p.h3m->hmm[i], s, 0, par);
            par[0][0] = 8 * s + 30 * (i % 2) + APART * (i / 2 % 2);
            par[1][0] = 1;
        }
    }
    vh_vb_options o = { .run = { .N = 120, .tau = 10, .max_iter = 500, .tol = 1e-12, .min_iter = 1 },
                        .prune = true };
    vh_h3m *start = random_h3m(ctx, &rng, 4, 2, 1, 1, 0, 20);
    for (int j = 0; j < 4; j++) /* one of each */
        vh_hmm_copy(&start->hmm[j], &p.h3m->hmm[j]);
    steps_left = NEVER;
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    assert_ok(ctx, vh_vb_default_prior(ctx, p.base, &p.m.prior));
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    double first = vh_vb_value(&p.m, &p.run);
    int K = p.m.post->K;
    steps_left = after;
    vhem_status st = vh_vb_shrink(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, 1000, &p.m, &p.run);
    assert_int_equal(st, after == NEVER ? VHEM_OK : VHEM_ESTOPPED);
    assert_true(p.run.n_iter >= 0 && vh_vb_value(&p.m, &p.run) >= first);
    if (after == NEVER)
        assert_true(p.m.post->K < K);
    int used = after - steps_left;
    vh_h3m_free(start);
    problem_free(&p);
    vhem_free(ctx);
    return used;
}

static void stopped_while_shrinking(void **state)
{
    (void)state;
    int all = shrink_and_stop(NEVER);
    for (int k = 0; k < all; k += k < all - 20 ? 7 : 1)
        shrink_and_stop(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_falls),           cmocka_unit_test(one_gaussian),
        cmocka_unit_test(gaussian_mixture),      cmocka_unit_test(sequence),
        cmocka_unit_test(many_samples),          cmocka_unit_test(prunes),
        cmocka_unit_test(tries_components_away), cmocka_unit_test(stopped_while_shrinking)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
