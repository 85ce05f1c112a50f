/* SPDX-License-Identifier: BSD-3-Clause */
/* pair_bound.h - reference implementation for one base and one reduced HMM; faster kernels fall back on
 * it. */
#ifndef VH_VHEM_PAIR_BOUND_H
#define VH_VHEM_PAIR_BOUND_H

#include "vhem/estep.h"

typedef struct { /* one base and one reduced HMM, and virtual samples of tau frames */
    const vh_packed *base, *reduced;
    int tau;
    int i, j; /* their places in the sets */
    double w; /* weight of the pair in the statistics */
} vh_reduce_pair;

/* Computes L_hmm of the pair.  Adds w times the summary statistics to stats (or NULL).  nu_out [Sr][Sb] (or
 * NULL): expected number of frames in (rho, beta), which sums to tau.  Uses scratch slots 0 to 6. */
vhem_status vh_ref_reduce_pair(vhem_ctx *ctx, const vh_reduce_pair *which, vh_scratch *scratch, double *L_hmm,
                               vh_stats *stats, double *nu_out);
/* Default for backends: all pairs of a chunk.  Uses scratch slots 0 to 7. */
extern const vh_reduce_kernels vh_reduce_ref;

#endif
