/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - forward-backward for many sequences on a GPU: whole jobs of fit/estep.h. */
#ifndef VH_CUDA_FORWARD_BACKWARD_H
#define VH_CUDA_FORWARD_BACKWARD_H

#include "fit/estep.h"

vhem_status vh_cuda_sequences_open(vhem_ctx *ctx, const vh_sequences *in, void **state);
vhem_status vh_cuda_sequences_run(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out);
void vh_cuda_sequences_close(void *state);

#endif
