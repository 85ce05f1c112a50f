/* SPDX-License-Identifier: BSD-3-Clause */
/* map.h - many items that know nothing of each other, side by side: on the threads of the context, and where
 * several processes make the same call on these. */
#ifndef VH_PARALLEL_MAP_H
#define VH_PARALLEL_MAP_H

#include "parallel/serialize.h"

typedef struct {
    int64_t first, n; /* items first .. first+n-1, begun in their order */
    int threads;      /* that may work on them; 0: those of the context */
    const char *what; /* the word for progress; NULL: none */
    bool inside;      /* an item can use several threads: fewer items than threads come one after the other,
                         with all threads in each */
    bool singly;      /* so do all: there is room for one at a time */
    bool nested;      /* an item has loops of its own, which all threads share with the other items
                         (parallel/parallel.h); its memory is its own */
    bool logs;        /* what an item logs is the user's business */
    bool finishes;    /* a stop does not end the work: the caller looks at the flag afterwards */
    bool late;        /* even so one that is overdue does (vh_overdue) */
    /* Item i, with a context of its own, whose threads it may use; worker < threads: the first of them. */
    vhem_status (*run)(vhem_ctx *ctx, void *arg, int64_t i, int worker);
    /* Walks what has become of item i, to or from another process; NULL: every process runs all items.  Where
     * it is not NULL, first is 0. */
    void (*walk)(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w);
    int each;      /* items that a process runs before it tells the others; 0: 256 */
    bool to_first; /* results go to process 0 alone */
    void *arg;
} vh_work;

/* Runs the items.  After a failure no further ones are begun: returns the status of the first, by number,
 * that fails, with its sentence in ctx and its number in *failed (NULL: no need), else -1.  VHEM_ESTOPPED
 * when a stop left items out, or came while they were run; in an item it is no failure.  Where several
 * processes make this call, each runs some of the items and has the results of all in the end. */
vhem_status vh_map(vhem_ctx *ctx, const vh_work *work, int64_t *failed);

#endif
