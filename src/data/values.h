/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - converts numbers to and from text, and quotes file contents in messages.
 *
 * Numbers use the C locale whatever the user's: every load and save runs between vh_locale_enter and
 * vh_locale_leave, which change only the calling thread. */
#ifndef VH_DATA_VALUES_H
#define VH_DATA_VALUES_H

#include "core/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VH_MINUS "\u2212" /* the minus sign, not the hyphen */
enum { VH_MINUS_SIZE = 3 };

typedef enum { VH_NUMBER, VH_MISSING, VH_INFINITE, VH_TEXT } vh_value;

/* Strips blanks around s [n]. */
void vh_trim(const char **s, size_t *n);

/* Converts s [n] to a double, correctly rounded.  Blanks around it are skipped; VH_MINUS is a minus.  Missing
 * values (empty, nan, NA, ?) give NaN.  s[n] must be readable and must not continue a number: a delimiter, a
 * quote, NUL. */
vh_value vh_number_parse(const char *s, size_t n, double *out);

/* The same, but the words of the list `missing`, "-999,lost" (NULL: none), also mean missing.  Numbers match
 * by value: -999 and -999.0. */
vh_value vh_cell_parse(const char *s, size_t n, const char *missing, double *out);

/* Parses a plain integer, digits with an optional minus, that fits in 64 bits. */
bool vh_integer_parse(const char *s, size_t n, int64_t *out);

/* As vh_number_text, but whole numbers have no point: 3, not 3.0. */
size_t vh_number_short(double v, char out[VH_NUMBER_SIZE]);

/* Quotes s [n] for a message: cut after 48 bytes, control characters replaced; returns out. */
enum { VH_SHOW_SIZE = 56 };
const char *vh_show_into(char out[VH_SHOW_SIZE], const char *s, size_t n);
#define VH_SHOW(s, n) vh_show_into((char[VH_SHOW_SIZE]){ "" }, s, n)

/* Frees names [n] and its strings; accepts NULL. */
void vh_list_free(char **names, int64_t n);

/* Joins names [n] as "a,b,c", to be typed; false if out [size] is too small or a name has a comma or a
 * quote. */
bool vh_join(char *const *names, int n, const char *between, char *out, size_t size);

/* Joins names [n] as "a, b, c" for a message; "a, b and 7 more" if out [size] is too small. */
void vh_show_list(char *const *names, int n, const char *between, char *out, size_t size);

#endif
