/* SPDX-License-Identifier: BSD-3-Clause */
/* component_split.h - how a base component is cut (vhem/refine.h): a Gaussian along an axis,
 * symbols into the most likely ones, each by itself, and the rest.
 *
 * y = mu + L z with a cut of w'z, |w| = 1, whose mean is m and variance v: mean mu + m L w, covariance
 * Sigma - (1 - v) L w (L w)'. */
#ifndef VH_EMISSION_COMPONENT_SPLIT_H
#define VH_EMISSION_COMPONENT_SPLIT_H

#include "emission/emission.h"

/* Squared distance, in units of both variances together, from where overlap is nothing, and below which there
 * is nothing to tell apart. */
#define VH_FAR_APART 16.0
#define VH_ALIKE     1e-6

typedef struct { /* one component of an HMM and how it is cut */
    int s;
    double share;              /* c_sm */
    double *par[VH_MAX_PARAM]; /* its parameters */
    int n;                     /* cuts; 1: not cut */
    int k;                     /* diagonal covariances: the dimension that is cut */
    double *Lw;                /* [d]  full: L w */
} vh_component_cut;

struct vh_splits { /* axis and cut, or parts and part */
    /* The axis along which p, one of n pieces, is cut: the one that tells it best from a piece it overlaps.
     * False when there is none.  work [d][d] + [d]. */
    bool (*axis)(const vh_shape *shape, const vh_component_cut *all, int n, vh_component_cut *p,
                 double *work);
    /* par, a copy of the piece, becomes its cut with this mean and variance along the axis. */
    void (*cut)(const vh_shape *shape, const vh_component_cut *p, double mean, double var,
                double *const *par);
    /* Into how many parts, Q at most, the piece is cut. */
    int (*parts)(const vh_shape *shape, const vh_component_cut *p, int Q);
    /* par, a copy of the piece, becomes its part q of p->n; the probability of that part. */
    double (*part)(const vh_shape *shape, const vh_component_cut *p, int q, double *const *par);
};

extern const vh_splits vh_splits_diag, vh_splits_full, vh_splits_symbols;

#endif
