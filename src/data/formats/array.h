/* SPDX-License-Identifier: BSD-3-Clause */
/* array.h - arrays of the binary formats, and their conversion to sequences.
 *
 * The stacked layout, the same in .npz and HDF5: X [rows][d] holds the frames of all sequences in order,
 * lengths [N] says where to cut; names, labels, groups, weights [N] and columns [d] are optional. */
#ifndef VH_DATA_FORMATS_ARRAY_H
#define VH_DATA_FORMATS_ARRAY_H

#include "data/spill.h"

enum { VH_ARRAY_DIMS = 8 };
typedef struct {
    int ndim;
    int64_t shape[VH_ARRAY_DIMS], count; /* count: the product of shape */
    vh_spill hold;                       /* the numbers, in C order */
    const double *y;                     /* [count] the same as an array; NULL for text */
    char **text;                         /* [count]; NULL for numbers */
    char kind;                           /* NumPy type: f i u b numbers, U S text */
    int item;                            /* bytes per element in the file */
    bool swap, fortran;
} vh_array; /* all zero: no array */

void vh_array_free(vh_array *a);

enum { VH_X, VH_LENGTHS, VH_NAMES, VH_LABELS, VH_GROUPS, VH_WEIGHTS, VH_COLUMNS, VH_N_STACKED };
extern const char *const vh_stacked_key[VH_N_STACKED];
static inline void vh_stacked_free(vh_array (*a)[VH_N_STACKED]) /* for VH_CLEANUP */
{
    for (int k = 0; k < VH_N_STACKED; k++)
        vh_array_free(&(*a)[k]);
}

/* Builds a set from the stacked layout; X and lengths are required.  Takes the frames of X. */
vhem_status vh_stacked_build(vhem_ctx *ctx, const char *path, const vhem_data_options *opt,
                             const char *format, vh_array a[VH_N_STACKED], vhem_data **out);

/* Builds a set from one array: [T] or [T][d] is one sequence called `name`, [N][T][d] are N.  Takes the
 * frames. */
vhem_status vh_array_build(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, const char *format,
                           const char *name, vh_array *a, vhem_data **out);

/* Checks that the array holds frames [rows][d], or [rows] with d = 1, and is not empty. */
vhem_status vh_array_frames(vhem_ctx *ctx, const char *path, const char *key, const vh_array *a, int *d);

/* Finds the index of an array: NAME_index.csv beside NAME.npy, or else the one that shares the longest prefix
 * of NAME, such as mocap_index.csv for mocap_local.npy.  *index is NULL if there is none. */
vhem_status vh_index_find(vhem_ctx *ctx, const char *path, char **index);
/* Cuts frames into sequences as the index says.  Takes the frames. */
vhem_status vh_index_build(vhem_ctx *ctx, const char *path, const char *format, const char *index,
                           const vhem_data_options *opt, vh_array *a, vhem_data **out);

/* Names and labels cannot spill to a file: rejects `count` texts of `bytes` bytes that need more than 1 GiB
 * or the memory limit, whichever is larger; memory 0: no limit. */
vhem_status vh_array_text_limit(vhem_ctx *ctx, const char *name, int64_t count, int64_t bytes,
                                int64_t memory);

#endif
