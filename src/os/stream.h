/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h - streams of bytes: files, texts in memory, the terminal; numbers in the C locale. */
#ifndef VH_OS_STREAM_H
#define VH_OS_STREAM_H

#include "os/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Like fopen() with mode "r" or "w", optionally followed by "b": there is no other than binary.  The path is
 * UTF-8. */
FILE *vh_file_open(const char *path, const char *mode);
bool vh_file_look(FILE *f, vh_entry *out);
bool vh_file_seek(FILE *f, int64_t at, int whence);
int64_t vh_file_tell(FILE *f);
/* Reads a line with its end into *line [*cap] of malloc; its length, or -1 at the end of the file. */
int64_t vh_file_line(FILE *f, char **line, size_t *cap);

/* A stream to be written: closed by vh_memory_close, its text is *text [*size] and ends with a NUL. */
FILE *vh_memory_open(char **text, size_t *size);
/* False if memory ran out, *text is NULL then.  A stream that is given up may be closed by fclose(). */
bool vh_memory_close(FILE *f, char **text, size_t *size);

bool vh_is_terminal(FILE *f);
/* From now on what is printed on standard output passes through write, which returns how many of n bytes it
 * has taken.  Returns the stream where they go then; NULL where the system cannot, or need not. */
typedef size_t vh_filter(const char *bytes, size_t n);
FILE *vh_stdout_filter(vh_filter *write);

/* Switches the calling thread to the C locale; and back to the one before it, NULL if it was not switched. */
void *vh_locale_enter(void);
void vh_locale_leave(void *before);

#endif
