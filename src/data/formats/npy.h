/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.h - one NumPy array from a byte stream: a file or a member of a zip archive. */
#ifndef VH_DATA_FORMATS_NPY_H
#define VH_DATA_FORMATS_NPY_H

#include "data/formats/array.h"

#include <stddef.h>

typedef struct vh_stream {
    const char *name; /* begins error messages: "x.npz: array 'X'" */
    int64_t size;     /* size in bytes according to its container */
    /* Reads up to n bytes into buf; fewer only at the end. */
    vhem_status (*pull)(vhem_ctx *ctx, struct vh_stream *s, void *buf, size_t n, size_t *got);
    void *arg;
} vh_stream;

/* Reads header and elements; memory: limit in bytes (0: none).  Memory grows with the bytes actually read,
 * whatever the header says. */
vhem_status vh_npy_read(vhem_ctx *ctx, vh_stream *s, int64_t memory, vh_array *out);

/* Writes the header of a C-order array of this type ("<f8") and shape (n1 0: one dimension); returns its
 * size. */
size_t vh_npy_header(char out[128], const char *descr, int64_t n0, int64_t n1);

#endif
