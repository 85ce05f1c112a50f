/* SPDX-License-Identifier: BSD-3-Clause */
/* device.cu - see device.h.  The CUDA runtime is linked statically and looks for the driver only when first
 * used, so programs that contain this file run on machines without one. */
#include "cuda/device.h"

#include "cuda/launch.cuh"

#include <stdio.h>
#include <unistd.h>

const char *vh_cuda_error(cudaError_t e)
{
    return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

/* Result of the first look at the machine; created once.  It creates no CUDA context, which takes a tenth of
 * a second or more and hundreds of megabytes on the device: that waits for the first job. */
struct machine {
    char problem[200];
    char name[256];
    bool usable;
    pid_t pid; /* the runtime does not work in processes forked after this */
};

/* Stream for copies, besides the kernel stream; created with the first job. */
struct ways {
    const char *problem;
    cudaStream_t copies;
};

enum { CHOSEN = 0 }; /* the first device visible through CUDA_VISIBLE_DEVICES */

static __global__ void nothing()
{
}

/* All kernels are compiled alike: this one represents them. */
static cudaError_t find_kernels()
{
    cudaFuncAttributes found;
    return cudaFuncGetAttributes(&found, (const void *)nothing);
}

static ways open_ways()
{
    ways w = {};
    cudaError_t e = find_kernels();
    if (e == cudaSuccess)
        e = cudaStreamCreateWithFlags(&w.copies, cudaStreamNonBlocking);
    w.problem = vh_cuda_error(e);
    return w;
}

static const ways &on_device()
{
    static const ways w = open_ways();
    return w;
}

/* Checks that there is code for the device.  PTX for the oldest compute capability runs on all later ones. */
static void look_at(const cudaDeviceProp &prop, machine *m)
{
    const int oldest = VHEM_CUDA_OLDEST;
    if (10 * prop.major + prop.minor < oldest)
        snprintf(m->problem, sizeof m->problem,
                 "its compute capability is %d.%d, this vhem was built for %d.%d and newer", prop.major,
                 prop.minor, oldest / 10, oldest % 10);
    else
        m->usable = true;
    snprintf(m->name, sizeof m->name, "%s", prop.name);
}

static machine look()
{
    machine m = {};
    int n = 0;
    cudaDeviceProp prop;
    cudaError_t e = cudaGetDeviceCount(&n);
    m.pid = getpid();
    if (e == cudaErrorInsufficientDriver)
        snprintf(m.problem, sizeof m.problem, "there is no NVIDIA driver for CUDA %d.%d here",
                 CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (e == cudaErrorNoDevice || (e == cudaSuccess && n == 0))
        snprintf(m.problem, sizeof m.problem, "there is no NVIDIA GPU here");
    else if (e == cudaSuccess)
        e = cudaGetDeviceProperties(&prop, CHOSEN);
    if (e == cudaSuccess && n > 0)
        look_at(prop, &m);
    else if (!m.problem[0])
        snprintf(m.problem, sizeof m.problem, "%s", cudaGetErrorString(e));
    cudaGetLastError(); /* clears the error, already handled */
    return m;
}

static const machine &here()
{
    static const machine m = look();
    return m;
}

const char *vh_device_problem(void)
{
    const machine &m = here();
    if (m.usable && m.pid != getpid())
        return "this process was forked from one that had looked for the GPU; spawn it instead";
    return m.usable ? NULL : m.problem;
}

const char *vh_device_name(void)
{
    return here().name;
}

const char *vh_device_enter(void)
{
    const char *why = vh_device_problem();
    if (!why)
        why = vh_cuda_error(cudaSetDevice(CHOSEN));
    return why ? why : on_device().problem;
}

const char *vh_device_memory(size_t *unused, size_t *all)
{
    return vh_cuda_error(cudaMemGetInfo(unused, all));
}

const char *vh_device_new(size_t bytes, void *out)
{
    return vh_cuda_error(cudaMalloc((void **)out, bytes > 0 ? bytes : 1));
}

void vh_device_free(void *p)
{
    if (p)
        cudaFree(p);
}

const char *vh_device_new_pinned(size_t bytes, void *out)
{
    return vh_cuda_error(cudaMallocHost((void **)out, bytes > 0 ? bytes : 1));
}

void vh_device_free_pinned(void *p)
{
    if (p)
        cudaFreeHost(p);
}

const char *vh_device_put(void *to, const void *from, size_t bytes)
{
    return vh_cuda_error(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}

const char *vh_device_get(void *to, const void *from, size_t bytes)
{
    return vh_cuda_error(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

const char *vh_device_put_begin(void *to, const void *from, size_t bytes)
{
    return vh_cuda_error(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, on_device().copies));
}

const char *vh_device_put_wait(void)
{
    return vh_cuda_error(cudaStreamSynchronize(on_device().copies));
}

const char *vh_device_zero(void *p, size_t bytes)
{
    return vh_cuda_error(cudaMemsetAsync(p, 0, bytes, 0));
}

