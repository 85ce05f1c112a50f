/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h - writes names and sentences into HTML, SVG, JSON within HTML, and TSV.  Errors are left in the
 * FILE.
 *
 * No name can break the page: bytes that are not UTF-8 become U+FFFD, control characters and those that
 * change the direction of writing are dropped, and text over max characters is truncated with "...". */
#ifndef VH_REPORT_TEXT_H
#define VH_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

enum { VH_NAME_MAX = 40, VH_TIP_MAX = 400 };

/* For the text of an element or a quoted attribute, in HTML and SVG. */
void vh_html_text(FILE *f, const char *text, int max);
/* A name in HTML, truncated at VH_NAME_MAX with the longer text as a tooltip; without a name, the thing and
 * its number, "model 3". */
void vh_html_name(FILE *f, const char *thing, const char *name, int64_t i);
/* A JSON string that cannot end its script element. */
void vh_script_text(FILE *f, const char *text, int max);
/* A full table cell: tabs and line ends become spaces. */
void vh_tsv_text(FILE *f, const char *text);
void vh_tsv_text_of(FILE *f, const char *text, size_t n); /* the same for its first n bytes */
/* A number in few characters: -2.465e6. */
void vh_short_number(double x, char *text, size_t size);
/* True if the text is longer than max characters. */
int vh_text_longer(const char *text, int max);

#endif
