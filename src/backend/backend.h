/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the kernel table: everything that is worth doing differently on different hardware.
 *
 * A backend starts as a copy of `ref`, which defines the right answer, and
 * replaces the entries it speeds up. */
#ifndef VH_BACKEND_BACKEND_H
#define VH_BACKEND_BACKEND_H

#include "backend/product.h"
#include "backend/reduce.h"
#include "backend/sequences.h"

typedef struct vh_backend {
    const char *name;
    bool (*usable)(void);         /* CPU flag or device present */
    const char *(*problem)(void); /* why not, in half a sentence; NULL: there is nothing more to say */

    vh_seq_kernels sequences;

    vh_reduce_kernels reduce;

    vh_product_kernels product;
} vh_backend;

extern const vh_backend vh_backend_ref;

/* The best usable one of those that need nothing but a CPU. */
const vh_backend *vh_backend_cpu(void);

#endif
