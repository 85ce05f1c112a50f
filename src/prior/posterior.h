/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior.h - posterior of an HMM given frames: variational Bayes.
 *
 * The posterior has the form of the prior (prior.h), with a parameter for each entry of pi, A and c and for
 * each component.  The E-step needs only exp of expected logs, which look like an HMM,
 *
 *   pi~, A~, c~ = exp E[log .]     mu~ = m     cov~ = B / nu
 *   c~ further times exp{ 1/2 (E log|Lambda| - log|nu B^-1|) - d / (2 lambda) }
 *
 * (if cells are missing: only the factors of the cells in a frame; other families: vh_counts) whose rows sum
 * to less than 1: the expected model.  Packed as usual, it works with the kernels of Baum-Welch.  Its
 * log-likelihood less the divergence of the posterior from the prior is a lower bound on the log-evidence
 * that no update decreases.  Bishop 2006, Section 10.2; MacKay 1997.
 *
 * Entries of pi and A that the limits fix are known, not estimated: they have no prior, and the free entries
 * of their row share the remaining probability. */
#ifndef VH_PRIOR_POSTERIOR_H
#define VH_PRIOR_POSTERIOR_H

#include "hmm/mstep.h"
#include "prior/prior.h"

typedef struct vh_posterior vh_posterior;
struct vh_posterior {
    int S, M;
    double *eta, *eps, *kappa; /* [S] [S][S] [S][M] */
    double *lambda, *nu, *m;   /* [S][M] [S][M] [S][M][d]; m, B: Gaussians only */
    double *B;                 /* [S][M][d], full [S][M][d][d] */
    double *count;             /* [S][M][vh_prior_counts]  families with counts only */
    double *shift;             /* [S][M][d]  log of the extra factor of c~ for each observed cell */
    /* With missing cells, each column of a diagonal covariance has its own number of frames; lambda and nu
     * above are then those of all frames. */
    bool by_column;
    double *col_lambda, *col_nu; /* [S][M][d]  if by_column */
    double *work;
    vh_posterior *channel; /* [n_channel]  of a product; only their component posteriors are used */
    int n_channel;
}; /* zero it before use */

vhem_status vh_posterior_new(vhem_ctx *ctx, const vh_prior *prior, int S, int M, vh_posterior *out);
void vh_posterior_free(vh_posterior *post); /* accepts a zeroed struct */

/* The arrays with n numbers per component: x [VH_POSTERIOR_ARRAYS], each [S][M][n]. */
enum { VH_POSTERIOR_ARRAYS = 8 };
void vh_posterior_arrays(const vh_prior *prior, const vh_posterior *post, double **x, size_t *n);

/* Converts a posterior of complete data to the form for missing cells, with separate frame counts per
 * column. */
void vh_posterior_by_column(const vh_prior *prior, vh_posterior *post);

/* Number of frames of component r of the packed set that have column k. */
double vh_posterior_seen(const vh_packed *pk, int r, const vh_stats *stats, int k);
/* Computes mean [d] and scatter about it, diag [d], full [d][d], from the statistics of component r of the
 * packed set, in the user's coordinates; returns its number of frames.  Both are 0 if there are none. */
double vh_posterior_moments(const vh_packed *pk, int r, const vh_stats *stats, double *mean, double *scatter);

/* Sets a component to N(mu, cov / divisor), with variances of at least floor [d] (or NULL).  mu and cov may
 * be its own; work [vh_posterior_work].  Returns 1 if the floor was used, 0 if not, -1 if the covariance is
 * singular. */
size_t vh_posterior_work(const vh_emission *family, int d);
int vh_posterior_put(const vh_emission *family, int d, const double *floor, const double *mu,
                     const double *cov, double divisor, double *const *par, double *work);

/* Computes the posterior from the prior and the statistics of HMM k of the packed set. */
void vh_posterior_update(const vh_prior *prior, const vh_packed *pk, int k, const vh_stats *stats,
                         vh_posterior *post);
/* Sets HMM h of the H3M to the expected model without the factors `shift`, which may underflow; once h is
 * packed as HMM k, vh_posterior_shift adds them as logs. */
void vh_posterior_expect(const vh_prior *prior, const vh_limits *lim, vh_posterior *post, const vh_h3m *h3m,
                         vh_hmm *h);
void vh_posterior_shift(const vh_posterior *post, vh_packed *pk, int k);
/* Dirichlet distribution with parameters a [n]: E log of its entries, its KL from the symmetric one with
 * parameter a0, and its mean. */
void vh_dirichlet_log_mean(int n, const double *a, double *log_p);
double vh_dirichlet_kl(int n, const double *a, double a0);
void vh_dirichlet_mean(int n, const double *a, double *p);
/* E log|Lambda| of component q. */
double vh_posterior_log_precision(const vh_prior *prior, const vh_posterior *post, int q);
/* KL(posterior | prior), in nats; NaN if a scatter is singular. */
double vh_posterior_kl(const vh_prior *prior, const vh_limits *lim, const vh_posterior *post);
/* Sets HMM h to the mean of the posterior, with variances of at least the floor of the limits; *n_floored
 * counts the covariances held there.  With f = nu, or nu - d + 1 for full covariances,
 * cov = B / max(f - 2, f / 2, 1); lim->exact: B / (f - 2), or B / nu if f <= 2. */
vhem_status vh_posterior_mean(vhem_ctx *ctx, const vh_prior *prior, const vh_limits *lim,
                              const vh_posterior *post, const vh_h3m *h3m, vh_hmm *h, int *n_floored);

#endif
