/* SPDX-License-Identifier: BSD-3-Clause */
/* emission.h - what an emission family must provide.
 *
 * Every family is an exponential family: log p(y|r) = <theta_r, T(y)>, where the first entry of T is the
 * constant 1, so that theta_r[0] holds all that does not depend on y, and the first entry of a weighted sum
 * of T is the sum of the weights.  The engine (pack.h) then serves all families with one matrix product.
 *
 * The product is taken in moved and scaled coordinates, x = (y - origin) / scale per dimension, because it
 * loses digits where |mean| >> deviation.  Parameters are always in the user's coordinates. */
#ifndef VH_MODEL_EMISSION_H
#define VH_MODEL_EMISSION_H

#include "core/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VH_MAX_PARAM 2

typedef struct {
    int d;
    const double *origin, *scale; /* [d] */
} vh_coords;

typedef struct { /* one parameter array of a component and its name on disk */
    const char *name;
    int rank; /* 1: [d], 2: [d][d] */
} vh_param;

typedef struct vh_emission {
    const char *name; /* on disk and in options */
    int n_param;
    vh_param param[VH_MAX_PARAM];

    /* Length of T, the constant included. */
    int (*n_stat)(int d);
    /* T(y) of n frames y [n][d] into T [n][n_stat]. */
    void (*stats_of_obs)(const vh_coords *x, const double *y, int64_t n, double *T);
    /* E_b[T(y)] of a component b of the family; an observation is a component of no spread. */
    void (*stats_of_component)(const vh_coords *x, const double *const *par, double *T);
    /* theta [n_stat] of one component, for densities in y.  Returns how large the terms of the product can
     * get where the result is of order one, the loss of digits; negative when the parameters are singular. */
    double (*natural)(const vh_coords *x, const double *const *par, double *theta, double *work);
    /* log p(y_t | r) for n frames, straight from its definition: the reference, and the way out where the
     * product would lose too much.  Returns false when the parameters are singular. */
    bool (*log_density)(int d, const double *const *par, const double *y, int64_t n, double *out,
                        double *work);
    /* E_b[log p(y | r)] likewise, for n components b one after the other, into out[0], out[step], ...; their
     * covariances may be singular, that of r may not. */
    bool (*expected_density)(int d, const double *const *r, const double *const *b, int n, double *out,
                             int step, double *work);
    /* The parameters that maximise sum_t w_t log p(y_t | r), given the mean statistic stat = sum w T / sum w
     * [n_stat] in coordinates x, with no variance below floor [d] (NULL: none).  Returns 1 when the floor
     * held something, 0 when not, -1 when the result is singular and there is no floor. */
    int (*maximise)(const vh_coords *x, const double *stat, const double *floor, double *const *par,
                    double *work);
    /* log int p(y)^lambda q(y)^lambda dy, lambda > 0: the probability product kernel of two components,
     * symmetric.  Returns false when a covariance is singular. */
    bool (*log_product)(int d, const double *const *p, const double *const *q, double lambda, double *out,
                        double *work);
    /* Drawing: root [size of the last parameter] is prepared once per component, then one frame at a time. */
    bool (*root)(int d, const double *const *par, double *root, double *work);
    void (*draw)(vh_rng *rng, int d, const double *const *par, const double *root, double *y);
    /* Is it a proper set of parameters?  If not, why [size] says so: "cov[1] is -2, must be positive".  Zero
     * variance is proper (a delta function). */
    bool (*validate)(int d, const double *const *par, char *why, size_t size, double *work);
} vh_emission;

extern const vh_emission vh_gaussian_diag, vh_gaussian_full;

/* NULL when there is no such family. */
const vh_emission *vh_emission_find(const char *name);
/* "gaussian-diag, gaussian-full": for sentences. */
const char *vh_emission_names(void);

static inline size_t vh_param_size(const vh_emission *f, int p, int d)
{
    return f->param[p].rank == 2 ? (size_t)d * (size_t)d : (size_t)d;
}
/* Where the variance of dimension k stands in the covariance of a Gaussian component, par[1]. */
static inline size_t vh_variance_at(const vh_emission *f, int d, int k)
{
    return f->param[1].rank == 2 ? (size_t)k * (size_t)d + (size_t)k : (size_t)k;
}
/* Doubles of scratch (`work`) that any entry of any family may ask for. */
static inline size_t vh_emission_work(int d)
{
    return 3 * (size_t)d * (size_t)d + 40 * (size_t)d;
}

#endif
