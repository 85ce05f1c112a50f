/* SPDX-License-Identifier: BSD-3-Clause */
/* base_store.h - the base HMMs of a job on the device: all of them, if they fit, else a tile at a time,
 * loaded while the one before is worked on. */
#ifndef VH_CUDA_BASE_STORE_H
#define VH_CUDA_BASE_STORE_H

#include "cuda/tile.h"

enum { VH_CUDA_MOST_CHUNKS = 256, VH_CUDA_STREAMS = 2 }; /* chunks of a tile; tiles on their way */

typedef struct { /* memory that tiles pass through */
    vh_cuda_lay lay;
    char *memory, *pinned; /* on the device; on this machine */
    size_t bytes, pinned_bytes;
} vh_cuda_passing;

typedef struct {    /* what an E-step wants beside a tile, which bounds its size */
    int Kr;         /* tables [Kr][rows] */
    int components; /* most of a centre: a table [components of a base HMM][components][rows] */
    size_t n_sums;  /* sums [chunks][n_sums] */
} vh_cuda_need;

typedef struct { /* zero it, and set the source */
    vh_base_source source;
    vh_cuda_need need; /* that tiles are planned for */
    bool loaded;       /* tiles are planned and, unless they stream, on the device */
    bool streams;
    int level, n_tile; /* 2^level chunks to a tile */
    double components; /* most of a base HMM, as far as they were looked at */
    double table;      /* bytes that a table of a tile may take, unless a chunk needs more */
    vh_cuda_lay *tile; /* [n_tile]  of a job that does not stream */
    vh_cuda_passing passing[VH_CUDA_STREAMS];
} vh_cuda_store;

/* Nothing, the second time, unless tables no longer fit beside the tiles: these are then planned again. */
vhem_status vh_cuda_store_load(vhem_ctx *ctx, vh_cuda_store *store, vh_cuda_need need);
void vh_cuda_store_free(vh_cuda_store *store);
/* Work on every tile in turn, its number beside it.  stops: a stop ends it, with VHEM_ESTOPPED;
 * otherwise one that is overdue. */
vhem_status vh_cuda_store_each(vhem_ctx *ctx, vh_cuda_store *store, bool stops,
                               vhem_status (*work)(void *arg, const vh_cuda_lay *, int index), void *arg);
/* The chunks of a tile as the source has them, chunk [n_chunk]; they are given back. */
vhem_status vh_cuda_store_take(vhem_ctx *ctx, const vh_cuda_store *store, int index, vh_packed *chunk);
void vh_cuda_store_give_back(const vh_cuda_store *store, int n, vh_packed *chunk);

typedef struct { /* chunks that go back to their store */
    const vh_cuda_store *store;
    int n;
    vh_packed *chunk; /* [n] */
} vh_cuda_chunks;
void vh_cuda_chunks_end(vh_cuda_chunks *own); /* VH_CLEANUP */

#endif
