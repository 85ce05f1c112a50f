/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_sum.h - the sum of many chunks, with the same bits however they are dealt out.
 *
 * Work is cut into chunks by index; a chunk is never cut differently.  Chunk c gives a block of numbers.  The
 * blocks are added in one fixed binary tree: node (level, index) is the sum of the chunks from index << level
 * to ((index + 1) << level) - 1, left child + right child.  A right edge that is not complete is closed from
 * the right, so the sum of 7 chunks is
 *
 *     ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + c6)
 *
 * Which thread, shard or machine adds which pair, and in which order chunks arrive, makes no difference.  A
 * vh_tree_sum holds the nodes of the chunks that have arrived and whose sibling has not: at most log2(n) + 1
 * for n chunks that come in order, and usually one more for each thread that is still busy with a chunk.  The
 * memory of a block is used again. */
#ifndef VH_PARALLEL_TREE_SUM_H
#define VH_PARALLEL_TREE_SUM_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    size_t size; /* doubles of a block */
    /* left += right.  NULL: number by number.  arg must outlive the sum. */
    void (*add)(const void *arg, double *left, const double *right);
    const void *arg;
} vh_sum_kind;

typedef struct {
    int level;
    int64_t index;
    double *block;
} vh_sum_node;

typedef struct vh_tree_sum vh_tree_sum;

vhem_status vh_tree_sum_new(vhem_ctx *ctx, const vh_sum_kind *kind, vh_tree_sum **out);
void vh_tree_sum_free(vh_tree_sum *sum); /* NULL is allowed */
VH_OWNED(vh_tree_sum, vh_tree_sum_free)

typedef struct { /* the chunks first .. first+n-1, each begun in its turn by whichever thread is free */
    int64_t first, n;
    int threads;
    bool stops; /* a stop ends the work soon, with VHEM_ESTOPPED; otherwise every chunk is finished, and the
                   caller looks at the stop flag afterwards: its model and its sums belong together */
    bool late;  /* even so a stop that is overdue (vh_overdue) ends it */
    /* Fills block, which is all zero, with the numbers of a chunk.  worker < threads; ctx belongs to that
     * worker. */
    vhem_status (*run)(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block);
    void *arg;
} vh_chunks;

/* Runs the chunks and adds their blocks to the sum (NULL: none, and a block is NULL too).  When
 * chunks fail: the status and the sentence of the one with the lowest number, the same at any number of
 * threads; the sum is empty then and after a stop. */
vhem_status vh_tree_sum_run(vhem_ctx *ctx, const vh_chunks *chunks, vh_tree_sum *sum);

/* The sum of all chunks 0 .. chunks-1 into total [size]; the sum is empty afterwards.  VHEM_EINVAL when one
 * is missing or there are more. */
vhem_status vh_tree_sum_close(vhem_ctx *ctx, vh_tree_sum *sum, int64_t chunks, double *total);

/* For sums that are made in several places.  Nodes are in the order of their chunks; they belong to the sum
 * and live until it changes.  put copies the block; VHEM_EINVAL when one of its chunks is there already.
 * put may be called by several threads; merge takes the nodes out of `from`, which has the same kind. */
const vh_sum_kind *vh_tree_sum_kind(const vh_tree_sum *sum);
int64_t vh_tree_sum_nodes(const vh_tree_sum *sum, const vh_sum_node **nodes);
vhem_status vh_tree_sum_put(vhem_ctx *ctx, vh_tree_sum *sum, int level, int64_t index, const double *block);
vhem_status vh_tree_sum_merge(vhem_ctx *ctx, vh_tree_sum *sum, vh_tree_sum *from);

#endif
