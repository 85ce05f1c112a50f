/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.h - the backend for a GPU of NVIDIA. */
#ifndef VH_BACKEND_CUDA_GPU_H
#define VH_BACKEND_CUDA_GPU_H

#include "backend/backend.h"

extern const vh_backend vh_backend_cuda;

#endif
