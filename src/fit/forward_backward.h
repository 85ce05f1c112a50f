/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - the reference for one HMM and one sequence; faster kernels fall back
 * on it where their short cuts end. */
#ifndef VH_FIT_FORWARD_BACKWARD_H
#define VH_FIT_FORWARD_BACKWARD_H

#include "fit/estep.h"

typedef struct { /* one HMM and one sequence */
    const vh_packed *pk;
    int k;           /* the HMM, by its place in the set */
    const double *y; /* [T][d] */
    int64_t T;
    double w; /* what the pair counts in the statistics */
} vh_seq_pair;

/* stats may be NULL; it is added to.  Uses scratch slots 0 to 5. */
vhem_status vh_ref_pair(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *loglik,
                        vh_stats *stats);
/* log_b [T][S] = log p(y_t | s), and log c + log p of each component, comp
 * [T][S*M].  Uses scratch slots 0 and 1. */
vhem_status vh_ref_emissions(vhem_ctx *ctx, const vh_seq_pair *pair, vh_scratch *scratch, double *comp,
                             double *log_b);

/* For all that a backend leaves out. */
extern const vh_seq_kernels vh_seq_ref;

#endif
