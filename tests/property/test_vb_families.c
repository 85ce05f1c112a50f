/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vb_families.c - variational Bayes of families other than Gaussians, and of products: the bound never
 * falls and is the same on all backends; it is the log-evidence of one component in closed form, that of the
 * variational HMM on a sequence; and many virtual samples make it VHEM.  For files, posteriors and priors are
 * read as they were written.
 *
 * VHEM_TEST_COUNT says how many random runs there are for each family. */
#include "family_models.h"
#include "files/posterior_json.h"
#include "files/prior_json.h"
#include "vb_problems.h"

#include "data/data.h"
#include "fit/fit.h"
#include "fit/sample.h"
#include "math/gamma.h"
#include "vhem.h"

static const char *const names[] = { "categorical", "bernoulli", "poisson", "product" };
enum { N_NAMES = sizeof names / sizeof *names, COUNT = 40 };

static vh_prior *random_prior(vhem_ctx *ctx, vh_rng *rng, const char *name)
{
    vh_prior *p = NULL;
    vh_frames_prior from = { .frames = pow(10, -1 + 2 * vh_rng_uniform(rng)),
                             .count = pow(10, -2 + 3 * vh_rng_uniform(rng)),
                             .model = random_models(ctx, rng, name, 1, 1, 1) };
    assert_ok(ctx, vh_prior_from_frames(ctx, &from, &p));
    p->alpha = pow(10, -2 + 3 * vh_rng_uniform(rng));
    return p;
}

static problem begin(vhem_ctx *ctx, vh_rng *rng, const char *name, int K, int S, const vh_vb_options *o)
{
    problem p = { .h3m = random_models(ctx, rng, name, 6, 1 + (int)vh_rng_below(rng, 3), 2) };
    p.start = random_models(ctx, rng, name, K, S, 2);
    p.m.prior = random_prior(ctx, rng, name);
    problem_run(ctx, o, &p);
    return p;
}

static problem of_any_size(vhem_ctx *ctx, vh_rng *rng, const char *name, const vh_vb_options *o)
{
    int K = 1 + (int)vh_rng_below(rng, 3), S = 1 + (int)vh_rng_below(rng, 4);
    return begin(ctx, rng, name, K, S, o);
}

static problem of_one_size(vhem_ctx *ctx, vh_rng *rng, const char *name, const vh_vb_options *o)
{
    return begin(ctx, rng, name, 3, 2, o);
}

static void never_falls(void **state)
{
    (void)state;
    check_never_falls(&(problems){ names, N_NAMES, COUNT, 31, of_any_size });
}

/* Backends with a product add shifts to natural parameters, the reference to densities. */
static void same_on_all_backends(void **state)
{
    (void)state;
    check_same_on_all_backends(&(problems){ names, N_NAMES, COUNT, 32, of_one_size });
}

/* log of the integral of the prior times the counts: Dirichlet of n numbers, gamma. */
static double log_dirichlet(int n, const double *a)
{
    double sum = 0, out = 0;
    for (int k = 0; k < n; k++) {
        sum += a[k];
        out += vh_lgamma(a[k]);
    }
    return out - vh_lgamma(sum);
}

static double log_normaliser(const char *name, const vh_shape *shape, const double *a)
{
    double out = 0;
    if (strcmp(name, "categorical") == 0)
        return log_dirichlet(shape->V, a);
    for (int k = 0; k < shape->d; k++) {
        const double pair[] = { a[k], a[shape->d + k] };
        out += strcmp(name, "bernoulli") == 0 ? log_dirichlet(2, pair)
                                              : vh_lgamma(pair[0]) - pair[0] * log(pair[1]);
    }
    return out;
}

static void evidence_of_one_component(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int n = 0; n < 12; n++) {
        const char *name = names[n % 3]; /* all but the product */
        vh_rng rng;
        vh_rng_init(&rng, 33, VH_RNG_TEST, (uint64_t)n);
        vh_vb_options o = { .run = { .N = 30, .tau = 4, .max_iter = 2 } };
        problem p = { .h3m = random_models(ctx, &rng, name, 5, 1, 1),
                      .start = random_models(ctx, &rng, name, 1, 1, 1) };
        p.m.prior = random_prior(ctx, &rng, name);
        assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
        assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, p.start, &p.m));
        assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
        const vh_shape *shape = &p.h3m->shape;
        double want = log_normaliser(name, shape, p.m.post->hmm[0].count)
                      - log_normaliser(name, shape, p.m.prior->count);
        for (int i = 0; strcmp(name, "poisson") == 0 && i < 5; i++) { /* E log y! */
            double *par[VH_MAX_PARAM], T[8], zero[2] = { 0 }, one[2] = { 1, 1 };
            const vh_coords x = { *shape, zero, one };
            vh_hmm_component(p.h3m, &p.h3m->hmm[i], 0, 0, par);
            p.h3m->family->stats_of_component(&x, (const double *const *)par, T);
            want += o.run.N * o.run.tau * p.h3m->omega[i] * T[5];
        }
        for (int k = 0; k <= 2; k++)
            assert_near(p.run.J[k], want, 1e-9, 1e-9);
        problem_free(&p);
    }
    vhem_free(ctx);
}

/* What the base measure of counts, 1/y!, is for a frame and in the mean of a component at it. */
static double measure_apart(const vh_h3m *base, const double *y, int T)
{
    double sum = 0;
    int n_stat = base->family->n_stat(&base->shape), d = base->d;
    double *zero = calloc((size_t)(2 * d + 2 * n_stat), sizeof *zero), *one = zero + d, *of_y = one + d,
           *of_b = of_y + n_stat;
    for (int k = 0; k < d; k++)
        one[k] = 1;
    const vh_coords x = { base->shape, zero, one };
    for (int t = 0; t < T; t++) {
        double *par[VH_MAX_PARAM];
        vh_hmm_component(base, &base->hmm[0], t, 0, par);
        base->family->stats_of_obs(&x, y + t * d, 1, of_y);
        base->family->stats_of_component(&x, (const double *const *)par, of_b);
        sum += of_y[n_stat - 1] - of_b[n_stat - 1];
    }
    free(zero);
    return sum;
}

static void check_sequence(vhem_ctx *ctx, const char *name, uint64_t seed)
{
    enum { T = 24 };
    vh_rng rng;
    vh_rng_init(&rng, 34, VH_RNG_TEST, seed);
    vh_h3m *truth = random_models(ctx, &rng, name, 1, 3, 1);
    vhem_data *data = NULL;
    char *prior = NULL;
    problem p = { .start = random_models(ctx, &rng, name, 1, 3, 2) };
    assert_ok(ctx, vh_h3m_sample(ctx, truth, 1, T, &data));
    assert_ok(ctx, vh_h3m_new(ctx, truth->family, truth->shape, 1, &p.h3m));
    assert_ok(ctx, vh_h3m_shape(ctx, p.h3m, 0, T, 1));
    spreadless(vh_data_frames(data, 0), T, p.h3m, &p.h3m->hmm[0]);
    assert_ok(ctx, vh_base_new(ctx, p.h3m, &p.base));
    p.m.prior = random_prior(ctx, &rng, name);
    assert_ok(ctx, vh_prior_text(ctx, p.m.prior, &prior));
    vh_vb_options o = { .run = { .N = 1, .tau = T, .max_iter = ROUNDS } };
    assert_ok(ctx, vh_vb_begin(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, p.start, &p.m));
    assert_ok(ctx, vh_vb_run(ctx, p.base, &o, &(vh_workers){ 1, &p.scratch }, &p.m, &p.run));
    bool counts = strcmp(name, "poisson") == 0 || strcmp(name, "product") == 0;
    double apart = counts ? measure_apart(p.h3m, vh_data_frames(data, 0), T) : 0;
    vhem_fit_options f;
    VHEM_INIT(VHEM_FIT_OPTIONS, &f);
    f.S = 3;
    f.start = HMMS(p.start);
    f.prior = prior;
    f.tol = f.cov_floor = 0;
    f.repair = 0;
    for (f.max_iter = 1; f.max_iter <= ROUNDS; f.max_iter++) {
        vh_h3m *h3m = NULL;
        vhem_fit_report *r = NULL;
        assert_ok(ctx, vh_fit_each(ctx, data, &f, &h3m, &r));
        assert_near(p.run.J[f.max_iter - 1] + apart, r->run[0].bound, 1e-9, 1e-9);
        vhem_free(r);
        vh_h3m_free(h3m);
    }
    free(prior);
    vhem_free(data);
    vh_h3m_free(truth);
    problem_free(&p);
}

static void sequence(void **state)
{
    (void)state;
    for (int n = 0; n < 2 * N_NAMES; n++) {
        vhem_ctx *ctx = test_ctx();
        check_sequence(ctx, names[n % N_NAMES], (uint64_t)n);
        vhem_free(ctx);
    }
}

static void many_samples(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++) {
        double last = INFINITY;
        for (double N = 1e5; N <= 1e8; N *= 10) {
            vh_rng rng;
            vh_rng_init(&rng, 35, VH_RNG_TEST, (uint64_t)f);
            vh_vb_options o = { .run = { .N = N, .tau = 5, .max_iter = 9 } };
            vh_h3m *mean = NULL;
            problem p = begin(ctx, &rng, names[f], 1, 2, &o); /* an empty one would be the prior */
            assert_ok(ctx, vh_posteriors_mean(ctx, p.m.post, &mean));
            vh_vhem_run_free(&p.run);
            o.run.max_iter = 10;
            assert_ok(ctx, vh_vhem(ctx, p.base, &o.run, &(vh_workers){ 1, &p.scratch }, p.start, &p.run));
            memcpy(mean->omega, p.start->omega, sizeof *mean->omega * (size_t)mean->K);
            double apart = vh_h3m_compare(mean, p.start);
            if (!(apart < last / 8))
                fail_msg("%s: with N = %g the centres are %g from VHEM's, with a tenth of it %g", names[f], N,
                         apart, last);
            last = apart;
            vh_h3m_free(mean);
            problem_free(&p);
        }
        assert_true(last < 1e-4);
    }
    vhem_free(ctx);
}

static void files(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    for (int f = 0; f < N_NAMES; f++) {
        vh_rng rng;
        vh_rng_init(&rng, 36, VH_RNG_TEST, (uint64_t)f);
        const vh_vb_options o = options_of(&rng, 1);
        problem p = begin(ctx, &rng, names[f], 2, 3, &o);
        char *text = NULL, *again = NULL;
        vh_posteriors *post = NULL;
        vh_prior *prior = NULL;
        assert_ok(ctx, vh_posteriors_text(ctx, p.m.post, &text));
        assert_ok(ctx, vh_posteriors_read(ctx, text, &post));
        assert_ok(ctx, vh_posteriors_text(ctx, post, &again));
        if (f < 3) /* W is the inverse of what is stored, so that a product may change in its last digit */
            assert_string_equal(text, again);
        assert_int_equal(strlen(text) / 50, strlen(again) / 50);
        free(text);
        free(again);
        p.m.prior->eps = 0.37;
        assert_ok(ctx, vh_prior_text(ctx, p.m.prior, &text));
        assert_ok(ctx, vh_prior_read(ctx, text, &prior));
        assert_ok(ctx, vh_prior_text(ctx, prior, &again));
        assert_string_equal(text, again);
        free(text);
        free(again);
        vh_posteriors_free(post);
        vh_prior_free(prior);
        problem_free(&p);
    }
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(never_falls),
                                        cmocka_unit_test(same_on_all_backends),
                                        cmocka_unit_test(evidence_of_one_component),
                                        cmocka_unit_test(sequence),
                                        cmocka_unit_test(many_samples),
                                        cmocka_unit_test(files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
