/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.c - see ranks.h. */
#include "parallel/ranks.h"

#include "core/alloc.h"
#include "core/options.h"
#include "vhem.h"

#include <string.h>

static const char mark[] = "VHEMRND2";

int vh_rank(const vhem_ctx *ctx)
{
    return ctx->opt.ranks && !ctx->alone ? ctx->opt.ranks->rank : 0;
}

int vh_ranks(const vhem_ctx *ctx)
{
    return ctx->opt.ranks && !ctx->alone ? ctx->opt.ranks->size : 1;
}

bool vh_is_first(const vhem_ctx *ctx)
{
    return !ctx->opt.ranks || ctx->opt.ranks->rank == 0;
}

vhem_status vh_ranks_call(vhem_ctx *ctx, const char *call, vhem_option_set set, const void *options,
                          uint64_t print)
{
    VH_OWN(vh_hash) *hash = NULL;
    vh_key key;

    if (vh_ranks(ctx) == 1)
        return VHEM_OK;
    VH_TRY(vh_hash_new(ctx, &hash));
    for (const vh_option *row = vh_options(set); row->shown.name; row++)
        if (row->use & VH_IN_FILES)
            vh_options_hash(hash, row, options);
    vh_hash_key(hash, &key);
    ctx->call = call;
    ctx->waits = true;
    ctx->asked = vh_hash_chain(vh_hash_chain(ctx->made, &print, sizeof print), key.text, sizeof key.text);
    return VHEM_OK;
}

vhem_status vh_ranks_end(vhem_ctx *ctx, vhem_status own)
{
    vhem_status parted = ctx->parted;
    ctx->call = NULL;
    ctx->waits = false;
    ctx->alone = 0;
    ctx->parted = VHEM_OK;
    VH_CHECK(parted == VHEM_OK, parted, "%s", ctx->why_parted);
    return own;
}

void vh_exchange_begin(vhem_ctx *ctx)
{
    ctx->waits = false;
}

void vh_exchange_fail(const vhem_ctx *ctx, vhem_status st, int64_t i, vh_exchange_end *end)
{
    end->failed = i;
    end->st = st;
    snprintf(end->why, sizeof end->why, "%.*s", (int)sizeof end->why - 1, ctx->error);
}

typedef struct { /* what a process is working on */
    int64_t step, n;
    uint64_t asked;
    char call[16];
} rank_state;

static rank_state rank_state_of(const vhem_ctx *ctx, const vh_exchange *r)
{
    rank_state p = { ctx->step, r->n, vh_hash_chain(ctx->asked, &r->fingerprint, sizeof r->fingerprint), "" };
    snprintf(p.call, sizeof p.call, "%s", ctx->call ? ctx->call : "work");
    return p;
}

/* Rejects results of a process that is at another call or step. */
static vhem_status compare(vhem_ctx *ctx, int from, const rank_state *here, const rank_state *there)
{
    int own = vh_rank(ctx);
    long long k = (long long)here->step;

    VH_CHECK(here->step == there->step && strcmp(here->call, there->call) == 0, VHEM_EINVAL,
             "rank %d is at step %lld of %s, but rank %d at step %lld of %s: all must make the same calls",
             own, k, here->call, from, (long long)there->step, there->call);
    VH_CHECK(here->n == there->n, VHEM_EINVAL,
             "ranks %d and %d are both at step %lld of %s, but rank %d has work in %lld parts and rank %d in "
             "%lld: do all see the same files?",
             own, from, k, here->call, own, (long long)here->n, from, (long long)there->n);
    VH_CHECK(here->asked == there->asked, VHEM_EINVAL,
             "ranks %d and %d are both at step %lld of %s, but have different options, backends, kernels "
             "of BLAS, data or models: do all see the same files?",
             own, from, k, here->call);
    return VHEM_OK;
}

/* Serializes the message of process `from`: its position, how the round ended there, and its results. */
static void walk_exchange(vhem_ctx *ctx, const vh_exchange *r, int from, vh_serial *w, vh_exchange_end *end)
{
    const rank_state here = rank_state_of(ctx, r);
    rank_state there = here;
    int64_t st = (int64_t)end->st;
    vh_serial_int64(ctx, w, &there.step);
    vh_serial_int64(ctx, w, &there.n);
    vh_serial_bytes(ctx, w, &there.asked, sizeof there.asked);
    vh_serial_text(ctx, w, there.call, sizeof there.call);
    if (w->st == VHEM_OK)
        w->st = compare(ctx, from, &here, &there);
    vh_serial_flag(ctx, w, &end->stopped);
    vh_serial_int64(ctx, w, &end->failed);
    vh_serial_int64(ctx, w, &st);
    vh_serial_text(ctx, w, end->why, sizeof end->why);
    end->st = (vhem_status)st;
    for (int64_t i = r->first + from; i < r->end && end->failed < 0; i += vh_ranks(ctx))
        r->walk(ctx, r->arg, i, w);
}

/* Sends the results of one process to the others. */
static vhem_status tell(vhem_ctx *ctx, const vh_exchange *r, int from, vh_exchange_end *end)
{
    vhem_status st = VHEM_OK;
    const vhem_ranks *all = ctx->opt.ranks;
    bool mine = from == all->rank, heard = !mine && (r->everyone || all->rank == 0);
    VH_AUTOFREE void *bytes = NULL;
    size_t n = 0;
    char why[VHEM_WHY] = "";
    vh_serial w = { 0 };

    if (mine) {
        vh_serial_begin(ctx, &w, mark);
        walk_exchange(ctx, r, from, &w, end);
        vh_serial_end(ctx, &w);
        bytes = w.data;
        n = w.n;
        VH_TRY(w.st);
    }
    st = all->pass(all->arg, from, r->everyone, &bytes, &n, why);
    VH_CHECK(st == VHEM_OK, st, "%s", why);
    if (heard) {
        VH_TRY(vh_serial_open(ctx, bytes, n, mark, "the results of another process", &w));
        walk_exchange(ctx, r, from, &w, end);
        VH_TRY(w.st);
    }
    return st;
}

/* Combines two ends: the failure of the first part wins. */
static void first_failure(vh_exchange_end *all, const vh_exchange_end *one)
{
    bool stopped = all->stopped || one->stopped;
    if (one->failed >= 0 && (all->failed < 0 || one->failed < all->failed))
        *all = *one;
    all->stopped = stopped;
}

/* Every round begins with a message of process 0, so that a mismatch is detected before processes wait for
 * each other. */
static vhem_status exchange(vhem_ctx *ctx, const vh_exchange *r, vh_exchange_end *end)
{
    const vh_exchange none = { .n = r->n, .everyone = true, .fingerprint = r->fingerprint };
    vh_exchange_end own = *end, begun = { .failed = -1 };

    ctx->step++;
    if (!r->everyone)
        VH_TRY(tell(ctx, &none, 0, &begun));
    for (int from = r->everyone ? 0 : 1; from < vh_ranks(ctx); from++) {
        vh_exchange_end other = from == vh_rank(ctx) ? own : (vh_exchange_end){ .failed = -1 };
        VH_TRY(tell(ctx, r, from, &other));
        first_failure(end, &other);
    }
    if (!r->everyone) { /* only process 0 has the outcome: it broadcasts it */
        vh_exchange_end said = vh_rank(ctx) == 0 ? *end : (vh_exchange_end){ .failed = -1 };
        VH_TRY(tell(ctx, &none, 0, &said));
        *end = said;
    }
    if (end->stopped)
        vhem_ctx_stop(ctx);
    ctx->waits = ctx->call && !end->stopped;
    return VHEM_OK;
}

vhem_status vh_ranks_part(vhem_ctx *ctx, vhem_status st)
{
    if (st != VHEM_OK && ctx->parted == VHEM_OK) {
        ctx->parted = st;
        snprintf(ctx->why_parted, sizeof ctx->why_parted, "%.*s", (int)sizeof ctx->why_parted - 1,
                 ctx->error);
    }
    return st;
}

vhem_status vh_exchange_tell(vhem_ctx *ctx, const vh_exchange *r, vh_exchange_end *end)
{
    VH_CHECK(ctx->parted == VHEM_OK, ctx->parted, "%s", ctx->why_parted);
    return vh_ranks_part(ctx, exchange(ctx, r, end));
}

vhem_status vh_ranks_hear(vhem_ctx *ctx, void (*walk_first)(vhem_ctx *, void *, int64_t, vh_serial *),
                          void *arg)
{
    const vh_exchange round = { .n = 1, .end = 1, .everyone = true, .walk = walk_first, .arg = arg };
    vh_exchange_end end = { .failed = -1 };
    vh_exchange_begin(ctx);
    end.stopped = vh_stopped(ctx);
    return vh_exchange_tell(ctx, &round, &end);
}

void vh_ranks_leave(vhem_ctx *ctx)
{
    if (ctx->opt.ranks && ctx->opt.ranks->size > 1 && ctx->alone++ == 0)
        vh_exchange_begin(ctx);
}

vhem_status vh_ranks_join(vhem_ctx *ctx, vhem_status own)
{
    if (ctx->alone == 0 || --ctx->alone > 0 || !ctx->call) /* a call without a name has no rounds */
        return own;
    const vh_exchange round = { .n = 1, .everyone = true };
    vh_exchange_end end = { .stopped = own == VHEM_ESTOPPED || vh_stopped(ctx), .failed = -1 };
    if (own != VHEM_OK && own != VHEM_ESTOPPED)
        vh_exchange_fail(ctx, own, vh_rank(ctx), &end);
    VH_TRY(vh_exchange_tell(ctx, &round, &end));
    VH_CHECK(end.failed < 0, end.st, "%s", end.why);
    VH_CHECK(!end.stopped || own == VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped");
    return own;
}
