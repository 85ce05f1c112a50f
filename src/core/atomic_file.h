/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_file.h - output files that are either complete or absent: a nameless file replaces the target once
 * complete. */
#ifndef VH_CORE_ATOMIC_FILE_H
#define VH_CORE_ATOMIC_FILE_H

#include "core/ctx.h"

#include <stdio.h>

typedef struct {
    FILE *f;          /* write here; NULL after vh_atomic_file_path */
    char *path, *tmp; /* tmp is NULL when writing in place: stdout, a pipe, a device */
    int fd;           /* of tmp; 0: none */
    bool named;       /* tmp is a file beside the target, to be removed; else it has no name */
} vh_atomic_file;

/* "-" is stdout. */
vhem_status vh_atomic_file_open(vhem_ctx *ctx, const char *path, vh_atomic_file *out);
/* For libraries that open files themselves: only creates the temporary file.  The library opens out->tmp, or
 * out->path when tmp is NULL; the commit syncs the file to disk before renaming it. */
vhem_status vh_atomic_file_path(vhem_ctx *ctx, const char *path, vh_atomic_file *out);
/* Flushes, checks, and moves the file to its target.  Detects a full disk; the old file is kept then. */
vhem_status vh_atomic_file_commit(vhem_ctx *ctx, vh_atomic_file *out);
/* Ends a text: if `printed` is VHEM_OK, writes a newline and commits; else adds the path to the error. */
vhem_status vh_atomic_file_end(vhem_ctx *ctx, vhem_status printed, vh_atomic_file *out);
/* Frees; removes an uncommitted file.  Safe on a zeroed struct and after a commit. */
void vh_atomic_file_close(vh_atomic_file *out);

/* True for stdin ("-"), a pipe or a device: readable once, and without a file extension. */
bool vh_is_stream(const char *path);
/* Returns the first byte of a stream, or EOF.  The next vh_in_open of this context gets the stream with that
 * byte still in it; without one, vh_in_forget closes it. */
int vh_in_peek(vhem_ctx *ctx, const char *path);
void vh_in_forget(vhem_ctx *ctx);
/* Opens a file or stdin ("-") for reading; *size is the file size, 0 if unknown. */
vhem_status vh_in_open(vhem_ctx *ctx, const char *path, FILE **f, int64_t *size);
void vh_in_close(FILE *f); /* NULL is allowed */
VH_OWNED(FILE, vh_in_close)
/* Reads a whole file or stdin ("-") and appends a NUL.  The caller frees *text. */
vhem_status vh_read_all(vhem_ctx *ctx, const char *path, char **text, size_t *size);

/* Renames the complete folder tmp to path; VHEM_EIO if path exists by now. */
vhem_status vh_take_place(vhem_ctx *ctx, const char *tmp, const char *path);

/* True if the path has this ending (".json"), ignoring case. */
bool vh_ends_with(const char *path, const char *ending);

#endif
