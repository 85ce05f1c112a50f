/* SPDX-License-Identifier: BSD-3-Clause */
/* serialize.h - converts numbers and texts to bytes for another process, and back: one function that walks a
 * record serves both directions.  Native byte order, with a final checksum. */
#ifndef VH_PARALLEL_SERIALIZE_H
#define VH_PARALLEL_SERIALIZE_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    bool reads;
    unsigned char *data; /* writer: output so far, to be freed; reader: owned by the caller */
    size_t n, at, cap;   /* bytes stored; position of a reader; capacity of a writer */
    vhem_status st;      /* the first failure; later calls do nothing */
} vh_serial;             /* zero it to write */

/* Starts reading.  Checks the mark (8 characters) and the checksum; errors call the bytes `what`. */
vhem_status vh_serial_open(vhem_ctx *ctx, const void *bytes, size_t n, const char *mark, const char *what,
                           vh_serial *out);
/* A writer begins with the mark and ends with the checksum. */
void vh_serial_begin(vhem_ctx *ctx, vh_serial *w, const char *mark);
void vh_serial_end(vhem_ctx *ctx, vh_serial *w);

/* Writes x, or reads into it: n bytes, numbers, or a text of fewer than `size` characters. */
void vh_serial_bytes(vhem_ctx *ctx, vh_serial *w, void *x, size_t n);
void vh_serial_int(vhem_ctx *ctx, vh_serial *w, int *x);
void vh_serial_flag(vhem_ctx *ctx, vh_serial *w, bool *x);
void vh_serial_int64(vhem_ctx *ctx, vh_serial *w, int64_t *x);
void vh_serial_real(vhem_ctx *ctx, vh_serial *w, double *x);
void vh_serial_reals(vhem_ctx *ctx, vh_serial *w, double *x, size_t n);
void vh_serial_text(vhem_ctx *ctx, vh_serial *w, char *x, size_t size);
/* Rejects a count outside least .. most. */
void vh_serial_check(vhem_ctx *ctx, vh_serial *w, const char *what, int64_t x, int64_t least, int64_t most);
/* Bytes left to read: an upper limit for the size of arrays to allocate. */
size_t vh_serial_left(const vh_serial *w);

#endif
