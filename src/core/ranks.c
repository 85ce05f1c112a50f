/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - see ranks.h. */
#include "core/ranks.h"

#include "core/alloc.h"

#include <string.h>

static const char mark[] = "VHEMRND1";

int vh_rank(const vhem_ctx *ctx)
{
    return ctx->opt.ranks ? ctx->opt.ranks->rank : 0;
}

int vh_ranks(const vhem_ctx *ctx)
{
    return ctx->opt.ranks ? ctx->opt.ranks->size : 1;
}

void vh_round_fail(const vhem_ctx *ctx, vhem_status st, int64_t i, vh_round_end *end)
{
    end->failed = i;
    end->st = st;
    snprintf(end->why, sizeof end->why, "%.*s", (int)sizeof end->why - 1, ctx->error);
}

/* What process `from` has to say: how the round ended there, and its results. */
static void walk(vhem_ctx *ctx, const vh_round *r, int from, vh_wire *w, vh_round_end *end)
{
    int64_t n = r->n, st = (int64_t)end->st;
    vh_wire_int64(ctx, w, &n);
    if (w->st == VHEM_OK && n != r->n)
        w->st = vh_fail(ctx, VHEM_EINVAL,
                        "process %d has work in %lld parts, this one in %lld: do all see the same files?",
                        from, (long long)n, (long long)r->n);
    vh_wire_flag(ctx, w, &end->stopped);
    vh_wire_int64(ctx, w, &end->failed);
    vh_wire_int64(ctx, w, &st);
    vh_wire_text(ctx, w, end->why, sizeof end->why);
    end->st = (vhem_status)st;
    for (int64_t i = r->first + from; i < r->end && end->failed < 0; i += vh_ranks(ctx))
        r->walk(ctx, r->arg, i, w);
}

/* The results of one process go around. */
static vhem_status tell(vhem_ctx *ctx, const vh_round *r, int from, vh_round_end *end)
{
    vhem_status st = VHEM_OK;
    const vhem_ranks *all = ctx->opt.ranks;
    bool mine = from == all->rank, heard = !mine && (r->everyone || all->rank == 0);
    void *bytes = NULL;
    size_t n = 0;
    char why[VHEM_WHY] = "";
    vh_wire w = { 0 };

    if (mine) {
        vh_wire_begin(ctx, &w, mark);
        walk(ctx, r, from, &w, end);
        vh_wire_end(ctx, &w);
        bytes = w.data;
        n = w.n;
        VH_TRY(w.st);
    }
    st = all->pass(all->arg, from, r->everyone, &bytes, &n, why);
    VH_CHECK(st == VHEM_OK, st, "%s", why);
    if (heard) {
        VH_TRY(vh_wire_open(ctx, bytes, n, mark, "the results of another process", &w));
        walk(ctx, r, from, &w, end);
        VH_TRY(w.st);
    }
done:
    free(bytes);
    return st;
}

/* Of two ends the one that counts: the failure of the part that comes first. */
static void join(vh_round_end *all, const vh_round_end *one)
{
    bool stopped = all->stopped || one->stopped;
    if (one->failed >= 0 && (all->failed < 0 || one->failed < all->failed))
        *all = *one;
    all->stopped = stopped;
}

vhem_status vh_round_tell(vhem_ctx *ctx, const vh_round *r, vh_round_end *end)
{
    vhem_status st = VHEM_OK;
    vh_round_end own = *end;

    for (int from = 0; from < vh_ranks(ctx); from++) {
        vh_round_end other = from == vh_rank(ctx) ? own : (vh_round_end){ .failed = -1 };
        VH_TRY(tell(ctx, r, from, &other));
        join(end, &other);
    }
    if (!r->everyone) { /* process 0 alone knows: it says how it went */
        const vh_round none = { .n = r->n, .everyone = true };
        vh_round_end said = vh_rank(ctx) == 0 ? *end : (vh_round_end){ .failed = -1 };
        VH_TRY(tell(ctx, &none, 0, &said));
        *end = said;
    }
    if (end->stopped)
        vhem_ctx_stop(ctx);
done:
    return st;
}
