/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_gaussian.h - what is known of Gaussian components: normal-gamma and normal-Wishart distributions.
 * For posterior.c, which has the rest of an HMM. */
#ifndef VH_PRIOR_POSTERIOR_GAUSSIAN_H
#define VH_PRIOR_POSTERIOR_GAUSSIAN_H

#include "prior/posterior.h"

typedef struct { /* sums of the statistics of a component */
    const vh_emission *table;
    const vh_coords *x;
    const double *T; /* [n_stat] */
} vh_gathered;

/* How many frames have column k, and what vh_posterior_moments says. */
double vh_gaussian_seen(const vh_gathered *g, int k);
double vh_gaussian_moments(const vh_gathered *g, double *mean, double *scatter);

/* Component q of post: from statistics; as one of the expected model; as its mean, work [vh_posterior_work].
 * The KL of all of them.  What they return is said in posterior.h. */
void vh_gaussian_update(const vh_prior *prior, const vh_gathered *g, int q, vh_posterior *post);
void vh_gaussian_expect(const vh_prior *prior, const vh_posterior *post, int q, double *const *par,
                        double *shift);
double vh_gaussian_kl(const vh_prior *prior, const vh_posterior *post);
int vh_gaussian_mean(const vh_prior *prior, const vh_limits *lim, const vh_posterior *post, int q,
                     double *const *par, double *work);

#endif
