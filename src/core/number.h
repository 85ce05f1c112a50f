/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h - a double as text that reads back to the same double, whatever the locale. */
#ifndef VH_CORE_NUMBER_H
#define VH_CORE_NUMBER_H

#include <locale.h>
#include <stddef.h>

#define VH_NUMBER_SIZE 32

/* The shortest of 15, 16 or 17 digits that reads back; valid JSON and always recognisable as a real ("1.0",
 * "-0.0", "2.5e-07").  Returns the length.  nan, inf and -inf are written as such, which JSON does not know:
 * writers of JSON refuse them first. */
size_t vh_number_text(double x, char text[VH_NUMBER_SIZE]);

/* The C locale for numbers, in the calling thread alone, and back. */
typedef struct {
    locale_t c, old;
} vh_locale;
vh_locale vh_locale_enter(void);
void vh_locale_leave(vh_locale);

/* strtod with a decimal point, whatever the locale of the program that uses the library. */
double vh_number_read(const char *text, char **end);

#endif
