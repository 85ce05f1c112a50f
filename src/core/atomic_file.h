/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_file.h - output that is either complete or not there: a file without a name takes the
 * place of the target when it is whole. */
#ifndef VH_CORE_ATOMIC_FILE_H
#define VH_CORE_ATOMIC_FILE_H

#include "core/ctx.h"

#include <stdio.h>

typedef struct {
    FILE *f;          /* write here; NULL after vh_atomic_file_path */
    char *path, *tmp; /* tmp is NULL when writing in place: stdout, a pipe, a device */
    int fd;           /* of tmp, the file that will be at path; 0: none */
    bool named;       /* tmp is a file beside the target, which has to go; else it has no name */
} vh_atomic_file;

/* "-" is stdout. */
vhem_status vh_atomic_file_open(vhem_ctx *ctx, const char *path, vh_atomic_file *out);
/* For libraries that open files themselves: only makes the temporary file, which opens as out->tmp, and as
 * out->path when that is NULL; the commit then sees to it that the file is on disk before it takes its
 * place. */
vhem_status vh_atomic_file_path(vhem_ctx *ctx, const char *path, vh_atomic_file *out);
/* Flushes, checks, puts the file in its place.  A full disk is found here at the latest; the old file then
 * still stands. */
vhem_status vh_atomic_file_commit(vhem_ctx *ctx, vh_atomic_file *out);
/* The end of a text: when it was printed well, a line end and the commit; else the path is put before the
 * sentence that says why not. */
vhem_status vh_atomic_file_end(vhem_ctx *ctx, vhem_status printed, vh_atomic_file *out);
/* Releases; removes what was not committed.  Safe on a zeroed struct and after a commit. */
void vh_atomic_file_close(vh_atomic_file *out);

/* Stdin ("-"), a pipe or a device: can be read once, and has no ending to go by. */
bool vh_is_stream(const char *path);
/* The first byte of a stream, or EOF.  The next vh_in_open of this context is given the stream with that byte
 * still in it; vh_in_forget closes it if there is none. */
int vh_in_peek(vhem_ctx *ctx, const char *path);
void vh_in_forget(vhem_ctx *ctx);
/* A file or stdin ("-") to read from; *size is that of a file, 0 when it is not known. */
vhem_status vh_in_open(vhem_ctx *ctx, const char *path, FILE **f, int64_t *size);
void vh_in_close(FILE *f); /* NULL: nothing */
VH_OWNED(FILE, vh_in_close)
/* The whole of a file or stdin ("-") with a NUL after it; *text comes from malloc. */
vhem_status vh_read_all(vhem_ctx *ctx, const char *path, char **text, size_t *size);

/* A folder that was filled under another name takes its place; VHEM_EIO when something is there by now. */
vhem_status vh_take_place(vhem_ctx *ctx, const char *tmp, const char *path);

/* Does the path end in this (".json"), whatever the case? */
bool vh_ends_with(const char *path, const char *ending);

#endif
