/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.h - helpers for HDF5 model files: attributes, texts, arrays, atomic files. */
#ifndef VH_FILES_HDF5_H
#define VH_FILES_HDF5_H

#include "core/ctx.h"
#include "files/named_array.h"

#include <stddef.h>
#ifdef VH_HAVE_HDF5
#include <hdf5.h>
#else
typedef int64_t hid_t; /* without_hdf5.c: never opens a file */
typedef uint64_t hsize_t;
#endif

/* Closes any identifier, also one never opened.  False: data written to it may be lost. */
bool vh_h5_drop(hid_t id);
static inline void vh_h5_release(const hid_t *id) /* VH_CLEANUP(vh_h5_release) hid_t set = -1; */
{
    vh_h5_drop(*id);
}

/* ---- writing: false on failure of the library ---- */

typedef struct {
    hid_t file, scalar, group, compact, contiguous; /* scalar space; property lists for groups and arrays */
} vh_h5_writer;

hid_t vh_h5_text_type(size_t length); /* texts of `length` bytes; the caller drops it */
bool vh_h5_put_int(const vh_h5_writer *w, hid_t at, const char *name, int value);
/* Writes a string attribute; nothing for NULL or "". */
bool vh_h5_put_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text);
/* Writes a string dataset, which unlike an attribute may have any length; nothing for NULL. */
bool vh_h5_put_long_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text);
bool vh_h5_put_numbers(const vh_h5_writer *w, hid_t at, const char *name, int rank, const int64_t *n,
                       const double *x);
/* Writes a contiguous array of any type. */
bool vh_h5_put_array(const vh_h5_writer *w, hid_t at, const char *name, hid_t type, int rank,
                     const hsize_t *n, const void *x);
bool vh_h5_put_int64(const vh_h5_writer *w, hid_t at, const char *name, int64_t value);
bool vh_h5_put_real(const vh_h5_writer *w, hid_t at, const char *name, double value);
hid_t vh_h5_put_group(const vh_h5_writer *w, hid_t at, const char *name);

/* Creates a file with what put writes into w->file. */
typedef bool vh_h5_put(const vh_h5_writer *w, const void *what);
vhem_status vh_h5_save(vhem_ctx *ctx, const char *path, vh_h5_put *put, const void *what);

/* ---- reading: limit is the file size, which bounds every text ---- */

/* Rejects data in another file: behind a link in at, or in an open dataset; set -1: not checked. */
vhem_status vh_h5_inside(vhem_ctx *ctx, hid_t at, const char *name, hid_t set);
/* Opens a dataset stored, with its path, in the file itself; the caller drops it. */
vhem_status vh_h5_open_inside(vhem_ctx *ctx, hid_t at, const char *path, hid_t *set);
/* Reads the dataset want->name, of this shape; out NULL: only checks the shape. */
vhem_status vh_h5_numbers(vhem_ctx *ctx, hid_t at, const vh_named_array *want, double *out);
vhem_status vh_h5_count(vhem_ctx *ctx, hid_t at, const char *name, int *out); /* an integer >= 1 */
/* Reads a single number of any type. */
vhem_status vh_h5_real(vhem_ctx *ctx, hid_t at, const char *name, double *out);
/* Reads a string attribute or string dataset into *slot, unchanged if there is none. */
vhem_status vh_h5_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot);
vhem_status vh_h5_long_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot);
/* Checks the attribute format, and that version (NULL: not needed) is at most `newest`. */
vhem_status vh_h5_head(vhem_ctx *ctx, hid_t file, size_t limit, const char *format, int newest, int *version);
/* Opens the group with one group per model, called `what` in messages; the caller drops it. */
vhem_status vh_h5_models(vhem_ctx *ctx, hid_t file, const char *name, const char *what, size_t limit,
                         hid_t *group, int64_t *K);
/* Reads omega [K], which may be absent for a single model, as in JSON. */
vhem_status vh_h5_omega(vhem_ctx *ctx, hid_t file, int64_t K, double *omega);

/* Opens the file and calls get; error messages begin with path. */
typedef vhem_status vh_h5_get(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out);
vhem_status vh_h5_load(vhem_ctx *ctx, const char *path, vh_h5_get *get, void *out);
/* Reads a set of HMMs; out is a vh_h3m **. */
vh_h5_get vh_model_get_hdf5;

#endif
