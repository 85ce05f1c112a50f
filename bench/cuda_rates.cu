/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_rates.cu - see cuda_rates.h.  Each thread has eight chains of its own, so that nothing waits. */
#include "cuda_rates.h"

#include "cuda/numbers.cuh"

enum { BLOCKS = 132 * 16, THREADS = 128, CHAINS = 8, ROUNDS = 2048, RUNS = 5 };

struct multiply_add {
    static __device__ double of(double x)
    {
        return fma(x, 0.999999, 1e-7);
    }
};
struct exponent {
    static __device__ double of(double x)
    {
        return fast_exp(-x);
    }
};
struct logarithm {
    static __device__ double of(double x)
    {
        return fast_log(x) + 2;
    }
};

template <class F> static __global__ void __launch_bounds__(THREADS) chains(double *out)
{
    double x[CHAINS], sum = 0;
    for (int k = 0; k < CHAINS; k++)
        x[k] = 0.5 + 1e-6 * (double)(threadIdx.x + k);
#pragma unroll 4
    for (int n = 0; n < ROUNDS; n++)
#pragma unroll
        for (int k = 0; k < CHAINS; k++)
            x[k] = F::of(x[k]);
    for (int k = 0; k < CHAINS; k++)
        sum += x[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Seconds of the best of some runs. */
template <class F> static double best(F run)
{
    cudaEvent_t from, to;
    float ms, least = 1e30f;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int k = 0; k < RUNS; k++) {
        cudaEventRecord(from);
        run();
        cudaEventRecord(to);
        cudaEventSynchronize(to);
        cudaEventElapsedTime(&ms, from, to);
        least = ms < least ? ms : least;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return 1e-3 * least;
}

const char *bench_gpu_measure(bench_gpu *out)
{
    const size_t bytes = (size_t)2 << 30;
    const double n = (double)BLOCKS * THREADS * CHAINS * ROUNDS;
    char *a = NULL, *b = NULL;
    cudaError_t e = cudaMalloc(&a, bytes);
    if (e == cudaSuccess)
        e = cudaMalloc(&b, bytes);
    if (e != cudaSuccess)
        return cudaGetErrorString(e);
    double *x = (double *)a;
    out->multiply_adds = n / best([=] { chains<multiply_add><<<BLOCKS, THREADS>>>(x); });
    out->exps = n / best([=] { chains<exponent><<<BLOCKS, THREADS>>>(x); });
    out->logs = n / best([=] { chains<logarithm><<<BLOCKS, THREADS>>>(x); });
    out->bytes = 2.0 * (double)bytes / best([=] { cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice); });
    e = cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}
