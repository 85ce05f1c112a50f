/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk_kernel.c - see ppk_kernel.h: the driver of the kernels.
 *
 * The table is cut into blocks whose edges are multiples of VH_PRODUCT_TILE in both sets, wherever a
 * rectangle begins.  On the diagonal of a set against itself a block is computed in strips, each from its
 * diagonal on. */
#include "distance/ppk_kernel.h"

#include "core/backend.h"
#include "distance/ppk_pair.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"

#include <string.h>

enum { BLOCK = VH_PRODUCT_TILE, STRIP = 16 };

struct vh_opened_pair {
    const vh_product_kernels *by;
    vh_product p;
    void *prepared;
    /* the rectangle being computed */
    const vh_rectangle *r;
    double *log_k;
    int ta, tb, n_b; /* first block of each set, number of blocks of b */
};

vhem_status vh_product_open(vhem_ctx *ctx, const vh_product *p, vh_opened_pair **out)
{
    const vh_product_kernels *of = ctx->backend->product;
    VH_AUTOFREE vh_opened_pair *opened = NULL;

    VH_NEW(opened, 1);
    opened->p = *p;
    opened->by = of && of->kernel ? of : &vh_product_ref;
    if (opened->by->prepare)
        VH_TRY(opened->by->prepare(ctx, &opened->p, &opened->prepared));
    *out = vh_take(opened);
    return VHEM_OK;
}

void vh_product_close(vh_opened_pair *opened)
{
    if (!opened)
        return;
    if (opened->by->release)
        opened->by->release(opened->prepared);
    free(opened);
}

/* ---- the blocks of the table --------------------------------------------------------------------------- */

/* Intersects block t of a set with first .. first+n-1. */
static void cut_block(int t, int first, int n, int *lo, int *hi)
{
    *lo = t * BLOCK > first ? t * BLOCK : first;
    *hi = (t + 1) * BLOCK < first + n ? (t + 1) * BLOCK : first + n;
}

/* Runs the kernel on a piece of a block and copies the result to the table. */
static vhem_status run_piece(vhem_ctx *ctx, const vh_opened_pair *x, const vh_rectangle *piece,
                             vh_scratch *scratch)
{
    double table[BLOCK * BLOCK];

    VH_TRY(x->by->kernel(ctx, &x->p, x->prepared, piece, scratch, table));
    for (int i = 0; i < piece->na; i++)
        memcpy(x->log_k + vh_row(piece->a0 - x->r->a0 + i, x->r->nb) + (piece->b0 - x->r->b0),
               table + i * piece->nb, sizeof *table * (size_t)piece->nb);
    return VHEM_OK;
}

static vhem_status run_block(vhem_ctx *ctx, void *arg, int64_t chunk, int worker)
{
    const vh_opened_pair *x = arg;
    int ta = x->ta + (int)(chunk / x->n_b), tb = x->tb + (int)(chunk % x->n_b), a0, a1, b0, b1;
    bool diagonal = x->r->upper && ta == tb;

    if (x->r->upper && ta > tb)
        return VHEM_OK;
    cut_block(ta, x->r->a0, x->r->na, &a0, &a1);
    cut_block(tb, x->r->b0, x->r->nb, &b0, &b1);
    for (int i = a0, n; i < a1; i += n) {
        n = diagonal && a1 - i > STRIP ? STRIP : a1 - i;
        int from = diagonal && i > b0 ? i : b0;
        const vh_rectangle piece = { .a0 = i, .na = n, .b0 = from, .nb = b1 - from };
        if (piece.nb > 0)
            VH_TRY(run_piece(ctx, x, &piece, &x->p.workers->scratch[worker]));
    }
    return VHEM_OK;
}

vhem_status vh_product_run(vhem_ctx *ctx, vh_opened_pair *opened, const vh_rectangle *r, double *log_k)
{
    opened->r = r;
    opened->log_k = log_k;
    opened->ta = r->a0 / BLOCK;
    opened->tb = r->b0 / BLOCK;
    int n_a = r->na > 0 ? (r->a0 + r->na - 1) / BLOCK - opened->ta + 1 : 0;
    opened->n_b = r->nb > 0 ? (r->b0 + r->nb - 1) / BLOCK - opened->tb + 1 : 0;
    const vh_work blocks = {
        .n = (int64_t)n_a * opened->n_b, .threads = opened->p.workers->n, .run = run_block, .arg = opened
    };
    return vh_map(ctx, &blocks, NULL);
}
