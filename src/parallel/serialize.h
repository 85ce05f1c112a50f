/* SPDX-License-Identifier: BSD-3-Clause */
/* serialize.h - numbers and texts as bytes for another process, and back: one function that walks a record
 * serves both directions. Bytes are in the order of the machine; they end with a checksum. */
#ifndef VH_PARALLEL_SERIALIZE_H
#define VH_PARALLEL_SERIALIZE_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    bool reads;
    unsigned char *data; /* of a writer: what there is so far, free(); of a reader: its caller's */
    size_t n, at, cap;   /* bytes there are; where a reader stands; room of a writer */
    vhem_status st;      /* the first failure; nothing happens after it */
} vh_serial;             /* zero it to write */

/* Checks that the bytes are complete and begin with the mark, 8 characters; "what" names them in
 * sentences. */
vhem_status vh_serial_open(vhem_ctx *ctx, const void *bytes, size_t n, const char *mark, const char *what,
                           vh_serial *out);
/* Puts the mark, with which a writer begins; and the checksum, with which it ends. */
void vh_serial_begin(vhem_ctx *ctx, vh_serial *w, const char *mark);
void vh_serial_end(vhem_ctx *ctx, vh_serial *w);

/* n bytes, numbers, or a text of fewer than `size` characters: written from x, or read into it. */
void vh_serial_bytes(vhem_ctx *ctx, vh_serial *w, void *x, size_t n);
void vh_serial_int(vhem_ctx *ctx, vh_serial *w, int *x);
void vh_serial_flag(vhem_ctx *ctx, vh_serial *w, bool *x);
void vh_serial_int64(vhem_ctx *ctx, vh_serial *w, int64_t *x);
void vh_serial_real(vhem_ctx *ctx, vh_serial *w, double *x);
void vh_serial_reals(vhem_ctx *ctx, vh_serial *w, double *x, size_t n);
void vh_serial_text(vhem_ctx *ctx, vh_serial *w, char *x, size_t size);
/* Refuses a count that was read and is not from least to most. */
void vh_serial_check(vhem_ctx *ctx, vh_serial *w, const char *what, int64_t x, int64_t least, int64_t most);
/* Bytes that a reader still has: no array it makes room for is larger. */
size_t vh_serial_left(const vh_serial *w);

#endif
