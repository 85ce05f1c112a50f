/* SPDX-License-Identifier: BSD-3-Clause */
/* extremes.h - random models with extreme numbers, of several families, sequences to go with them, with and
 * without gaps, and how far two correct answers may lie apart. */
#ifndef VH_TESTS_EXTREMES_H
#define VH_TESTS_EXTREMES_H

#include "support.h"
#include "vhem.h"

#include <float.h>

enum { MOST_STATES = 3, MOST_MIX = 2, MOST_D = 3, MOST_BASE = 4, MOST_CENTERS = 2, MOST_FRAMES = 12 };

enum { MANY = 1000000 }; /* problems from this number on are those of long runs */
enum { DIAG, FULL, POISSON, BERNOULLI, GAMMA, VON_MISES, FAMILIES, MOST_PARAM = 3 };
static const struct {
    const char *name;
    int n_param; /* each [d] for a component; 0: mu and cov */
} family_of[FAMILIES] = { { "gaussian-diag", 0 }, { "gaussian-full", 0 }, { "poisson", 1 },
                          { "bernoulli", 1 },     { "gamma", 3 },         { "von-mises", 2 } };

typedef struct {
    vh_rng rng;
    int d, tau, Kb, Kr, family;
    bool full;
    double gaps,
        largest; /* share of the cells that are missing; the largest parameter of families but Gaussians */
    double nv, floor;
    double sigma, far, wild; /* size of a deviation; decades by which means are away; of variances */
    double rare;             /* decades below 1 of the smallest weights */
    vhem_models *base, *centers, *first; /* first: a single one, to begin a fit with */
    vhem_data *data;
    double *y; /* its frames */
} problem;

static inline double between(vh_rng *rng, double lo, double hi)
{
    return lo + (hi - lo) * vh_rng_uniform(rng);
}

static inline bool chance(vh_rng *rng, double p)
{
    return vh_rng_uniform(rng) < p;
}

/* p [n]: a distribution; with `rare` > 0 some entries are 10^-u, u up to that, or 0. */
static inline void random_row(vh_rng *rng, int n, double rare, double *p)
{
    int keep = (int)vh_rng_below(rng, n);
    double sum = 0;
    random_simplex(rng, n, p);
    for (int i = 0; i < n; i++) {
        if (i != keep && rare > 0 && chance(rng, 0.5))
            p[i] = chance(rng, 0.2) ? 0 : pow(10, -between(rng, 0, rare));
        sum += i == keep ? 0 : p[i];
    }
    for (int i = 0; sum > 0.9 && i < n; i++) /* never more than 1, and without losing the smallest */
        p[i] *= i == keep ? 1 : 0.9 / sum;
    p[keep] = 1 - (sum > 0.9 ? 0.9 : sum);
}

/* A mean and a covariance; full ones are diagonally dominant. */
static inline void random_component(problem *p, double *mu, double *cov)
{
    double v[MOST_D];
    for (int k = 0; k < p->d; k++) {
        double away = p->far > 0 && chance(&p->rng, 0.5) ? pow(10, between(&p->rng, 0, p->far)) : 1;
        mu[k] = p->sigma * away * vh_rng_normal(&p->rng);
        v[k] = p->sigma * p->sigma * pow(10, between(&p->rng, -p->wild, p->wild));
        v[k] = fmin(fmax(v[k], 1e-300), 1e300);
    }
    for (int a = 0; a < p->d; a++)
        for (int b = 0; p->full && b < p->d; b++)
            cov[a * p->d + b] = a == b ? v[a] : 0.2 * sqrt(v[a]) * sqrt(v[b]);
    if (!p->full)
        memcpy(cov, v, sizeof *v * (size_t)p->d);
}

/* The parameters of n components of a family other than Gaussians, theta [n_param][n][d]. */
static inline void random_theta(problem *p, int n, double *theta)
{
    bool tame = p->wild <= 0.5;
    int cells = n * p->d;
    for (int e = 0; e < cells; e++) {
        double *at = theta + e, two[2];
        random_row(&p->rng, 2, p->rare, two);
        if (p->family == POISSON)
            *at = tame                   ? pow(10, between(&p->rng, -1, 2))
                  : chance(&p->rng, 0.1) ? 0
                                         : pow(10, between(&p->rng, -300, 15));
        if (p->family == BERNOULLI)
            *at = two[0];
        if (p->family == GAMMA) {
            *at = pow(10, tame ? between(&p->rng, -1, 1) : between(&p->rng, -12, 12));
            at[cells] = pow(10, tame ? between(&p->rng, -1, 1) : between(&p->rng, -140, 140));
            at[2 * cells] = chance(&p->rng, 0.5) ? 0 : two[0];
        }
        if (p->family == VON_MISES) {
            *at = between(&p->rng, -3, 3);
            at[cells] = tame                   ? between(&p->rng, 0, 5)
                        : chance(&p->rng, 0.1) ? 0
                                               : pow(10, between(&p->rng, -12, 12));
        }
        p->largest = fmax(p->largest, p->family == VON_MISES ? at[cells] : *at);
    }
}

static inline vhem_models *random_set(vhem_ctx *ctx, problem *p, int K)
{
    enum { PI = MOST_STATES, A = PI * PI, C = PI * MOST_MIX };
    static double pi[MOST_BASE][PI], trans[MOST_BASE][A], c[MOST_BASE][C], mu[MOST_BASE][C * MOST_D],
        cov[MOST_BASE][C * MOST_D * MOST_D], theta[MOST_BASE][C * (1 + MOST_PARAM * MOST_D)],
        omega[MOST_BASE];
    static char name[MOST_BASE][16];
    vhem_hmm_view view[MOST_BASE];
    vhem_models *out = NULL;
    random_row(&p->rng, K, p->rare, omega);
    for (int i = 0; i < K; i++) {
        int S = 1 + (int)vh_rng_below(&p->rng, MOST_STATES), M = 1 + (int)vh_rng_below(&p->rng, MOST_MIX);
        random_row(&p->rng, S, p->rare, pi[i]);
        for (int s = 0; s < S; s++) {
            random_row(&p->rng, S, p->rare, trans[i] + s * S);
            random_row(&p->rng, M, p->rare, c[i] + s * M);
        }
        for (int q = 0; q < S * M && !family_of[p->family].n_param; q++)
            random_component(p, mu[i] + q * p->d, cov[i] + q * (p->full ? p->d * p->d : p->d));
        if (family_of[p->family].n_param) {
            memcpy(theta[i], c[i], sizeof *c[i] * (size_t)(S * M));
            random_theta(p, S * M, theta[i] + S * M);
        }
        snprintf(name[i], sizeof name[i], "m%d", i);
        view[i] = (vhem_hmm_view){ .S = S,
                                   .M = M,
                                   .d = p->d,
                                   .name = name[i],
                                   .label = "",
                                   .omega = omega[i],
                                   .pi = pi[i],
                                   .A = trans[i],
                                   .c = c[i],
                                   .mu = mu[i],
                                   .cov = cov[i] };
        if (family_of[p->family].n_param)
            view[i].theta = theta[i];
    }
    assert_ok(ctx, vhem_models_new_hmms(ctx, family_of[p->family].name, p->d, K, view, &out));
    return out;
}

/* A value that component q of the model may emit in column k, or one near it. */
static inline double random_value(problem *p, const vhem_hmm_view *v, int q, int k)
{
    int cells = v->S * v->M * p->d;
    const double *at = p->family > FULL ? v->theta + v->S * v->M + q * p->d + k : NULL;
    double away = chance(&p->rng, 0.1) ? pow(10, between(&p->rng, 0, p->far)) : 1;
    switch (p->family) {
    case POISSON: return floor(fmin(*at * (0.5 + vh_rng_uniform(&p->rng)), 9e15));
    case BERNOULLI: return chance(&p->rng, *at);
    case GAMMA:
        return chance(&p->rng, at[2 * cells])
                   ? 0
                   : fmin(*at / at[cells] * (0.1 + vh_rng_uniform(&p->rng)), 1e300);
    case VON_MISES: return *at + vh_rng_normal(&p->rng);
    default: return v->mu[q * p->d + k] + p->sigma * away * vh_rng_normal(&p->rng);
    }
}

/* Frames near the means of the first model, and some anywhere; the first is complete. */
static inline void random_data(vhem_ctx *ctx, problem *p)
{
    vhem_hmm_view v;
    int64_t T = 1 + vh_rng_below(&p->rng, MOST_FRAMES);
    assert_int_equal(vhem_models_hmm(p->first, 0, &v), VHEM_OK);
    p->y = calloc((size_t)(T * p->d), sizeof *p->y);
    for (int64_t t = 0; t < T; t++) {
        int q = (int)vh_rng_below(&p->rng, v.S * v.M);
        for (int k = 0; k < p->d; k++) {
            double y = random_value(p, &v, q, k);
            p->y[t * p->d + k] = t > 0 && chance(&p->rng, p->gaps) ? NAN : y;
        }
    }
    assert_ok(ctx, vhem_data_wrap(ctx, 1, &T, p->d, p->y, NULL, &p->data));
}

static inline problem random_problem(vhem_ctx *ctx, uint64_t number)
{
    problem p = { 0 };
    vh_rng *rng = &p.rng;
    vh_rng_init(rng, number, VH_RNG_TEST, 11);
    p.d = 1 + (int)vh_rng_below(rng, MOST_D);
    p.family = chance(rng, 0.3) ? FULL : DIAG;
    p.full = p.family == FULL;
    /* Long samples take nearly all of the time: of very many problems fewer have one. */
    double often = number < MANY ? 0.05 : 0.005;
    p.tau = (int)pow(10, chance(rng, often) ? between(rng, 3, 6) : between(rng, 0, 2));
    p.Kb = 1 + (int)vh_rng_below(rng, p.tau > 1000 ? 2 : MOST_BASE);
    p.Kr = 1 + (int)vh_rng_below(rng, p.tau > 1000 ? 1 : MOST_CENTERS);
    p.nv = pow(10, between(rng, -3, 5));
    p.floor = chance(rng, 0.5) ? 0 : 1e-6;
    p.sigma = chance(rng, 0.6) ? 1 : pow(10, between(rng, -140, 140));
    p.far = chance(rng, 0.5) ? between(rng, 0, 12) : 0;
    p.wild = chance(rng, 0.7) ? 0.5 : between(rng, 0, 300);
    p.rare = chance(rng, 0.5) ? 320 : 0;
    if (number % 3 == 0) /* numbers of problems stay what they were */
        p.family = POISSON + (int)vh_rng_below(rng, FAMILIES - POISSON);
    if (p.family > FULL && number < 1000 && p.tau > 5000) /* the first ones are those of every test run */
        p.tau = 5000;
    p.full = p.family == FULL;
    p.gaps = number % 4 == 1 ? 0.3 : 0;
    p.base = random_set(ctx, &p, p.Kb);
    p.centers = random_set(ctx, &p, p.Kr);
    p.first = random_set(ctx, &p, 1);
    random_data(ctx, &p);
    return p;
}

static inline void problem_free(problem *p)
{
    vhem_free(p->base);
    vhem_free(p->centers);
    vhem_free(p->first);
    vhem_free(p->data);
    free(p->y);
}

/* How far two answers may lie apart that are both computed as they should be: a logarithm `value` made in so
 * many steps, by products of n_stat terms.  u is half of DBL_EPSILON.
 *
 *   a log-density by the product     (n_stat + 4) u (MAX_LOSS + 4 |g|)     terms up to MAX_LOSS cancel
 *   (pack.c) a log of a sum of n terms        (n + 4) u |g|, and the largest error of a term: it expands none
 *   adding up                        u |t g| in step t, steps^2 / 2 u |g| in all
 *
 *   a recursion that has settled     1e-15 g in every step that is left (L_ROUNDING of simd): the steps are
 *   taken to be
 *                                    alike when no entry of L can tell them apart, and so none that has a
 *                                    weight can
 *
 * where of other families than Gaussians the terms that cancel are a parameter times a logarithm, which is
 * below 800, and g is the largest number that has a weight in a step: |value| / steps, and the logarithms of
 * two weights, which are at least -744.5 each, that of the smallest number there is. */
static inline double error_bound(const problem *p, double value, double steps)
{
    double u = DBL_EPSILON / 2, loss = fmax(1e5, 800 * p->largest), g = fabs(value) / steps + 2 * 744.5;
    int n_stat = p->full ? 1 + p->d + p->d * (p->d + 1) / 2 : 1 + (p->family == DIAG ? 2 : 4) * p->d;
    double each = (n_stat + 4) * (loss + 4 * g) + (2 * MOST_STATES + 2 * MOST_MIX + 12) * g;
    each += 1e-15 / u * g;
    return 2 * u * (steps * each + steps * steps / 2 * g);
}

#endif
