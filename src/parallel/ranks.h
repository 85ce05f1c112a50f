/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - distributes work over several processes that all make the same calls (vhem_ranks): part i belongs
 * to process i % size, which sends its result to the others. */
#ifndef VH_PARALLEL_RANKS_H
#define VH_PARALLEL_RANKS_H

#include "core/hash.h"
#include "parallel/serialize.h"

/* Rank of this process, and number of ranks; 0 and 1 if there is only one, or if each works alone.  A context
 * for an item always has one: its item is already a part. */
int vh_rank(const vhem_ctx *ctx);
int vh_ranks(const vhem_ctx *ctx);
/* True for rank 0, also while ranks work alone: only rank 0 reads and writes files of its own. */
bool vh_is_first(const vhem_ctx *ctx);

/* Names the call that all ranks make now ("fit"), with its options, of which those that affect results are
 * compared.  print: fingerprint of its data.  Does nothing in a single process.
 *
 * Until vh_ranks_end, a rank that is asked to stop continues to the next round and tells the others there:
 * leaving its loop early would mix sums that do not belong together. */
vhem_status vh_ranks_call(vhem_ctx *ctx, const char *call, vhem_option_set set, const void *options,
                          uint64_t print);
/* own: the outcome of the call; returns it, or why this process parted from the others, whatever own is. */
vhem_status vh_ranks_end(vhem_ctx *ctx, vhem_status own);
/* After a failure of this process alone it shares nothing more in this call: what the others send belongs to
 * other work.  An exchange that fails parts by itself.  Returns st; VHEM_OK changes nothing. */
vhem_status vh_ranks_part(vhem_ctx *ctx, vhem_status st);
/* From leave to join every rank does the same work in full, alone, and may be stopped.  own: status of that
 * work here; a failure or stop of one rank is returned on all.  Pairs may be nested: only the outermost
 * counts, and only inside a named call. */
void vh_ranks_leave(vhem_ctx *ctx);
vhem_status vh_ranks_join(vhem_ctx *ctx, vhem_status own);
/* Begins the work of a round; from here on it may be stopped. */
void vh_exchange_begin(vhem_ctx *ctx);

typedef struct {        /* what a process sends after a round */
    int64_t n;          /* number of parts in total; must be the same on all ranks */
    int64_t first, end; /* the round: parts first .. end-1, every size-th on this process */
    bool everyone;      /* send to all, not only to process 0 */
    /* Serializes the result of part i: writes it on its owner, reads it on receivers. */
    void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w);
    void *arg;
    uint64_t fingerprint; /* of what the results depend on, such as centres; 0: none */
} vh_exchange;

typedef struct { /* how a round ended on a process */
    bool stopped;
    int64_t failed; /* the first part that failed, -1: none */
    vhem_status st; /* its status; the error message is in why */
    char why[VHEM_WHY];
} vh_exchange_end;

/* Records that part i failed on this process with the error of ctx. */
void vh_exchange_fail(const vhem_ctx *ctx, vhem_status st, int64_t i, vh_exchange_end *end);

/* Exchanges the results of the round.  *end is the outcome here on input and the combined outcome on output:
 * a failure or stop on one process counts on all.  VHEM_EINVAL if another process is at another round or
 * call, or at the same one with other options, data or centres. */
vhem_status vh_exchange_tell(vhem_ctx *ctx, const vh_exchange *round, vh_exchange_end *end);
/* Broadcasts what rank 0 has read from its own file: walk writes it on rank 0 and reads it on the others. */
vhem_status vh_ranks_hear(vhem_ctx *ctx, void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w),
                          void *arg);

#endif
