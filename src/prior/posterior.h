/* SPDX-License-Identifier: BSD-3-Clause */
/* posterior.h - what is known of an HMM after some frames: variational Bayes.
 *
 * The posterior has the form of the prior (prior.h), with a parameter for each entry of pi, A and c and for
 * each component.  The E-step needs nothing but exp of expected logs, which look like an HMM,
 *
 *   pi~, A~, c~ = exp E[log .]     mu~ = m     cov~ = B / nu
 *   c~ further times exp{ 1/2 (E log|Lambda| - log|nu B^-1|) - d / (2 lambda) }
 *
 * (where cells are missing: the factor of those cells alone that a frame has; other families: vh_counts)
 * whose rows sum to less than 1: the expected model.  Packed as usual it goes through the kernels of
 * Baum-Welch, and its log-likelihood less the divergence of the posterior from the prior is a lower bound of
 * the log-evidence, which no update lets fall.  Bishop 2006, Section 10.2; MacKay 1997.
 *
 * Entries of pi and A that the limits fix are known, not estimated: they have no prior, and the free ones
 * of their row share what they leave. */
#ifndef VH_PRIOR_POSTERIOR_H
#define VH_PRIOR_POSTERIOR_H

#include "hmm/mstep.h"
#include "prior/prior.h"

typedef struct vh_posterior vh_posterior;
struct vh_posterior {
    int S, M;
    double *eta, *eps, *kappa; /* [S] [S][S] [S][M] */
    double *lambda, *nu, *m;   /* [S][M] [S][M] [S][M][d]; m, B: of Gaussians */
    double *B;                 /* [S][M][d], full [S][M][d][d] */
    double *count;             /* [S][M][vh_prior_counts]  of families with counts */
    double *shift;             /* [S][M][d]  log of the further factor of c~ for each observed cell */
    /* Where cells are missing, each column of a diagonal covariance has its own number of frames, and lambda
     * and nu above are those of all frames. */
    bool by_column;
    double *col_lambda, *col_nu; /* [S][M][d]  by_column only */
    double *work;
    vh_posterior
        *channel; /* [n_channel]  of a product; what is known of their components, and nothing else */
    int n_channel;
}; /* zero it before use */

vhem_status vh_posterior_new(vhem_ctx *ctx, const vh_prior *prior, int S, int M, vh_posterior *out);
void vh_posterior_free(vh_posterior *post); /* accepts a zeroed struct */

/* The arrays that have n numbers for each component: x [VH_POSTERIOR_ARRAYS], each [S][M][n]. */
enum { VH_POSTERIOR_ARRAYS = 8 };
void vh_posterior_arrays(const vh_prior *prior, const vh_posterior *post, double **x, size_t *n);

/* A posterior of complete data as one of data with missing cells, whose columns may have other numbers of
 * frames. */
void vh_posterior_by_column(const vh_prior *prior, vh_posterior *post);

/* How many frames of component r of the packed set have column k. */
double vh_posterior_seen(const vh_packed *pk, int r, const vh_stats *stats, int k);
/* Mean [d] and scatter about it, diag [d], full [d][d], of what component r of the packed set has gathered,
 * in the user's coordinates; returns its number of frames.  Where that is nothing, mean and scatter are 0. */
double vh_posterior_moments(const vh_packed *pk, int r, const vh_stats *stats, double *mean, double *scatter);

/* A component becomes N(mu, cov / divisor), with no variance below floor [d] (NULL: none).  mu and cov may be
 * its own; work [vh_posterior_work].  Returns 1 when the floor held something, 0 when not, -1
 * when it is singular. */
size_t vh_posterior_work(const vh_emission *family, int d);
int vh_posterior_put(const vh_emission *family, int d, const double *floor, const double *mu,
                     const double *cov, double divisor, double *const *par, double *work);

/* Prior and statistics of HMM k of the packed set. */
void vh_posterior_update(const vh_prior *prior, const vh_packed *pk, int k, const vh_stats *stats,
                         vh_posterior *post);
/* HMM h of the H3M becomes the expected model, less the factors `shift`; these may be smaller than the
 * smallest number, and are added as logs to HMM k of the set once h is packed. */
void vh_posterior_expect(const vh_prior *prior, const vh_limits *lim, vh_posterior *post, const vh_h3m *h3m,
                         vh_hmm *h);
void vh_posterior_shift(const vh_posterior *post, vh_packed *pk, int k);
/* A Dirichlet distribution with parameters a [n]: E log of its entries, the KL from the symmetric one with
 * parameter a0, and its mean. */
void vh_dirichlet_log_mean(int n, const double *a, double *log_p);
double vh_dirichlet_kl(int n, const double *a, double a0);
void vh_dirichlet_mean(int n, const double *a, double *p);
/* E log|Lambda| of component q. */
double vh_posterior_log_precision(const vh_prior *prior, const vh_posterior *post, int q);
/* KL(posterior | prior), in nats; NaN where a scatter is singular. */
double vh_posterior_kl(const vh_prior *prior, const vh_limits *lim, const vh_posterior *post);
/* HMM h becomes the mean of the posterior, with no variance below the floor of the limits; *n_floored counts
 * the covariances held there.  cov = B / (nu - 2), for full covariances B / (nu - d - 1), where that is at
 * least B / max(1, nu / 2); lim->exact: where nu allows it, else B / nu. */
vhem_status vh_posterior_mean(vhem_ctx *ctx, const vh_prior *prior, const vh_limits *lim,
                              const vh_posterior *post, const vh_h3m *h3m, vh_hmm *h, int *n_floored);

#endif
