/* SPDX-License-Identifier: BSD-3-Clause */
/* test_emission_gaussian_diag.c - the family against its definition. */
#include "emission.h"

static const vh_emission *const F = &vh_gaussian_diag;

static void random_component(vh_rng *rng, component *c, int d)
{
    component_init(c, d);
    for (int k = 0; k < d; k++) {
        c->mu[k] = 2 * vh_rng_normal(rng);
        c->cov[k] = 0.1 + vh_rng_exponential(rng);
        c->origin[k] = vh_rng_normal(rng);
        c->scale[k] = 0.5 + vh_rng_uniform(rng);
    }
}

static void by_hand(void **state)
{
    (void)state;
    component c;
    double y[2] = { 3, -1 };
    component_init(&c, 2);
    c.mu[0] = 1;
    c.mu[1] = -2;
    c.cov[0] = 4;
    c.cov[1] = 0.25;
    /* -log 2 pi - log(2 * 0.5) - (1 + 4)/2 */
    assert_near(log_density_at(F, &c, y), -LOG_2PI - 2.5, 1e-15, 0);
    assert_int_equal(F->n_stat(&(vh_shape){ .d = 2 }), 5);
}

static void product(void **state)
{
    (void)state;
    component c;
    vh_rng rng;
    vh_rng_init(&rng, 41, VH_RNG_TEST, 0);
    for (int d = 1; d <= MAX_D; d++) {
        random_component(&rng, &c, d);
        double *y = random_frames(&rng, 40, d, 3);
        check_product(F, &c, 0, y, 40, 1e-11); /* terms up to a few hundred, 2e-16 each */
        free(y);
    }
}

/* Whole data a million deviations away: with the origin there, nothing is lost; without, the loss says so. */
static void far_away(void **state)
{
    (void)state;
    component c;
    double y[6], theta[MAX_STAT];
    component_init(&c, 2);
    for (int k = 0; k < 2; k++) {
        c.mu[k] = 1e6 + k;
        c.cov[k] = 1 + k;
        c.origin[k] = 1e6;
    }
    for (int t = 0; t < 6; t++)
        y[t] = 1e6 + 0.37 * t;
    check_product(F, &c, 0, y, 3, 1e-13);
    assert_true(F->natural(&c.x, PAR(&c), theta, c.work) < 100);
    c.origin[0] = 0;
    assert_true(F->natural(&c.x, PAR(&c), theta, c.work) > 1e11);
}

static void maximises(void **state)
{
    (void)state;
    enum { N = 30 };
    vh_rng rng;
    vh_rng_init(&rng, 42, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 20; trial++) {
        int d = 1 + trial % 4, floored = trial % 2;
        component c;
        random_component(&rng, &c, d);
        double *y = random_frames(&rng, N, d, 1), w[N], stat[MAX_STAT], floor[MAX_D];
        for (int t = 0; t < N; t++)
            w[t] = vh_rng_exponential(&rng);
        for (int k = 0; k < d; k++)
            floor[k] = floored && k == 0 ? 5 : 1e-3; /* far above the variance of the data in dimension 0 */
        mean_stat(F, &c, N, y, w, stat);
        assert_int_equal(F->maximise(&c.x, stat, floor, c.par, c.work), floored);
        if (floored)
            assert_true(c.cov[0] == 5);
        double best = weighted_loglik(F, &c, N, y, w);
        for (int k = 0; k < d; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                component e = c;
                e.par[0] = e.mu;
                e.par[1] = e.cov;
                e.mu[k] += sign * 1e-3;
                assert_true(weighted_loglik(F, &e, N, y, w) < best);
                e.mu[k] = c.mu[k];
                e.cov[k] *= 1 + sign * 1e-3;
                if (e.cov[k] >= floor[k])
                    assert_true(weighted_loglik(F, &e, N, y, w) < best);
            }
        free(y);
    }
}

static void singular(void **state)
{
    (void)state;
    component c;
    double theta[MAX_STAT], out, y[2] = { 0, 0 }, stat[5] = { 1, 0.5, 2, 0.25, 4 }, floor[2] = { 1e-3, 1e-3 };
    component_init(&c, 2);
    c.cov[0] = 1;
    assert_true(F->natural(&c.x, PAR(&c), theta, c.work) < 0);
    assert_false(F->log_density(&c.x.shape, PAR(&c), y, 1, &out, c.work));
    c.cov[1] = NAN;
    assert_true(F->natural(&c.x, PAR(&c), theta, c.work) < 0);
    assert_int_equal(F->maximise(&c.x, stat, NULL, c.par, c.work), -1);
    assert_int_equal(F->maximise(&c.x, stat, floor, c.par, c.work), 1);
    assert_true(c.mu[0] == 0.5 && c.mu[1] == 2 && c.cov[0] == 1e-3);
}

static void draws(void **state)
{
    (void)state;
    component c;
    component_init(&c, 3);
    double want[9] = { 4, 0, 0, 0, 0.01, 0, 0, 0, 0 };
    for (int k = 0; k < 3; k++) {
        c.mu[k] = 10 * k;
        c.cov[k] = want[4 * k];
    }
    check_draws(F, &c, want); /* the third does not vary at all */
}

static void validates(void **state)
{
    (void)state;
    component c;
    component_init(&c, 2);
    c.cov[0] = 1;
    check_accepted(F, &c); /* zero variance is a delta function */
    c.cov[1] = -2;
    check_refused(F, &c, "-2");
    c.cov[1] = INFINITY;
    check_refused(F, &c, "inf");
    c.cov[1] = NAN;
    check_refused(F, &c, "nan");
    c.cov[1] = 1;
    c.mu[1] = NAN;
    check_refused(F, &c, "must be finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand),  cmocka_unit_test(product),
                                        cmocka_unit_test(far_away), cmocka_unit_test(maximises),
                                        cmocka_unit_test(singular), cmocka_unit_test(draws),
                                        cmocka_unit_test(validates) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
