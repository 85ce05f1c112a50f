/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_sum.c - see tree_sum.h.
 *
 * The nodes are sorted by chunk and do not overlap, so the sibling of a new node, if present, is its
 * neighbour.  The lock is held while the list changes, never while blocks are added. */
#include "parallel/tree_sum.h"

#include "core/alloc.h"
#include "parallel/map.h"

#include <omp.h>
#include <string.h>

enum { LEVELS = 62 }; /* enough for an int64_t of chunks */

struct vh_tree_sum {
    size_t size;        /* of a block */
    vh_blocks_add *add; /* NULL: elementwise */
    const void *arg;
    omp_lock_t lock;
    vh_sum_node *node; /* [n] */
    int64_t n;
    double **spare; /* [n_spare]  blocks for reuse */
    size_t n_spare, node_cap, spare_cap;
};

static int64_t first_chunk(const vh_sum_node *x)
{
    return x->index << x->level;
}

static int64_t past_last(const vh_sum_node *x)
{
    return (x->index + 1) << x->level;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

vhem_status vh_tree_sum_new(vhem_ctx *ctx, size_t size, vh_blocks_add *add, const void *arg,
                            vh_tree_sum **out)
{
    vh_tree_sum *sum = NULL;
    VH_NEW(sum, 1);
    sum->size = size;
    sum->add = add;
    sum->arg = arg;
    omp_init_lock(&sum->lock);
    *out = sum;
    return VHEM_OK;
}

vhem_status vh_tree_sum_like(vhem_ctx *ctx, const vh_tree_sum *sum, vh_tree_sum **out)
{
    return vh_tree_sum_new(ctx, sum->size, sum->add, sum->arg, out);
}

size_t vh_tree_sum_size(const vh_tree_sum *sum)
{
    return sum->size;
}

void vh_tree_sum_free(vh_tree_sum *sum)
{
    if (!sum)
        return;
    for (int64_t i = 0; i < sum->n; i++)
        free(sum->node[i].block);
    for (size_t i = 0; i < sum->n_spare; i++)
        free(sum->spare[i]);
    free(sum->node);
    free(sum->spare);
    omp_destroy_lock(&sum->lock);
    free(sum);
}

/* Returns an uninitialised block. */
static vhem_status take_block(vhem_ctx *ctx, vh_tree_sum *sum, double **out)
{
    *out = NULL;
    omp_set_lock(&sum->lock);
    if (sum->n_spare > 0)
        *out = sum->spare[--sum->n_spare];
    omp_unset_lock(&sum->lock);
    if (!*out)
        VH_NEW(*out, sum->size);
    return VHEM_OK;
}

/* Keeps a block for reuse, or frees it.  The caller holds the lock. */
static void put_aside(vhem_ctx *ctx, vh_tree_sum *sum, double *block)
{
    if (vh_grow(ctx, &sum->spare, &sum->spare_cap, sum->n_spare + 1, sizeof *sum->spare) == VHEM_OK)
        sum->spare[sum->n_spare++] = block;
    else
        free(block);
}

static void give_back(vhem_ctx *ctx, vh_tree_sum *sum, double *block)
{
    omp_set_lock(&sum->lock);
    put_aside(ctx, sum, block);
    omp_unset_lock(&sum->lock);
}

typedef struct { /* a block to return to its sum */
    vhem_ctx *ctx;
    vh_tree_sum *sum;
    double *block; /* NULL: handed over to the sum */
} loan;

static void end_loan(loan *own)
{
    if (own->block)
        give_back(own->ctx, own->sum, own->block);
}

static void empty(vhem_ctx *ctx, vh_tree_sum *sum)
{
    for (int64_t i = 0; i < sum->n; i++)
        put_aside(ctx, sum, sum->node[i].block);
    sum->n = 0;
}

/* ---- nodes --------------------------------------------------------------------------------------------- */

static void add_blocks(const vh_tree_sum *sum, double *left, const double *right)
{
    if (sum->add)
        sum->add(sum->arg, left, right);
    else
        for (size_t i = 0; i < sum->size; i++)
            left[i] += right[i];
}

/* Position of a node in the list. */
static int64_t place_of(const vh_tree_sum *sum, const vh_sum_node *x)
{
    int64_t lo = 0, hi = sum->n;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (first_chunk(&sum->node[mid]) < first_chunk(x))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Inserts the node, or removes its sibling into *sibling (block NULL: none).  The caller holds the lock. */
static vhem_status place_node(vhem_ctx *ctx, vh_tree_sum *sum, const vh_sum_node *x, vh_sum_node *sibling)
{
    int64_t at = place_of(sum, x), other = x->index % 2 ? at - 1 : at;

    sibling->block = NULL;
    VH_CHECK((at == 0 || past_last(&sum->node[at - 1]) <= first_chunk(x))
                 && (at == sum->n || first_chunk(&sum->node[at]) >= past_last(x)),
             VHEM_EINVAL, "chunks %lld to %lld: some of them are in the sum already",
             (long long)first_chunk(x), (long long)past_last(x) - 1);
    if (other >= 0 && other < sum->n && sum->node[other].level == x->level
        && sum->node[other].index == (x->index ^ 1)) {
        *sibling = sum->node[other];
        memmove(sum->node + other, sum->node + other + 1, sizeof *sum->node * (size_t)(sum->n - other - 1));
        sum->n--;
    } else {
        VH_TRY(vh_grow(ctx, &sum->node, &sum->node_cap, (size_t)sum->n + 1, sizeof *sum->node));
        memmove(sum->node + at + 1, sum->node + at, sizeof *sum->node * (size_t)(sum->n - at));
        sum->node[at] = *x;
        sum->n++;
    }
    return VHEM_OK;
}

/* Gives a node and its block to the sum; adds completed pairs on the way up. */
static vhem_status offer(vhem_ctx *ctx, vh_tree_sum *sum, vh_sum_node x)
{
    for (;;) {
        vh_sum_node sibling;
        omp_set_lock(&sum->lock);
        vhem_status st = place_node(ctx, sum, &x, &sibling);
        if (st != VHEM_OK)
            put_aside(ctx, sum, x.block);
        omp_unset_lock(&sum->lock);
        if (st != VHEM_OK || !sibling.block)
            return st;
        vh_sum_node left = x.index % 2 ? sibling : x, right = x.index % 2 ? x : sibling;
        add_blocks(sum, left.block, right.block);
        give_back(ctx, sum, right.block);
        x = (vh_sum_node){ x.level + 1, x.index / 2, left.block };
    }
}

int64_t vh_tree_sum_nodes(const vh_tree_sum *sum, const vh_sum_node **nodes)
{
    *nodes = sum->node;
    return sum->n;
}

vhem_status vh_tree_sum_put(vhem_ctx *ctx, vh_tree_sum *sum, int level, int64_t index, const double *block)
{
    vh_sum_node x = { level, index, NULL };

    VH_CHECK(level >= 0 && level < LEVELS && index >= 0 && index < (INT64_MAX >> level), VHEM_EINVAL,
             "there is no node %lld at level %d of a sum", (long long)index, level);
    VH_TRY(take_block(ctx, sum, &x.block));
    memcpy(x.block, block, sizeof *block * sum->size);
    return offer(ctx, sum, x);
}

vhem_status vh_tree_sum_merge(vhem_ctx *ctx, vh_tree_sum *sum, vh_tree_sum *from)
{
    VH_CHECK(sum->size == from->size, VHEM_EINVAL, "a sum of blocks of %zu numbers, this one has %zu",
             from->size, sum->size);
    while (from->n > 0)
        VH_TRY(offer(ctx, sum, from->node[--from->n]));
    return VHEM_OK;
}

vhem_status vh_tree_sum_close(vhem_ctx *ctx, vh_tree_sum *sum, int64_t chunks, double *total)
{
    int64_t next = 0;

    for (int64_t i = 0; i < sum->n && first_chunk(&sum->node[i]) == next; i++)
        next = past_last(&sum->node[i]);
    VH_CHECK(next >= chunks, VHEM_EINVAL, "chunk %lld of %lld is missing from the sum", (long long)next,
             (long long)chunks);
    VH_CHECK(next == chunks && (sum->n == 0 || past_last(&sum->node[sum->n - 1]) == chunks), VHEM_EINVAL,
             "the sum has more than %lld chunks", (long long)chunks);
    for (int64_t i = sum->n - 1; i > 0; i--)
        add_blocks(sum, sum->node[i - 1].block, sum->node[i].block);
    if (sum->n > 0)
        memcpy(total, sum->node[0].block, sizeof *total * sum->size);
    else
        memset(total, 0, sizeof *total * sum->size);
    empty(ctx, sum);
    return VHEM_OK;
}

/* ---- running chunks ------------------------------------------------------------------------------------ */

typedef struct {
    const vh_chunks *chunks;
    vh_tree_sum *sum; /* NULL: nothing to add up */
} sum_run;

static vhem_status run_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker)
{
    const sum_run *r = arg;
    VH_CLEANUP(end_loan) loan own = { ctx, r->sum, NULL };

    if (!r->sum)
        return r->chunks->run(ctx, r->chunks->arg, c, worker, NULL);
    VH_TRY(take_block(ctx, r->sum, &own.block));
    memset(own.block, 0, sizeof *own.block * r->sum->size);
    VH_TRY(r->chunks->run(ctx, r->chunks->arg, c, worker, own.block));
    return offer(ctx, r->sum, (vh_sum_node){ 0, c, vh_take(own.block) });
}

vhem_status vh_tree_sum_run(vhem_ctx *ctx, const vh_chunks *chunks, vh_tree_sum *sum)
{
    sum_run r = { chunks, sum };
    const vh_work work = { .first = chunks->first,
                           .n = chunks->n,
                           .threads = chunks->threads,
                           .inside = chunks->n == 1,
                           .finishes = !chunks->stops,
                           .late = chunks->late,
                           .run = run_chunk,
                           .arg = &r };
    vhem_status st = vh_map(ctx, &work, NULL);
    if (st != VHEM_OK && sum)
        empty(ctx, sum);
    return st;
}
