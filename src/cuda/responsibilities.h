/* SPDX-License-Identifier: BSD-3-Clause */
/* responsibilities.h - the rule for mixtures (fit/estep.h) between the way there and the way back
 * on a device: sets are assigned on this machine, by all of its threads. */
#ifndef VH_CUDA_RESPONSIBILITIES_H
#define VH_CUDA_RESPONSIBILITIES_H

#include "fit/estep.h"

typedef struct {
    const vh_sequences *in;
    const vh_seq_step *step;
    const double *loglik; /* [n][K]      by place */
    double *log_z;        /* [n_set][K]  filled in by assign */
} vh_cuda_responsibilities;

/* log_z, J, sum_z and log_sum_z; and the scale of the statistics of each HMM, scale [K]. */
vhem_status vh_cuda_responsibilities_assign(vhem_ctx *ctx, const vh_cuda_responsibilities *x,
                                            vh_seq_sums *out, double *scale);
/* What the sequences at place [lanes] (-1: none) count in the statistics at these scales: w [K][lanes]. */
vhem_status vh_cuda_responsibilities_weigh(vhem_ctx *ctx, const vh_cuda_responsibilities *x, const int *place,
                                           int lanes, const double *scale, double *w);

#endif
