/* SPDX-License-Identifier: BSD-3-Clause */
/* tile.h - base HMMs on the device: a tile is the HMMs of some chunks, arranged in lanes by shape
 * (estep_kernels.h), in one block of memory moved by a single copy. */
#ifndef VH_CUDA_TILE_H
#define VH_CUDA_TILE_H

#include "cuda/estep_kernels.h"
#include "vhem/estep.h"

typedef struct {
    int64_t first; /* place of its first base HMM */
    int rows, n_chunk;
    int n_shape;
    vh_cuda_base *shape;   /* [n_shape]  with pointers into memory */
    const double *omega;   /* [rows], on the device, like number */
    const int64_t *number; /* [rows] */
    size_t bytes;
    char *memory; /* on the device */
} vh_cuda_lay;

/* Plans the size and layout of a tile of these chunks: sets everything but `memory`, with pointers as if
 * memory began at 0.  chunk [n_chunk]. */
vhem_status vh_cuda_lay_plan(vhem_ctx *ctx, const vh_packed *chunk, vh_cuda_lay *lay);
/* Writes the tile to host memory, lay->bytes of it.  Weights and indices come from the source. */
void vh_cuda_lay_fill(vhem_ctx *ctx, const vh_cuda_lay *lay, const vh_base_source *source,
                      const vh_packed *chunk, char *to);
/* Sets the memory and rebases all pointers. */
void vh_cuda_lay_move(vh_cuda_lay *lay, char *memory);
void vh_cuda_lay_clear(vh_cuda_lay *lay); /* does not free memory */

#endif
