/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - forward and backward recursions of several chains side by side in vector lanes, scaled.
 *
 * A lane is a pair of an HMM and a sequence, so a chain of two states fills a register as well as one of
 * twenty.  Arrays have the lane last: B [T][S][L], A [S][S][L].  Sequences shorter than the longest of the
 * group idle at B = 1, where the recursion keeps its sum at one. */
#ifndef VH_SIMD_LANES_H
#define VH_SIMD_LANES_H

#include "simd/simd.h"

enum { VH_BLOCK = 4 }; /* frames whose transitions are added up together */
typedef struct {
    int S;
    int64_t T;                    /* of the longest lane */
    int64_t length[VH_MAX_LANES]; /* [L]  frames of each lane; 0 for an unused one */
    double *pi, *A;               /* [S][L] [S][S][L] */
    double *B;                    /* [T][S][L]  p(y_t | s) over its largest factor of that frame */
    double *P, *r;                /* [T][S][L] [T][L]  scratch of the forward pass for the backward one */
    double *beta;                 /* [S][L]  scratch */
    double *alpha, *v;            /* [VH_BLOCK][S][L] each, scratch */
    double *X;                    /* [S][S][L]  sum_t alpha_t-1(s) v_t(q), to be multiplied by A */
    double loglik[VH_MAX_LANES];  /* log p(y) for the scaled B */
    double doubt[VH_MAX_LANES];   /* how much what was flushed to zero may weigh; see lanes.c */
    vhem_ctx *ctx;
    bool late; /* a stop is overdue (vh_overdue): nothing else holds */
} vh_lanes;

/* L is 1 or VH_LANES. */
void VH_NAME(vh_lanes_forward)(int L, vh_lanes *g);
/* After forward: B becomes p(state s at t | y) / B, and X is filled. */
void VH_NAME(vh_lanes_backward)(int L, vh_lanes *g);

#endif
