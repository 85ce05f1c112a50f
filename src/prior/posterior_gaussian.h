/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_gaussian.h - posteriors of Gaussian components: normal-gamma and normal-Wishart distributions.
 * Used by posterior.c, which handles the rest of an HMM. */
#ifndef VH_PRIOR_POSTERIOR_GAUSSIAN_H
#define VH_PRIOR_POSTERIOR_GAUSSIAN_H

#include "prior/posterior.h"

typedef struct { /* sums of the statistics of a component */
    const vh_emission *table;
    const vh_coords *x;
    const double *T; /* [n_stat] */
} vh_gathered;

/* Number of frames that have column k; and moments as vh_posterior_moments. */
double vh_gaussian_seen(const vh_gathered *g, int k);
double vh_gaussian_moments(const vh_gathered *g, double *mean, double *scatter);

/* For component q of post: posterior from statistics; parameters of the expected model; mean, work
 * [vh_posterior_work].  vh_gaussian_kl is the KL of all components.  Return values as in posterior.h. */
void vh_gaussian_update(const vh_prior *prior, const vh_gathered *g, int q, vh_posterior *post);
void vh_gaussian_expect(const vh_prior *prior, const vh_posterior *post, int q, double *const *par,
                        double *shift);
double vh_gaussian_kl(const vh_prior *prior, const vh_posterior *post);
int vh_gaussian_mean(const vh_prior *prior, const vh_limits *lim, const vh_posterior *post, int q,
                     double *const *par, double *work);

#endif
