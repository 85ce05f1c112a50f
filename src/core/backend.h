/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the kernel table of a backend.
 *
 * The plain C of `ref` defines the right answer and replaces every kernel that another backend lacks. */
#ifndef VH_CORE_BACKEND_H
#define VH_CORE_BACKEND_H

#include <stdbool.h>

/* Kernel tables, each declared beside its equations. */
struct vh_seq_kernels;     /* fit/estep.h: HMMs against sequences */
struct vh_reduce_kernels;  /* vhem/estep.h: HMMs against HMMs, the E-step of VHEM */
struct vh_product_kernels; /* distance/ppk_kernel.h: HMMs against HMMs, the product kernel */

typedef struct vh_backend {
    const char *name;
    bool (*usable)(void);         /* true if the CPU flag or device is present */
    const char *(*problem)(void); /* why not, as half a sentence; NULL: no more to say */

    const struct vh_seq_kernels *sequences; /* NULL: the plain C kernels; same for the next two */
    const struct vh_reduce_kernels *reduce;
    const struct vh_product_kernels *product;
} vh_backend;

extern const vh_backend vh_backend_ref; /* plain C throughout; context.c */

#endif
