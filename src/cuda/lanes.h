/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h - the sequences of a job on the device: their lanes and the statistics of their frames, all at once
 * if they fit, otherwise one tile at a time, filled and copied while the previous one is processed. */
#ifndef VH_CUDA_LANES_H
#define VH_CUDA_LANES_H

#include "cuda/forward_backward_kernels.h"
#include "fit/estep.h"

enum { VH_CUDA_BUFFERS = 2 };

typedef struct {
    vh_sequences in;
    int n_stat, n_lane_block, n_lane, n_chunk;
    int *place;     /* [n_lane]  place of the sequence in each lane, the longest first; -1: none */
    int *length;    /* [n_lane] */
    double *weight; /* [n_lane]  of the sequences; 0 in unused lanes */
    size_t *step0;  /* [n_lane_block+1] */
    int *chunk0;    /* [n_chunk+1]  first lane block of each chunk */
    char *memory;   /* on the device: length, step0, chunk0 and the sequence weights */
    const int *far_length, *far_chunk0;
    const size_t *far_step0;
    const double *far_weight; /* [n_lane] */
    bool loaded, streams;
    double *T; /* [steps][n_stat][lanes of a lane block], on the device, unless they stream */
    double *buffer[VH_CUDA_BUFFERS], *pinned;
    size_t buffer_bytes[VH_CUDA_BUFFERS], pinned_bytes;
} vh_cuda_lanes;

/* Assigns sequences to lanes; copies nothing to the device yet. */
vhem_status vh_cuda_lanes_new(vhem_ctx *ctx, const vh_sequences *in, vh_cuda_lanes *out);
/* Copies the data to the device on the first call; frames that stream are copied by vh_cuda_lanes_begin. */
vhem_status vh_cuda_lanes_load(vhem_ctx *ctx, vh_cuda_lanes *x);
void vh_cuda_lanes_free(vh_cuda_lanes *x);

/* Chunks first .. first+n-1 in the form kernels need, except for the tables. */
vh_cuda_frames vh_cuda_lanes_tile(const vh_cuda_lanes *x, int first, int n);
/* Sets the frames of tile number t of a pass and, if they stream, starts copying them; vh_cuda_lanes_wait
 * waits for the copy. */
vhem_status vh_cuda_lanes_begin(vhem_ctx *ctx, vh_cuda_lanes *x, int t, vh_cuda_frames *tile);
vhem_status vh_cuda_lanes_wait(vhem_ctx *ctx, const vh_cuda_lanes *x);

#endif
