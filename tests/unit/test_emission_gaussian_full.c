/* SPDX-License-Identifier: BSD-3-Clause */
/* test_emission_gaussian_full.c - the family against its definition, down to nearly singular covariances. */
#include "emission.h"

#include "math/linalg.h"

static const vh_emission *const F = &vh_gaussian_full;

static void random_component(vh_rng *rng, component *c, int d, double condition)
{
    component_init(c, d);
    random_covariance(rng, d, condition, c->cov);
    for (int k = 0; k < d; k++) {
        c->mu[k] = vh_rng_normal(rng);
        c->origin[k] = vh_rng_normal(rng);
        c->scale[k] = 0.5 + vh_rng_uniform(rng);
    }
}

static void by_hand(void **state)
{
    (void)state;
    component c;
    double y[2] = { 2, 1 };
    component_init(&c, 2);
    memcpy(c.cov, (double[]){ 2, 1, 1, 2 }, 4 * sizeof(double));
    c.mu[0] = 1;
    /* det 3, inverse (2 -1; -1 2)/3, y - mu = (1, 1): quadratic form 2/3 */
    assert_near(log_density_at(F, &c, y), -LOG_2PI - 0.5 * log(3.0) - 1.0 / 3, 1e-15, 0);
    assert_int_equal(F->n_stat(&(vh_shape){ .d = 3 }), 10);
}

static void product(void **state)
{
    (void)state;
    component c;
    vh_rng rng;
    vh_rng_init(&rng, 51, VH_RNG_TEST, 0);
    for (int d = 1; d <= MAX_D; d++) {
        random_component(&rng, &c, d, 20);
        double *y = random_frames(&rng, 40, d, 2); /* 40 frames: more than two blocks of the direct form */
        check_product(F, &c, 1, y, 40, 1e-10);     /* condition 20, terms up to 1e4 */
        free(y);
    }
}

/* Condition 1e12: the loss is reported, and the direct form holds what the condition leaves of 16 digits. */
static void nearly_singular(void **state)
{
    (void)state;
    component c;
    vh_rng rng;
    vh_rng_init(&rng, 52, VH_RNG_TEST, 0);
    for (int d = 2; d <= MAX_D; d++) {
        double root[MAX_D * MAX_D], theta[MAX_STAT], y[MAX_D];
        random_component(&rng, &c, d, 1e12);
        assert_true(F->root(&c.x.shape, PAR(&c), root, c.work));
        assert_true(F->natural(&c.x, PAR(&c), theta, c.work) > 1e5);
        for (int t = 0; t < 20; t++) {
            F->draw(&rng, &c.x.shape, PAR(&c), root, y);
            assert_near(log_density_at(F, &c, y), (double)slow_gaussian(d, 1, c.mu, c.cov, y), 1e-4, 1e-3);
        }
    }
}

static double smallest_eigenvalue(int d, const double *cov, const double *floor)
{
    double V[MAX_D * MAX_D], w[MAX_D];
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            V[i * d + j] = cov[i * d + j] / sqrt(floor[i] * floor[j]);
    assert_true(vh_eigen(d, V, w));
    return w[0];
}

static void maximises(void **state)
{
    (void)state;
    enum { N = 30 };
    vh_rng rng;
    vh_rng_init(&rng, 53, VH_RNG_TEST, 0);
    int n_floored = 0;
    for (int trial = 0; trial < 30; trial++) {
        int d = 1 + trial % 4, floored = trial % 3 > 0;
        component c;
        random_component(&rng, &c, d, 10);
        double *y = random_frames(&rng, N, d, 1), w[N], stat[MAX_STAT], floor[MAX_D];
        for (int t = 0; t < N; t++) {
            w[t] = vh_rng_exponential(&rng);
            for (int k = 1; k < d; k++) /* correlated: the small variance is along no axis */
                y[t * d + k] = y[t * d] + 0.1 * k * y[t * d + k];
        }
        for (int k = 0; k < d; k++)
            floor[k] = floored ? 0.2 + 0.1 * k : 1e-6;
        mean_stat(F, &c, N, y, w, stat);
        int held = F->maximise(&c.x, stat, floor, c.par, c.work);
        n_floored += held;
        if (d > 1)
            assert_int_equal(held, floored);
        assert_true(smallest_eigenvalue(d, c.cov, floor) >= 1 - 1e-12);
        double best = weighted_loglik(F, &c, N, y, w);
        for (int step = 0; step < 40; step++) { /* random changes that keep the floor */
            component e = c;
            e.par[0] = e.mu;
            e.par[1] = e.cov;
            for (int i = 0; i < d; i++) {
                e.mu[i] += step % 2 ? 1e-3 * vh_rng_normal(&rng) : 0;
                for (int j = 0; j <= i; j++)
                    e.cov[j * d + i] = e.cov[i * d + j] = c.cov[i * d + j] + 1e-3 * vh_rng_normal(&rng);
            }
            if (smallest_eigenvalue(d, e.cov, floor) >= 1)
                assert_true(weighted_loglik(F, &e, N, y, w) < best + 1e-10);
        }
        for (int k = 0; k < d; k++) { /* and one that always does: a little more variance */
            component e = c;
            e.par[0] = e.mu;
            e.par[1] = e.cov;
            e.cov[k * d + k] += 1e-3;
            assert_true(weighted_loglik(F, &e, N, y, w) < best);
        }
        free(y);
    }
    assert_true(n_floored >= 10);
}

static void singular(void **state)
{
    (void)state;
    component c;
    double theta[MAX_STAT], out, y[4] = { 1, 1, 2, 2 }, w[2] = { 1, 1 }, stat[6], floor[2] = { 0.5, 0.5 };
    component_init(&c, 2);
    memcpy(c.cov, (double[]){ 1, 1, 1, 1 }, 4 * sizeof(double));
    assert_true(F->natural(&c.x, PAR(&c), theta, c.work) < 0);
    assert_false(F->log_density(&c.x.shape, PAR(&c), y, 1, &out, c.work));
    mean_stat(F, &c, 2, y, w, stat); /* two frames span one direction */
    assert_int_equal(F->maximise(&c.x, stat, NULL, c.par, c.work), -1);
    assert_int_equal(F->maximise(&c.x, stat, floor, c.par, c.work), 1);
    /* variance 0.5 along (1,1), which is at the floor, and 0 across, raised to 0.5 */
    assert_near(c.cov[0], 0.5, 1e-12, 0);
    assert_near(c.cov[1], 0, 0, 1e-12);
}

static void draws(void **state)
{
    (void)state;
    component c;
    vh_rng rng;
    vh_rng_init(&rng, 54, VH_RNG_TEST, 0);
    random_component(&rng, &c, 3, 10);
    check_draws(F, &c, c.cov);
    component_init(&c, 3); /* rank one: a delta function across (1, 2, 3) */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.cov[i * 3 + j] = (i + 1) * (j + 1);
    check_draws(F, &c, c.cov);
}

static void validates(void **state)
{
    (void)state;
    component c;
    component_init(&c, 2);
    check_accepted(F, &c); /* all zero */
    memcpy(c.cov, (double[]){ 1, 1, 1, 1 }, 4 * sizeof(double));
    check_accepted(F, &c); /* singular */
    c.cov[1] = 0.5;
    check_refused(F, &c, "symmetric");
    c.cov[2] = 0.5;
    check_accepted(F, &c);
    c.cov[1] = c.cov[2] = 2;
    check_refused(F, &c, "eigenvalue -1");
    c.cov[1] = c.cov[2] = NAN;
    check_refused(F, &c, "nan");
    c.cov[1] = c.cov[2] = 0;
    c.cov[3] = INFINITY;
    check_refused(F, &c, "inf");
    c.cov[3] = 1;
    c.mu[0] = -INFINITY;
    check_refused(F, &c, "must be finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand),         cmocka_unit_test(product),
                                        cmocka_unit_test(nearly_singular), cmocka_unit_test(maximises),
                                        cmocka_unit_test(singular),        cmocka_unit_test(draws),
                                        cmocka_unit_test(validates) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
