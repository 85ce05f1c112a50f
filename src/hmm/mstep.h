/* SPDX-License-Identifier: BSD-3-Clause */
/* mstep.h - the M-step of Baum-Welch and VHEM: from expected statistics to parameters. */
#ifndef VH_HMM_MSTEP_H
#define VH_HMM_MSTEP_H

#include "hmm/stats.h"

typedef struct {                      /* constraints and priors of the M-step */
    const double *fixed_pi, *fixed_A; /* [S] [S][S]  NaN: free, a number: fixed; NULL: all free */
    const double *floor;              /* [d]  smallest variances; NULL: none */
    const double *scale;              /* [d]  spread of the data, the unit of distances in splits */
    double unit;                      /* weight of one frame */
    const double *const *frame;       /* component that pseudo-frames come from; NULL: none */
    double frames, count;             /* pseudo-frames per component; pseudo-count of entries of pi, A, c */
    bool exact;                       /* covariances of a posterior are its means, even with few frames */
} vh_limits;

/* Sets HMM h of the H3M to the maximiser; it is HMM k of the packed set of the statistics.  Components
 * without frames keep their parameters.  *n_floored counts the covariances held at the floor. */
vhem_status vh_mstep(vhem_ctx *ctx, const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats,
                     vh_h3m *h3m, vh_hmm *h, int *n_floored);

/* Log-prior of HMM h, up to a constant, that corresponds to the pseudo-frames and pseudo-counts; 0 without
 * them.  vh_mstep maximises the log-likelihood plus this.  work [vh_emission_work]. */
double vh_mstep_log_prior(const vh_limits *lim, const vh_h3m *h3m, const vh_hmm *h, double *work);

/* Gives every state and component without frames a share of the heaviest one, so that it is used again.  Call
 * it after vh_mstep, with the same statistics.  Returns the number revived, -1 if out of memory. */
int vh_revive(const vh_limits *lim, const vh_packed *pk, int k, const vh_stats *stats, vh_h3m *h3m, vh_hmm *h,
              vh_rng *rng);

#endif
