/* SPDX-License-Identifier: BSD-3-Clause */
/* map.h - runs independent items in parallel: on threads, and on processes that make the same call. */
#ifndef VH_PARALLEL_MAP_H
#define VH_PARALLEL_MAP_H

#include "parallel/serialize.h"

typedef struct {
    int64_t first, n; /* items first .. first+n-1, begun in order */
    int threads;      /* number of threads; 0: those of the context */
    const char *what; /* label for progress; NULL: no progress */
    bool inside;      /* an item can use several threads: fewer items than threads run one by one */
    bool singly;      /* always run items one by one: there is memory for one at a time */
    bool nested;      /* items have inner loops, whose work all threads share, and private memory */
    bool logs;        /* pass log messages of items on to the user */
    bool finishes;    /* a stop does not end the work: the caller checks the flag afterwards */
    bool late;        /* but an overdue stop does (vh_overdue) */
    /* Runs item i with its own context, whose threads it may use; worker < threads is the first of them. */
    vhem_status (*run)(vhem_ctx *ctx, void *arg, int64_t i, int worker);
    /* Serializes the result of item i; NULL: every process runs all items.  If not NULL, first is 0. */
    void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w);
    int each;      /* items per process and round; 0: 256 */
    bool to_first; /* results go to process 0 only */
    void *arg;
} vh_work;

/* Runs the items.  After a failure no more items begin.  Returns the status of the lowest failed item, with
 * its error in ctx and its number in *failed (may be NULL), else -1.  Returns VHEM_ESTOPPED if a stop skipped
 * items or arrived while they ran; a stopped item does not count as failed.  With several processes, each
 * runs some of the items and gets the results of all. */
vhem_status vh_map(vhem_ctx *ctx, const vh_work *work, int64_t *failed);

#endif
