/* SPDX-License-Identifier: BSD-3-Clause */
/* test_families.c - counts, bits, positive numbers and angles against sums and integrals of their
 * definitions. */
#include "family_models.h"
#include "support.h"

#include "math/gamma.h"
#include "emission/emission.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum { MOST_STAT = 16 };

typedef struct { /* a family of one column, two of its components, and the values to sum or integrate over */
    const char *name;
    double par[VH_MAX_PARAM], other[VH_MAX_PARAM];
    double from, to, step; /* step 1: counts; less: an integral by the trapezoid rule */
    bool zero;             /* and the value 0 by itself */
} family_case;

#define PI 3.14159265358979323846

static const family_case cases[] = {
    { "poisson", { 3.7 }, { 1.2 }, 0, 200, 1, false },
    { "poisson", { 400 }, { 380 }, 0, 1500, 1, false },
    { "bernoulli", { 0.3 }, { 0.85 }, 0, 1, 1, false },
    { "gamma", { 2.5, 0.7, 0.1 }, { 4, 1.5, 0.3 }, 1e-9, 90, 1e-3, true },
    { "gamma", { 60, 20, 0 }, { 50, 20, 0 }, 1e-9, 12, 1e-3, false },
    { "von-mises", { 2.9, 4 }, { -2.5, 0.6 }, -PI, PI, 1e-3, false },
    { "von-mises", { 0.4, 80 }, { 0.6, 120 }, -PI, PI, 1e-4, false },
};
enum { N_CASES = sizeof cases / sizeof *cases };

typedef double (*integrand)(const vh_emission *f, const family_case *c, double y, double lambda);

static double log_p(const vh_emission *f, const double *par, double y)
{
    const double *p[VH_MAX_PARAM] = { par, par + 1, par + 2 };
    double out, work[64];
    assert_true(f->log_density(&(vh_shape){ .d = 1 }, p, &y, 1, &out, work));
    return out;
}

static double density(const vh_emission *f, const family_case *c, double y, double lambda)
{
    (void)lambda;
    return exp(log_p(f, c->par, y));
}

static double expected(const vh_emission *f, const family_case *c, double y, double lambda)
{
    (void)lambda;
    double p = exp(log_p(f, c->par, y));
    return p > 0 ? p * log_p(f, c->other, y) : 0;
}

static double kernel(const vh_emission *f, const family_case *c, double y, double lambda)
{
    return exp(lambda * (log_p(f, c->par, y) + log_p(f, c->other, y)));
}

static double sum_over(const vh_emission *f, const family_case *c, integrand g, double lambda)
{
    double sum = c->zero ? g(f, c, 0, lambda) : 0;
    int n = (int)round((c->to - c->from) / c->step);
    double h = (c->to - c->from) / n;
    for (int i = 0; i <= n; i++) {
        double edge = c->step < 1 && (i == 0 || i == n) ? 0.5 : 1;
        sum += edge * h * g(f, c, c->from + h * i, lambda);
    }
    return sum;
}

static void sums(void **state)
{
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        const family_case *c = &cases[i];
        const vh_emission *f = vh_emission_find(c->name);
        const vh_shape shape = { .d = 1 };
        const double *p[VH_MAX_PARAM] = { c->par, c->par + 1, c->par + 2 },
                     *q[VH_MAX_PARAM] = { c->other, c->other + 1, c->other + 2 };
        double got, work[64];
        assert_near(sum_over(f, c, density, 0), 1, 1e-7, 0);
        assert_true(f->expected_density(&shape, q, p, 1, &got, 1, work));
        assert_near(got, sum_over(f, c, expected, 0), 1e-6, 1e-6);
        for (double lambda = 0.5; lambda <= 1; lambda += 0.25) {
            double back;
            assert_true(f->log_product(&shape, p, q, lambda, &got, work));
            assert_true(f->log_product(&shape, q, p, lambda, &back, work));
            assert_near(got, log(sum_over(f, c, kernel, lambda)), 1e-7, 1e-7);
            assert_near(back, got, 1e-13, 1e-13);
        }
    }
}

/* <theta, T(y)> is the density and <theta, E T> its expectation; missing cells add nothing. */
static void products(void **state)
{
    (void)state;
    const double zero[2] = { 0, 0 }, one[2] = { 1, 1 };
    const vh_coords x = { { .d = 2 }, zero, one };
    for (int i = 0; i < N_CASES; i++) {
        const family_case *c = &cases[i];
        const vh_emission *f = vh_emission_find(c->name);
        double par[VH_MAX_PARAM][2], theta[MOST_STAT], T[MOST_STAT], work[256], want, dot = 0, of_mean = 0;
        const double *p[VH_MAX_PARAM] = { par[0], par[1], par[2] };
        const double y[2] = { 1, c->zero ? 0 : 1 }, gap[2] = { 1, NAN };
        for (int k = 0; k < VH_MAX_PARAM; k++) {
            par[k][0] = c->par[k];
            par[k][1] = c->other[k];
        }
        int n_stat = f->n_stat(&x.shape);
        assert_true(n_stat <= MOST_STAT && f->natural(&x, p, theta, work) >= 0);
        for (int t = 0; t < 2; t++) {
            f->stats_of_obs(&x, t ? gap : y, 1, T);
            dot = 0;
            for (int e = 0; e < n_stat; e++)
                dot += theta[e] * T[e];
            assert_true(f->log_density(&x.shape, p, t ? gap : y, 1, &want, work));
            assert_near(dot, want, 1e-9, 1e-9);
            assert_near(want, log_p(f, c->par, 1) + (t ? 0 : log_p(f, c->other, y[1])), 1e-12, 1e-12);
        }
        f->stats_of_component(&x, p, T);
        for (int e = 0; e < n_stat; e++)
            of_mean += theta[e] * T[e];
        assert_true(f->expected_density(&x.shape, p, p, 1, &want, 1, work));
        assert_near(of_mean, want, 1e-9, 1e-9);
    }
}

/* The maximiser gives back the component that the mean statistics come from, and nothing near it is
 * better. */
static void maximisers(void **state)
{
    (void)state;
    const double zero = 0, one = 1;
    const vh_coords x = { { .d = 1 }, &zero, &one };
    for (int i = 0; i < N_CASES; i++) {
        const family_case *c = &cases[i];
        const vh_emission *f = vh_emission_find(c->name);
        double T[MOST_STAT], got[VH_MAX_PARAM] = { 1, 1, 0.5 }, work[64], best;
        double *to[VH_MAX_PARAM] = { got, got + 1, got + 2 };
        const double *p[VH_MAX_PARAM] = { c->par, c->par + 1, c->par + 2 };
        f->stats_of_component(&x, p, T);
        assert_int_equal(f->maximise(&x, T, NULL, to, work), 0);
        for (int k = 0; k < f->n_param; k++)
            assert_near(got[k], c->par[k], 1e-9, 1e-12);
        assert_true(f->expected_density(&x.shape, (const double *const *)to, p, 1, &best, 1, work));
        for (int k = 0; k < f->n_param; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double there, keep = got[k];
                got[k] *= 1 + sign * 1e-3;
                assert_true(f->expected_density(&x.shape, (const double *const *)to, p, 1, &there, 1, work));
                assert_true(there <= best + 1e-12 * fabs(best));
                got[k] = keep;
            }
    }
}

static void draws(void **state)
{
    enum { N = 20000 };
    (void)state;
    const double zero = 0, one = 1;
    const vh_coords x = { { .d = 1 }, &zero, &one };
    for (int i = 0; i < N_CASES; i++) {
        const family_case *c = &cases[i];
        const vh_emission *f = vh_emission_find(c->name);
        const double *p[VH_MAX_PARAM] = { c->par, c->par + 1, c->par + 2 };
        double want[MOST_STAT], T[MOST_STAT], sum[MOST_STAT] = { 0 }, square[MOST_STAT] = { 0 }, root[4],
                                              work[64];
        int n_stat = f->n_stat(&x.shape);
        vh_rng rng;
        vh_rng_init(&rng, 5, VH_RNG_TEST, (uint64_t)i);
        f->stats_of_component(&x, p, want);
        assert_true(f->root(&x.shape, p, root, work));
        for (int t = 0; t < N; t++) {
            double y;
            f->draw(&rng, &x.shape, p, root, &y);
            assert_true(!f->refuse || !f->refuse(&(vh_shape){ .d = 1 }, 0, y));
            f->stats_of_obs(&x, &y, 1, T);
            for (int e = 0; e < n_stat; e++) {
                sum[e] += T[e] / N;
                square[e] += T[e] * T[e] / N;
            }
        }
        for (int e = 0; e < n_stat; e++) {
            double error = sqrt(fmax(square[e] - sum[e] * sum[e], 0) / N);
            assert_true(fabs(sum[e] - want[e]) <= 5 * error + 1e-9);
        }
    }
}

/* Draws end, and have the right mean and variance, however narrow a distribution is for its location. */
static void large_draws(void **state)
{
    enum { N = 4000 };
    (void)state;
    static const struct {
        const char *name;
        double par[VH_MAX_PARAM], mean, variance;
    } large[] = { { "poisson", { 1e6 }, 1e6, 1e6 },           { "poisson", { 1e12 }, 1e12, 1e12 },
                  { "poisson", { 9e15 }, 9e15, 9e15 },        { "von-mises", { 0.5, 1e7 }, 0.5, 1e-7 },
                  { "von-mises", { 0.5, 1e17 }, 0.5, 1e-17 }, { "von-mises", { 0, 1e300 }, 0, 1e-300 } };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        const vh_emission *f = vh_emission_find(large[i].name);
        const double *p[VH_MAX_PARAM] = { large[i].par, large[i].par + 1 };
        const vh_shape shape = { .d = 1 };
        double root[4], work[64], y, sum = 0, square = 0;
        char why[200];
        vh_rng rng;
        vh_rng_init(&rng, 5, VH_RNG_TEST, i);
        assert_true(f->validate(&shape, p, why, sizeof why, work));
        assert_true(f->root(&shape, p, root, work));
        for (int t = 0; t < N; t++) {
            f->draw(&rng, &shape, p, root, &y);
            assert_true(!f->refuse || !f->refuse(&(vh_shape){ .d = 1 }, 0, y));
            y = (y - large[i].mean) / sqrt(large[i].variance);
            sum += y / N;
            square += y * y / N;
        }
        assert_true(fabs(sum) < 5 / sqrt(N));
        assert_near(square, 1, 0.15, 0);
    }
}

/* Sums of products of large rates: the integral continues the sum, and ends for all rates that are valid. */
static void large_rates(void **state)
{
    (void)state;
    const vh_emission *f = vh_emission_find("poisson");
    const vh_shape shape = { .d = 1 };
    static const double lambda[] = { 0.25, 0.8, 1 };
    for (int i = 0; i < 3; i++) {
        double sum, integral, most = 9007199254740992.0, more = 2 * most, work[64];
        double below = 0.9999999e7, above = 1.0000001e7, other = 1.0005e7;
        const double *p[] = { &below }, *q[] = { &above }, *r[] = { &other }, *s[] = { &most },
                     *t[] = { &more };
        char why[200];
        assert_true(f->log_product(&shape, p, p, lambda[i], &sum, work));
        assert_true(f->log_product(&shape, q, q, lambda[i], &integral, work));
        assert_near(integral, sum, 0, 1e-6);
        assert_true(f->log_product(&shape, q, r, lambda[i], &integral, work));
        assert_near(integral - sum, -lambda[i] * pow(sqrt(above) - sqrt(other), 2), 0, 1e-3);
        assert_true(f->log_product(&shape, s, s, lambda[i], &integral, work));
        assert_true(isfinite(integral) && f->validate(&shape, s, why, sizeof why, work));
        assert_false(f->validate(&shape, t, why, sizeof why, work));
        assert_non_null(strstr(why, "must be from 0 to 9007199254740992"));
        assert_non_null(f->refuse(&(vh_shape){ .d = 1 }, 0, more));
    }
}

/* Densities near rates that a plain difference of terms would lose all digits at. */
static void far_rates(void **state)
{
    (void)state;
    const vh_emission *f = vh_emission_find("poisson");
    const vh_shape shape = { .d = 1 };
    for (double rate = 1e6; rate < 1e15; rate *= 100) {
        const double *p[] = { &rate };
        double y = floor(rate + 2 * sqrt(rate)), at, off, mean, u = (y - rate) / sqrt(rate),
               top = -0.5 * log(2 * PI * rate);
        assert_true(f->log_density(&shape, p, &rate, 1, &at, NULL));
        assert_true(f->log_density(&shape, p, &y, 1, &off, NULL));
        assert_true(f->expected_density(&shape, p, p, 1, &mean, 1, NULL));
        assert_near(at, top - 1 / (12 * rate), 0, 1e-12);
        /* the series in 1 / sqrt(rate): -u^2/2 + (u^3/6 - u/2) / sqrt(rate) + O(1 / rate) */
        assert_near(off - at, -u * u / 2 + (u * u * u / 6 - u / 2) / sqrt(rate), 0, 5 / rate + 1e-11);
        assert_near(mean, top - 0.5, 0, 1 / rate + 1e-12);
    }
}

/* A floor keeps positive numbers and angles that are all alike from having no spread. */
static void floors(void **state)
{
    (void)state;
    const double zero = 0, one = 1, floor = 0.01, y[2] = { 2, 2.0001 };
    const vh_coords x = { { .d = 1 }, &zero, &one };
    static const char *const name[] = { "gamma", "von-mises" };
    for (int i = 0; i < 2; i++) {
        const vh_emission *f = vh_emission_find(name[i]);
        double T[2][MOST_STAT], par[VH_MAX_PARAM] = { 1, 1, 0 };
        double *to[VH_MAX_PARAM] = { par, par + 1, par + 2 };
        f->stats_of_obs(&x, y, 1, T[0]);
        f->stats_of_obs(&x, y + 1, 1, T[1]);
        for (int e = 0; e < f->n_stat(&x.shape); e++)
            T[0][e] = (T[0][e] + T[1][e]) / 2;
        assert_int_equal(f->maximise(&x, T[0], &floor, to, NULL), 1);
        double variance = i == 0 ? par[0] / (par[1] * par[1]) : 1 / par[1];
        assert_near(variance, 0.01, 1e-9, 0);
    }
}

/* Of all gamma densities that are not narrower than the floor, none has a higher likelihood than the one that
 * the maximiser gives: else the likelihood of a fit could fall. */
static void best_at_floor(void **state)
{
    (void)state;
    const vh_emission *f = vh_emission_find("gamma");
    const double zero = 0, one = 1;
    const vh_coords x = { { .d = 1 }, &zero, &one };
    vh_rng rng;
    vh_rng_init(&rng, 3, VH_RNG_TEST, 0);
    for (int trial = 0; trial < 200; trial++) {
        double mean = exp(4 * vh_rng_normal(&rng)), shape = exp(3 * vh_rng_normal(&rng)),
               T[MOST_STAT] = { 1 };
        double floor = mean * mean / shape * exp(2 * vh_rng_uniform(&rng)); /* above its variance */
        double par[VH_MAX_PARAM] = { 0 }, *to[VH_MAX_PARAM] = { par, par + 1, par + 2 };
        T[1] = vh_digamma(shape) - log(shape / mean);
        T[2] = mean;
        T[3] = 1;
        assert_int_equal(f->maximise(&x, T, &floor, to, NULL), 1);
        double a = par[0], b = par[1], best = a * log(b) - lgamma(a) + (a - 1) * T[1] - b * T[2];
        assert_near(a / (b * b), floor, 1e-9, 0);
        for (int k = 0; k < 200; k++) {
            double wide = floor * (1 + (k % 2) * vh_rng_uniform(&rng)),
                   rate = b * exp((k % 3 ? 0.01 : 3) * vh_rng_normal(&rng));
            double other = wide * rate * rate;
            assert_true(other * log(rate) - lgamma(other) + (other - 1) * T[1] - rate * T[2]
                        <= best + 1e-10 * (1 + fabs(best)));
        }
    }
}

/* What cannot be is impossible, not a NaN: 0 log 0 is 0. */
static void impossible(void **state)
{
    (void)state;
    const double none[] = { 0, 1, 0 }, some[] = { 0.5, 1, 0 };
    const double *p[VH_MAX_PARAM] = { none, none + 1, none + 2 },
                 *q[VH_MAX_PARAM] = { some, some + 1, some + 2 };
    const vh_shape shape = { .d = 1 };
    static const char *const discrete[] = { "poisson", "bernoulli" };
    for (int i = 0; i < 2; i++) {
        const vh_emission *f = vh_emission_find(discrete[i]);
        double out, work[64];
        assert_near(log_p(f, none, 0), 0, 0, 1e-300);
        assert_true(log_p(f, none, 1) < -1e200 && isfinite(log_p(f, none, 1)));
        assert_true(f->expected_density(&shape, p, p, 1, &out, 1, work));
        assert_near(out, 0, 0, 1e-12);
        assert_true(f->expected_density(&shape, p, q, 1, &out, 1, work));
        assert_true(out < -1e200 && isfinite(out));
    }
    assert_true(log_p(vh_emission_find("gamma"), (double[]){ 2, 1, 0 }, 0) < -1e200);
    /* a bit that was 0 once in 1e30 frames may be 0 again, though p rounds to 1; one that never was not */
    const double rare[] = { 1, 1, 1e-30 }, never[] = { 1, 1, 0 }, zero = 0, one = 1;
    const vh_coords x = { shape, &zero, &one };
    double bit = 0.5, *par[VH_MAX_PARAM] = { &bit }, work[64];
    vh_emission_find("bernoulli")->maximise(&x, rare, NULL, par, work);
    assert_true(bit < 1 && log_p(vh_emission_find("bernoulli"), par[0], 0) > -40);
    vh_emission_find("bernoulli")->maximise(&x, never, NULL, par, work);
    assert_true(bit == 1);
}

/* Densities and shares of a background from statistics that are at hand, against the definition: ordinary
 * frames, one with gaps, one without any value, and one so far from all that the state has that its share is
 * nothing. */
static void known_shares(void **state)
{
    (void)state;
    enum { N = 4, G = 5 };
    const double y[] = { 0.3, -1, 5, NAN, NAN, NAN, 90, 95 }, w[N] = { 0.5, 0.25, 1, 0.125 };
    const double weights[2][G] = { { 0.1, 0.2, 0.3, 0.15, 0.25 }, { 0, 0, 1, 0, 0 } };
    vhem_ctx *ctx = test_ctx();
    vh_layout *layout = make_background(ctx, vh_emission_find("gaussian-tied"));
    const double zero[2] = { 0 }, one[2] = { 1, 1 };
    const vh_coords x = { vh_layout_shape(layout), zero, one };
    const vh_emission *f = vh_emission_with_gaps(vh_emission_find("gaussian-tied"), &x.shape);
    double T[N * (G + 2)], theta[G + 2], work[256], out[N], want[N];

    f->stats_of_obs(&x, y, N, T);
    const vh_known_frames frames = { y, T, N };
    for (int s = 0; s < 2; s++) {
        const double *par[VH_MAX_PARAM] = { weights[s] };
        double sum[G + 2] = { 0 }, slow[G + 2] = { 0 };
        f->natural(&x, par, theta, work);
        for (int t = 0; t < N; t++) {
            out[t] = 0;
            for (int e = 0; e < G + 2; e++)
                out[t] += theta[e] * T[t * (G + 2) + e];
        }
        f->log_density_known(&x.shape, par, &frames, out, work);
        assert_true(f->log_density(&x.shape, par, y, N, want, work));
        f->gather_known(&x, par, &frames, w, sum, work);
        f->gather(&x, par, y, w, N, slow, work);
        for (int t = 0; t < N; t++)
            assert_near(out[t], want[t], 1e-12, 1e-12);
        for (int e = 0; e < G + 1; e++)
            assert_near(sum[e], slow[e], 1e-12, 1e-12);
        assert_true(want[3] < -1000 && isfinite(want[3]));
        /* frames that have nothing are shared out as c says, by EM of what was observed */
        double nothing[G + 2] = { 0 };
        f->gather(&x, par, y + 4, w + 2, 1, nothing, work);
        assert_near(nothing[0], 1, 0, 0);
        for (int l = 0; l < G; l++)
            assert_near(nothing[1 + l], weights[s][l], 1e-15, 0);
    }
    vh_layout_drop(layout);
    vhem_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sums),          cmocka_unit_test(products),
                                        cmocka_unit_test(maximisers),    cmocka_unit_test(draws),
                                        cmocka_unit_test(large_draws),   cmocka_unit_test(large_rates),
                                        cmocka_unit_test(far_rates),     cmocka_unit_test(floors),
                                        cmocka_unit_test(best_at_floor), cmocka_unit_test(impossible),
                                        cmocka_unit_test(known_shares) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
