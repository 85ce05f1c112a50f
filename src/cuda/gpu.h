/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - the backend for an NVIDIA GPU. */
#ifndef VH_CUDA_GPU_H
#define VH_CUDA_GPU_H

#include "core/backend.h"
#include "core/ctx.h"

extern const vh_backend vh_backend_cuda;

/* Is a job with so many (base HMM, state of a centre, frame) large enough for the device?  Always, when the
 * backend was asked for by name. */
bool vh_cuda_worth(const vhem_ctx *ctx, double size);
/* The device has failed, as ctx->error says; most often other processes, or other jobs of this one, have its
 * memory.  The user learns that the CPU does the work, even where ctx is a silent child. */
void vh_cuda_warn(vhem_ctx *ctx);

#endif
