/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h - memory reused between calls and reallocated when it is too small. */
#ifndef VH_CUDA_BUFFER_H
#define VH_CUDA_BUFFER_H

#include "core/ctx.h"

#include <stddef.h>

/* Makes *p hold at least `bytes` bytes; its contents are lost when it grows.  *have is its size.  p is the
 * address of a pointer to any kind of array. */
vhem_status vh_cuda_room(vhem_ctx *ctx, size_t bytes, size_t *have, void *p); /* on the device */
vhem_status vh_cuda_pinned_room(vhem_ctx *ctx, size_t bytes, size_t *have,
                                void *p); /* pinned memory of the host */

#endif
