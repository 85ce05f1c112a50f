/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_set.h - posterior of a whole H3M: Dir(alpha) for its weights, and the posterior of each HMM
 * (posterior.h).  S and M may differ between HMMs. */
#ifndef VH_PRIOR_POSTERIOR_SET_H
#define VH_PRIOR_POSTERIOR_SET_H

#include "core/own.h"
#include "prior/posterior.h"

typedef struct {
    const vh_prior *shape; /* only family and dimension are used; must outlive the set */
    vh_prior *own;         /* the same if owned by the set, else NULL */
    int K;
    double *alpha;     /* [K] */
    vh_posterior *hmm; /* [K] */
} vh_posteriors;

/* K empty slots; call vh_posterior_new for each. */
vhem_status vh_posteriors_new(vhem_ctx *ctx, const vh_prior *shape, int K, vh_posteriors **out);
/* Allocates posteriors of the same sizes as the HMMs of the H3M. */
vhem_status vh_posteriors_like(vhem_ctx *ctx, const vh_prior *shape, const vh_h3m *h3m, vh_posteriors **out);
vhem_status vh_posteriors_copy(vhem_ctx *ctx, const vh_posteriors *post, vh_posteriors **out);
void vh_posteriors_free(vh_posteriors *post); /* accepts NULL */
VH_OWNED(vh_posteriors, vh_posteriors_free)

/* Removes HMM j; there must be others. */
void vh_posteriors_drop(vh_posteriors *post, int j);
/* Removes state s of HMM j, which must have others.  The other states keep their posteriors. */
void vh_posteriors_drop_state(vh_posteriors *post, int j, int s);
/* Keeps the M heaviest components of each state of HMM j, in their order. */
void vh_posteriors_keep_components(vh_posteriors *post, int j, int M);

/* Reorders the states of HMM j: state s becomes the former state from[s]. */
vhem_status vh_posteriors_order_states(vhem_ctx *ctx, vh_posteriors *post, int j, const int *from);
/* Reorders the HMMs: HMM j becomes the former HMM from[j]. */
vhem_status vh_posteriors_order(vhem_ctx *ctx, vh_posteriors *post, const int *from);

/* log of the number of permutations of HMMs, states and components, K! prod_j S_j! (M_j!)^S_j: a bound on the
 * log-evidence that covers only one of them is too low by this. */
double vh_posteriors_log_symmetries(const vh_posteriors *post);

/* The H3M of posterior means, used as the centres of a clustering: cov = B / (nu - d - 1), diag B / (nu - 2),
 * or B / nu if the divisor is not positive. */
vhem_status vh_posteriors_mean(vhem_ctx *ctx, const vh_posteriors *post, vh_h3m **out);

#endif
