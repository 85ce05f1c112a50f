/* SPDX-License-Identifier: BSD-3-Clause */
/* formats.h - the table of input formats.  A new format is one read_<name>.c and one line in formats.c. */
#ifndef VH_DATA_FORMATS_FORMATS_H
#define VH_DATA_FORMATS_FORMATS_H

#include "core/ctx.h"
#include "data/data.h"
#include "data/formats/table.h"

#include <stddef.h>

typedef vhem_status vh_read_fn(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                               vhem_data **out);

typedef struct {
    const char *name; /* as in --format and vh_data_format */
    /* Could this be one?  head [n]: its first bytes with a NUL after them; n = 0 for a directory. */
    bool (*sniff)(const char *path, const char *head, size_t n);
    vh_read_fn *read;   /* its sentences begin with the path */
    bool picks_columns; /* applies opt->columns itself; else the caller does */
    bool text;          /* has cells that opt->missing can name; in an array NaN is missing */
    bool sheets;        /* has sheets, one of which opt->sheet names */
} vh_reader;

/* The reader of this name, or with name NULL the first that recognises the file. */
vhem_status vh_reader_find(vhem_ctx *ctx, const char *path, const char *name, const vh_reader **out);

/* Refuses options that name columns, for formats that have none ("a .ts file"); --label label and the like
 * ask for what such a format may hold anyway. */
vhem_status vh_no_columns(vhem_ctx *ctx, const char *path, const char *kind, const vhem_data_options *opt);

/* Keeps the dimensions in a --columns list, in its order. */
vhem_status vh_data_keep_columns(vhem_ctx *ctx, const char *path, const char *list, vhem_data *data);

/* The last part of a path without its ending, in out [size]. */
void vh_stem(const char *path, char *out, size_t size);

vh_read_fn vh_read_csv, vh_read_tsv, vh_read_dir, vh_read_npy, vh_read_npz, vh_read_ts, vh_read_hdf5,
    vh_read_xlsx;

/* Columns of text that are to be symbols, which only a reading of the whole table finds: the table is then
 * read again. */
typedef struct {
    bool *symbol; /* [n_columns] from malloc; NULL: none found */
    bool again;   /* some were found just now, and no data were made */
} vh_text_columns;
static inline void vh_text_columns_free(vh_text_columns *columns)
{
    free(columns->symbol);
}

/* The rows of a table just opened, which is closed; format is the name of the reader.  text NULL: columns of
 * text are left out. */
vhem_status vh_read_rows(vhem_ctx *ctx, const vh_table *table, const char *format,
                         const vhem_data_options *opt, vh_text_columns *text, vhem_data **out);

#endif
