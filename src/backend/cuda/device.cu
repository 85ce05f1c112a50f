/* SPDX-License-Identifier: BSD-3-Clause */
/* device.cu - see device.h.  The CUDA runtime is linked in and looks for the driver only when it is first asked
 * for something, so that a program with this file in it runs on machines without one. */
#include "backend/cuda/device.h"

#include "backend/cuda/launch.cuh"

#include <stdio.h>

const char *vh_cuda_error(cudaError_t e)
{
    return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

/* What the first look at the machine has found; made once. */
struct machine {
    char problem[200];
    char name[256];
    bool usable;
    cudaStream_t copies; /* beside the stream of the kernels */
    cudaEvent_t made, fetched[VH_DEVICE_GETS];
};

static cudaError_t open_streams(machine *m)
{
    cudaError_t e = cudaStreamCreateWithFlags(&m->copies, cudaStreamNonBlocking);
    if (e == cudaSuccess)
        e = cudaEventCreateWithFlags(&m->made, cudaEventDisableTiming);
    for (int k = 0; k < VH_DEVICE_GETS && e == cudaSuccess; k++)
        e = cudaEventCreateWithFlags(&m->fetched[k], cudaEventDisableTiming);
    return e;
}

static machine look(void)
{
    machine m = {};
    int n = 0;
    cudaDeviceProp prop;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaErrorInsufficientDriver)
        snprintf(m.problem, sizeof m.problem, "there is no NVIDIA driver for CUDA %d.%d here",
                 CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    else if (e == cudaErrorNoDevice || (e == cudaSuccess && n == 0))
        snprintf(m.problem, sizeof m.problem, "there is no NVIDIA GPU here");
    else if (e == cudaSuccess)
        e = cudaGetDeviceProperties(&prop, 0);
    if (e == cudaSuccess && n > 0)
        e = open_streams(&m);
    if (e == cudaSuccess && n > 0) {
        m.usable = true;
        snprintf(m.name, sizeof m.name, "%s", prop.name);
    } else if (!m.problem[0]) {
        snprintf(m.problem, sizeof m.problem, "%s", cudaGetErrorString(e));
    }
    cudaGetLastError(); /* it has been dealt with */
    return m;
}

static const machine &here(void)
{
    static const machine m = look();
    return m;
}

const char *vh_device_problem(void)
{
    return here().usable ? NULL : here().problem;
}

const char *vh_device_name(void)
{
    return here().name;
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
    return vh_cuda_error(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, here().copies));
}

const char *vh_device_put_wait(void)
{
    return vh_cuda_error(cudaStreamSynchronize(here().copies));
}

const char *vh_device_get_begin(int slot, void *to, const void *from, size_t bytes)
{
    const machine &m = here();
    cudaError_t e = cudaEventRecord(m.made, 0);
    if (e == cudaSuccess)
        e = cudaStreamWaitEvent(m.copies, m.made, 0);
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, m.copies);
    if (e == cudaSuccess)
        e = cudaEventRecord(m.fetched[slot], m.copies);
    return vh_cuda_error(e);
}

const char *vh_device_get_wait(int slot)
{
    return vh_cuda_error(cudaEventSynchronize(here().fetched[slot]));
}

const char *vh_device_zero(void *p, size_t bytes)
{
    return vh_cuda_error(cudaMemsetAsync(p, 0, bytes, 0));
}

const char *vh_device_wait(void)
{
    return vh_cuda_error(cudaStreamSynchronize(0));
}
