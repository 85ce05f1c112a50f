/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - the variational E-step on a GPU: whole jobs of backend/reduce.h. */
#ifndef VH_BACKEND_CUDA_REDUCE_H
#define VH_BACKEND_CUDA_REDUCE_H

#include "backend/reduce.h"

vhem_status vh_cuda_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state);
vhem_status vh_cuda_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                               const vh_workers *workers, bool stops, vh_reduce_sums *out);
void vh_cuda_reduce_close(void *state);

#endif
