/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.h - sums over many chunks of work, with the same bits whoever makes them: the threads of the context,
 * and where several processes make the same call (vhem_ranks) these, each with a range of the chunks. */
#ifndef VH_PARALLEL_SUM_H
#define VH_PARALLEL_SUM_H

#include "parallel/tree_sum.h"

typedef struct { /* a table whose rows the chunks fill in; all processes have all of it in the end */
    void *x;     /* [rows][bytes]; NULL: there is none */
    size_t bytes;
    /* Rows lo .. hi-1 are those of chunks first .. end-1, of which there is at least one.  Chunks that
     * belong to different processes may both give a row when they give it the same numbers. */
    void (*rows)(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
    const void *arg;
} vh_sum_table;

typedef struct { /* how several processes make a sum together */
    const vh_sum_table *table;
    int tables;
    uint64_t fingerprint; /* of the models that the sum is made with; 0: none */
    /* Adds chunks first .. first+n-1 to the sum; NULL: each by itself, with run of the chunks. */
    vhem_status (*range)(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, vh_tree_sum *sum);
} vh_shared;

/* Of n chunks *first .. *end-1 are those of this process. */
void vh_sum_range(const vhem_ctx *ctx, int64_t n, int64_t *first, int64_t *end);

/* The sum of all chunks, from 0 on, into total; it begins and ends empty.  NULL: there is nothing to add up,
 * and the block of a chunk is NULL too.  shared NULL: this process makes all of it.  A chunk that fails or is
 * stopped on one process does so on all: the sentence is that of the lowest of them. */
vhem_status vh_sum(vhem_ctx *ctx, const vh_chunks *chunks, const vh_shared *shared, vh_tree_sum *sum,
                   double *total);

#endif
