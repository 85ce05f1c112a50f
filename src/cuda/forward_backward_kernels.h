/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward_kernels.h - kernels of forward-backward for many sequences, and their data.  Plain C;
 * every pointer in these records is a device pointer.
 *
 * Sequences are arranged in lane blocks of VH_CUDA_LANES, the longest first.  A step is one frame of each
 * lane of a lane block.  The lane is the last index of every table, so that memory accesses coalesce.
 * simd/lanes_body.h has the recursions.
 *
 * A chunk is some lane blocks, the unit of summation: chunks are added in a tree (parallel/tree_sum.h). */
#ifndef VH_CUDA_FORWARD_BACKWARD_KERNELS_H
#define VH_CUDA_FORWARD_BACKWARD_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VH_CUDA_LANES = 32, VH_CUDA_FEW = 6 }; /* most states for recursions in registers */

typedef struct { /* HMMs, in the layout of vh_packed */
    int K, n_state, n_comp, n_stat;
    size_t n_trans;
    unsigned sizes; /* bit S: some HMM has S states; bit 0: some have more than VH_CUDA_FEW */
    const int *S, *M, *state0, *comp0; /* [K] */
    const int *state_of;               /* [n_comp]  state of each component, numbered over the set */
    const int *look;              /* [K]  nonzero if some transition is nearly impossible: simd/lanes.c */
    const size_t *trans0;         /* [K] */
    const double *pi, *A, *theta; /* [n_state] [n_trans] [n_comp][n_stat] */
} vh_cuda_hmms;

typedef struct { /* the sequences of some chunks */
    int lane_blocks, lanes, n_chunk;
    size_t steps;
    const int *length;    /* [lanes]      frames of each; 0: unused */
    const size_t *step0;  /* [lane blocks+1]  first step of each, plus `before` */
    const int *chunk0;    /* [n_chunk+1]  first lane block of each chunk, plus block0 */
    size_t before;        /* steps before the first */
    int block0;           /* lane blocks before the first */
    const double *T;      /* [steps][n_stat]  statistics of the frames; 0 past the end of a lane */
    const double *weight; /* [lanes]     of the sequences */
    const double *w;      /* [K][lanes]  weight of each pair; NULL: that of its sequence */
    double *E;            /* [steps][n_comp]   c p(y | r) divided by its maximum over the HMM */
    double *B, *P;        /* [steps][n_state]  sums of E over the components of a state; predictions */
    double *shift, *r;    /* [steps][K]        log of that maximum; 1 / c_t */
    double *loglik;       /* [K][lanes]  NaN: scaling was unsafe, recompute in logs */
    double *doubt;        /* [K][lanes]  see simd/lanes.c */
    double *chain;        /* [n_state + n_trans][lanes]  nu1 and xi of each pair, times its weight */
    double *work;         /* [vh_cuda_fb_work][K][lanes]  scratch; NULL if all HMMs have few states */
    double *sums;         /* [n_chunk][n_sums]  nu1, xi and T of all HMMs */
    size_t n_sums;
} vh_cuda_frames;

size_t vh_cuda_fb_work(int most_states);
/* Computes E, B and shift. */
const char *vh_cuda_fb_emit(const vh_cuda_hmms *h, const vh_cuda_frames *x);
/* Computes loglik and doubt; keep: also P and r, for the backward pass. */
const char *vh_cuda_fb_forward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool keep);
/* The backward pass, after forward.  collect: B becomes the weight of the pair times p(state | y) / B, and
 * chain is filled; pairs with w = 0 are skipped.  Otherwise only completes the doubt of HMMs with `look`. */
const char *vh_cuda_fb_backward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool collect);
/* Computes the sums of each chunk and adds all of them into the first. */
const char *vh_cuda_fb_collect(const vh_cuda_hmms *h, const vh_cuda_frames *x);

#ifdef __cplusplus
}
#endif

#endif
