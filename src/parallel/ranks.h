/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks.h - work in parts that is dealt out to several processes, all of which make the same calls
 * (vhem_ranks): part i belongs to process i % size, and what it comes to goes to the others. */
#ifndef VH_PARALLEL_RANKS_H
#define VH_PARALLEL_RANKS_H

#include "core/hash.h"
#include "parallel/serialize.h"

/* Of this process, and of all; 0 and 1 where there is only one, or where each works by itself.  A context for
 * one of several items has only one: its item is a part already. */
int vh_rank(const vhem_ctx *ctx);
int vh_ranks(const vhem_ctx *ctx);
/* Rank 0, whether processes work together just now or not: it alone reads and writes files of its own. */
bool vh_is_first(const vhem_ctx *ctx);

/* Names the call that all processes now make, "fit", with its options: the ones that results depend on.
 * print: fingerprint of its data.  A process that is alone does nothing.
 *
 * Until vh_ranks_end a process that is told to stop goes on to the next round, and there tells the others:
 * one that left its loop alone would add up sums with them that do not belong together. */
vhem_status vh_ranks_call(vhem_ctx *ctx, const char *call, vhem_option_set set, const void *options,
                          uint64_t print);
void vh_ranks_end(vhem_ctx *ctx);
/* From leave to join every process does the same work in full, by itself, and may be stopped in it.  own is
 * how the work ended here; what one of them failed at or was stopped in, all were.  One pair may be inside
 * another, and counts for nothing there, nor outside of a call that has a name. */
void vh_ranks_leave(vhem_ctx *ctx);
vhem_status vh_ranks_join(vhem_ctx *ctx, vhem_status own);
/* The work of a round begins: it may be stopped. */
void vh_exchange_begin(vhem_ctx *ctx);

typedef struct {        /* what a process tells after a round */
    int64_t n;          /* parts of the whole, which all must agree about */
    int64_t first, end; /* the round: parts first .. end-1, of which this process has every size-th */
    bool everyone;      /* all are told, not only process 0 */
    /* Walks the result of part i: to the wire on the process that has it, from the wire on one that is
     * told. */
    void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w);
    void *arg;
    uint64_t
        fingerprint; /* fingerprint of what the results follow from, such as centres; 0: of nothing more */
} vh_exchange;

typedef struct { /* how a round ended, on any of the processes */
    bool stopped;
    int64_t failed; /* the first part that failed, -1: none */
    vhem_status st; /* why; the sentence is in why */
    char why[VHEM_WHY];
} vh_exchange_end;

/* Part i has failed on this process with the error of ctx. */
void vh_exchange_fail(const vhem_ctx *ctx, vhem_status st, int64_t i, vh_exchange_end *end);

/* Hands the results of the round around; *end is how it ended here, and becomes how it ended at all.  Where a
 * part has failed, or work was stopped, this is so on all processes.  VHEM_EINVAL when another process is at
 * another round, another call, or the same with other options, data or centres. */
vhem_status vh_exchange_tell(vhem_ctx *ctx, const vh_exchange *round, vh_exchange_end *end);
/* What the first process knows, and decides by a file of its own: walk writes it there and reads it on all
 * others. */
vhem_status vh_ranks_hear(vhem_ctx *ctx, void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w),
                          void *arg);

#endif
