/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h - memory that is kept from call to call and made anew when more is wanted. */
#ifndef VH_CUDA_BUFFER_H
#define VH_CUDA_BUFFER_H

#include "core/ctx.h"

#include <stddef.h>

/* Room for at least so many bytes at *p; what was there is lost when it grows.  *have is how many there are.
 * p is the address of a pointer to any kind of array. */
vhem_status vh_cuda_room(vhem_ctx *ctx, size_t bytes, size_t *have, void *p); /* on the device */
vhem_status vh_cuda_pinned_room(vhem_ctx *ctx, size_t bytes, size_t *have,
                                void *p); /* on this machine, pinned */

#endif
