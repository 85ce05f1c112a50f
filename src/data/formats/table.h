/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h - reads delimited text by record: comma, tab or semicolon; RFC 4180 quotes; LF, CRLF or CR; UTF-8,
 * UTF-16 with a byte order mark, or else Windows-1252.  Skips a UTF-8 byte order mark, a "sep=;" line, which
 * sets the delimiter, '#' lines before the first record, and all empty lines.  If the delimiter is not a
 * comma and numbers have decimal commas, fields get points instead: "1,5" becomes "1.5". */
#ifndef VH_DATA_FORMATS_TABLE_H
#define VH_DATA_FORMATS_TABLE_H

#include "core/ctx.h"
#include "data/formats/encoding.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    const char *at; /* valid until the next record; unquoted */
    size_t n;
} vh_field;

typedef struct {
    const char *path;     /* the caller's, for messages */
    FILE *f;              /* NULL at the end of the file */
    int64_t size, before; /* file size, 0: unknown; bytes before text */
    char *text, *p, *end; /* window on the file: the current record and some of what follows */
    char *record;         /* start of the current record; text before it may be discarded */
    size_t cap, window;   /* capacity of text; bytes per read */
    vh_utf16 utf16;       /* UTF-16 variant, from the byte order mark */
    vh_encoding encoding; /* encoding without a mark; text is always UTF-8 */
    size_t marked;        /* bytes after the window that were read as a mark but are data */
    char delim;
    bool decimal_comma;
    int64_t line, next_line; /* 1-based; line: first line of the current record */
    vh_field *field;         /* [n_fields] of the current record */
    size_t n_fields, cap_fields;
    char **column; /* [n_columns] after vh_table_header; "" if unnamed */
    int n_columns;
} vh_table;

/* Opens path ("-": stdin).  delim 0: detected from the first record. */
vhem_status vh_table_open(vhem_ctx *ctx, const char *path, char delim, vh_table *t);
/* The same for an open file of `size` bytes (0: unknown); takes ownership of f, also on failure. */
vhem_status vh_table_open_file(vhem_ctx *ctx, const char *path, FILE *f, int64_t size, char delim,
                               vh_table *t);
/* Reads the next record; *more is false at the end.  After a header every record must have as many fields. */
vhem_status vh_table_next(vhem_ctx *ctx, vh_table *t, bool *more);
/* Makes the current record the header; rejects duplicate names. */
vhem_status vh_table_name_columns(vhem_ctx *ctx, vh_table *t);
/* Reads the first record as the header; rejects a row of numbers. */
vhem_status vh_table_header(vhem_ctx *ctx, vh_table *t);
void vh_table_close(vh_table *t);

/* True if no field of the current record is text (vh_cell_parse). */
bool vh_table_all_numbers(const vh_table *t, const char *missing);
bool vh_field_is(const vh_field *f, const char *text);
/* Index of the named column (any_case: case-insensitive), or -1. */
int vh_table_find(const vh_table *t, const char *name, bool any_case);

/* ---- the order of rows --------------------------------------------------------------------------------- */

/* Order of the rows of a sequence: sorted by a column, or monitored in a column that looks like a rising
 * time. */

typedef struct {
    int column;    /* sort column, or -1 */
    int watched;   /* column whose name suggests time, or -1 */
    double *at;    /* [rows] values of the sort column */
    int64_t *line; /* [rows] line in the file */
    double *last;  /* [sequences] previous value of the watched column */
    size_t cap_at, cap_line, cap_last;
    int64_t n_last;
    int64_t fell_line; /* first row whose value decreases; 0: none */
    double fell_from, fell_to;
} vh_row_order; /* all zero after use */

/* True if the name suggests a time or a row number. */
bool vh_says_time(const char *name);
/* Chooses the watched column; column: the sort column, -1: none. */
void vh_row_order_init(const vh_table *t, int column, vh_row_order *o);
/* Records the current record as row `row` of sequence n; new sequences are numbered 0, 1, ... */
vhem_status vh_row_order_put(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t row, int64_t n);
/* Sorts row [n], row numbers of one sequence; rejects duplicate values. */
vhem_status vh_row_order_sort(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t, int64_t *row,
                              int64_t n);
/* Warns if the watched column decreased. */
void vh_row_order_judge(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t);
void vh_row_order_free(vh_row_order *o);

#endif
