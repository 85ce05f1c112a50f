/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_sum.h - the sum of many chunks, bit-identical however they are distributed.
 *
 * Work is cut into chunks by index, always in the same way.  Chunk c yields a block of numbers.  The blocks
 * are added in one fixed binary tree: node (level, index) is the sum of the chunks from index << level to
 * ((index + 1) << level) - 1, left child + right child.  An incomplete right edge is closed from the right,
 * so the sum of 7 chunks is
 *
 *     ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + c6)
 *
 * The thread, shard or machine that adds a pair and the order in which chunks arrive make no difference.  A
 * vh_tree_sum holds the nodes whose siblings have not arrived: at most log2(n) + 1 for n chunks that arrive
 * in order, and usually one more per thread still busy with a chunk.  Blocks are reused. */
#ifndef VH_PARALLEL_TREE_SUM_H
#define VH_PARALLEL_TREE_SUM_H

#include "core/ctx.h"

#include <stddef.h>

/* left += right; arg is that of the sum. */
typedef void vh_blocks_add(const void *arg, double *left, const double *right);

typedef struct {
    int level;
    int64_t index;
    double *block;
} vh_sum_node;

typedef struct vh_tree_sum vh_tree_sum;

/* A sum of blocks of `size` doubles.  add NULL: elementwise; arg must outlive the sum. */
vhem_status vh_tree_sum_new(vhem_ctx *ctx, size_t size, vh_blocks_add *add, const void *arg,
                            vh_tree_sum **out);
/* An empty sum of the same kind. */
vhem_status vh_tree_sum_like(vhem_ctx *ctx, const vh_tree_sum *sum, vh_tree_sum **out);
size_t vh_tree_sum_size(const vh_tree_sum *sum); /* of a block */
void vh_tree_sum_free(vh_tree_sum *sum);         /* NULL is allowed */
VH_OWNED(vh_tree_sum, vh_tree_sum_free)

typedef struct { /* chunks first .. first+n-1, begun in order by free threads */
    int64_t first, n;
    int threads;
    bool stops; /* a stop ends the work soon, with VHEM_ESTOPPED; else all chunks are finished and the caller
                 * checks the stop flag: its model and its sums belong together */
    bool late;  /* but an overdue stop (vh_overdue) ends it */
    /* Fills block, zeroed on entry, with the numbers of a chunk.  worker < threads; ctx belongs to it. */
    vhem_status (*run)(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block);
    void *arg;
} vh_chunks;

/* Runs the chunks and adds their blocks to the sum (NULL: none, and block is NULL too).  On failure: the
 * status and error of the lowest failed chunk, at any number of threads.  Failure or a stop empties the
 * sum. */
vhem_status vh_tree_sum_run(vhem_ctx *ctx, const vh_chunks *chunks, vh_tree_sum *sum);

/* Computes the sum of chunks 0 .. chunks-1 into total [size] and empties the sum.  VHEM_EINVAL if a chunk is
 * missing or there are more. */
vhem_status vh_tree_sum_close(vhem_ctx *ctx, vh_tree_sum *sum, int64_t chunks, double *total);

/* For sums computed in several places.  Nodes are sorted by chunk; they belong to the sum and are valid until
 * it changes.  put copies the block; VHEM_EINVAL if the sum already has one of its chunks.  put is
 * thread-safe; merge moves the nodes out of `from`, which has the same kind. */
int64_t vh_tree_sum_nodes(const vh_tree_sum *sum, const vh_sum_node **nodes);
vhem_status vh_tree_sum_put(vhem_ctx *ctx, vh_tree_sum *sum, int level, int64_t index, const double *block);
vhem_status vh_tree_sum_merge(vhem_ctx *ctx, vh_tree_sum *sum, vh_tree_sum *from);

#endif
