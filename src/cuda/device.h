/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - interface to a GPU for the rest of this folder: memory, copies, and availability.  Plain C: CUDA
 * types stay in the .cu files.
 *
 * Every call that can fail returns NULL on success, otherwise an error message. */
#ifndef VH_CUDA_DEVICE_H
#define VH_CUDA_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NULL if a GPU can be used, otherwise why not, as half a sentence in static storage.  A child forked from a
 * process that has called this cannot use the GPU: CUDA does not survive a fork. */
const char *vh_device_problem(void);
const char *vh_device_name(void); /* "NVIDIA H200" */
/* Selects the device for the calling thread; every thread calls it at the start of a job. */
const char *vh_device_enter(void);
/* Free and total bytes of the device. */
const char *vh_device_memory(size_t *unused, size_t *all);

/* Allocate memory on the device, or pinned host memory for fast copies.  *out is a pointer of any array type.
 * Freeing NULL is allowed. */
const char *vh_device_new(size_t bytes, void *out);
void vh_device_free(void *p);
const char *vh_device_new_pinned(size_t bytes, void *out);
void vh_device_free_pinned(void *p);

/* Blocking copies; they also wait for the kernels started before. */
const char *vh_device_put(void *to, const void *from, size_t bytes);
const char *vh_device_get(void *to, const void *from, size_t bytes);
/* Copies from pinned memory while kernels run; complete when vh_device_put_wait returns. */
const char *vh_device_put_begin(void *to, const void *from, size_t bytes);
const char *vh_device_put_wait(void);
const char *vh_device_zero(void *p, size_t bytes);

#ifdef __cplusplus
}
#endif

/* Requires what VH_CHECK requires in scope. */
#define VH_DEVICE(call)                                             \
    do {                                                            \
        const char *why_ = (call);                                  \
        VH_CHECK(!why_, VHEM_EBACKEND, "the GPU failed: %s", why_); \
    } while (0)

#endif
