/* SPDX-License-Identifier: BSD-3-Clause */
/* svg.c - see svg.h. */
#include "report/svg.h"

#include "report/text.h"

#include <math.h>
#include <string.h>

/* ---- colours ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *attributes;
} paints[] = {
    { "ink", "class=\"ink\" fill=\"#1c2330\"" },
    { "soft", "class=\"soft\" fill=\"#5a6474\"" },
    { "axis", "class=\"axis\" fill=\"none\" stroke=\"#aab3bf\"" },
    { "grid", "class=\"grid\" fill=\"none\" stroke=\"#e8ebef\"" },
    { "paper", "class=\"paper\" fill=\"#ffffff\"" },
    { "bar", "class=\"bar\" fill=\"#7d93ad\"" },
    { "arrow", "class=\"arrow\" fill=\"none\" stroke=\"#8b96a5\"" },
    { "edge", "class=\"edge\" fill=\"none\" stroke=\"#ffffff\" stroke-width=\"1.5\"" },
    { "head", "class=\"head\" fill=\"#8b96a5\"" },
    { "line", "class=\"line\" fill=\"none\" stroke=\"#1c2330\"" },
    { "halo",
      "class=\"halo\" fill=\"#1c2330\" stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" "
      "paint-order=\"stroke\"" },
    { "faint", "class=\"faint\" fill=\"#f1f3f6\"" },
};

const char *vh_paint(const char *name)
{
    for (size_t k = 0; k < sizeof paints / sizeof paints[0]; k++)
        if (strcmp(paints[k].name, name) == 0)
            return paints[k].attributes;
    return "";
}

/* Classes: the palette of Okabe and Ito, then lighter ones.  States: Tol's muted palette, to distinguish the
 * two.  Both are adjusted for colour-blind readers; tests/cli/test_report_colours.py measures how far colours
 * are apart, in both themes. */
#define CLASS(n, hex) "class=\"k" n "\" fill=\"" hex "\""
static const char *const classes[] = {
    CLASS("0", "#0072b2"),  CLASS("1", "#e69f00"),  CLASS("2", "#009e73"),  CLASS("3", "#cc79a7"),
    CLASS("4", "#56b4e9"),  CLASS("5", "#d55e00"),  CLASS("6", "#f2dc0f"),  CLASS("7", "#6b717d"),
    CLASS("8", "#9caba9"),  CLASS("9", "#f2ea98"),  CLASS("10", "#98c7b4"), CLASS("11", "#e7bad4"),
    CLASS("12", "#37d6ff"), CLASS("13", "#ecb283"), CLASS("14", "#92e1a4"), CLASS("15", "#7f8fdf"),
};
enum { N_CLASSES = sizeof classes / sizeof classes[0] };

#define STATE(n, hex)                                                                            \
    {                                                                                            \
        "class=\"s" n "\" fill=\"" hex "\"", "class=\"t" n "\" fill=\"none\" stroke=\"" hex "\"" \
    }
static const char *const states[][2] = {
    STATE("0", "#332288"), STATE("1", "#cc6677"), STATE("2", "#44aa99"), STATE("3", "#ac8e1f"),
    STATE("4", "#a84293"), STATE("5", "#83c9f2"), STATE("6", "#4d7f44"), STATE("7", "#afb243"),
    STATE("8", "#882255"), STATE("9", "#2d84b7"),
};
enum { N_STATES = sizeof states / sizeof states[0] };

#define HEAT(n, hex) "class=\"h" n "\" fill=\"" hex "\""
static const char *const heats[VH_HEAT] = {
    HEAT("0", "#f4f6fa"), HEAT("1", "#e1e9f4"), HEAT("2", "#c9d9ec"), HEAT("3", "#adc6e2"),
    HEAT("4", "#8eb0d6"), HEAT("5", "#6d98c7"), HEAT("6", "#4d7fb6"), HEAT("7", "#3267a3"),
    HEAT("8", "#1d4e8a"), HEAT("9", "#0d366b"),
};

const char *vh_paint_class(int i)
{
    return i < 0 ? "class=\"none\" fill=\"#d5d9df\"" : classes[i % N_CLASSES];
}

const char *vh_paint_state(int s)
{
    return states[s % N_STATES][0];
}

const char *vh_line_state(int s)
{
    return states[s % N_STATES][1];
}

const char *vh_line_series(int i)
{
    static const int pick[] = { 0, 1, 2, 4, 6, 8 };
    return states[pick[i % 6]][1];
}

const char *vh_paint_series(int i)
{
    static const int pick[] = { 0, 1, 2, 4, 6, 8 };
    return states[pick[i % 6]][0];
}

static int heat_of(double share)
{
    return !(share > 0) ? 0 : share >= 1 ? VH_HEAT - 1 : (int)(share * VH_HEAT);
}

const char *vh_paint_heat(double share)
{
    return heats[heat_of(share)];
}

const char *vh_ink_on_heat(double share)
{
    return heat_of(share) >= 5 ? "class=\"on\" fill=\"#ffffff\"" : vh_paint("ink");
}

/* ---- shapes -------------------------------------------------------------------------------------------- */

static void begin_svg(FILE *f, const char *role, double width, double height, const char *title,
                      const char *description)
{
    fprintf(f,
            "<svg class=\"fig\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" role=\"%s\" font-family=\"Inter, 'Helvetica Neue', Arial, "
            "'Liberation Sans', sans-serif\" font-size=\"11\"><title>",
            width, height, width, height, role);
    vh_html_text(f, title, VH_TIP_MAX);
    fputs("</title><desc>", f);
    vh_html_text(f, description, 4 * VH_TIP_MAX);
    fputs("</desc>\n", f);
}

void vh_svg_begin(FILE *f, double width, double height, const char *title, const char *description)
{
    begin_svg(f, "img", width, height, title, description);
}

void vh_svg_begin_active(FILE *f, double width, double height, const char *title, const char *description)
{
    begin_svg(f, "group", width, height, title, description);
}

void vh_svg_end(FILE *f)
{
    fputs("</svg>\n", f);
}

void vh_svg_tip(FILE *f, const char *tip)
{
    if (!tip)
        return;
    fputs("<title>", f);
    vh_html_text(f, tip, VH_TIP_MAX);
    fputs("</title>", f);
}

void vh_svg_rect(FILE *f, vh_box b, const char *paint, const char *more, const char *tip)
{
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" %s%s%s", b.x, b.y,
            b.w > 0 ? b.w : 0, b.h > 0 ? b.h : 0, paint, *more ? " " : "", more);
    if (tip) {
        putc('>', f);
        vh_svg_tip(f, tip);
        fputs("</rect>\n", f);
    } else {
        fputs("/>\n", f);
    }
}

void vh_svg_line(FILE *f, double x1, double y1, double x2, double y2, const char *paint)
{
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, paint);
}

void vh_svg_circle(FILE *f, double x, double y, double r, const char *paint, const char *more,
                   const char *tip)
{
    fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s%s%s>", x, y, r, paint, *more ? " " : "", more);
    vh_svg_tip(f, tip);
    fputs("</circle>\n", f);
}

void vh_svg_text(FILE *f, double x, double y, char anchor, const char *paint, const char *text, int max)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\"%s %s>", x, y,
            anchor == 'm'   ? " text-anchor=\"middle\""
            : anchor == 'e' ? " text-anchor=\"end\""
                            : "",
            paint);
    vh_html_text(f, text, max);
    if (vh_text_longer(text, max))
        vh_svg_tip(f, text);
    fputs("</text>\n", f);
}

void vh_svg_head(FILE *f, double x, double y, double dx, double dy, double size, const char *paint)
{
    double n = hypot(dx, dy), ux = n > 0 ? dx / n : 0, uy = n > 0 ? dy / n : -1;
    double bx = x - ux * size, by = y - uy * size, w = size * 0.42;
    fprintf(f, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" %s/>\n", x, y, bx - uy * w, by + ux * w,
            bx + uy * w, by - ux * w, paint);
}

/* ---- scales and axes ----------------------------------------------------------------------------------- */

double vh_at(const vh_scale *s, double value)
{
    return s->from + (value - s->lo) / (s->hi - s->lo) * (s->to - s->from);
}

void vh_scale_widen(vh_scale *s, double share)
{
    double room = (s->hi - s->lo) * share, most = fmax(fabs(s->lo), fabs(s->hi));
    if (!(s->hi - s->lo > 1e-9 * most))
        room = most > 0 ? most * 0.05 : 1;
    s->lo -= room;
    s->hi += room;
}

double vh_tick_step(double lo, double hi, int n)
{
    static const double nice[] = { 1, 2, 2.5, 5, 10 };
    double raw = (hi - lo) / (n > 0 ? n : 1), power = pow(10, floor(log10(raw)));
    for (int k = 0; k < 5; k++)
        if (nice[k] * power >= raw * 0.999)
            return nice[k] * power;
    return 10 * power;
}

void vh_tick_text(double value, double step, char *text, size_t size)
{
    /* Steps below 1e-300 come from axes of zero length. */
    int digits = step >= 1 || !(step > 1e-300) ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (step > 1e-300 && fabs(step * pow(10, digits) - round(step * pow(10, digits))) > 1e-6)
        digits++; /* steps of 2.5 */
    if (fabs(value) < step * 1e-6)
        value = 0;
    if (fabs(value) >= 1e7 || step < 1e-5)
        snprintf(text, size, "%.6g", value);
    else
        snprintf(text, size, "%.*f", digits > 8 ? 8 : digits, value);
    if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1))
        memmove(text, text + 1, strlen(text));
}

void vh_svg_axis_x(FILE *f, const vh_scale *s, vh_box b, int n, const char *name)
{
    double step = vh_tick_step(s->lo, s->hi, n), bottom = b.y + b.h;
    char text[48];
    for (int k = 0; k < 4 * n; k++) {
        double v = (ceil(s->lo / step - 1e-9) + k) * step;
        if (v > s->hi + step * 1e-9)
            break;
        vh_svg_line(f, vh_at(s, v), b.y, vh_at(s, v), bottom, vh_paint("grid"));
        vh_tick_text(v, step, text, sizeof text);
        vh_svg_text(f, vh_at(s, v), bottom + 14, 'm', vh_paint("soft"), text, 20);
    }
    vh_svg_line(f, b.x, bottom, b.x + b.w, bottom, vh_paint("axis"));
    vh_svg_text(f, b.x + b.w / 2, bottom + 30, 'm', vh_paint("soft"), name, (int)(b.w / 5.5));
}

void vh_svg_axis_y(FILE *f, const vh_scale *s, vh_box b, int n, const char *name)
{
    double step = vh_tick_step(s->lo, s->hi, n);
    char text[48];
    for (int k = 0; k < 4 * n; k++) {
        double v = (ceil(s->lo / step - 1e-9) + k) * step;
        if (v > s->hi + step * 1e-9)
            break;
        vh_svg_line(f, b.x, vh_at(s, v), b.x + b.w, vh_at(s, v), vh_paint("grid"));
        vh_tick_text(v, step, text, sizeof text);
        vh_svg_text(f, b.x - 6, vh_at(s, v) + 4, 'e', vh_paint("soft"), text, 20);
    }
    vh_svg_line(f, b.x, b.y, b.x, b.y + b.h, vh_paint("axis"));
    vh_svg_text(f, b.x - 6, b.y - 8, 'e', vh_paint("soft"), name, 40);
}
