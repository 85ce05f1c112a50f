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
    const char *name; /* as in --format */
    /* True if the file may have this format; head [n]: its first bytes, NUL-terminated; n = 0 for a
     * directory. */
    bool (*sniff)(const char *path, const char *head, size_t n);
    vh_read_fn *read;   /* its messages begin with the path */
    bool picks_columns; /* applies opt->columns; else the caller does */
    bool text;          /* opt->missing applies to its cells; in arrays NaN is missing */
    bool sheets;        /* has sheets, selected by opt->sheet */
} vh_reader;

/* Finds the reader called `name`, or with NULL the first that recognises the file. */
vhem_status vh_reader_find(vhem_ctx *ctx, const char *path, const char *name, const vh_reader **out);

/* Rejects options that name columns, for a format without columns ("a .ts file"); accepts --label label and
 * the like, since such a format may hold labels. */
vhem_status vh_no_columns(vhem_ctx *ctx, const char *path, const char *kind, const vhem_data_options *opt);

/* Keeps the dimensions of a --columns list, in its order. */
vhem_status vh_data_keep_columns(vhem_ctx *ctx, const char *path, const char *list, vhem_data *data);

/* Writes the file name of a path without folder and extension to out [size]. */
void vh_stem(const char *path, char *out, size_t size);

vh_read_fn vh_read_csv, vh_read_tsv, vh_read_dir, vh_read_npy, vh_read_npz, vh_read_ts, vh_read_hdf5,
    vh_read_xlsx;

/* Text columns to be read as symbols.  They are known only after the whole table has been read; it is then
 * read a second time. */
typedef struct {
    bool *symbol; /* [n_columns] from malloc; NULL: none found */
    bool again;   /* some were just found: no data yet, read again */
} vh_text_columns;
static inline void vh_text_columns_free(vh_text_columns *columns)
{
    free(columns->symbol);
}

/* Reads the rows of a newly opened table and closes it; format is the reader's name.  text NULL: text columns
 * are left out. */
vhem_status vh_read_rows(vhem_ctx *ctx, const vh_table *table, const char *format,
                         const vhem_data_options *opt, vh_text_columns *text, vhem_data **out);

#endif
