/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - a GPU as the rest of this folder sees it: memory, copies, and whether there is one.  Plain C: no
 * type of CUDA leaves the .cu files.
 *
 * Every call that can fail returns NULL, or a sentence that says what went wrong. */
#ifndef VH_CUDA_DEVICE_H
#define VH_CUDA_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why no GPU can be used here, in half a sentence that stands for good; NULL: one can be used.  It is also a
 * problem to be the child of a process that has asked: CUDA does not outlive a fork. */
const char *vh_device_problem(void);
const char *vh_device_name(void); /* "NVIDIA H200" */
/* The calling thread works with the device from here on: every thread begins a job with it. */
const char *vh_device_enter(void);
/* Bytes that are free, and how many there are. */
const char *vh_device_memory(size_t *unused, size_t *all);

/* Memory on the device, and memory of this machine that copies go out of quickly.  *out is a pointer to the
 * kind of array wanted.  Freeing NULL is allowed. */
const char *vh_device_new(size_t bytes, void *out);
void vh_device_free(void *p);
const char *vh_device_new_pinned(size_t bytes, void *out);
void vh_device_free_pinned(void *p);

/* Copies are finished when they return, and the kernels before them too. */
const char *vh_device_put(void *to, const void *from, size_t bytes);
const char *vh_device_get(void *to, const void *from, size_t bytes);
/* The same beside running kernels, from pinned memory: done when vh_device_put_wait returns. */
const char *vh_device_put_begin(void *to, const void *from, size_t bytes);
const char *vh_device_put_wait(void);
/* To pinned memory, after the kernels that were started so far and beside those started later: done when
 * vh_device_get_wait returns.  slot: 0 .. VH_DEVICE_GETS-1, of the copy that is waited for. */
enum { VH_DEVICE_GETS = 2 };
const char *vh_device_get_begin(int slot, void *to, const void *from, size_t bytes);
const char *vh_device_get_wait(int slot);
const char *vh_device_zero(void *p, size_t bytes);
const char *vh_device_wait(void); /* for all kernels that were started */

#ifdef __cplusplus
}
#endif

/* Need in scope what VH_CHECK needs. */
#define VH_DEVICE(call)                                             \
    do {                                                            \
        const char *why_ = (call);                                  \
        VH_CHECK(!why_, VHEM_EBACKEND, "the GPU failed: %s", why_); \
    } while (0)

#endif
