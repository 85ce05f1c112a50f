/* SPDX-License-Identifier: BSD-3-Clause */
/* html.h - the page around the figures. */
#ifndef VH_REPORT_HTML_H
#define VH_REPORT_HTML_H

#include "report/facts.h"

#include <stdio.h>

/* Page head, style sheet and tool bar; page end with the script and its data. */
void vh_page_begin(FILE *f, const vh_facts *facts);
void vh_page_end(FILE *f, const vh_facts *facts);

/* id is also the navigation target. */
void vh_section_begin(FILE *f, const char *id, const char *heading);
void vh_section_end(FILE *f);

/* A figure: begin, the SVG, caption, text, end.  name is the name of the saved file; the figure is visible
 * when `level` is selected, -1: at all levels. */
void vh_figure_begin(FILE *f, const char *name, int level);
void vh_figure_caption(FILE *f, const char *what);
void vh_figure_end(FILE *f);

/* Legend of the classes. */
void vh_class_legend(FILE *f, const vh_facts *facts);
/* A note in place of a figure of level l: before, the method, after. */
void vh_method_note(FILE *f, const vh_facts *facts, int l, const char *before, const char *after);
/* " data-l="0" data-c="3"": tells the script which cluster an element belongs to. */
void vh_cluster_mark(char *text, size_t size, int l, int j);
const char *vh_plural(int n); /* "" for one, else "s" */

#endif
