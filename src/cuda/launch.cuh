/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.cuh - launches kernels through a function instead of angle brackets, so that the same source also
 * compiles for an emulated device (tests/cuda). */
#ifndef VH_CUDA_LAUNCH_CUH
#define VH_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>

const char *vh_cuda_error(cudaError_t e); /* NULL for success */

/* Launches the kernel on the stream shared by all kernels: they run in order. */
template <class... Wanted, class... Given>
static const char *launch(void (*kernel)(Wanted...), dim3 blocks, int threads, Given... args)
{
    cudaLaunchConfig_t how = {};
    how.gridDim = blocks;
    how.blockDim = dim3((unsigned)threads);
    return vh_cuda_error(cudaLaunchKernelEx(&how, kernel, args...));
}

#endif
