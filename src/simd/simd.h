/* SPDX-License-Identifier: BSD-3-Clause */
/* simd.h - the vector backends: the same sources compiled once per instruction set.  VH_ISA is the name of
 * the one being compiled; VH_NAME(f) appends it to f. */
#ifndef VH_SIMD_SIMD_H
#define VH_SIMD_SIMD_H

#include "core/backend.h"
#include "distance/ppk_kernel.h"
#include "vhem/estep.h"
#include "fit/estep.h"

#define VH_JOIN_(a, b) a##_##b
#define VH_JOIN(a, b)  VH_JOIN_(a, b)
#define VH_NAME(f)     VH_JOIN(f, VH_ISA)
#define VH_TEXT_(a)    #a
#define VH_TEXT(a)     VH_TEXT_(a)

#ifdef VH_ISA
/* The E-steps of this instruction set. */
vhem_status VH_NAME(vh_simd_forward_backward)(vhem_ctx *, const vh_seq_chunk *, vh_scratch *, double *loglik,
                                              vh_stats *);
vhem_status VH_NAME(vh_simd_reduce_prepare)(vhem_ctx *, const vh_packed *base, void **prepared);
void VH_NAME(vh_simd_reduce_release)(void *prepared);
vhem_status VH_NAME(vh_simd_reduce_chunk)(vhem_ctx *, const vh_reduce_chunk *, vh_scratch *,
                                          vh_reduce_sums *);
/* The product kernel between sets of HMMs. */
vhem_status VH_NAME(vh_simd_product_prepare)(vhem_ctx *, const vh_product *, void **prepared);
void VH_NAME(vh_simd_product_release)(void *prepared);
vhem_status VH_NAME(vh_simd_product)(vhem_ctx *, const vh_product *, const void *prepared,
                                     const vh_rectangle *, vh_scratch *, double *log_k);
#endif

enum { VH_MAX_LANES = 8 }; /* the most lanes of any instruction set */

extern const vh_backend vh_backend_simd, vh_backend_avx2, vh_backend_avx512;

/* The best backend that this CPU supports. */
const vh_backend *vh_backend_cpu(void);

bool vh_usable_simd(void);
bool vh_usable_avx2(void);
bool vh_usable_avx512(void);

#endif
