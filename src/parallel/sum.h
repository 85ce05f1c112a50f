/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.h - sums over many chunks of work, bit-identical for any number of threads and of processes that make
 * the same call (vhem_ranks), each with a range of the chunks. */
#ifndef VH_PARALLEL_SUM_H
#define VH_PARALLEL_SUM_H

#include "parallel/tree_sum.h"

typedef struct { /* a table whose rows the chunks fill in; every process gets all of it */
    void *x;     /* [rows][bytes]; NULL: none */
    size_t bytes;
    /* Gets the rows lo .. hi-1 of chunks first .. end-1 (at least one).  Chunks of different processes may
     * share a row if they fill in the same numbers. */
    void (*rows)(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
    const void *arg;
} vh_sum_table;

typedef struct { /* how several processes compute a sum together */
    const vh_sum_table *table;
    int tables;
    uint64_t fingerprint; /* of the models used by the sum; 0: none */
    /* Adds chunks first .. first+n-1 to the sum; NULL: runs each chunk separately. */
    vhem_status (*range)(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, vh_tree_sum *sum);
    bool whole; /* a stop waits until the sum is complete, however long that takes */
} vh_shared;

/* Chunks *first .. *end-1 of n belong to this process. */
void vh_sum_range(const vhem_ctx *ctx, int64_t n, int64_t *first, int64_t *end);

/* Computes the sum of all chunks from 0 on into total; `sum` is empty before and after, or NULL: nothing to
 * add up, and the block of a chunk is NULL too.  shared NULL: this process runs all chunks.  A chunk that
 * fails or is stopped on one process does so on all; the error is that of the lowest rank. */
vhem_status vh_sum(vhem_ctx *ctx, const vh_chunks *chunks, const vh_shared *shared, vh_tree_sum *sum,
                   double *total);

#endif
