/* SPDX-License-Identifier: BSD-3-Clause */
/* number.h - converts a double to text that reads back to the same double in any locale. */
#ifndef VH_CORE_NUMBER_H
#define VH_CORE_NUMBER_H

#include <stddef.h>

#define VH_NUMBER_SIZE 32

/* Writes the fewest of 15, 16 or 17 digits that read back exactly; valid JSON and always recognisable as a
 * real ("1.0", "-0.0", "2.5e-07").  Returns the length.  Writes nan, inf and -inf as such, which JSON lacks:
 * JSON writers reject them first. */
size_t vh_number_text(double x, char text[VH_NUMBER_SIZE]);

/* strtod with a decimal point, whatever the locale. */
double vh_number_read(const char *text, char **end);

#endif
