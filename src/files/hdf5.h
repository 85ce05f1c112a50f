/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5.h - what the model files in HDF5 share: attributes, texts and arrays, files that are whole or not
 * there. */
#ifndef VH_FILES_HDF5_H
#define VH_FILES_HDF5_H

#include "core/ctx.h"

#include <stddef.h>
#ifdef VH_HAVE_HDF5
#include <hdf5.h>
#else
typedef int64_t hid_t; /* without_hdf5.c: no file is ever opened */
typedef uint64_t hsize_t;
#endif

/* Closes any identifier; harmless on one that was never opened.  False: what was written there may be
 * lost. */
bool vh_h5_drop(hid_t id);
static inline void vh_h5_release(const hid_t *id) /* VH_CLEANUP(vh_h5_release) hid_t set = -1; */
{
    vh_h5_drop(*id);
}

/* ---- writing: false when the library failed ---- */

typedef struct {
    hid_t file, scalar, group, compact, contiguous; /* a scalar space; how to store groups, arrays */
} vh_h5_writer;

hid_t vh_h5_text_type(size_t length); /* of texts of so many bytes; the caller drops it */
bool vh_h5_put_int(const vh_h5_writer *w, hid_t at, const char *name, int value);
/* A string attribute of at; nothing for NULL or "". */
bool vh_h5_put_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text);
/* A string dataset, which unlike an attribute may be of any length; nothing for NULL. */
bool vh_h5_put_long_text(const vh_h5_writer *w, hid_t at, const char *name, const char *text);
bool vh_h5_put_numbers(const vh_h5_writer *w, hid_t at, const char *name, int rank, const int64_t *n,
                       const double *x);
/* An array of any type, in one run of bytes. */
bool vh_h5_put_array(const vh_h5_writer *w, hid_t at, const char *name, hid_t type, int rank,
                     const hsize_t *n, const void *x);
bool vh_h5_put_int64(const vh_h5_writer *w, hid_t at, const char *name, int64_t value);
bool vh_h5_put_real(const vh_h5_writer *w, hid_t at, const char *name, double value);
hid_t vh_h5_put_group(const vh_h5_writer *w, hid_t at, const char *name);

/* A file with what put writes into w->file. */
typedef bool vh_h5_put(const vh_h5_writer *w, const void *what);
vhem_status vh_h5_save(vhem_ctx *ctx, const char *path, vh_h5_put *put, const void *what);

/* ---- reading: limit is the size of the file, past which no text can go ---- */

typedef struct {
    const char *name;
    int64_t n;
} vh_h5_extent;

/* Refuses what lies in another file: a link in at, or the values of an open dataset; -1: not asked. */
vhem_status vh_h5_inside(vhem_ctx *ctx, hid_t at, const char *name, hid_t set);
/* Opens a dataset that lies in the file itself, and so do the groups on its path; the caller drops it. */
vhem_status vh_h5_open_inside(vhem_ctx *ctx, hid_t at, const char *path, hid_t *set);
/* The dataset to out, which has room for the wanted shape; only checks it when out is NULL. */
vhem_status vh_h5_numbers(vhem_ctx *ctx, hid_t at, const char *name, int rank, const vh_h5_extent *want,
                          double *out);
vhem_status vh_h5_count(vhem_ctx *ctx, hid_t at, const char *name, int *out); /* whole, at least 1 */
/* A single number, whatever its type. */
vhem_status vh_h5_real(vhem_ctx *ctx, hid_t at, const char *name, double *out);
/* A string attribute, a string dataset into *slot, left as it is when there is none. */
vhem_status vh_h5_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot);
vhem_status vh_h5_long_text(vhem_ctx *ctx, hid_t at, const char *name, size_t limit, char **slot);
/* The attribute format is this one, and version (NULL: not wanted) is none newer than what is known. */
vhem_status vh_h5_head(vhem_ctx *ctx, hid_t file, size_t limit, const char *format, int newest, int *version);
/* Opens the group that holds a group for each model, in sentences called what; the caller drops it. */
vhem_status vh_h5_models(vhem_ctx *ctx, hid_t file, const char *name, const char *what, size_t limit,
                         hid_t *group, int64_t *K);
/* omega [K], which may be missing for a single model as in JSON. */
vhem_status vh_h5_omega(vhem_ctx *ctx, hid_t file, int64_t K, double *omega);

/* Opens the file and hands it to get; path is put before sentences. */
typedef vhem_status vh_h5_get(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out);
vhem_status vh_h5_load(vhem_ctx *ctx, const char *path, vh_h5_get *get, void *out);
/* What is in a file of HMMs, a vh_h3m **. */
vh_h5_get vh_model_get_hdf5;

#endif
