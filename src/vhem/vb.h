/* SPDX-License-Identifier: BSD-3-Clause */
/* vb.h - VBHEM: from base HMMs to a posterior over reduced ones.
 *
 * The reduced H3M has priors (prior/prior.h) and a posterior (prior/posterior_set.h).  The E-step is that of
 * VHEM with the expected model, whose log-parameters are the expected log-parameters; its statistics, in
 * virtual samples, are added to the prior.  The bound
 *
 *   F = J(expected model) - KL(posterior | prior)
 *
 * is a lower bound on the log-evidence and never falls.  docs/algorithm-bayes.md, "Variational Bayes". */
#ifndef VH_VHEM_VB_H
#define VH_VHEM_VB_H

#include "prior/posterior_set.h"
#include "vhem/vhem_h3m.h"

typedef struct {
    vh_vhem_options run; /* floor, cov_add, repair and weighted are not used */
    int learn;           /* learn the prior before every learn-th update; 0: never */
    bool prune;          /* on convergence, remove empty clusters, states and components and go on */
    /* As the EMHMM toolbox: nu = nu0 + n + 1, z_ij ~ (omega_j e^L_ij)^N_i, alpha_j = alpha0 + sum_i N_i z_ij;
     * the bound may fall. */
    bool toolbox;
} vh_vb_options;

typedef struct {
    vh_prior *prior; /* owned: it may be learned */
    vh_posteriors *post;
} vh_vb; /* zero it before use */

void vh_vb_free(vh_vb *m);
/* Deep copy. */
vhem_status vh_vb_copy(vhem_ctx *ctx, const vh_vb *m, vh_vb *out);

/* The scale-free prior: Dirichlet parameters 1, lambda 0.01, nu = 3, full covariances d + 2, and m and W from
 * the mean and the mean covariance of the base components.  Other families: one frame of the pooled base
 * component. */
vhem_status vh_vb_default_prior(vhem_ctx *ctx, const vh_base *base, vh_prior **out);

/* Initialises the posterior: one E-step at the start and one update.  m has its prior. */
vhem_status vh_vb_begin(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                        const vh_workers *workers, const vh_h3m *start, vh_vb *m);
/* Updates m until the bound converges.  Fills F in run->J, and z and L [Kb][K] with the remaining K.
 * VHEM_ESTOPPED as vh_vhem. */
vhem_status vh_vb_run(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt, const vh_workers *workers,
                      vh_vb *m, vh_vhem_run *run);

/* Tries to remove clusters, states and components: if the bound without one, after some updates and counting
 * symmetries, is higher, the smaller model replaces m and run.  At most `tries` times.  The bounds of run are
 * then those of the final sizes only, from their first posterior on.  run has the tables of m, also after
 * VHEM_ESTOPPED. */
vhem_status vh_vb_shrink(vhem_ctx *ctx, const vh_base *base, const vh_vb_options *opt,
                         const vh_workers *workers, int tries, vh_vb *m, vh_vhem_run *run);
/* The bound of a run on the log-evidence, summed over all permutations of clusters, states and components, so
 * that models of different sizes can be compared. */
double vh_vb_value(const vh_vb *m, const vh_vhem_run *run);

/* Total KL(posterior | prior), in nats; kl [K] (or NULL): that of each HMM. */
double vh_vb_kl(const vh_vb *m, double *kl);
/* Sets the prior to the one that maximises the bound for this posterior: type-II maximum likelihood.  With
 * fewer than five components learns only m and W, since the rest would just follow the posterior. */
vhem_status vh_vb_learn(vhem_ctx *ctx, vh_vb *m);

#endif
