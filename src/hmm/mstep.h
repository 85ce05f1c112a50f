/* SPDX-License-Identifier: BSD-3-Clause */
/* mstep.h - the M-step of Baum-Welch and of VHEM alike: from expected statistics to parameters. */
#ifndef VH_HMM_MSTEP_H
#define VH_HMM_MSTEP_H

#include "hmm/stats.h"

typedef struct {                      /* what the parameters must respect */
    const double *fixed_pi, *fixed_A; /* [S] [S][S]  NaN: free, a number: stays; NULL: all free */
    const double *floor;              /* [d]  smallest variances; NULL: none */
    const double *scale;              /* [d]  spread of the data, the yardstick when something is split */
    double unit;                      /* weight of one frame */
    const double *const *frame; /* parameters of the component that made-up frames come from; NULL: none */
    double frames, count; /* how many of them each component gets; what is added to entries of pi, A, c */
    bool exact;           /* covariances of a posterior are their means, however few frames there are */
} vh_limits;

/* HMM h of the H3M, which is HMM k of the packed set that made the statistics, becomes the maximiser.  What
 * no frame supports keeps its parameters.  *n_floored counts the covariances that were held at the floor. */
vhem_status vh_mstep(vhem_ctx *ctx, const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats,
                     vh_h3m *h3m, vh_hmm *h, int *n_floored);

/* log of the prior that the made-up frames and counts are, up to a constant, of HMM h: the log-likelihood
 * plus this is what vh_mstep climbs.  0 where there are none.  work [vh_emission_work]. */
double vh_mstep_log_prior(const vh_limits *lim, const vh_h3m *h3m, const vh_hmm *h, double *work);

/* Gives every state and component that no frame supports a share of the heaviest one, so that it takes part
 * again.  To be called after vh_mstep, with the same statistics.  Returns how many were revived,
 * -1 when there is no memory. */
int vh_revive(const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats, vh_h3m *h3m, vh_hmm *h,
              vh_rng *rng);

#endif
