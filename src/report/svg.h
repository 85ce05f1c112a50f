/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.h - drawing primitives of the figures.  Every shape carries its colours as attributes, so that a figure
 * taken out of the page is complete in any program, and a class, by which the dark theme replaces them. */
#ifndef VH_REPORT_SVG_H
#define VH_REPORT_SVG_H

#include "math/logsum.h"

#include <stdio.h>

/* Attributes by name: ink soft axis grid paper bar dash line; "" for unknown names. */
const char *vh_paint(const char *name);
const char *vh_paint_class(int i); /* fill of true class i; -1: no class */
const char *vh_paint_state(int s); /* fill of state s */
const char *vh_line_state(int s);  /* stroke of state s */
enum { VH_HEAT = 10 };
const char *vh_paint_heat(double share); /* fill, for a share from 0 to 1 */
const char *vh_ink_on_heat(double share);
const char *vh_line_series(int i); /* stroke of curve i */
const char *vh_paint_series(int i);

/* title and description are text alternatives; width and height also define the coordinates. */
void vh_svg_begin(FILE *f, double width, double height, const char *title, const char *description);
/* The same for a figure with selectable parts, exposed to screen readers as a group, not as one image. */
void vh_svg_begin_active(FILE *f, double width, double height, const char *title, const char *description);
void vh_svg_end(FILE *f);

typedef struct {
    double x, y, w, h;
} vh_box;

/* tip: tooltip, or NULL.  more: further attributes, or "". */
void vh_svg_rect(FILE *f, vh_box b, const char *paint, const char *more, const char *tip);
void vh_svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *paint);
void vh_svg_circle(FILE *f, double x, double y, double r, const char *paint, const char *more,
                   const char *tip);
/* The tooltip alone, within an open element. */
void vh_svg_tip(FILE *f, const char *tip);
/* anchor: 's' start, 'm' middle, 'e' end.  Text over max characters is cut, with the whole as a tooltip. */
void vh_svg_text(FILE *f, double x, double y, char anchor, const char *paint, const char *text, int max);
/* A filled arrow head with its tip at (x, y), pointing along (dx, dy). */
void vh_svg_head(FILE *f, double x, double y, double dx, double dy, double size, const char *paint);

/* ---- scales and axes ----------------------------------------------------------------------------------- */

typedef struct {
    double lo, hi;   /* values */
    double from, to; /* their coordinates */
} vh_scale;

double vh_at(const vh_scale *s, double value);
/* Widens [lo, hi] by a share on each side, and so that it is not empty. */
void vh_scale_widen(vh_scale *s, double share);
/* Distance between round ticks, at most n of them. */
double vh_tick_step(double lo, double hi, int n);
void vh_tick_text(double value, double step, char *text, size_t size);
/* Axes with ticks and grid lines across the box, at its bottom and left. */
void vh_svg_axis_x(FILE *f, const vh_scale *s, vh_box b, int n, const char *name);
void vh_svg_axis_y(FILE *f, const vh_scale *s, vh_box b, int n, const char *name);

#endif
