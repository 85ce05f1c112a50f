/* SPDX-License-Identifier: BSD-3-Clause */
/* encoding.h - text in other encodings as UTF-8: UTF-16, which spreadsheets call Unicode text and which is
 * known by its byte order mark, and Windows-1252, of which Latin-1 is a part: what is not UTF-8. */
#ifndef VH_DATA_FORMATS_ENCODING_H
#define VH_DATA_FORMATS_ENCODING_H

#include "core/ctx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum { VH_NO_UTF16, VH_UTF16_LITTLE, VH_UTF16_BIG } vh_utf16;

/* What a text that begins with head [n] is. */
vh_utf16 vh_utf16_mark(const char *head, size_t n);
/* from [n] as UTF-8 in to, for which 3 n / 2 bytes are enough.  A character cut off at the end is left: *used
 * bytes were taken.  Half a pair becomes U+FFFD.  Returns the bytes written. */
size_t vh_utf16_decode(vh_utf16 kind, const char *from, size_t n, char *to, size_t *used);
/* Reads on in f, up to `room` bytes of UTF-8; 0 at the end.  *broken: the file ends in the middle of a
 * character.  An error stays in f. */
size_t vh_utf16_read(vh_utf16 kind, FILE *f, char *to, size_t room, bool *broken);

/* What the bytes of a text are, which is the same for all of it.  A file is read to its end before that is
 * said; a stream cannot be, and fails where it turns out to have been taken for UTF-8 wrongly. */
typedef struct {
    enum { VH_ASCII, VH_UTF8, VH_WINDOWS_1252 } is; /* VH_ASCII: so far */
    int left;                                       /* bytes that a character of UTF-8 still lacks, */
    unsigned char least, most;                      /* and the range of the next one */
} vh_encoding;                                      /* zeroed is a text that nothing was read of */

/* Looks at the next piece s [n] of a text, behind which f stands; f stays there. */
vhem_status vh_encoding_look(vhem_ctx *ctx, const char *path, FILE *f, const char *s, size_t n,
                             vh_encoding *e);
/* A piece in Windows-1252 as UTF-8: the bytes this takes; writes them if `to` is not NULL.  A byte order mark
 * of UTF-8 stays one. */
size_t vh_windows_1252_decode(const char *s, size_t n, char *to);
/* Says that a text was not UTF-8, if it was not. */
void vh_encoding_tell(vhem_ctx *ctx, const char *path, const vh_encoding *e);

#endif
