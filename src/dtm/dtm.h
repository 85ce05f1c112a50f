/* SPDX-License-Identifier: BSD-3-Clause */
/* dtm.h - storage of dynamic textures: K weighted linear dynamical systems with the same frame dimension,
 * each with its own state dimension n. */
#ifndef VH_DTM_DTM_H
#define VH_DTM_DTM_H

#include "core/ctx.h"
#include "files/named_array.h"

#include <stddef.h>
#include <stdio.h>

typedef struct {
    int n;                      /* dimension of the state */
    char *name, *label;         /* NULL if none */
    char *extra;                /* unknown keys as a JSON object, written back to files; NULL if none */
    double *A, *Q, *mu, *Sigma; /* [n][n] [n][n] [n] [n][n], in one block with the next line; A owns it */
    double *C, *ybar, *R;       /* [d][n] [d] [d] */
    size_t size;                /* of the block */
} vh_dt;

typedef struct vh_dtm {
    int d;
    int64_t K;
    double *omega;            /* [K] */
    vh_dt *dt;                /* [K] */
    char *extra, *provenance; /* JSON objects as text, or NULL */
} vh_dtm;

/* The arrays of a texture by name, for files and messages, with their location and shape. */
enum { VH_DT_ARRAYS = 7 };
void vh_dt_arrays(const vh_dt *dt, int n, int d, vh_named_array array[VH_DT_ARRAYS]);

/* These functions work like those for an H3M: hmm/hmm_set.h. */
vhem_status vh_dtm_from_views(vhem_ctx *ctx, int d, int64_t K, const vhem_dt_view *dt, vh_dtm **out);
vhem_status vh_dtm_view(const vh_dtm *dtm, int64_t i, vhem_dt_view *out);
vhem_status vh_dtm_validate(vhem_ctx *ctx, const vh_dtm *dtm);
double vh_dtm_compare(const vh_dtm *a, const vh_dtm *b);
vhem_status vh_dtm_save(vhem_ctx *ctx, const vh_dtm *dtm, const char *path);
void vh_dtm_free(vh_dtm *dtm);
VH_OWNED(vh_dtm, vh_dtm_free)

/* Allocates K empty slots with omega = 1/K; call vh_dt_shape for each before use. */
vhem_status vh_dtm_new(vhem_ctx *ctx, int d, int64_t K, vh_dtm **out);
/* Allocates zeroed storage for a texture. */
vhem_status vh_dt_shape(vhem_ctx *ctx, int d, int n, vh_dt *dt);
/* Copies the parameters; the shapes must be equal. */
void vh_dt_copy(vh_dt *dst, const vh_dt *src);
/* Copies K of the textures, index [K] (NULL: the first K), with weights rescaled to sum to 1. */
vhem_status vh_dtm_subset(vhem_ctx *ctx, const vh_dtm *dtm, const int64_t *index, int64_t K, vh_dtm **out);
/* Fails on NaN and infinity, which files cannot hold; the error names the texture and the array. */
vhem_status vh_dtm_require_finite(vhem_ctx *ctx, const vh_dtm *dtm);
/* Prepends "texture i: ", with the texture's name if it has one, to the current error message. */
void vh_dtm_prefix(vhem_ctx *ctx, const vh_dtm *dtm, int64_t i);
/* Returns st; on failure, adds that prefix to the error message. */
vhem_status vh_dtm_error_in(vhem_ctx *ctx, vhem_status st, const vh_dtm *dtm, int64_t i);

/* Files, as for an H3M: hmm_file.h. */
struct json_t;
vhem_status vh_dtm_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vh_dtm **out);
vhem_status vh_dtm_write_json(vhem_ctx *ctx, const vh_dtm *dtm, const char *path);
vhem_status vh_dtm_load_hdf5(vhem_ctx *ctx, const char *path, vh_dtm **out);
vhem_status vh_dtm_save_hdf5(vhem_ctx *ctx, const vh_dtm *dtm, const char *path);
vhem_status vh_dtm_print_json(vhem_ctx *ctx, const vh_dtm *dtm, FILE *f);
vhem_status vh_dtm_from_json(vhem_ctx *ctx, struct json_t *root, vh_dtm **out);
/* Extracts the members of the JSON object `text` that are not keys of the format; file: keys of the file,
 * otherwise of a texture. */
vhem_status vh_dtm_unknown_keys(vhem_ctx *ctx, bool file, const char *what, const char *text, char **out);

#endif
