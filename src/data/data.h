/* SPDX-License-Identifier: BSD-3-Clause */
/* data.h - the sequence set: N sequences of unequal length, frames stacked in one array. */
#ifndef VH_DATA_DATA_H
#define VH_DATA_DATA_H

#include "core/ctx.h"
#include "data/spill.h"

#include <stdatomic.h>

typedef struct {
    char *path;    /* the file or folder; NULL: none */
    char **file;   /* [N]  of a folder: the file of each sequence; NULL: all are in path */
    int64_t n;     /* sequences, where a copy has an owner; else 0 */
    int64_t *line; /* [N]  line of the first frame; 0: lines not consecutive; NULL: unknown */
} vh_origin;       /* all zero: unknown */

void vh_origin_free(vh_origin *origin, int64_t N);
static inline void vh_origin_drop(vh_origin *origin) /* for VH_CLEANUP */
{
    vh_origin_free(origin, origin->n);
}
/* Copies the entries of sequences seq [n] (NULL: the first n). */
vhem_status vh_origin_some(vhem_ctx *ctx, const vh_origin *from, const int64_t *seq, int64_t n,
                           vh_origin *out);

enum { VH_PLACE_SIZE = 1024 }; /* room for where something is */
/* Writes "walks.csv: line 7: " for frame t of sequence n, without the parts that are unknown; returns out. */
const char *vh_origin_tell(const vh_origin *origin, int64_t n, int64_t t, char out[VH_PLACE_SIZE]);

struct vhem_data {
    int64_t N;
    int d;
    int64_t *start;                /* [N+1]  sequence n is frames start[n] .. start[n+1]-1 */
    const double *y;               /* [start[N]][d] */
    vh_spill hold;                 /* storage of y; empty when wrapped */
    int64_t *at;                   /* [N]  of a subset: first frames in y, which it borrows; else NULL */
    char **name, **label, **group; /* [N] each; NULL when no sequence has one, "" for a sequence without */
    double *weight;                /* [N]; NULL: all weights are 1 */
    char **column;                 /* [d] names of the dimensions; y0, y1, ... by default */
    bool unnamed;                  /* column has the default names */
    char **id_column;              /* [n_id] id columns, if there are several */
    int n_id;
    char id_separator;  /* joins their values in names */
    char **text_column; /* [n_text] text columns left out */
    int n_text;
    char format[16];   /* format of the source file, or "memory" */
    vh_origin origin;  /* source file and the lines where sequences begin */
    int64_t n_missing; /* number of NaN values; not counted in a subset */
    /* Models of this layout (emission/layout.h) define columns and symbols; it must outlive the set.  NULL:
     * columns and symbols are as read. */
    const struct vh_layout *layout;
    vhem_symbols *symbols;    /* [d]  symbols of the numbers in each column; NULL: none in any */
    atomic_bool told_degrees; /* set once the warning has been given; changed through const too */
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

/* Sets names, labels, groups, weights and column names; NULL members leave them unchanged. */
vhem_status vh_data_describe(vhem_ctx *ctx, vhem_data *data, const vhem_data_text *text);

/* Releases the frames of sequences seq [n] (NULL: the first n) from memory if they are in a file.  They can
 * still be read.  Thread-safe. */
void vh_data_release(const vhem_data *data, const int64_t *seq, int64_t n);
/* The same for sequence n in a pass over all sequences in order; n + 1 must come next. */
void vh_data_passed(const vhem_data *data, int64_t n);
/* Fingerprint of everything that results depend on: frames, sequence boundaries, weights, names, labels,
 * groups, and the names of columns and symbols. */
uint64_t vh_data_fingerprint(const vhem_data *data);

/* Creates an empty set; vhem_free releases it whatever it holds. */
vhem_status vh_data_new(vhem_ctx *ctx, vhem_data **out);
/* Selects n sequences of data, in this order, without copying frames; data must outlive the subset. */
vhem_status vh_data_subset(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                           vhem_data **out);

/* Builder of a set for readers: create it, then for each sequence add frames and call end, then finish. 
 * vh_builder_end rejects a sequence without frames and names it. */
typedef struct vh_builder vh_builder;
vhem_status vh_builder_new(vhem_ctx *ctx, int d, vh_builder **out);
/* Creates a builder for a file: error messages begin with its path, and opt sets the memory limit. */
vhem_status vh_builder_open(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, int d,
                            vh_builder **out);
vhem_status vh_builder_frame(vh_builder *b, const double *y);             /* [d] */
vhem_status vh_builder_frames(vh_builder *b, const double *y, int64_t n); /* [n][d] */
/* Ends the current sequence; texts may be NULL. */
vhem_status vh_builder_end(vh_builder *b, const char *name, const char *label, const char *group,
                           double weight);
/* Sets the origin of the sequence just ended: its file (NULL: the file of the set) and the line of its first
 * frame (0: unknown, or its frames are not on consecutive lines). */
vhem_status vh_builder_at(vh_builder *b, const char *file, int64_t line);
vhem_status vh_builder_columns(vh_builder *b, const char *const *column); /* [d] */
/* Declares that cells of column k are indices into these symbols; takes ownership of the texts. */
vhem_status vh_builder_symbols(vh_builder *b, int k, char **name, int n);
vhem_status vh_builder_finish(vh_builder *b, const char *format, vhem_data **out);
void vh_builder_free(vh_builder *b);
VH_OWNED(vh_builder, vh_builder_free)

/* For readers that already hold all frames.  take moves them into the builder, which must be empty; copy
 * appends n frames starting at `first`; cut ends a sequence after the next T unassigned frames. */
void vh_builder_take(vh_builder *b, vh_spill *from);
vhem_status vh_builder_copy(vh_builder *b, vh_spill *from, int64_t first, int64_t n);
vhem_status vh_builder_cut(vh_builder *b, int64_t T, const char *name, const char *label, const char *group,
                           double weight);
/* Sets the file name that begins the builder's error messages. */
vhem_status vh_builder_source(vh_builder *b, const char *path);

/* Rejects NaN and infinity in sequences seq [n] (NULL: all), naming sequence, frame and column; for models
 * that cannot handle missing values. */
vhem_status vh_data_require_complete(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n);

/* Writes "walks.csv: line 7: sequence 'a': frame 5 (counted from 0), column 'x'", the start of a message;
 * returns out. */
const char *vh_data_location(const vhem_data *data, int64_t n, int64_t t, int k, char out[VH_PLACE_SIZE]);

/* Counts NaN in sequences seq [n] (NULL: all) into *n_missing; rejects infinity and any value for which
 * `refuse` (NULL: accepts all) returns text, which says what a value y of column k must be. */
typedef const char *(*vh_refuse)(const void *arg, int k, double y);
vhem_status vh_data_suits(vhem_ctx *ctx, const vhem_data *data, const int64_t *seq, int64_t n,
                          vh_refuse refuse, const void *arg, int64_t *n_missing);

void vh_symbols_free(vhem_symbols *symbols, int d); /* accepts NULL */
vhem_status vh_symbols_copy(vhem_ctx *ctx, const vhem_symbols *from, int d, vhem_symbols **out);
/* Names unnamed dimensions y0, y1, ... */
vhem_status vh_data_name_columns(vhem_ctx *ctx, vhem_data *data);
/* Counts NaN into n_missing; rejects infinity. */
vhem_status vh_data_scan(vhem_ctx *ctx, vhem_data *data);
/* Keeps the sequences that --where selects by name, label or group; for formats without text columns. */
vhem_status vh_data_keep_where(vhem_ctx *ctx, const char *path, const char *where, vhem_data *data);

#endif
