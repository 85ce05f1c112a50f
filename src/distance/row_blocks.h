/* SPDX-License-Identifier: BSD-3-Clause */
/* row_blocks.h - computes a table of pairs of models in blocks of rows.  The blocks do not depend on the
 * number of processes; with several, each computes some, and only process 0 has the table. */
#ifndef VH_DISTANCE_ROW_BLOCKS_H
#define VH_DISTANCE_ROW_BLOCKS_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    const char *what; /* label for progress */
    int64_t n, rows;  /* rows of the table, of a row block; the last may have fewer */
    size_t most;      /* maximum size of a row block */
    /* Fills x, uninitialised on entry, with rows first .. first+n-1; *size is how many numbers they have. */
    vhem_status (*make)(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, double *x, size_t *size);
    /* Copies these rows into the table; on process 0 only. */
    void (*take)(void *arg, int64_t first, int64_t n, const double *x);
    void *arg;
} vh_row_blocks;

vhem_status vh_row_blocks_run(vhem_ctx *ctx, const vh_row_blocks *row_blocks);

#endif
