/* SPDX-License-Identifier: BSD-3-Clause */
/* encoding.h - converts text to UTF-8: from UTF-16 ("Unicode text" in spreadsheets), detected by its byte
 * order mark, and from Windows-1252, a superset of Latin-1, assumed for text that is not UTF-8. */
#ifndef VH_DATA_FORMATS_ENCODING_H
#define VH_DATA_FORMATS_ENCODING_H

#include "core/ctx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum { VH_NO_UTF16, VH_UTF16_LITTLE, VH_UTF16_BIG } vh_utf16;

/* Detects UTF-16 from the first bytes head [n]. */
vh_utf16 vh_utf16_mark(const char *head, size_t n);
/* Converts from [n] to UTF-8; `to` needs 3 n / 2 bytes.  Consumes *used bytes: a character cut off at the end
 * is left.  An unpaired surrogate becomes U+FFFD.  Returns the number of bytes written. */
size_t vh_utf16_decode(vh_utf16 kind, const char *from, size_t n, char *to, size_t *used);
/* Reads up to `room` bytes of UTF-8 from f; returns 0 at the end.  *broken: the file ends inside a character.
 * Errors stay in f. */
size_t vh_utf16_read(vh_utf16 kind, FILE *f, char *to, size_t room, bool *broken);

/* Encoding of a text, the same for all of it.  A file is read to its end before this is decided; a stream
 * cannot be, and fails if it turns out not to be UTF-8. */
typedef struct {
    enum { VH_ASCII, VH_UTF8, VH_WINDOWS_1252 } is; /* VH_ASCII: so far */
    int left;                                       /* bytes missing from the current UTF-8 character, */
    unsigned char least, most;                      /* and the range of the next byte */
} vh_encoding;                                      /* all zero: nothing read yet */

/* Checks the next piece s [n] of a text; f is positioned after it and stays there. */
vhem_status vh_encoding_look(vhem_ctx *ctx, const char *path, FILE *f, const char *s, size_t n,
                             vh_encoding *e);
/* Converts a piece of Windows-1252 to UTF-8 and returns its size; `to` may be NULL.  Keeps a UTF-8 byte order
 * mark. */
size_t vh_windows_1252_decode(const char *s, size_t n, char *to);
/* Warns if the text was not UTF-8. */
void vh_encoding_tell(vhem_ctx *ctx, const char *path, const vh_encoding *e);

#endif
