/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h - numbers to and from text, and what a sentence may show of a file.
 *
 * Numbers are read and written as in the C locale whatever the user's: vh_locale_enter and _leave stand
 * around every load and save, and change the calling thread alone. */
#ifndef VH_DATA_VALUES_H
#define VH_DATA_VALUES_H

#include "core/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VH_MINUS "\u2212" /* a minus sign, which is not the hyphen */
enum { VH_MINUS_SIZE = 3 };

typedef enum { VH_NUMBER, VH_MISSING, VH_INFINITE, VH_TEXT } vh_value;

/* s [n] without the blanks around it. */
void vh_trim(const char **s, size_t *n);

/* s [n] as a double, correctly rounded; blanks around it are skipped, VH_MINUS is a minus.  Missing (empty,
 * nan, NA, ?) gives NaN.
 * s[n] must be readable and a byte that cannot continue a number: a delimiter, a quote, NUL. */
vh_value vh_number_parse(const char *s, size_t n, double *out);

/* The same, but one of the words of a list, "-999,lost" (NULL: none), is missing too; numbers are the same
 * however they are written, -999 and -999.0. */
vh_value vh_cell_parse(const char *s, size_t n, const char *missing, double *out);

/* A plain whole number: digits with an optional minus, inside 64 bits. */
bool vh_integer_parse(const char *s, size_t n, int64_t *out);

/* vh_number_text, but whole numbers without a point: 3, not 3.0. */
size_t vh_number_short(double v, char out[VH_NUMBER_SIZE]);

typedef struct {
    char s[56];
} vh_shown;
/* s [n] for a sentence: cut after 48 bytes, bytes that would break a line or a terminal replaced. */
const char *vh_show_into(vh_shown *shown, const char *s, size_t n);
#define VH_SHOW(s, n) vh_show_into(&(vh_shown){ { 0 } }, s, n)

/* names [n] and what they point to; accepts NULL. */
void vh_list_free(char **names, int64_t n);
typedef struct { /* such a list and its length */
    char **text;
    int64_t n;
} vh_list;
static inline void vh_list_drop(vh_list *list) /* for VH_CLEANUP */
{
    vh_list_free(list->text, list->n);
}

/* names [n] as "a,b,c", to be typed; false where out [size] is full, or a name has a comma or a quote. */
bool vh_join(char *const *names, int n, const char *between, char *out, size_t size);

/* names [n] as "a, b, c" for a sentence, "a, b and 7 more" where out [size] is full. */
void vh_show_list(char *const *names, int n, const char *between, char *out, size_t size);

#endif
