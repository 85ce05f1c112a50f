/* SPDX-License-Identifier: BSD-3-Clause */
/* row_blocks.h - a table of pairs of models, made some rows at a time.  The row blocks are the same whoever
 * makes them, and where several processes make the same call each makes some: process 0 alone has the
 * table. */
#ifndef VH_DISTANCE_ROW_BLOCKS_H
#define VH_DISTANCE_ROW_BLOCKS_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct { /* rows first .. first+n-1 of a table */
    int64_t first, n;
    size_t size; /* numbers it has */
    double *x;
} vh_row_block;

typedef struct {
    const char *what; /* the word for progress */
    int64_t n, rows;  /* of the table, of a row block; the last has fewer */
    size_t most;      /* numbers of a row block, at most */
    /* Fills x, which holds anything, and says how many numbers it has. */
    vhem_status (*make)(vhem_ctx *ctx, void *arg, vh_row_block *row_block);
    /* Puts it into the table; on process 0 alone. */
    void (*take)(void *arg, const vh_row_block *row_block);
    void *arg;
} vh_row_blocks;

vhem_status vh_row_blocks_run(vhem_ctx *ctx, const vh_row_blocks *row_blocks);

#endif
