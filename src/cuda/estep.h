/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - the variational E-step on a GPU: whole jobs of vhem/estep.h. */
#ifndef VH_CUDA_ESTEP_H
#define VH_CUDA_ESTEP_H

#include "vhem/estep.h"

vhem_status vh_cuda_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state);
vhem_status vh_cuda_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                               const vh_workers *workers, bool stops, vh_reduce_sums *out);
void vh_cuda_reduce_close(void *state);

#endif
