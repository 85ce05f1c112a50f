/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - delimited text, record by record: comma, tab or semicolon; RFC 4180 quotes; LF, CRLF or CR;
 * UTF-8, UTF-16 with its mark, or else Windows-1252; a UTF-8 byte order mark, a "sep=;" line, which sets the
 * delimiter, and '#' lines before the first record are skipped, empty lines everywhere.  In a file with
 * another delimiter than comma whose numbers have decimal commas, fields have points instead: "1,5" becomes
 * "1.5". */
#ifndef VH_DATA_FORMATS_TABLE_H
#define VH_DATA_FORMATS_TABLE_H

#include "core/ctx.h"
#include "data/formats/encoding.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *at; /* until the next record; quotes removed, doubled quotes made one */
    size_t n;
} vh_field;

typedef struct {
    const char *path;     /* the caller's, for sentences */
    FILE *f;              /* NULL once all of it is read */
    int64_t size, before; /* of the file, 0: not known; its bytes before those of text */
    char *text, *p, *end; /* a window on it: the current record and some of what follows */
    char *record;         /* where it must be kept from */
    size_t cap, window;   /* of text; bytes read at a time */
    vh_utf16 utf16;       /* what the file is in, with a mark */
    vh_encoding encoding; /* or without; text is UTF-8 */
    size_t marked;        /* bytes behind the window that were read as a mark, and are none */
    char delim;
    bool decimal_comma;
    int64_t line, next_line; /* 1-based; line: where the current record begins */
    vh_field *field;         /* [n_fields] of the current record */
    size_t n_fields, cap_fields;
    char **column; /* [n_columns] after vh_table_header; "" for one without a name */
    int n_columns;
} vh_table;

/* Begins to read path ("-": stdin).  delim 0: found from the first record. */
vhem_status vh_table_open(vhem_ctx *ctx, const char *path, char delim, vh_table *t);
/* The same of an open file of so many bytes (0: not known), which becomes the table's, also when this
 * fails. */
vhem_status vh_table_open_file(vhem_ctx *ctx, const char *path, FILE *f, int64_t size, char delim,
                               vh_table *t);
/* The next record, or *more = false at the end.  Once there is a header every record has as many fields. */
vhem_status vh_table_next(vhem_ctx *ctx, vh_table *t, bool *more);
/* Makes the current record the header; refuses two columns of one name. */
vhem_status vh_table_name_columns(vhem_ctx *ctx, vh_table *t);
/* Reads the first record as the header; refuses a row of numbers. */
vhem_status vh_table_header(vhem_ctx *ctx, vh_table *t);
void vh_table_close(vh_table *t);

/* Of the current record; what is missing (vh_cell_parse) counts. */
bool vh_table_all_numbers(const vh_table *t, const char *missing);
bool vh_field_is(const vh_field *f, const char *text);
/* The column of this name (any_case: upper or lower), or -1. */
int vh_table_find(const vh_table *t, const char *name, bool any_case);

/* ---- the order of rows --------------------------------------------------------------------------------- */

/* The order of the rows of a sequence: sorted by a column, or watched where a column looks like
 * a time that should rise. */

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
