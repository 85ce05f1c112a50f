/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.h - primitives of the figures.  Every shape carries its colours as attributes, so that a figure taken
 * out of the page is whole, in any program; and a class, by which the dark theme exchanges them. */
#ifndef VH_REPORT_SVG_H
#define VH_REPORT_SVG_H

#include "math/logsum.h"

#include <stdio.h>

/* Attributes by name: ink soft axis grid paper bar dash line; "" for others. */
const char *vh_paint(const char *name);
const char *vh_paint_class(int i); /* fill of true class i; -1: of none */
const char *vh_paint_state(int s); /* fill of state s */
const char *vh_line_state(int s);  /* stroke of state s */
enum { VH_HEAT = 10 };
const char *vh_paint_heat(double share); /* fill, share from 0 to 1 */
const char *vh_ink_on_heat(double share);
const char *vh_line_series(int i); /* stroke of curve i */
const char *vh_paint_series(int i);

/* title and description are text alternatives; width and height are also the coordinates. */
void vh_svg_begin(FILE *f, double width, double height, const char *title, const char *description);
/* The same for one whose parts can be chosen, and must not be hidden behind the one picture. */
void vh_svg_begin_active(FILE *f, double width, double height, const char *title, const char *description);
void vh_svg_end(FILE *f);

typedef struct {
    double x, y, w, h;
} vh_box;

/* tip: what a pointer over it shows; NULL for none.  more: further attributes; "" for none. */
void vh_svg_rect(FILE *f, vh_box b, const char *paint, const char *more, const char *tip);
void vh_svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *paint);
void vh_svg_circle(FILE *f, double x, double y, double r, const char *paint, const char *more,
                   const char *tip);
/* The tip alone, within an element that is open. */
void vh_svg_tip(FILE *f, const char *tip);
/* anchor: 's' start, 'm' middle, 'e' end.  Cut at max characters, the whole then shows as a tip. */
void vh_svg_text(FILE *f, double x, double y, char anchor, const char *paint, const char *text, int max);
/* A filled arrow head with its point at (x, y), coming from direction (dx, dy). */
void vh_svg_head(FILE *f, double x, double y, double dx, double dy, double size, const char *paint);

/* ---- scales and axes ----------------------------------------------------------------------------------- */

typedef struct {
    double lo, hi;   /* values */
    double from, to; /* where they lie */
} vh_scale;

double vh_at(const vh_scale *s, double value);
/* Widens [lo, hi] to a range that is neither empty nor cut off at what it shows. */
void vh_scale_widen(vh_scale *s, double share);
/* Distance of round ticks, at most n of them. */
double vh_tick_step(double lo, double hi, int n);
void vh_tick_text(double value, double step, char *text, size_t size);
/* Axis with ticks and their grid across the box, at its bottom and at its left. */
void vh_svg_axis_x(FILE *f, const vh_scale *s, vh_box b, int n, const char *name);
void vh_svg_axis_y(FILE *f, const vh_scale *s, vh_box b, int n, const char *name);

#endif
