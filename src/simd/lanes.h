/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - scaled forward and backward recursions of several chains at once, one per vector lane.
 *
 * A lane holds a pair of an HMM and a sequence, so chains of two states fill a register as well as chains of
 * twenty.  The lane is the last index of every array: B [T][S][L], A [S][S][L].  Sequences shorter than the
 * longest of the group are padded with B = 1, which keeps the sum of the recursion at one. */
#ifndef VH_SIMD_LANES_H
#define VH_SIMD_LANES_H

#include "simd/simd.h"

enum { VH_BLOCK = 4 }; /* frames whose transitions are summed together */
typedef struct {
    int S;
    int64_t T;                    /* of the longest lane */
    int64_t length[VH_MAX_LANES]; /* [L]  frames of each lane; 0 if unused */
    double *pi, *A;               /* [S][L] [S][S][L] */
    double *B;                    /* [T][S][L]  p(y_t | s) divided by the largest factor of that frame */
    double *P, *r;                /* [T][S][L] [T][L]  written by the forward pass for the backward pass */
    double *beta;                 /* [S][L]  scratch */
    double *alpha, *v;            /* [VH_BLOCK][S][L] each, scratch */
    double *X;                    /* [S][S][L]  sum_t alpha_t-1(s) v_t(q), still to be multiplied by A */
    double loglik[VH_MAX_LANES];  /* log p(y) for the scaled B */
    double doubt[VH_MAX_LANES];   /* bound on the weight of terms flushed to zero; see lanes.c */
    vhem_ctx *ctx;
    bool late; /* a stop is overdue (vh_overdue): the results are invalid */
} vh_lanes;

/* L is 1 or VH_LANES. */
void VH_NAME(vh_lanes_forward)(int L, vh_lanes *g);
/* Call after forward.  Replaces B by p(state s at t | y) / B and fills X. */
void VH_NAME(vh_lanes_backward)(int L, vh_lanes *g);

#endif
