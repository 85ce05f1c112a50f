/* SPDX-License-Identifier: BSD-3-Clause */
/* responsibilities.h - the E-step of mixtures (fit/estep.h) between the forward and backward pass on a
 * device: assigns sets on the host, with all of its threads. */
#ifndef VH_CUDA_RESPONSIBILITIES_H
#define VH_CUDA_RESPONSIBILITIES_H

#include "fit/estep.h"

typedef struct {
    const vh_sequences *in;
    const vh_seq_step *step;
    const double *loglik; /* [n][K]      by place */
    double *log_z;        /* [n_set][K]  filled in by assign */
} vh_cuda_responsibilities;

/* Computes log_z, J, sum_z and log_sum_z, and the scale of the statistics of each HMM, scale [K]. */
vhem_status vh_cuda_responsibilities_assign(vhem_ctx *ctx, const vh_cuda_responsibilities *x,
                                            vh_seq_sums *out, double *scale);
/* w [K][lanes]: weights in the statistics, at these scales, of the sequences at place [lanes] (-1: none). */
vhem_status vh_cuda_responsibilities_weigh(vhem_ctx *ctx, const vh_cuda_responsibilities *x, const int *place,
                                           int lanes, const double *scale, double *w);

#endif
