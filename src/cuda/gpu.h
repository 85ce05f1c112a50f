/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - the backend for an NVIDIA GPU. */
#ifndef VH_CUDA_GPU_H
#define VH_CUDA_GPU_H

#include "core/backend.h"
#include "core/ctx.h"

extern const vh_backend vh_backend_cuda;

/* True if a job with so many (base HMM, state of a centre, frame) triples is large enough for the device.
 * Always true if the backend was requested by name. */
bool vh_cuda_worth(const vhem_ctx *ctx, double size);
/* Warns that the CPU takes over because the device failed with ctx->error, usually for lack of free memory.
 * Reaches the user even if ctx is a silent child. */
void vh_cuda_warn(vhem_ctx *ctx);

#endif
