/* SPDX-License-Identifier: BSD-3-Clause */
/* html.h - the page around the figures. */
#ifndef VH_REPORT_HTML_H
#define VH_REPORT_HTML_H

#include "report/facts.h"

#include <stdio.h>

/* Head, style sheet, tool bar; and the end with the data the script works on, and the script. */
void vh_page_begin(FILE *f, const vh_facts *facts);
void vh_page_end(FILE *f, const vh_facts *facts);

/* id is also what the navigation points to. */
void vh_section_begin(FILE *f, const char *id, const char *heading);
void vh_section_end(FILE *f);

/* A figure: begin, the SVG, caption, words, end.  name is that of the file it is saved as; level -1: it shows
 * all levels, else it is seen when that level is chosen. */
void vh_figure_begin(FILE *f, const char *name, int level);
void vh_figure_caption(FILE *f, const char *what);
void vh_figure_end(FILE *f);

/* A legend of the classes. */
void vh_class_legend(FILE *f, const vh_facts *facts);
/* A note in the place of a figure of level l: before, the method, after. */
void vh_method_note(FILE *f, const vh_facts *facts, int l, const char *before, const char *after);
/* " data-l="0" data-c="3"": by which the script knows to which cluster an element belongs. */
void vh_cluster_mark(char *text, size_t size, int l, int j);
const char *vh_plural(int n); /* "" for one, else "s" */

#endif
