/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_lanes.h - the variational E-step of base HMMs of one shape, one per lane, and a reduced HMM. */
#ifndef VH_SIMD_ESTEP_LANES_H
#define VH_SIMD_ESTEP_LANES_H

#include "simd/simd.h"
#include "simd/vec.h"

typedef struct {
    int Sb, Sr, tau;
    const vec *pi_b, *A_b;    /* [Sb] [Sb][Sb]  chains of the base HMMs */
    const double *pi_r, *A_r; /* [Sr] [Sr][Sr]  chain of the reduced HMM */
    const vec *L_gmm;         /* [Sb][Sr] */
    vec *E, *D;               /* [keep][Sb][Sr]  exps and their sums at each step, for the forward pass;
                                   keep is tau, or 1 to compute only the bound */
    vec *L, *U, *top;         /* [Sb][Sr] [Sb][Sr] [Sb]  scratch */
    vec *change, *bend;       /* [Sb][Sr] each  scratch */
    vec offset, centre;       /* offset: common to all entries of L; centre: what the last step added to it */
    int steps;                /* steps computed; E and D are constant after the last */
    vec L_hmm, low;           /* low: smallest log of a sum; see estep_lanes.c */
    /* forward pass */
    vec *nu, *H, *step_xi;  /* [Sr][Sb] [Sr][Sb] [Sr][Sr]  scratch */
    vec *nu1, *sum_nu, *xi; /* [Sr] [Sr][Sb] [Sr][Sr]  results */
    double *log_pi, *log_A; /* [Sr] [Sr][Sr]  scratch of the careful recursions */
} vh_reduce_lanes;

void VH_NAME(vh_reduce_backward)(vh_reduce_lanes *g, bool keep);
void VH_NAME(vh_reduce_forward)(vh_reduce_lanes *g); /* call after backward with keep */
/* The same in logs, for groups in which `low` of some lane is too small.  Sets low to 0 in every lane, or to
 * NaN where there is no bound. */
void VH_NAME(vh_reduce_careful_backward)(vh_reduce_lanes *g, bool keep);
void VH_NAME(vh_reduce_careful_forward)(vh_reduce_lanes *g);

#endif
