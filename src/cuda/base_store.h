/* SPDX-License-Identifier: BSD-3-Clause */
/* base_store.h - the base HMMs of a job on the device: all of them if they fit, otherwise one tile at a time,
 * loaded while the previous one is processed. */
#ifndef VH_CUDA_BASE_STORE_H
#define VH_CUDA_BASE_STORE_H

#include "cuda/tile.h"

enum { VH_CUDA_MOST_CHUNKS = 256, VH_CUDA_STREAMS = 2 }; /* most chunks per tile; tiles in flight */

typedef struct { /* buffers for tiles in transit */
    vh_cuda_lay lay;
    char *memory, *pinned; /* on the device; pinned, on the host */
    size_t bytes, pinned_bytes;
} vh_cuda_passing;

typedef struct { /* zero-initialize, then set the source */
    vh_base_source source;
    /* what tiles were planned for: memory that an E-step needs besides a tile, which limits its size */
    int Kr;        /* tables [Kr][rows] */
    int in_centre; /* most components of a centre: a table [components of a base HMM][in_centre][rows] */
    size_t n_sums; /* sums [chunks][n_sums] */
    bool loaded;   /* tiles are planned and, unless they stream, on the device */
    bool streams;
    int level, n_tile; /* 2^level chunks per tile */
    double components; /* largest number of components of the base HMMs inspected */
    double table;      /* maximum bytes of a table of a tile, unless a chunk needs more */
    vh_cuda_lay *tile; /* [n_tile]  if the job does not stream */
    vh_cuda_passing passing[VH_CUDA_STREAMS];
} vh_cuda_store;

/* Plans the tiles and, unless they stream, loads them.  Later calls replan if the tables no longer fit. */
vhem_status vh_cuda_store_load(vhem_ctx *ctx, vh_cuda_store *store, int Kr, int in_centre, size_t n_sums);
void vh_cuda_store_free(vh_cuda_store *store);
/* Calls `work` on every tile in turn, with its index.  Returns VHEM_ESTOPPED on a stop if `stops`, otherwise
 * only on an overdue stop. */
vhem_status vh_cuda_store_each(vhem_ctx *ctx, vh_cuda_store *store, bool stops,
                               vhem_status (*work)(void *arg, const vh_cuda_lay *, int index), void *arg);
/* Takes the chunks of a tile from the source, chunk [n_chunk]; give them back after use. */
vhem_status vh_cuda_store_take(vhem_ctx *ctx, const vh_cuda_store *store, int index, vh_packed *chunk);

typedef struct { /* chunks to be given back to their store */
    const vh_cuda_store *store;
    int n;
    vh_packed *chunk; /* [n] */
} vh_cuda_chunks;
void vh_cuda_chunks_end(vh_cuda_chunks *own); /* VH_CLEANUP */

#endif
