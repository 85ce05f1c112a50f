/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.cuh - how kernels of this folder are started: through a function, not through the compiler's
 * angle brackets, so that the same source also compiles for a machine that plays the device (tests/cuda). */
#ifndef VH_CUDA_LAUNCH_CUH
#define VH_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

const char *vh_cuda_error(cudaError_t e); /* NULL for success */

/* Starts the kernel on the stream that all of them share: they run one after the other. */
template <class... Wanted, class... Given>
static const char *launch(void (*kernel)(Wanted...), dim3 blocks, int threads, Given... args)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = blocks;
    how.blockDim = dim3((unsigned)threads);
    return vh_cuda_error(cudaLaunchKernelEx(&how, kernel, args...));
}

#endif
