/* SPDX-License-Identifier: BSD-3-Clause */
/* vb.h - VBHEM: from base HMMs to a posterior over reduced ones.
 *
 * The reduced H3M has priors (prior/prior.h) and a posterior (prior/posterior_set.h).  What VHEM's E-step
 * sees is the expected model, whose logs are the expected logs of the parameters; what it gathers, in virtual
 * samples, is added to the prior.  The bound
 *
 *   F = J(expected model) - KL(posterior | prior)
 *
 * is a lower bound of the log-evidence and never falls.  docs/algorithm.md, "Variational Bayes". */
#ifndef VH_VHEM_VB_H
#define VH_VHEM_VB_H

#include "prior/posterior_set.h"
#include "vhem/vhem_h3m.h"

typedef struct {
    vh_vhem_options run; /* floor, cov_add, repair and weighted are not used */
    int learn;           /* the prior is learned before every learn-th update; 0: never */
    bool prune;          /* what is empty when the bound rests is removed, and the run goes on */
    bool toolbox; /* nu = nu0 + n + 1, z_ij ~ (omega_j e^L_ij)^N_i and alpha_j = alpha0 + sum_i N_i z_ij,
                            as the EMHMM toolbox has them; the bound may fall */
} vh_vb_options;

typedef struct {
    vh_prior *prior; /* its own: it may be learned */
    vh_posteriors *post;
} vh_vb; /* zero it before use */

void vh_vb_free(vh_vb *m);
/* A copy without what it has of the other's memory. */
vhem_status vh_vb_copy(vhem_ctx *ctx, const vh_vb *m, vh_vb *out);

/* The scale-free prior: Dirichlet parameters 1, lambda 0.01, nu = 3, full covariances d + 2, and m and W from
 * the mean and the mean covariance of the base components.  Other families: one frame of the component that
 * all base components have in common. */
vhem_status vh_vb_default_prior(vhem_ctx *ctx, const vh_base *base, vh_prior **out);

/* The first posterior: one E-step at the start and one update.  m has its prior. */
vhem_status vh_vb_begin(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                        const vh_workers *workers, const vh_h3m *start, vh_vb *m);
/* Updates of m until the bound rests; F in run->J, z and L [Kb][K] with the K that is left.  VHEM_ESTOPPED
 * as vh_vhem. */
vhem_status vh_vb_run(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt, const vh_workers *workers,
                      vh_vb *m, vh_vhem_run *run);

/* Tries to do with fewer clusters, states and components: what is left without one, after some updates,
 * replaces m and run where its bound, with the symmetries, is higher.  At most `tries` times.  The bounds of
 * run are then those of the last sizes alone, from their first posterior on.  run has the tables of m, also
 * after VHEM_ESTOPPED. */
vhem_status vh_vb_shrink(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                         const vh_workers *workers, int tries, vh_vb *m, vh_vhem_run *run);
/* The bound of a run on the log-evidence whatever the names of clusters, states and components: models of
 * different sizes are compared by it. */
double vh_vb_value(const vh_vb *m, const vh_vhem_run *run);

/* KL(posterior | prior) of everything, in nats; kl [K] (or NULL): that of each HMM. */
double vh_vb_kl(const vh_vb *m, double *kl);
/* The prior becomes the one that makes the bound largest for this posterior: type-II maximum likelihood. With
 * fewer than five components only m and W are learned, since all else would just follow the posterior. */
vhem_status vh_vb_learn(vhem_ctx *ctx, vh_vb *m);

#endif
