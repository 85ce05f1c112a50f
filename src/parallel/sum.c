/* SPDX-License-Identifier: BSD-3-Clause */
/* sum.c - see sum.h. */
#include "parallel/sum.h"

#include "core/alloc.h"
#include "parallel/ranks.h"

typedef struct {
    const vh_chunks *chunks;
    const vh_shared *shared;
    vh_tree_sum *own;   /* sums of this process, constant until sent; NULL: nothing to add up */
    vh_tree_sum *heard; /* sums received from the others */
} telling;

static void range_of(const vhem_ctx *ctx, int64_t n, int64_t rank, int64_t *first, int64_t *end)
{
    int64_t size = vh_ranks(ctx), whole = n / size, rest = n % size;
    *first = rank * whole + (rank < rest ? rank : rest);
    *end = *first + whole + (rank < rest);
}

void vh_sum_range(const vhem_ctx *ctx, int64_t n, int64_t *first, int64_t *end)
{
    range_of(ctx, n, vh_rank(ctx), first, end);
}

static void walk_node(vhem_ctx *ctx, const telling *t, vh_sum_node *node, vh_serial *w)
{
    vh_serial_int(ctx, w, &node->level);
    vh_serial_int64(ctx, w, &node->index);
    vh_serial_check(ctx, w, "level of a sum", node->level, 0, 61);
    vh_serial_check(ctx, w, "number of a sum", node->index, 0, t->chunks->n);
    vh_serial_reals(ctx, w, node->block, vh_tree_sum_size(t->own));
}

static void write_nodes(vhem_ctx *ctx, const telling *t, vh_serial *w)
{
    const vh_sum_node *node;
    int64_t n = vh_tree_sum_nodes(t->own, &node);
    vh_serial_int64(ctx, w, &n);
    for (int64_t i = 0; i < n; i++) {
        vh_sum_node one = node[i];
        walk_node(ctx, t, &one, w);
    }
}

static void read_nodes(vhem_ctx *ctx, const telling *t, vh_serial *w)
{
    vh_sum_node one = { 0 };
    int64_t n = 0;
    vh_serial_int64(ctx, w, &n);
    vh_serial_check(ctx, w, "number of sums", n, 0, t->chunks->n);
    if (w->st == VHEM_OK && !(one.block = vh_alloc(ctx, vh_tree_sum_size(t->own), sizeof *one.block)))
        w->st = VHEM_ENOMEM;
    for (int64_t i = 0; i < n && w->st == VHEM_OK; i++) {
        walk_node(ctx, t, &one, w);
        if (w->st == VHEM_OK)
            w->st = vh_tree_sum_put(ctx, t->heard, one.level, one.index, one.block);
    }
    free(one.block);
}

/* Serializes the sums over the chunks of process `rank`, and their rows. */
static void walk_sums(vhem_ctx *ctx, void *arg, int64_t rank, vh_serial *w)
{
    const telling *t = arg;
    int64_t first, end, lo, hi;
    range_of(ctx, t->chunks->n, rank, &first, &end);
    if (t->own && w->reads)
        read_nodes(ctx, t, w);
    else if (t->own)
        write_nodes(ctx, t, w);
    for (int k = 0; k < t->shared->tables && first < end; k++) {
        const vh_sum_table *table = &t->shared->table[k];
        if (!table->x)
            continue;
        table->rows(table->arg, first, end, &lo, &hi);
        vh_serial_bytes(ctx, w, (char *)table->x + (size_t)lo * table->bytes,
                        (size_t)(hi - lo) * table->bytes);
    }
}

/* After this process finished its share with status `own`: exchanges the sums of all processes. */
static vhem_status tell(vhem_ctx *ctx, telling *t, vhem_status own)
{
    int size = vh_ranks(ctx);
    const vh_exchange round = { .n = t->chunks->n,
                                .end = size,
                                .everyone = true,
                                .walk = walk_sums,
                                .arg = t,
                                .fingerprint = t->shared->fingerprint };
    vh_exchange_end end = { .stopped = vh_stopped(ctx), .failed = -1 };

    if (own != VHEM_OK)
        vh_exchange_fail(ctx, own, vh_rank(ctx), &end);
    VH_TRY(vh_exchange_tell(ctx, &round, &end));
    VH_CHECK(end.failed < 0, end.st, "%s", end.why);
    return VHEM_OK;
}

static void free_sums(telling *t)
{
    vh_tree_sum_free(t->own);
    vh_tree_sum_free(t->heard);
}

/* Runs this process's share of the chunks. */
static vhem_status run_own(vhem_ctx *ctx, const telling *t)
{
    vh_chunks own = *t->chunks;
    int64_t end;
    vh_sum_range(ctx, own.n, &own.first, &end);
    own.n = end - own.first;
    if (t->shared->whole)
        ctx->waits = true;
    else
        vh_exchange_begin(ctx);
    if (t->shared->range && own.n > 0)
        return t->shared->range(ctx, own.arg, own.first, own.n, t->own);
    return vh_tree_sum_run(ctx, &own, t->own);
}

static vhem_status sum_together(vhem_ctx *ctx, const vh_chunks *chunks, const vh_shared *shared,
                                const vh_tree_sum *like, double *total)
{
    VH_CLEANUP(free_sums) telling t = { .chunks = chunks, .shared = shared };

    if (like) {
        VH_TRY(vh_tree_sum_like(ctx, like, &t.own));
        VH_TRY(vh_tree_sum_like(ctx, like, &t.heard));
    }
    vhem_status own = run_own(ctx, &t);
    vh_exchange_begin(ctx);
    VH_TRY(tell(ctx, &t, own));
    if (!like)
        return VHEM_OK;
    VH_TRY(vh_tree_sum_merge(ctx, t.own, t.heard));
    return vh_tree_sum_close(ctx, t.own, chunks->n, total);
}

vhem_status vh_sum(vhem_ctx *ctx, const vh_chunks *chunks, const vh_shared *shared, vh_tree_sum *sum,
                   double *total)
{
    if (shared && vh_ranks(ctx) > 1)
        return sum_together(ctx, chunks, shared, sum, total);
    VH_TRY(vh_tree_sum_run(ctx, chunks, sum));
    return sum ? vh_tree_sum_close(ctx, sum, chunks->n, total) : VHEM_OK;
}
