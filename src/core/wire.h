/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - numbers and texts as bytes for another process, and back: one function that walks a record serves
 * both directions.  Bytes are in the order of the machine; they end with a checksum. */
#ifndef VH_CORE_WIRE_H
#define VH_CORE_WIRE_H

#include "core/ctx.h"

#include <stddef.h>

typedef struct {
    bool reads;
    unsigned char *data; /* of a writer: what there is so far, free(); of a reader: its caller's */
    size_t n, at, cap;   /* bytes there are; where a reader stands; room of a writer */
    vhem_status st;      /* the first failure; nothing happens after it */
} vh_wire;               /* zero it to write */

/* Checks that the bytes are complete and begin with the mark, 8 characters; "what" names them in
 * sentences. */
vhem_status vh_wire_open(vhem_ctx *ctx, const void *bytes, size_t n, const char *mark, const char *what,
                         vh_wire *out);
/* Puts the mark, with which a writer begins; and the checksum, with which it ends. */
void vh_wire_begin(vhem_ctx *ctx, vh_wire *w, const char *mark);
void vh_wire_end(vhem_ctx *ctx, vh_wire *w);

/* n bytes, numbers, or a text of fewer than `size` characters: written from x, or read into it. */
void vh_wire_bytes(vhem_ctx *ctx, vh_wire *w, void *x, size_t n);
void vh_wire_int(vhem_ctx *ctx, vh_wire *w, int *x);
void vh_wire_flag(vhem_ctx *ctx, vh_wire *w, bool *x);
void vh_wire_int64(vhem_ctx *ctx, vh_wire *w, int64_t *x);
void vh_wire_real(vhem_ctx *ctx, vh_wire *w, double *x);
void vh_wire_reals(vhem_ctx *ctx, vh_wire *w, double *x, size_t n);
void vh_wire_text(vhem_ctx *ctx, vh_wire *w, char *x, size_t size);
/* Refuses a count that was read and is not from least to most. */
void vh_wire_check(vhem_ctx *ctx, vh_wire *w, const char *what, int64_t x, int64_t least, int64_t most);
/* Bytes that a reader still has: no array it makes room for is larger. */
size_t vh_wire_left(const vh_wire *w);

#endif
