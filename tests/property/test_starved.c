/* SPDX-License-Identifier: BSD-3-Clause */
/* test_starved.c - clusters whose members all prefer another by hundreds of nats follow the equations like
 * any other: however small their share of everything is, they have a mean.
 *
 * The equations are worked out here for Gaussians in one dimension, HMMs of one state, textures that do not
 * move: with N_i virtual samples of tau frames each,
 *
 *   log z_ij = log omega_j + N_i L_ij - ...,     L_ij = tau E_i[log N(y; mu_j, v_j)],
 *   mu_j = sum_i z_ij omega_i mu_i / sum,        v_j likewise, from logs relative to the largest. */
#include "engine.h"
#include "textures.h"

#include "dtm/hem_dtm.h"
#include "vhem/vhem_h3m.h"
#include "vhem.h"

#include <float.h>

enum { MOST = 200, ITER = 20 };

typedef struct {
    int n;
    double omega[MOST], mu[MOST], v[MOST];
} gaussians;

static double log_sum(int n, const double *x)
{
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    for (int i = 0; i < n && top > -INFINITY; i++)
        sum += exp(x[i] - top);
    return top + log(sum);
}

/* One iteration; log_omega [r->n].  Returns J of what was there before. */
static double iterate(const gaussians *b, double N, int tau, gaussians *r, double *log_omega)
{
    static double log_z[MOST][MOST], column[MOST];
    double J = 0;
    for (int i = 0; i < b->n; i++) {
        for (int j = 0; j < r->n; j++) {
            double u = b->mu[i] - r->mu[j];
            log_z[i][j] =
                log_omega[j]
                - N * b->omega[i] * tau * 0.5 * (LOG_2PI + log(r->v[j]) + (b->v[i] + u * u) / r->v[j]);
        }
        double all = log_sum(r->n, log_z[i]);
        J += all;
        for (int j = 0; j < r->n; j++)
            log_z[i][j] -= all;
    }
    for (int j = 0; j < r->n; j++) {
        double mu = 0, v = 0;
        for (int i = 0; i < b->n; i++)
            column[i] = log_z[i][j];
        log_omega[j] = log_sum(b->n, column) - log(b->n);
        for (int i = 0; i < b->n; i++)
            column[i] += log(b->omega[i]);
        double all = log_sum(b->n, column);
        for (int i = 0; i < b->n; i++)
            mu += exp(column[i] - all) * b->mu[i];
        for (int i = 0; i < b->n; i++)
            v += exp(column[i] - all) * (b->v[i] + (b->mu[i] - mu) * (b->mu[i] - mu));
        r->mu[j] = mu;
        r->v[j] = v;
    }
    return J;
}

/* J [ITER+1] of ITER iterations from start.  moved > 0: the means of every iteration differ in their last
 * digits, otherwise for every number. */
static void by_equations(const gaussians *b, const gaussians *start, double N, int tau, int moved, double *J)
{
    gaussians r = *start;
    double log_omega[MOST];
    vh_rng rng;
    vh_rng_init(&rng, 301, VH_RNG_TEST, (uint64_t)moved);
    for (int j = 0; j < r.n; j++)
        log_omega[j] = log(r.omega[j]);
    for (int k = 0; k <= ITER; k++) {
        for (int j = 0; j < r.n && moved; j++)
            r.mu[j] *= 1 + 4 * DBL_EPSILON * vh_rng_normal(&rng);
        J[k] = iterate(b, N, tau, &r, log_omega);
    }
}

/* How many of J [ITER+1] the equations settle: two clusters that have become one are a saddle, which rounding
 * leaves in some direction, sooner or later, so what follows depends on the last digits. */
static int settled(const gaussians *b, const gaussians *start, double N, int tau, const double *J)
{
    double other[ITER + 1];
    int n = ITER + 1;
    for (int moved = 1; moved <= 20; moved++) {
        by_equations(b, start, N, tau, moved, other);
        for (int k = 0; k < n; k++)
            if (!is_near(J[k], other[k], 1e-10, 1e-10))
                n = k;
    }
    return n;
}

static vh_h3m *as_hmms(vhem_ctx *ctx, const gaussians *g)
{
    const double one[] = { 1 };
    vhem_hmm_view view[MOST];
    double theta[MOST][3];
    vh_h3m *h3m = NULL;
    for (int i = 0; i < g->n; i++) {
        theta[i][0] = 1;
        theta[i][1] = g->mu[i];
        theta[i][2] = g->v[i];
        view[i] = (vhem_hmm_view){
            .S = 1, .M = 1, .d = 1, .n_theta = 3, .omega = g->omega[i], .pi = one, .A = one, .theta = theta[i]
        };
    }
    assert_ok(ctx, vh_h3m_from_views(ctx, "gaussian-diag", 1, g->n, view, &h3m));
    return h3m;
}

static vh_dtm *as_textures(vhem_ctx *ctx, const gaussians *g)
{
    vh_dtm *dtm = NULL;
    assert_ok(ctx, vh_dtm_new(ctx, 1, g->n, &dtm));
    for (int i = 0; i < g->n; i++) {
        assert_ok(ctx, vh_dt_shape(ctx, 1, 1, &dtm->dt[i]));
        dtm->omega[i] = g->omega[i];
        dtm->dt[i].ybar[0] = g->mu[i];
        dtm->dt[i].R[0] = g->v[i];
    }
    return dtm;
}

static void compare(const char *what, int n, const double *want, const double *got)
{
    for (int k = 0; k < n; k++)
        if (!is_near(want[k], got[k], 1e-9, 1e-9))
            fail_msg("%s: J[%d] is %.15g, must be %.15g", what, k, got[k], want[k]);
}

/* ITER iterations by every method against the equations; J [ITER+1] is what they give.  Returns how many of
 * J they settle and were compared. */
static int check(const char *what, const gaussians *b, const gaussians *start, double N, int tau, double *J)
{
    const vh_vhem_options opt = { .N = N, .tau = tau, .max_iter = ITER };
    by_equations(b, start, N, tau, 0, J);
    const int n_same = settled(b, start, N, tau, J);
    vh_scratch scratch[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
    const char *name;
    for (int n = 0; (name = test_backend(n / 2)); n++) {
        char of[100];
        snprintf(of, sizeof of, "%s, %s, %d threads", what, name, 1 + n % 2);
        vhem_ctx *ctx = test_ctx_with(name, 1 + n % 2, 1);
        vh_h3m *h3m = as_hmms(ctx, b), *centers = as_hmms(ctx, start);
        vh_base *base = NULL;
        vh_vhem_run run = { 0 };
        assert_ok(ctx, vh_base_new(ctx, h3m, &base));
        assert_ok(ctx, vh_vhem(ctx, base, &opt, &(vh_workers){ 1 + n % 2, scratch }, centers, &run));
        compare(of, n_same, J, run.J);
        vh_vhem_run_free(&run);
        vh_base_free(base);
        vh_h3m_free(h3m);
        vh_h3m_free(centers);
        vhem_free(ctx);
    }
    vhem_ctx *ctx = test_ctx();
    vh_dtm *dtm = as_textures(ctx, b), *centers = as_textures(ctx, start);
    vh_vhem_run run = { 0 };
    assert_ok(ctx, vh_hem_dtm(ctx, dtm, &opt, &(vh_workers){ 2, scratch }, centers, &run));
    compare(what, n_same, J, run.J);
    vh_vhem_run_free(&run);
    vh_dtm_free(dtm);
    vh_dtm_free(centers);
    vhem_free(ctx);
    vh_scratch_free(&scratch[0]);
    vh_scratch_free(&scratch[1]);
    return n_same;
}

/* The cluster at 3 begins with shares of e^-270 and gets half of the models. */
static void four_models(void **state)
{
    (void)state;
    const gaussians b = { 4, { .25, .25, .25, .25 }, { 0, .1, 1, 1.1 }, { 1, 1, 1, 1 } };
    const gaussians start = { 2, { .5, .5 }, { .55, 3 }, { 1, 1 } };
    double J[ITER + 1];
    assert_int_equal(check("four models", &b, &start, 300 * 4, 1, J), ITER + 1);
    assert_near(J[ITER], -1706.997, 0, 5e-4);
    assert_int_equal(check("four models, more samples", &b, &start, 1e6 * 4, 1, J), ITER + 1);
    assert_int_equal(check("four models, longer samples", &b, &start, 3e4 * 4, 50, J), ITER + 1);
}

/* EM-H3M: a sequence of the two frames mu - 1 and mu + 1 has the statistics of a model of variance 1 and
 * tau = 2; its weight is the number of samples. */
static void sequences(void **state)
{
    (void)state;
    const gaussians b = { 4, { .25, .25, .25, .25 }, { 0, .1, 1, 1.1 }, { 1, 1, 1, 1 } };
    const gaussians start = { 2, { .5, .5 }, { .55, 3 }, { 1, 1 } };
    const char *name;
    for (int n = 0; (name = test_backend(n / 3)); n++) {
        static const double weights[] = { 300, 1e4, 1e6 };
        double w = weights[n % 3], log_omega[] = { log(.5), log(.5) }, J = 0;
        gaussians r = start;
        vhem_ctx *ctx = test_ctx_with(name, 2, 1);
        vh_builder *builder = NULL;
        vhem_fit_options opt;
        vhem_fit_report *report = NULL;
        vh_h3m *centers = as_hmms(ctx, &start), *out = NULL;

        for (int k = 0; k <= ITER; k++)
            J = iterate(&b, 4 * w, 2, &r, log_omega);
        assert_ok(ctx, vh_builder_new(ctx, 1, &builder));
        for (int i = 0; i < b.n; i++)
            add_sequence(ctx, builder, (double[]){ b.mu[i] - 1, b.mu[i] + 1 }, 2, NULL, NULL, NULL, w);
        vhem_data *data = finish(ctx, builder);
        VHEM_INIT(VHEM_FIT_OPTIONS, &opt);
        opt.start = HMMS(centers);
        opt.K = 2;
        opt.max_iter = ITER;
        opt.tol = 0;
        opt.repair = 0;
        opt.cov_floor = 0;
        assert_ok(ctx, vh_fit_mixture(ctx, data, &opt, &out, &report));
        assert_near(report->run[0].loglik, J, 1e-9, 1e-9);
        vhem_free(report);
        vh_h3m_free(out);
        vh_h3m_free(centers);
        vhem_free(data);
        vhem_free(ctx);
    }
}

/* Many models in groups, more than a block of them, with clusters that start anywhere. */
static void many_models(void **state)
{
    (void)state;
    int n_whole = 0;
    for (int trial = 0; trial < 12; trial++) {
        vh_rng rng;
        char what[40];
        double J[ITER + 1], sum = 0;
        gaussians b = { .n = trial % 2 ? 150 : 12 }, start = { .n = 2 + trial % 3 };
        vh_rng_init(&rng, 300, VH_RNG_TEST, (uint64_t)trial);
        for (int i = 0; i < b.n; i++) {
            sum += b.omega[i] = trial % 3 ? 1 : 0.1 + vh_rng_uniform(&rng);
            b.mu[i] = 10 * i / b.n + 0.1 * vh_rng_normal(&rng);
            b.v[i] = 0.5 + vh_rng_uniform(&rng);
        }
        for (int i = 0; i < b.n; i++)
            b.omega[i] /= sum;
        for (int j = 0; j < start.n; j++) {
            start.omega[j] = 1.0 / start.n;
            start.mu[j] = 20 * vh_rng_normal(&rng);
            start.v[j] = 1 + vh_rng_uniform(&rng);
        }
        snprintf(what, sizeof what, "trial %d", trial);
        n_whole += check(what, &b, &start, b.n * pow(10, 1 + trial % 4), 1 + trial % 3, J) == ITER + 1;
    }
    assert_true(n_whole >= 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(four_models), cmocka_unit_test(sequences),
                                        cmocka_unit_test(many_models) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
