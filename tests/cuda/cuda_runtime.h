/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_runtime.h - a device that is played by this machine: as much of CUDA's runtime as src/cuda
 * uses, so that its kernels compile as C++ and run here, thread by thread.  Everything but the speed can then
 * be tested without a GPU: layouts, chunks, tiles that stream, and every number.
 *
 * Blocks run one after the other, and so do the threads of a block; those that meet at __syncthreads run on
 * stacks of their own.  VHEM_FAKE_MEMORY is what the device says it has free, in bytes, VHEM_FAKE_TOTAL what
 * it has, VHEM_FAKE_LARGEST the most that it gives at a time, VHEM_FAKE_CAPABILITY its compute capability
 * (90); VHEM_FAKE_NO_KERNELS: it finds no code for itself. */
#ifndef VH_TESTS_CUDA_RUNTIME_H
#define VH_TESTS_CUDA_RUNTIME_H

#include <functional>
#include <memory>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

#define CUDART_VERSION 13000
#define __global__
#define __device__
#define __shared__      static
#define __forceinline__ inline
#define __noinline__    __attribute__((noinline))
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
    {
    }
};

inline dim3 threadIdx, blockIdx, blockDim, gridDim;

/* ---- arithmetic ---------------------------------------------------------------------------------------- */

inline int __double2hiint(double x)
{
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(bits >> 32);
}

inline int __double2loint(double x)
{
    unsigned long long bits;
    memcpy(&bits, &x, sizeof bits);
    return (int)(unsigned)bits;
}

inline double __hiloint2double(int high, int low)
{
    unsigned long long bits = (unsigned long long)(unsigned)high << 32 | (unsigned)low;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* nvcc knows them for two doubles alone; what mixes types shall not compile here either. */
double fmax(int, double) = delete;
double fmax(double, int) = delete;
double fmin(int, double) = delete;
double fmin(double, int) = delete;

template <class T> T max(T a, T b)
{
    return a > b ? a : b;
}

template <class T> T min(T a, T b)
{
    return a < b ? a : b;
}

/* ---- threads of a block -------------------------------------------------------------------------------- */

struct fake_thread {
    ucontext_t here;
    std::unique_ptr<char[]> stack;
    bool done;
};

struct fake_block {
    enum { STACK = 128 << 10 };
    ucontext_t scheduler;
    std::vector<fake_thread> thread;
    const std::function<void()> *kernel;
    int running = -1; /* on a stack of its own; -1: on the scheduler's */
};

inline fake_block fake_now;
inline std::mutex fake_launch;

inline void __syncthreads()
{
    fake_block &b = fake_now;
    if (b.running < 0) {
        fprintf(stderr, "fake device: some threads of a block have left before __syncthreads\n");
        abort();
    }
    swapcontext(&b.thread[(size_t)b.running].here, &b.scheduler);
}

inline void fake_enter()
{
    (*fake_now.kernel)();
    fake_now.thread[(size_t)fake_now.running].done = true;
}

inline void fake_begin(int t)
{
    fake_thread &x = fake_now.thread[(size_t)t];
    if (!x.stack)
        x.stack.reset(new char[fake_block::STACK]);
    x.done = false;
    getcontext(&x.here);
    x.here.uc_stack.ss_sp = x.stack.get();
    x.here.uc_stack.ss_size = fake_block::STACK;
    x.here.uc_link = &fake_now.scheduler;
    makecontext(&x.here, fake_enter, 0);
}

/* Runs thread t until it is done or waits for the others. */
inline bool fake_resume(int t)
{
    fake_now.running = t;
    threadIdx.x = (unsigned)t;
    swapcontext(&fake_now.scheduler, &fake_now.thread[(size_t)t].here);
    fake_now.running = -1;
    return fake_now.thread[(size_t)t].done;
}

/* The first thread shows whether this block waits at all; when it does not, the others need no stacks. */
inline void fake_run_block(int threads)
{
    if (fake_now.thread.size() < (size_t)threads)
        fake_now.thread.resize((size_t)threads);
    fake_begin(0);
    if (fake_resume(0)) {
        for (int t = 1; t < threads; t++) {
            threadIdx.x = (unsigned)t;
            (*fake_now.kernel)();
        }
        return;
    }
    for (int t = 1; t < threads; t++)
        fake_begin(t);
    for (int t = 1; t < threads; t++)
        fake_resume(t);
    for (bool more = true; more;) {
        more = false;
        for (int t = 0; t < threads; t++)
            if (!fake_now.thread[(size_t)t].done)
                more = !fake_resume(t) || more;
    }
}

/* ---- the runtime --------------------------------------------------------------------------------------- */

enum cudaError_t {
    cudaSuccess,
    cudaErrorMemoryAllocation,
    cudaErrorNoDevice,
    cudaErrorInsufficientDriver,
    cudaErrorNoKernelImageForDevice
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum { cudaStreamNonBlocking = 1 };
typedef void *cudaStream_t;

struct cudaDeviceProp {
    char name[256];
    int major, minor;
};

struct cudaFuncAttributes {
};

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
};

template <class... Wanted, class... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(Wanted...), Given... args)
{
    std::lock_guard<std::mutex> lock(fake_launch);
    const std::function<void()> run = [&] { kernel(args...); };
    fake_now.kernel = &run;
    gridDim = how->gridDim;
    blockDim = how->blockDim;
    for (unsigned z = 0; z < gridDim.z; z++)
        for (unsigned y = 0; y < gridDim.y; y++)
            for (unsigned x = 0; x < gridDim.x; x++) {
                blockIdx = dim3(x, y, z);
                fake_run_block((int)blockDim.x);
            }
    return cudaSuccess;
}

inline const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation         ? "out of memory"
           : e == cudaErrorNoKernelImageForDevice ? "no kernel image is available for execution on the device"
                                                  : "no error";
}

inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    const char *given = getenv("VHEM_FAKE_CAPABILITY");
    snprintf(p->name, sizeof p->name, "fake device");
    p->major = given ? atoi(given) / 10 : 9;
    p->minor = given ? atoi(given) % 10 : 0;
    return cudaSuccess;
}

inline cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *)
{
    return getenv("VHEM_FAKE_NO_KERNELS") ? cudaErrorNoKernelImageForDevice : cudaSuccess;
}

inline cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    const char *given = getenv("VHEM_FAKE_MEMORY");
    *unused = *all = given ? (size_t)strtoull(given, NULL, 10) : (size_t)1 << 34;
    return cudaSuccess;
}

enum { FAKE_HEAD = 64 }; /* bytes before a block, which say how large it is */
inline size_t fake_used; /* by blocks of the device */
inline std::mutex fake_memory;

/* More bytes in use, if VHEM_FAKE_TOTAL has room for them. */
inline bool fake_take(size_t bytes)
{
    std::lock_guard<std::mutex> lock(fake_memory);
    const char *total = getenv("VHEM_FAKE_TOTAL"), *most = getenv("VHEM_FAKE_LARGEST");
    if ((most && bytes > strtoull(most, NULL, 10))
        || (total && fake_used + bytes > strtoull(total, NULL, 10)))
        return false;
    fake_used += bytes;
    return true;
}

/* New memory is full of NaN, so that nobody counts on zeros. */
inline cudaError_t cudaMalloc(void **p, size_t bytes)
{
    char *block = fake_take(bytes) ? (char *)malloc(FAKE_HEAD + bytes) : NULL;
    *p = block ? block + FAKE_HEAD : NULL;
    if (!block)
        return cudaErrorMemoryAllocation;
    memcpy(block, &bytes, sizeof bytes);
    memset(*p, 0xff, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaFree(void *p)
{
    size_t bytes;
    memcpy(&bytes, (char *)p - FAKE_HEAD, sizeof bytes);
    free((char *)p - FAKE_HEAD);
    std::lock_guard<std::mutex> lock(fake_memory);
    fake_used -= bytes;
    return cudaSuccess;
}

inline cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    const char *most = getenv("VHEM_FAKE_LARGEST");
    *p = most && bytes > strtoull(most, NULL, 10) ? NULL : malloc(bytes);
    if (*p)
        memset(*p, 0xff, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

inline cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, kind);
}

inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    memset(p, value, bytes);
    return cudaSuccess;
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    *s = NULL;
    return cudaSuccess;
}

inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

#endif
