/* SPDX-License-Identifier: BSD-3-Clause */
/* emission.h - checks that every Gaussian family must pass. */
#ifndef VH_TESTS_EMISSION_H
#define VH_TESTS_EMISSION_H

#include "engine.h"

#include "emission/emission.h"

enum { MAX_D = 8, MAX_STAT = 1 + MAX_D + MAX_D * (MAX_D + 1) / 2 };

typedef struct { /* one component and coordinates for it */
    int d;
    double mu[MAX_D], cov[MAX_D * MAX_D], origin[MAX_D], scale[MAX_D], work[4096];
    double *par[VH_MAX_PARAM];
    vh_coords x;
} component;

static inline void component_init(component *c, int d)
{
    memset(c, 0, sizeof *c);
    c->d = d;
    c->par[0] = c->mu;
    c->par[1] = c->cov;
    c->x = (vh_coords){ .shape = { .d = d }, .origin = c->origin, .scale = c->scale };
    assert_true(vh_emission_work(&c->x.shape) <= sizeof c->work / sizeof *c->work);
    for (int k = 0; k < d; k++)
        c->scale[k] = 1;
}

#define PAR(c) ((const double *const *)(c)->par)

static inline double log_density_at(const vh_emission *f, component *c, const double *y)
{
    double out = NAN;
    assert_true(f->log_density(&c->x.shape, PAR(c), y, 1, &out, c->work));
    return out;
}

/* <theta, T(y)> = log p(y) = the definition in long double, in coordinates that fit and in others. */
static inline void check_product(const vh_emission *f, component *c, int full, const double *y, int n,
                                 double tol)
{
    double theta[MAX_STAT], T[64 * MAX_STAT], out[64];
    int n_stat = f->n_stat(&c->x.shape);
    assert_true(n <= 64);
    assert_true(f->natural(&c->x, PAR(c), theta, c->work) >= 0);
    f->stats_of_obs(&c->x, y, n, T);
    assert_true(f->log_density(&c->x.shape, PAR(c), y, n, out, c->work));
    for (int t = 0; t < n; t++) {
        double dot = 0, want = (double)slow_gaussian(c->d, full, c->mu, c->cov, y + t * c->d);
        assert_true(T[t * n_stat] == 1);
        for (int e = 0; e < n_stat; e++)
            dot += theta[e] * T[t * n_stat + e];
        assert_near(out[t], want, tol, tol);
        assert_near(dot, want, tol, tol);
    }
}

/* The mean statistic of n frames with weights w, in the coordinates of c. */
static inline void mean_stat(const vh_emission *f, const component *c, int n, const double *y,
                             const double *w, double *stat)
{
    double T[MAX_STAT], sum = 0;
    int n_stat = f->n_stat(&c->x.shape);
    memset(stat, 0, sizeof *stat * (size_t)n_stat);
    for (int t = 0; t < n; t++) {
        f->stats_of_obs(&c->x, y + t * c->d, 1, T);
        for (int e = 0; e < n_stat; e++)
            stat[e] += w[t] * T[e];
        sum += w[t];
    }
    for (int e = 0; e < n_stat; e++)
        stat[e] /= sum;
}

static inline double weighted_loglik(const vh_emission *f, component *c, int n, const double *y,
                                     const double *w)
{
    double sum = 0;
    for (int t = 0; t < n; t++)
        sum += w[t] * log_density_at(f, c, y + t * c->d);
    return sum;
}

/* The moments of many draws: 5 standard errors of the mean and of the covariance. */
static inline void check_draws(const vh_emission *f, component *c, const double *want_cov)
{
    enum { N = 20000 };
    int d = c->d;
    vh_rng rng;
    double root[MAX_D * MAX_D], y[MAX_D], mean[MAX_D] = { 0 }, cov[MAX_D * MAX_D] = { 0 };
    vh_rng_init(&rng, 31, VH_RNG_TEST, 0);
    assert_true(f->root(&c->x.shape, PAR(c), root, c->work));
    for (int t = 0; t < N; t++) {
        f->draw(&rng, &c->x.shape, PAR(c), root, y);
        for (int i = 0; i < d; i++) {
            mean[i] += (y[i] - c->mu[i]) / N;
            for (int j = 0; j < d; j++)
                cov[i * d + j] += (y[i] - c->mu[i]) * (y[j] - c->mu[j]) / N;
        }
    }
    for (int i = 0; i < d; i++) {
        double vi = want_cov[i * d + i];
        assert_near(mean[i], 0, 0, 5 * sqrt(vi / N) + 1e-12);
        for (int j = 0; j < d; j++) {
            double vj = want_cov[j * d + j], vij = want_cov[i * d + j];
            assert_near(cov[i * d + j], vij, 0, 5 * sqrt((vi * vj + vij * vij) / N) + 1e-12);
        }
    }
}

static inline void check_refused(const vh_emission *f, component *c, const char *text)
{
    char why[200] = "";
    if (f->validate(&c->x.shape, PAR(c), why, sizeof why, c->work) || !strstr(why, text))
        fail_msg("wanted \"%s\", got \"%s\"", text, why);
}

static inline void check_accepted(const vh_emission *f, component *c)
{
    char why[200] = "";
    if (!f->validate(&c->x.shape, PAR(c), why, sizeof why, c->work))
        fail_msg("refused: %s", why);
}

#endif
