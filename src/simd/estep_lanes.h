/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_lanes.h - the recursions of the variational E-step for base HMMs of one shape, side by side in
 * vector lanes, against one reduced HMM. */
#ifndef VH_SIMD_ESTEP_LANES_H
#define VH_SIMD_ESTEP_LANES_H

#include "simd/simd.h"
#include "simd/vec.h"

typedef struct {
    int Sb, Sr, tau;
    const vec *pi_b, *A_b;    /* [Sb] [Sb][Sb]  base chains */
    const double *pi_r, *A_r; /* [Sr] [Sr][Sr]  the reduced chain */
    const vec *L_gmm;         /* [Sb][Sr] */
    vec *E, *D;               /* [keep][Sb][Sr]  exp and its sums of each step, for the forward pass; keep
                                   is tau, or 1 when only the bound is wanted */
    vec *L, *U, *top;         /* [Sb][Sr] [Sb][Sr] [Sb]  scratch */
    vec *change, *bend;       /* [Sb][Sr] each, scratch */
    vec offset, centre;       /* what belongs to every L, and what the last step had added to it */
    int steps;                /* steps walked; for the rest of them E and D stay as they were */
    vec L_hmm, low;           /* low: smallest log of a sum, see estep_lanes.c */
    /* forward pass */
    vec *nu, *H, *step_xi;  /* [Sr][Sb] [Sr][Sb] [Sr][Sr]  scratch */
    vec *nu1, *sum_nu, *xi; /* [Sr] [Sr][Sb] [Sr][Sr]  results */
    double *log_pi, *log_A; /* [Sr] [Sr][Sr]  scratch of the careful ones */
} vh_reduce_lanes;

void VH_NAME(vh_reduce_backward)(vh_reduce_lanes *g, bool keep);
void VH_NAME(vh_reduce_forward)(vh_reduce_lanes *g); /* after backward with keep */
/* The same for a group with a lane whose low tells that it needs it: low is then 0 in all of them, or not a
 * number where there is no bound. */
void VH_NAME(vh_reduce_careful_backward)(vh_reduce_lanes *g, bool keep);
void VH_NAME(vh_reduce_careful_forward)(vh_reduce_lanes *g);

#endif
