/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior_set.h - what is known of a whole H3M: Dir(alpha) for its weights, and the posterior of each HMM
 * (posterior.h).  S and M may differ from HMM to HMM. */
#ifndef VH_PRIOR_POSTERIOR_SET_H
#define VH_PRIOR_POSTERIOR_SET_H

#include "core/own.h"
#include "prior/posterior.h"

typedef struct {
    const vh_prior *shape; /* family and dimension, of which alone is made use; it must outlive the set */
    vh_prior *own;         /* the same where nobody else has it, else NULL */
    int K;
    double *alpha;     /* [K] */
    vh_posterior *hmm; /* [K] */
} vh_posteriors;

/* K empty slots; each is given its storage by vh_posterior_new. */
vhem_status vh_posteriors_new(vhem_ctx *ctx, const vh_prior *shape, int K, vh_posteriors **out);
/* Storage for HMMs of the same sizes as those of the H3M. */
vhem_status vh_posteriors_like(vhem_ctx *ctx, const vh_prior *shape, const vh_h3m *h3m, vh_posteriors **out);
vhem_status vh_posteriors_copy(vhem_ctx *ctx, const vh_posteriors *post, vh_posteriors **out);
void vh_posteriors_free(vh_posteriors *post); /* NULL is allowed */
VH_OWNED(vh_posteriors, vh_posteriors_free)

/* Without HMM j, of which there must be others. */
void vh_posteriors_drop(vh_posteriors *post, int j);
/* HMM j without state s, of which it must have others.  What is known of the others stays. */
void vh_posteriors_drop_state(vh_posteriors *post, int j, int s);
/* HMM j with the M heaviest components of each state, in their order. */
void vh_posteriors_keep_components(vh_posteriors *post, int j, int M);

/* State s of HMM j becomes what state from[s] was. */
vhem_status vh_posteriors_order_states(vhem_ctx *ctx, vh_posteriors *post, int j, const int *from);
/* HMM j becomes what HMM from[j] was. */
vhem_status vh_posteriors_order(vhem_ctx *ctx, vh_posteriors *post, const int *from);

/* log of the number of ways to name HMMs, states and components: what a bound on the log-evidence of one
 * naming lacks, K! prod_j S_j! (M_j!)^S_j. */
double vh_posteriors_log_symmetries(const vh_posteriors *post);

/* The H3M of posterior means, as the centres of a clustering: cov = B / (nu - d - 1), diag B / (nu - 2), or
 * B / nu where that is not positive. */
vhem_status vh_posteriors_mean(vhem_ctx *ctx, const vh_posteriors *post, vh_h3m **out);

#endif
