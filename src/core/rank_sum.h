/* SPDX-License-Identifier: BSD-3-Clause */
/* rank_sum.h - sums over chunks (core/tree_sum.h) that several processes make together, all of which make the
 * same calls (vhem_ranks): each process works on a range of the chunks, as long as those of the others or one
 * longer, and all have the sum in the end, with the bits that one process alone would give it. */
#ifndef VH_CORE_RANK_SUM_H
#define VH_CORE_RANK_SUM_H

#include "core/tree_sum.h"

typedef struct { /* a table whose rows the chunks fill in; all processes have all of it in the end */
    double *x;   /* [rows][width]; NULL: there is none */
    int64_t width;
    /* Rows lo .. hi-1 are those of chunks first .. end-1, of which there is at least one.  Chunks that
     * belong to different processes may both give a row when they give it the same numbers. */
    void (*rows)(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
    const void *arg;
} vh_rank_table;

typedef struct {
    const vh_chunks *chunks; /* all of them, from 0 on */
    const vh_rank_table *table;
    int tables;
    uint64_t fingerprint; /* fingerprint of the models that the sums are made with; 0: none */
} vh_rank_work;

/* As vh_tree_sum_all, for a sum of that kind, and as vh_chunks_run.  A chunk that fails or is stopped on one
 * process does so on all: the sentence is that of the lowest of them.  A process that is alone does all by
 * itself. */
vhem_status vh_rank_sum(vhem_ctx *ctx, const vh_rank_work *work, const vh_sum_kind *kind, vh_tree_sum *sum,
                        double *total);
vhem_status vh_rank_run(vhem_ctx *ctx, const vh_rank_work *work);

#endif
