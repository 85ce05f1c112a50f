/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.h - the kernel table: everything that is worth doing differently on different hardware.
 *
 * The plain C of `ref` defines the right answer.  What another backend leaves out is done by it. */
#ifndef VH_CORE_BACKEND_H
#define VH_CORE_BACKEND_H

#include <stdbool.h>

/* The tables of kernels, each beside the equations that it computes. */
struct vh_seq_kernels;     /* fit/estep.h: HMMs against sequences */
struct vh_reduce_kernels;  /* vhem/estep.h: HMMs against HMMs, the E-step of VHEM */
struct vh_product_kernels; /* distance/ppk_kernel.h: HMMs against HMMs, the product kernel */

typedef struct vh_backend {
    const char *name;
    bool (*usable)(void);         /* CPU flag or device present */
    const char *(*problem)(void); /* why not, in half a sentence; NULL: there is nothing more to say */

    const struct vh_seq_kernels *sequences; /* NULL: those in plain C; likewise */
    const struct vh_reduce_kernels *reduce;
    const struct vh_product_kernels *product;
} vh_backend;

extern const vh_backend vh_backend_ref; /* plain C throughout; context.c */

#endif
