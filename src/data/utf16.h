/* SPDX-License-Identifier: BSD-3-Clause */
/* utf16.h - text in UTF-16, which spreadsheets call Unicode text, as UTF-8.  It is known by its byte order
 * mark. */
#ifndef VH_DATA_UTF16_H
#define VH_DATA_UTF16_H

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

#endif
