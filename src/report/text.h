/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - names and sentences on their way into HTML, SVG, JSON within HTML, and TSV.  Errors stay in the
 * FILE.
 *
 * Whatever a name is made of, the page stays a page: bytes that are not UTF-8 become U+FFFD, control
 * characters and those that turn the direction of writing are left out, and at most max characters are kept,
 * then "...". */
#ifndef VH_REPORT_TEXT_H
#define VH_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { VH_NAME_MAX = 40, VH_TIP_MAX = 400 };

/* In the text of an element or within a quoted attribute; of HTML and of SVG. */
void vh_html_text(FILE *f, const char *text, int max);
/* An HTML span: the name cut at VH_NAME_MAX, when that cuts it with the longer text to hover over; without a
 * name the thing and its number, "model 3". */
void vh_html_name(FILE *f, const char *thing, const char *name, int64_t i);
/* A JSON string that cannot end the script element it stands in. */
void vh_script_text(FILE *f, const char *text, int max);
/* A cell of a table, whole: tabs and line ends become spaces. */
void vh_tsv_text(FILE *f, const char *text);
void vh_tsv_text_of(FILE *f, const char *text, size_t n); /* the same for its first n bytes */
/* A number in few characters: -2.465e6. */
void vh_short_number(double x, char *text, size_t size);
/* Is the text longer than max characters? */
int vh_text_longer(const char *text, int max);

#endif
