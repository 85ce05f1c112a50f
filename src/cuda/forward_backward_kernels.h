/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward_kernels.h - the kernels of forward-backward for many sequences and what they work on.
 * Plain C; every pointer in these records points into the memory of the device.
 *
 * Sequences stand side by side in lanes, a lane block of VH_CUDA_LANES at a time, the longest first.  A
 * step is one frame of each lane of a lane block; every table has the lane last, so that neighbouring
 * threads read neighbouring numbers.  simd/lanes_body.h has the recursions.
 *
 * A chunk is some lane blocks, the unit of the sums: those of all chunks are added in a tree
 * (parallel/tree_sum.h). */
#ifndef VH_CUDA_FORWARD_BACKWARD_KERNELS_H
#define VH_CUDA_FORWARD_BACKWARD_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VH_CUDA_LANES = 32, VH_CUDA_FEW = 6 }; /* states up to which a recursion is in registers */

typedef struct { /* HMMs, laid out as vh_packed has them */
    int K, n_state, n_comp, n_stat;
    size_t n_trans;
    unsigned sizes; /* bit S: there are HMMs with S states; bit 0: with more than the few */
    const int *S, *M, *state0, *comp0; /* [K] */
    const int *state_of;               /* [n_comp]  state of each component, of all of the set */
    const int *look;                   /* [K]  some transition is nearly impossible: simd/lanes.c */
    const size_t *trans0;              /* [K] */
    const double *pi, *A, *theta;      /* [n_state] [n_trans] [n_comp][n_stat] */
} vh_cuda_hmms;

typedef struct { /* the sequences of some chunks */
    int lane_blocks, lanes, n_chunk;
    size_t steps;
    const int *length;    /* [lanes]      frames of each; 0: nobody is there */
    const size_t *step0;  /* [lane blocks+1]  where a lane block begins, with `before` added */
    const int *chunk0;    /* [n_chunk+1]  likewise, with block0 added */
    size_t before;        /* steps before the first */
    int block0;           /* lane blocks before the first */
    const double *T;      /* [steps][n_stat]  statistics of the frames; 0 where a lane has none */
    const double *weight; /* [lanes]     of the sequences, or */
    const double *w;      /* [K][lanes]  what each pair counts; NULL: as its sequence */
    double *E;            /* [steps][n_comp]   c p(y | r) over its largest in the HMM */
    double *B, *P;        /* [steps][n_state]  sums of E over the components of a state; predictions */
    double *shift, *r;    /* [steps][K]        log of that largest; 1 / c_t */
    double *loglik;       /* [K][lanes]  NaN: scaling was not safe, it has to be done again in logs */
    double *doubt;        /* [K][lanes]  see simd/lanes.c */
    double *chain;        /* [n_state + n_trans][lanes]  nu1 and xi of each pair, times its weight */
    double *work;         /* [vh_cuda_fb_work][K][lanes]  scratch; NULL: all HMMs have few states */
    double *sums;         /* [n_chunk][n_sums]  nu1, xi and T of all HMMs */
    size_t n_sums;
} vh_cuda_frames;

size_t vh_cuda_fb_work(int most_states);
/* E, B and shift. */
const char *vh_cuda_fb_emit(const vh_cuda_hmms *h, const vh_cuda_frames *x);
/* loglik and doubt; keep: also P and r, and the way back follows. */
const char *vh_cuda_fb_forward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool keep);
/* The way back, after forward.  collect: B becomes the weight of the pair times p(state | y) over B, and
 * chain is filled; pairs with w = 0 are passed over.  Else only the doubt of HMMs that have to be looked at
 * is settled. */
const char *vh_cuda_fb_backward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool collect);
/* The sums of each chunk, and those of all of them in the place of the first. */
const char *vh_cuda_fb_collect(const vh_cuda_hmms *h, const vh_cuda_frames *x);

#ifdef __cplusplus
}
#endif

#endif
