/* SPDX-License-Identifier: BSD-3-Clause */
/* row_order.h - the order of the rows of a sequence: sorted by a column, or watched where a column looks like
 * a time that should rise. */
#ifndef VH_DATA_FORMATS_ROW_ORDER_H
#define VH_DATA_FORMATS_ROW_ORDER_H

#include "data/formats/table.h"

typedef struct {
    int column;    /* that rows are sorted by, or -1 */
    int watched;   /* a column whose name says time, or -1 */
    double *at;    /* [rows] values of the column, when rows are sorted */
    int64_t *line; /* [rows] lines of the file */
    double *last;  /* [sequences] of the watched column: the value of the row before */
    size_t cap_at, cap_line, cap_last;
    int64_t n_last;
    int64_t fell_line; /* first row whose value is below that of the row before it; 0: none */
    double fell_from, fell_to;
} vh_row_order; /* zeroed after use */

/* Is this the name of a time or a number of rows? */
bool vh_says_time(const char *name);
/* column: -1 for none. */
void vh_row_order_init(const vh_table *t, int column, vh_row_order *o);
/* The current record is row number `row`, of sequence n; new sequences are numbered 0, 1, ... */
vhem_status vh_row_order_put(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t row, int64_t n);
/* Sorts row [n], numbers of rows of one sequence; refuses two rows of one value. */
vhem_status vh_row_order_sort(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t, int64_t *row,
                              int64_t n);
/* Warns where the watched column did not rise. */
void vh_row_order_judge(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t);
void vh_row_order_free(vh_row_order *o);

#endif
