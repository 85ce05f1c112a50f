/* SPDX-License-Identifier: BSD-3-Clause */
/* test_posterior.c - variational Bayes against closed forms: the evidence of one Gaussian as a product of
 * Student densities, of states that cannot be taken for one another as Dirichlet-multinomials, the expected
 * model against the sum over all paths, and the likelihood when the prior weighs nothing. */
#include "engine.h"

#include "core/backend.h"
#include "fit/estep.h"
#include "math/gamma.h"
#include "prior/posterior.h"
#include "files/prior_json.h"
#include "vhem.h"
#include "vhem/analysis.h"

#define PI 3.14159265358979323846

/* A prior of this kind that is no special case. */
static vh_prior *sample_prior(vhem_ctx *ctx, vh_rng *rng, int d, int full)
{
    vh_prior *p = NULL;
    double cov[144];
    assert_ok(ctx, vh_prior_new(ctx, full ? &vh_gaussian_full : &vh_gaussian_diag, d, &p));
    p->eta = 0.5;
    p->eps = 1.5;
    p->kappa = 0.8;
    p->lambda = 0.3;
    p->nu = full ? d + 1.7 : 2.5;
    random_covariance(rng, d, 5, cov);
    for (int i = 0; i < d; i++) {
        p->m[i] = 0.3 * vh_rng_normal(rng);
        for (int j = 0; full && j < d; j++)
            p->B[i * d + j] = 2 * cov[i * d + j];
        if (!full)
            p->B[i] = 0.5 + vh_rng_uniform(rng);
    }
    return p;
}

/* Fits with this prior and writes the bound. */
static vh_h3m *fit(vhem_ctx *ctx, const vhem_data *data, const vh_prior *p, vhem_fit_options *opt,
                   double *bound)
{
    vh_h3m *h3m = NULL;
    vhem_fit_report *report = NULL;
    char *text = NULL;
    assert_ok(ctx, vh_prior_text(ctx, p, &text));
    opt->prior = text;
    opt->emission = p->family->name;
    assert_ok(ctx, vh_fit_each(ctx, data, opt, &h3m, &report));
    *bound = report->run[0].bound;
    vhem_free(report);
    free(text);
    return h3m;
}

/* log of the density of Student's t in d dimensions with f degrees of freedom at a squared distance q, scale
 * determinant |Sigma|. */
static double log_student(int d, double f, double logdet, double q)
{
    return vh_lgamma((f + d) / 2) - vh_lgamma(f / 2) - 0.5 * (d * log(f * PI) + logdet)
           - (f + d) / 2 * log1p(q / f);
}

/* log p(y) of n frames under one Gaussian, frame by frame: each is predicted from those before it. */
static double log_evidence(const vh_prior *p, int n, const double *y)
{
    int d = p->d, full = p->family == &vh_gaussian_full;
    double lambda = p->lambda, nu = p->nu, m[12], B[144], sum = 0;
    memcpy(m, p->m, sizeof *m * (size_t)d);
    memcpy(B, p->B, sizeof *B * vh_prior_size(p));
    for (int t = 0; t < n; t++, y += d) {
        double f = full ? nu - d + 1 : nu, grow = (1 + 1 / lambda) / f, scale[144], zero[12] = { 0 }, u[12];
        for (int i = 0; i < d; i++)
            u[i] = y[i] - m[i];
        if (full) {
            for (int e = 0; e < d * d; e++)
                scale[e] = B[e] * grow;
            double at_0 = (double)slow_gaussian(d, 1, zero, scale, zero);
            double at_u = (double)slow_gaussian(d, 1, zero, scale, u);
            sum += log_student(d, f, -2 * at_0 - d * LOG_2PI, 2 * (at_0 - at_u));
        }
        for (int i = 0; !full && i < d; i++)
            sum += log_student(1, f, log(B[i] * grow), u[i] * u[i] / (B[i] * grow));
        for (int i = 0; i < d; i++)
            for (int j = full ? 0 : i; j <= i; j++) {
                double more = lambda / (lambda + 1) * u[i] * u[j];
                B[full ? i * d + j : i] += more;
                if (full && j < i)
                    B[j * d + i] += more;
            }
        for (int i = 0; i < d; i++)
            m[i] += u[i] / (lambda + 1);
        lambda++;
        nu++;
    }
    return sum;
}

static void evidence_of_one_gaussian(void **state)
{
    (void)state;
    for (int trial = 0; trial < 12; trial++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        int d = trial == 11 ? 10 : 1 + trial % 4, T[] = { 1 + 5 * trial }; /* 10: by LAPACK */
        vh_rng_init(&rng, 411, VH_RNG_TEST, (uint64_t)trial);
        vh_prior *p = sample_prior(ctx, &rng, d, trial % 2);
        double *y = random_frames(&rng, T[0], d, 1.5), bound;
        vhem_data *data = wrap(ctx, 1, T, d, y);
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.S = 1;
        vh_h3m *h3m = fit(ctx, data, p, &opt, &bound);
        assert_near(bound, log_evidence(p, T[0], y), 1e-9, 1e-9);
        vh_h3m_free(h3m);
        vhem_free(data);
        vh_prior_free(p);
        free(y);
        vhem_free(ctx);
    }
}

/* log of the probability of counts in this order, under Dir(a): n of them. */
static double log_dirichlet_multinomial(int n, const double *count, double a)
{
    double sum = 0, out = vh_lgamma(n * a);
    for (int i = 0; i < n; i++) {
        sum += count[i];
        out += vh_lgamma(a + count[i]) - vh_lgamma(a);
    }
    return out - vh_lgamma(n * a + sum);
}

/* Two states a thousand deviations apart: who was where is beyond doubt, and the bound is the evidence. */
static void evidence_of_known_states(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    vh_rng rng;
    int T[] = { 24 }, n0 = 0;
    double y[24], own[2][24], n[2] = { 0 }, first[2] = { 0 }, xi[4] = { 0 }, bound, total;
    vh_rng_init(&rng, 412, VH_RNG_TEST, 0);
    vh_prior *p = sample_prior(ctx, &rng, 1, 0);
    p->lambda = 1e-9; /* a pull towards m would make the far state wide */
    for (int t = 0, last = 0; t < T[0]; t++) {
        int s = vh_rng_uniform(&rng) < 0.4;
        y[t] = 1000 * s + vh_rng_normal(&rng);
        own[s][(int)n[s]++] = y[t];
        if (t == 0)
            first[s] = 1;
        else
            xi[2 * last + s]++;
        last = s;
    }
    n0 = (int)n[0];
    total = log_dirichlet_multinomial(2, first, p->eta) + log_dirichlet_multinomial(2, xi, p->eps)
            + log_dirichlet_multinomial(2, xi + 2, p->eps) + log_evidence(p, n0, own[0])
            + log_evidence(p, T[0] - n0, own[1]);
    vhem_data *data = wrap(ctx, 1, T, 1, y);
    const double pi[] = { 0.5, 0.5 }, A[] = { 0.5, 0.5, 0.5, 0.5 }, mu[] = { 0, 1000 }, cov[] = { 1, 1 };
    vh_h3m *start = simple_hmm(ctx, 2, 1, pi, A, mu, cov);
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.start = HMMS(start);
    vh_h3m *h3m = fit(ctx, data, p, &opt, &bound);
    assert_near(bound, total, 1e-10, 0);
    vhem_hmm_view v = view_of(h3m, 0); /* means of the posterior */
    assert_near(v.pi[0], (p->eta + first[0]) / (2 * p->eta + 1), 1e-12, 0);
    assert_near(v.A[1], (p->eps + xi[1]) / (2 * p->eps + xi[0] + xi[1]), 1e-12, 0);
    vh_h3m_free(h3m);
    vh_h3m_free(start);
    vhem_free(data);
    vh_prior_free(p);
    vhem_free(ctx);
}

/* B, nu and the divisor of one Gaussian, diag, by hand. */
static void mean_by_hand(void **state)
{
    (void)state;
    vhem_ctx *ctx = test_ctx();
    int T[] = { 3 };
    double y[] = { 1, 2, 6 }, bound;
    vh_prior *p = NULL;
    assert_ok(ctx, vh_prior_new(ctx, &vh_gaussian_diag, 1, &p));
    p->eta = p->eps = p->kappa = 1;
    p->lambda = 1;
    p->nu = 3;
    p->m[0] = -1;
    p->B[0] = 2;
    vhem_data *data = wrap(ctx, 1, T, 1, y);
    vhem_fit_options opt;
    VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
    opt.S = 1;
    vh_h3m *h3m = fit(ctx, data, p, &opt, &bound);
    vhem_hmm_view v = view_of(h3m, 0);
    assert_near(v.mu[0], (3 * 3 - 1) / 4.0, 1e-12, 0);
    assert_near(v.cov[0], (2 + 14 + 0.75 * 16) / (3 + 3 - 2), 1e-12, 0); /* + lambda n / (lambda + n) 4^2 */
    vh_h3m_free(h3m);
    vhem_free(data);
    vh_prior_free(p);
    vhem_free(ctx);
}

/* Every kernel on an expected model, whose rows sum to less than 1, against the sum over all paths. */
static void expected_model(void **state)
{
    (void)state;
    for (int trial = 0; test_backend(trial / 6); trial++) {
        vhem_ctx *ctx = test_ctx_with(test_backend(trial / 6), 1, 7);
        vh_rng rng;
        int S = 2 + trial % 2, M = 1 + trial % 3, d = 2, T[] = { 6 };
        int64_t seq = 0;
        vh_rng_init(&rng, 413, VH_RNG_TEST, (uint64_t)(trial % 6));
        vh_prior *p = sample_prior(ctx, &rng, d, trial % 2);
        vh_h3m *h3m = random_h3m(ctx, &rng, 1, S, M, d, trial % 2, 1);
        double *y = random_frames(&rng, T[0], d, 1.5), loglik, origin[] = { 0.1, -0.2 }, scale[] = { 1, 2 };
        vhem_data *data = wrap(ctx, 1, T, d, y);
        vh_packed *pk = NULL;
        vh_stats stats = { 0 };
        vh_posterior post = { 0 };
        vh_workers workers = { 0 };
        vh_limits lim = { 0 };
        enumeration e;
        const vh_sequences in = { .data = data, .seq = &seq, .n = 1, .workers = &workers };
        assert_ok(ctx, vh_workers_new(ctx, 1, &workers));
        assert_ok(ctx, vh_posterior_new(ctx, p, S, M, &post));
        assert_ok(ctx, vh_pack_new(ctx, h3m, NULL, 1, origin, scale, &pk));
        assert_ok(ctx, vh_stats_new(ctx, pk, &stats));
        assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
        assert_ok(ctx, vh_expect(ctx, pk, &in, &loglik, &stats));
        vh_posterior_update(p, pk, 0, &stats, &post);
        vh_posterior_expect(p, &lim, &post, h3m, &h3m->hmm[0]);
        assert_ok(ctx, vh_pack_update(ctx, h3m, NULL, pk));
        vh_posterior_shift(&post, pk, 0);
        assert_ok(ctx, vh_expect(ctx, pk, &in, &loglik, &stats));
        for (int q = 0; q < S * M; q++) { /* as one who reads the definition would have it */
            assert_true(post.shift[q * d] < 0);
            vh_hmm_c(&h3m->hmm[0])[q] *= exp(post.shift[q * d]);
        }
        vhem_hmm_view v = view_of(h3m, 0);
        enumerate(&v, y, T[0], &e);
        assert_near(loglik, (double)e.loglik, 1e-11, 1e-11);
        for (int k = 0; k < S * S; k++)
            assert_near(stats.xi[k], (double)e.xi[k], 1e-9, 1e-11);
        vh_posterior_free(&post);
        vh_stats_free(&stats);
        vh_pack_free(pk);
        vh_workers_free(&workers);
        vh_h3m_free(h3m);
        vhem_free(data);
        vh_prior_free(p);
        free(y);
        vhem_free(ctx);
    }
}

/* Sequences that count a million times leave nothing for the prior to say. */
static void tends_to_maximum_likelihood(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        vhem_ctx *ctx = test_ctx();
        vh_rng rng;
        vh_builder *b = NULL;
        double bound;
        vh_rng_init(&rng, 414, VH_RNG_TEST, (uint64_t)full);
        vh_prior *p = sample_prior(ctx, &rng, 2, full);
        vh_h3m *start = random_h3m(ctx, &rng, 1, 2, 1, 2, full, 2), *ml = NULL;
        double *y = random_frames(&rng, 80, 2, 2);
        assert_ok(ctx, vh_builder_new(ctx, 2, &b));
        add_sequence(ctx, b, y, 80, "a", NULL, NULL, 1e7);
        vhem_data *data = finish(ctx, b);
        vhem_fit_options opt;
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.start = HMMS(start);
        opt.tol = 0;
        opt.max_iter = 30;
        opt.repair = 0;
        assert_ok(ctx, vh_fit_each(ctx, data, &opt, &ml, NULL));
        vh_h3m *vb = fit(ctx, data, p, &opt, &bound);
        assert_true(vh_h3m_compare(ml, vb) < 1e-5);
        vh_h3m_free(ml);
        vh_h3m_free(vb);
        vh_h3m_free(start);
        vhem_free(data);
        vh_prior_free(p);
        free(y);
        vhem_free(ctx);
    }
}

/* Of Beta(a, 1) the quantile of q is q^(1/a); Student's with one degree of freedom is Cauchy's. */
static void intervals_by_hand(void **state)
{
    static const char *const text =
        "{\"format\": \"vhem-posterior\", \"version\": 1, \"emission\": \"gaussian-diag\", \"d\": 1,"
        "\"alpha\": [2, 1], \"hmms\": ["
        "{\"S\": 1, \"M\": 1, \"eta\": [3], \"eps\": [[9]], \"kappa\": [[12]], \"lambda\": [[2]],"
        "\"nu\": [[1]], \"m\": [[[4]]], \"W\": [[[0.5]]]},"
        "{\"S\": 2, \"M\": 1, \"eta\": [3, 1], \"eps\": [[1, 1], [1, 1]], \"kappa\": [[1], [1]],"
        "\"lambda\": [[2], [2]], \"nu\": [[1], [1]], \"m\": [[[4]], [[5]]], \"W\": [[[0.5]], [[0.5]]]}]}";
    const struct {
        const char *name;
        int state, to, component, column;
        double mean, low, high;
    } want[] = {
        { "omega", -1, -1, -1, -1, 2 / 3.0, sqrt(0.025), sqrt(0.975) },
        { "pi", 0, -1, -1, -1, 1, 1, 1 },
        { "pi_once", 0, -1, -1, -1, 1, 1, 1 },
        { "A", 0, 0, -1, -1, 1, 1, 1 },
        { "c", 0, -1, 0, -1, 1, 1, 1 },
        { "mu", 0, -1, 0, 0, 4, 4 - tan(0.475 * PI), 4 + tan(0.475 * PI) },
        { "omega", -1, -1, -1, -1, 1 / 3.0, 1 - sqrt(0.975), 1 - sqrt(0.025) },
        { "pi", 0, -1, -1, -1, 0.75, cbrt(0.025), cbrt(0.975) },
        { "pi_once", 0, -1, -1, -1, 2 / 3.0, sqrt(0.025), sqrt(0.975) },
        { "A", 0, 0, -1, -1, 0.5, 0.025, 0.975 },
    };
    vhem_ctx *ctx = test_ctx();
    vhem_cluster_options opt;
    vhem_intervals *all = NULL, *one = NULL;
    (void)state;
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &opt);
    opt.nv = 2;
    vhem_clustering c = { .Kr = 2, .posterior = text, .options = &opt };
    assert_ok(ctx, vhem_intervals_find(ctx, &c, -1, -1, &all));
    assert_int_equal(all->n, 6 + 1 + 2 * (2 + 2 + 1 + 1));
    for (int k = 0; k < 10; k++) {
        const vhem_interval *v = &all->interval[k];
        assert_int_equal(v->cluster, k >= 6);
        assert_string_equal(v->name, want[k].name);
        assert_true(v->state == want[k].state && v->to == want[k].to && !v->symbol);
        assert_true(v->component == want[k].component && v->column == want[k].column);
        assert_near(v->mean, want[k].mean, 1e-12, 0);
        assert_near(v->low, want[k].low, 1e-8, 0);
        assert_near(v->high, want[k].high, 1e-8, 0);
    }
    assert_ok(ctx, vhem_intervals_find(ctx, &c, 1, -1, &one));
    assert_int_equal(one->n, all->n - 6);
    assert_near(one->interval[1].low, all->interval[7].low, 0, 0);
    vhem_free(one);
    assert_ok(ctx, vhem_intervals_find(ctx, &c, 1, 3, &one)); /* without the four entries of A */
    assert_int_equal(one->n, all->n - 6 - 4);
    vhem_free(one);
    assert_fails(ctx, vhem_intervals_find(ctx, &c, 2, -1, &one), VHEM_EINVAL, "cluster 2 was asked for");
    c.posterior = NULL;
    assert_ok(ctx, vhem_intervals_find(ctx, &c, -1, -1, &one));
    assert_int_equal(one->n, 0);
    vhem_free(one);
    vhem_free(all);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_of_one_gaussian),
        cmocka_unit_test(evidence_of_known_states),
        cmocka_unit_test(mean_by_hand),
        cmocka_unit_test(intervals_by_hand),
        cmocka_unit_test(expected_model),
        cmocka_unit_test(tends_to_maximum_likelihood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
