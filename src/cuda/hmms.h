/* SPDX-License-Identifier: BSD-3-Clause */
/* hmms.h - the HMMs of an E-step of Baum-Welch or EM-H3M on the device, in one block of memory. */
#ifndef VH_CUDA_HMMS_H
#define VH_CUDA_HMMS_H

#include "cuda/forward_backward_kernels.h"
#include "hmm/pack.h"

typedef struct {  /* zero-initialize */
    char *memory; /* on the device; grows as needed */
    size_t bytes;
    vh_cuda_hmms h;
    int most_states;
    bool looks; /* some of them have `look` set (forward_backward_kernels.h) */
} vh_cuda_set;

/* Is some transition of HMM k nearly impossible? */
bool vh_cuda_looks(const vh_packed *pk, int k);
vhem_status vh_cuda_set_put(vhem_ctx *ctx, const vh_packed *pk, vh_cuda_set *set);
void vh_cuda_set_free(vh_cuda_set *set);

#endif
