/* SPDX-License-Identifier: BSD-3-Clause */
/* data.h - the sequence set: N sequences of unequal length, frames stacked in one array. */
#ifndef VH_DATA_DATA_H
#define VH_DATA_DATA_H

#include "core/ctx.h"
#include "data/origin.h"
#include "data/spill.h"

#include <stdatomic.h>

struct vhem_data {
    int64_t N;
    int d;
    int64_t *start;                /* [N+1]  sequence n is frames start[n] .. start[n+1]-1 */
    const double *y;               /* [start[N]][d] */
    vh_spill hold;                 /* what y is in; empty when wrapped */
    int64_t *at;                   /* [N]  of a subset: the frame of y that each begins with, y and hold being
                                      those of the whole; else NULL */
    char **name, **label, **group; /* [N] each; NULL when there are none at all, "" for one without */
    double *weight;                /* [N]; NULL: all 1 */
    char **column;                 /* [d] names of the dimensions; y0, y1, ... if made up */
    bool unnamed;                  /* they are made up */
    char **id_column;              /* [n_id] columns that name a sequence, where there are several */
    int n_id;
    char id_separator;  /* stands between their values in names */
    char **text_column; /* [n_text] columns of text that were left out */
    int n_text;
    char format[16];   /* of the file it came from; "memory" */
    vh_origin origin;  /* that file, and where sequences begin in it */
    int64_t n_missing; /* NaN among the values; not counted in a subset */
    /* Columns and symbols as models of this layout have them (emission/layout.h), which must outlive the set;
     * NULL: as they were read. */
    const struct vh_layout *layout;
    vhem_symbols *symbols;    /* [d]  what whole numbers in a column stand for; NULL: nothing in any */
    atomic_bool told_degrees; /* whoever uses it has been warned, if need be; set through const too */
};

static inline int64_t vh_data_length(const vhem_data *data, int64_t n)
{
    return data->start[n + 1] - data->start[n];
}
static inline const double *vh_data_frames(const vhem_data *data, int64_t n)
{
    return data->y + (data->at ? data->at[n] : data->start[n]) * data->d;
}
static inline double vh_data_weight(const vhem_data *data, int64_t n)
{
    return data->weight ? data->weight[n] : 1.0;
}

static inline int64_t vh_data_size(const vhem_data *data)
{
    return data->N;
}
static inline int vh_data_dim(const vhem_data *data)
{
    return data->d;
}
static inline const char *vh_data_column(const vhem_data *data, int k)
{
    return k >= 0 && k < data->d ? data->column[k] : "";
}

/* Names, labels, groups, weights and names of the dimensions; NULL inside leaves them as they are. */
vhem_status vh_data_describe(vhem_ctx *ctx, vhem_data *data, const vhem_data_text *text);

/* Sequences seq [n] (NULL: the first n) are not needed for now: frames in a file leave memory.  Any thread
 * may do this at any time. */
void vh_data_release(const vhem_data *data, const int64_t *seq, int64_t n);
/* The same for sequence n of a pass through all of them in order, after which n + 1 comes. */
void vh_data_passed(const vhem_data *data, int64_t n);
/* Fingerprint of all that results follow from: frames, where sequences begin, their weights, names, labels
 * and groups, and the names of columns and symbols. */
uint64_t vh_data_fingerprint(const vhem_data *data);

/* An empty set; vhem_free releases it whatever it holds by then. */
vhem_status vh_data_new(vhem_ctx *ctx, vhem_data **out);
/* n sequences of data, in this order; the frames stay where they are, and data must outlive the subset. */
vhem_status vh_data_subset(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                           vhem_data **out);

/* How readers build a set: begin, then for each sequence frames and an end, then finish.  Sequences without a
 * single frame are refused by vh_builder_end with a sentence that names them. */
typedef struct vh_builder vh_builder;
vhem_status vh_builder_new(vhem_ctx *ctx, int d, vh_builder **out);
/* Of a file, which its sentences begin with; keeps as much in memory as the options say. */
vhem_status vh_builder_open(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, int d,
                            vh_builder **out);
vhem_status vh_builder_frame(vh_builder *b, const double *y);             /* [d] */
vhem_status vh_builder_frames(vh_builder *b, const double *y, int64_t n); /* [n][d] */
/* Any text may be NULL for none. */
vhem_status vh_builder_end(vh_builder *b, const char *name, const char *label, const char *group,
                           double weight);
/* Where the sequence that was ended last came from: its file (NULL: that of all), the line of its first frame
 * (0: not known, or its frames are not in the lines that follow). */
vhem_status vh_builder_at(vh_builder *b, const char *file, int64_t line);
vhem_status vh_builder_columns(vh_builder *b, const char *const *column); /* [d] */
/* Cells of column k are numbers of these symbols; the texts become the builder's. */
vhem_status vh_builder_symbols(vh_builder *b, int k, char **name, int n);
vhem_status vh_builder_finish(vh_builder *b, const char *format, vhem_data **out);
void vh_builder_free(vh_builder *b);
VH_OWNED(vh_builder, vh_builder_free)

/* For readers that hold all frames already: take makes them the builder's, before any other frame, and copy
 * appends n of them from one on; cut then ends a sequence after T of the frames that are in none yet. */
void vh_builder_take(vh_builder *b, vh_spill *from);
vhem_status vh_builder_copy(vh_builder *b, vh_spill *from, int64_t first, int64_t n);
vhem_status vh_builder_cut(vh_builder *b, int64_t T, const char *name, const char *label, const char *group,
                           double weight);
/* The file that sentences of the builder begin with. */
vhem_status vh_builder_source(vh_builder *b, const char *path);

/* Refuses NaN and infinity in sequences seq [n] (NULL: all), naming sequence, frame and column, for what
 * cannot treat missing values. */
vhem_status vh_data_require_complete(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n);

typedef struct {
    char s[1024];
} vh_location_text;
/* "walks.csv: line 7: sequence 'a': frame 5 (counted from 0), column 'x'", to begin a sentence with. */
const char *vh_data_location(const vhem_data *data, int64_t n, int64_t t, int k, vh_location_text *place);

/* Counts NaN in sequences seq [n] (NULL: all) into *n_missing; refuses infinity, and what `refuse` (NULL:
 * nothing) has a word for, which is what a value y of column k must be. */
typedef const char *(*vh_refuse)(const void *arg, int k, double y);
vhem_status vh_data_suits(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          vh_refuse refuse, const void *arg, int64_t *n_missing);

void vh_symbols_free(vhem_symbols *symbols, int d); /* accepts NULL */
vhem_status vh_symbols_copy(vhem_ctx *ctx, const vhem_symbols *from, int d, vhem_symbols **out);
/* Makes up the names y0, y1, ... of dimensions that have none. */
vhem_status vh_data_name_columns(vhem_ctx *ctx, vhem_data *data);
/* Counts NaN into n_missing; refuses infinity. */
vhem_status vh_data_scan(vhem_ctx *ctx, vhem_data *data);
/* Keeps the sequences a --where names by name, label or group: for formats without columns of text. */
vhem_status vh_data_keep_where(vhem_ctx *ctx, const char *path, const char *where, vhem_data *data);

#endif
