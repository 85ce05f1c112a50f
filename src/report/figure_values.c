/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_values.c - non-Gaussian emissions of the states of an HMM: one panel per column, with bars for
 * symbols, counts and bits, a rose for angles, densities for other numbers.
 *
 *   1. densities     2. ranges     3. curves and roses     4. bars     5. the figure */
#include "report/figures.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 250,
    LEFT = 30,
    TOP = 12,
    CURVES = 92,      /* height of a panel of curves, */
    CURVES_ONE = 190, /* the same if it is the only one, */
    ROSE = 176,       /* height of a rose, */
    STRIP = 34,       /* and of the bars of a state */
    FOOT = 34,
    NAMES = 58, /* names of symbols, slanted */
    POINTS = 121,
    MOST_PANELS = 8,
    MOST_BARS = 40,
    MOST_NAMED = 20,
    MOST_LEVEL = 4
};

#define SEEN_ZERO 0.005

/* ---- 1. densities -------------------------------------------------------------------------------------- */

typedef struct { /* a figure being drawn */
    FILE *f;
    const vh_facts *facts;
    const vhem_models *centers;
    int64_t j; /* the current centre */
    int S;     /* its number of states */
    const vh_ranges *ranges;
    double *value, *p; /* [n] [S][n]  n at most the allocated number */
} canvas;

static bool is_kind(const vh_facts *facts, int k, const char *values)
{
    return strcmp(facts->column[k].values, values) == 0;
}

/* Selects centre j of a level. */
static void turn_to(canvas *x, int l, int64_t j)
{
    vhem_hmm_view h;
    x->centers = x->facts->level[l].hmms;
    x->j = j;
    x->S = vhem_models_hmm(x->centers, j, &h) == VHEM_OK ? h.S : 0;
}

/* x->p [S][n] := densities or probabilities in each state of the n values x->value of column k. */
static void find_densities(canvas *x, int k, int n)
{
    if (vhem_models_density(x->facts->ctx, x->centers, x->j, k, n, x->value, x->p) != VHEM_OK) {
        *x->facts->lacks_memory = true;
        memset(x->p, 0, sizeof *x->p * vh_cells(x->S, n));
    }
}

static double highest(const canvas *x, int n)
{
    double top = 0;
    for (size_t i = 0; i < vh_cells(x->S, n); i++)
        top = isfinite(x->p[i]) ? fmax(top, x->p[i]) : top;
    return top > 0 ? top : 1;
}

/* ---- 2. ranges ----------------------------------------------------------------------------------------- */

static void choose_range(double *lo, double *hi, bool positive, bool count)
{
    vh_scale s = { .lo = *lo, .hi = *hi };
    vh_scale_widen(&s, 0.2);
    if ((positive || count) && s.lo < 0.5 * s.hi)
        s.lo = 0;
    if (count) {
        s.lo = floor(fmax(s.lo, 0));
        s.hi = ceil(s.hi);
    }
    *lo = s.lo;
    *hi = s.hi;
}

vhem_status vh_value_ranges(vhem_ctx *ctx, const vh_facts *facts, vh_ranges *r)
{
    VH_AUTOFREE const vhem_models **sets = NULL;
    int n = 0;

    r->values = true;
    VH_NEW(r->least, r->d);
    VH_NEW(r->most, r->d);
    VH_NEW(sets, facts->n_level);
    for (int l = 0; l < facts->n_level; l++)
        if (facts->level[l].hmms)
            sets[n++] = facts->level[l].hmms;
    VH_TRY(vhem_models_reach(ctx, n, sets, r->least, r->most));
    for (int k = 0; k < r->d; k++)
        choose_range(&r->least[k], &r->most[k], is_kind(facts, k, "positive"), is_kind(facts, k, "count"));
    return VHEM_OK;
}

/* ---- 3. curves and roses ------------------------------------------------------------------------------- */

static const char *name_of(const canvas *x, int k, char *buf, size_t size)
{
    return vh_facts_dimension(x->facts, k, buf, size);
}

/* Draws a closed shape of n points, with a faint fill and an outline; at[i] is point i. */
static void draw_shape(const canvas *x, int s, int n, const double (*at)[2], const char *tip)
{
    for (int line = 0; line < 2; line++) {
        fputs("<path d=\"", x->f);
        for (int i = 0; i < n; i++)
            fprintf(x->f, "%c%.1f %.1f", i ? 'L' : 'M', at[i][0], at[i][1]);
        fprintf(x->f, "z\" %s %s>", line ? "stroke-width=\"1.6\"" : "fill-opacity=\"0.14\"",
                line ? vh_line_state(s) : vh_paint_state(s));
        vh_svg_tip(x->f, tip);
        fputs("</path>\n", x->f);
    }
}

/* Draws the probability of exactly 0 as a pin; the full panel height is 1. */
static void draw_zeros(canvas *x, int k, vh_box b)
{
    char tip[VH_TIP_MAX];
    x->value[0] = 0;
    find_densities(x, k, 1);
    for (int s = 0; s < x->S; s++) {
        double at = b.x + 2 + 4 * s, top = b.y + b.h - fmin(x->p[s], 1) * b.h;
        if (x->p[s] < SEEN_ZERO)
            continue;
        snprintf(tip, sizeof tip, "State %d: exactly 0 with probability %.3g", s, x->p[s]);
        fprintf(x->f, "<path d=\"M%.1f %.1fV%.1f\" stroke-width=\"2\" %s/>", at, b.y + b.h, top,
                vh_line_state(s));
        vh_svg_circle(x->f, at, top, 3, vh_paint_state(s), "", tip);
    }
}

static void draw_curves(canvas *x, int k, vh_box b)
{
    double least = x->ranges->least[k], most = x->ranges->most[k];
    vh_scale across = { least, most, b.x, b.x + b.w }, up = { 0, 0, b.y + b.h, b.y };
    double at[POINTS + 2][2];
    char name[32], tip[VH_TIP_MAX];

    for (int t = 0; t < POINTS; t++) /* midpoints of short intervals: some densities are infinite at 0 */
        x->value[t] = least + (most - least) * (t + 0.5) / POINTS;
    find_densities(x, k, POINTS);
    up.hi = 1.08 * highest(x, POINTS);
    vh_svg_axis_x(x->f, &across, b, 6, name_of(x, k, name, sizeof name));
    for (int s = 0; s < x->S; s++) {
        const double *p = x->p + vh_row(s, POINTS);
        double sum = 0, mean = 0;
        for (int t = 0; t < POINTS; t++) {
            at[t][0] = vh_at(&across, x->value[t]);
            at[t][1] = vh_at(&up, isfinite(p[t]) ? p[t] : up.hi);
            sum += isfinite(p[t]) ? p[t] : 0;
            mean += isfinite(p[t]) ? p[t] * x->value[t] : 0;
        }
        at[POINTS][0] = b.x + b.w;
        at[POINTS + 1][0] = b.x;
        at[POINTS][1] = at[POINTS + 1][1] = b.y + b.h;
        snprintf(tip, sizeof tip, "State %d: %.60s around %.4g", s, name_of(x, k, name, sizeof name),
                 sum > 0 ? mean / sum : 0);
        draw_shape(x, s, POINTS + 2, at, tip);
    }
    if (is_kind(x->facts, k, "positive"))
        draw_zeros(x, k, b);
}

/* Angles run anticlockwise from 0 at the right.  Radii are square roots of densities, so that areas are
 * probabilities. */
static void draw_rose(canvas *x, int k, vh_box b)
{
    static const char *const mark[] = { "0", "\xcf\x80/2", "\xc2\xb1\xcf\x80", "-\xcf\x80/2" };
    double cx = b.x + b.w / 2, cy = b.y + b.h / 2, R = b.h / 2 - 16, at[POINTS][2];
    char name[32], tip[VH_TIP_MAX];

    for (int t = 0; t < POINTS; t++)
        x->value[t] = VH_PI * (2.0 * t / POINTS - 1);
    find_densities(x, k, POINTS);
    double top = highest(x, POINTS);
    fprintf(x->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" %s/>", cx, cy, R, vh_paint("grid"));
    for (int i = 0; i < 4; i++) {
        double dx = i % 2 ? 0 : 1 - i, dy = i % 2 ? i - 2 : 0; /* right, up, left, down */
        vh_svg_line(x->f, cx, cy, cx + dx * R, cy + dy * R, vh_paint("grid"));
        vh_svg_text(x->f, cx + dx * (R + 4), cy + dy * (R + 9) + 4,
                    dx > 0   ? 's'
                    : dx < 0 ? 'e'
                             : 'm',
                    vh_paint("soft"), mark[i], 8);
    }
    for (int s = 0; s < x->S; s++) {
        const double *p = x->p + vh_row(s, POINTS);
        double re = 0, im = 0, sum = 0;
        for (int t = 0; t < POINTS; t++) {
            double r = R * sqrt(fmin(p[t] / top, 1));
            at[t][0] = cx + r * cos(x->value[t]);
            at[t][1] = cy - r * sin(x->value[t]);
            re += p[t] * cos(x->value[t]);
            im += p[t] * sin(x->value[t]);
            sum += p[t];
        }
        snprintf(tip, sizeof tip, "State %d: %.60s around %.2f, mean resultant length %.2f", s,
                 name_of(x, k, name, sizeof name), atan2(im, re), sum > 0 ? hypot(re, im) / sum : 0);
        draw_shape(x, s, POINTS, (const double(*)[2])at, tip);
    }
    vh_svg_text(x->f, b.x, b.y + 8, 's', vh_paint("soft"), name_of(x, k, name, sizeof name), 16);
}

/* ---- 4. bars ------------------------------------------------------------------------------------------- */

typedef struct {
    int n;                 /* number of bars per state */
    const double *p;       /* [S][n] */
    char (*name)[48];      /* [n]  names of the bars */
    bool named;            /* names are shown below the bars */
    const char *what;      /* name of the whole panel */
    const vh_scale *scale; /* for numbers: the axis below the bars; else NULL */
} bars;

static double names_height(int n)
{
    return n <= MOST_LEVEL ? FOOT : NAMES;
}

/* Writes the name of a bar below it, slanted if there are many. */
static void draw_name(const canvas *x, const bars *a, double at, double y, int i)
{
    if (a->n <= MOST_LEVEL) {
        vh_svg_text(x->f, at, y, 'm', vh_paint("soft"), a->name[i], 34 / a->n);
        return;
    }
    fprintf(x->f, "<g transform=\"rotate(-40 %.1f %.1f)\">", at, y);
    vh_svg_text(x->f, at, y, 'e', vh_paint("soft"), a->name[i], 10);
    fputs("</g>\n", x->f);
}

/* Draws a strip of bars for each state. */
static void draw_bars(const canvas *x, const bars *a, double y0)
{
    double step = (WIDTH - LEFT - 12.0) / a->n, top = 0, foot = y0 + x->S * STRIP;
    char tip[VH_TIP_MAX], text[16];
    for (size_t i = 0; i < vh_cells(x->S, a->n); i++)
        top = fmax(top, a->p[i]);
    for (int s = 0; s < x->S; s++) {
        double low = y0 + (s + 1) * STRIP - 4;
        vh_svg_rect(x->f, (vh_box){ LEFT, y0 + s * STRIP, WIDTH - 12 - LEFT, STRIP - 4 }, vh_paint("faint"),
                    "", NULL);
        snprintf(text, sizeof text, "%d", s);
        fputs("<g font-weight=\"600\">", x->f);
        vh_svg_text(x->f, LEFT - 10, y0 + s * STRIP + STRIP / 2.0 + 2, 'e', vh_paint("ink"), text, 4);
        fputs("</g>\n", x->f);
        for (int i = 0; i < a->n; i++) {
            double p = a->p[vh_ij(s, a->n, i)], high = top > 0 ? p / top * (STRIP - 7) : 0;
            snprintf(tip, sizeof tip, "State %d, %s: %.3g", s, a->name[i], p);
            vh_svg_rect(x->f, (vh_box){ LEFT + i * step + 0.1 * step, low - high, 0.8 * step, high },
                        vh_paint_state(s), "", tip);
        }
    }
    for (int i = 0; a->named && i < a->n; i++)
        draw_name(x, a, LEFT + (i + 0.5) * step, foot + 8, i);
    snprintf(text, sizeof text, "%.2g", top);
    vh_svg_text(x->f, WIDTH - 14, y0 + 9, 'e', vh_paint("halo"), text, 8);
    if (a->scale)
        vh_svg_axis_x(x->f, a->scale, (vh_box){ LEFT, foot - 4, WIDTH - 12 - LEFT, 0 }, 6, a->what);
    else
        vh_svg_text(x->f, (LEFT + WIDTH - 12) / 2.0, foot + (a->named ? names_height(a->n) - 8 : 12), 'm',
                    vh_paint("soft"), a->what, 40);
}

/* Draws a bar per count, or per interval if there are many. */
static void draw_counts(canvas *x, int k, double y0)
{
    double least = x->ranges->least[k], most = x->ranges->most[k];
    double all = most - least + 1, width = ceil(all / MOST_BARS);
    char names[MOST_BARS][48], name[32];
    int n = (int)ceil(all / width);
    vh_scale scale = { least - 0.5, least + n * width - 0.5, LEFT, WIDTH - 12 };
    for (int t = 0; t < n; t++) {
        double lo = least + t * width;
        x->value[t] = lo + floor((width - 1) / 2);
        snprintf(names[t], sizeof names[t], width > 1 ? "%.0f to %.0f" : "%.0f", lo, lo + width - 1);
    }
    find_densities(x, k, n);
    for (size_t i = 0; i < vh_cells(x->S, n); i++)
        x->p[i] *= width;
    draw_bars(x, &(bars){ n, x->p, names, false, name_of(x, k, name, sizeof name), &scale }, y0);
}

/* pick [MOST_NAMED]: the likeliest symbols over all states of all centres of the lowest level, in order. */
static int pick_symbols(canvas *x, int k, int *pick)
{
    int V = x->facts->column[k].symbols.n, n = V < MOST_NAMED ? V : MOST_NAMED;
    double *sum = vh_facts_room(x->facts, (size_t)V, sizeof *sum);
    const canvas here = *x;
    if (!sum)
        return 0;
    for (int j = 0; V > n && j < x->facts->level[0].K; j++) {
        turn_to(x, 0, j);
        for (int v = 0; v < V; v++)
            x->value[v] = v;
        find_densities(x, k, V);
        for (size_t i = 0; i < vh_cells(x->S, V); i++)
            sum[i % (size_t)V] += x->p[i];
    }
    x->centers = here.centers;
    x->j = here.j;
    x->S = here.S;
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int v = 0; V > n && v < V; v++)
            best = sum[v] > sum[best] ? v : best;
        pick[i] = best;
        sum[best] = -1;
    }
    free(sum);
    for (int i = 1; i < n; i++) /* sort by number */
        for (int e = i; e > 0 && pick[e] < pick[e - 1]; e--) {
            int swap = pick[e];
            pick[e] = pick[e - 1];
            pick[e - 1] = swap;
        }
    return n;
}

static void draw_symbols(canvas *x, int k, double y0)
{
    const vhem_symbols *symbols = &x->facts->column[k].symbols;
    char names[MOST_NAMED][48], name[32], what[80];
    int pick[MOST_NAMED], n = pick_symbols(x, k, pick);
    for (int t = 0; t < n; t++) {
        x->value[t] = pick[t];
        snprintf(names[t], sizeof names[t], "%.40s", symbols->name[pick[t]]);
    }
    if (n == 0)
        return;
    find_densities(x, k, n);
    snprintf(what, sizeof what, n < symbols->n ? "%.30s, %d of %d symbols" : "%.30s",
             name_of(x, k, name, sizeof name), n, symbols->n);
    draw_bars(x, &(bars){ n, x->p, names, true, what, NULL }, y0);
}

/* Draws the probability of 1 in n columns of bits from k on. */
static void draw_bits(canvas *x, int k, int n, double y0)
{
    char names[MOST_BARS][48], buf[32];
    double *p = vh_facts_room(x->facts, vh_cells(x->S, n), sizeof *p);
    if (!p)
        return;
    for (int t = 0; t < n; t++) {
        x->value[0] = 1;
        find_densities(x, k + t, 1);
        for (int s = 0; s < x->S; s++)
            p[vh_ij(s, n, t)] = x->p[s];
        snprintf(names[t], sizeof names[t], "%s", name_of(x, k + t, buf, sizeof buf));
    }
    draw_bars(x, &(bars){ n, p, names, n <= MOST_NAMED, "probability of 1", NULL }, y0);
    free(p);
}

/* ---- 5. the figure ------------------------------------------------------------------------------------- */

/* Number of adjacent columns of bits that share a panel. */
static int together(const vh_facts *facts, int k)
{
    int n = 1;
    while (is_kind(facts, k, "bit") && n < MOST_BARS && k + n < facts->d && is_kind(facts, k + n, "bit"))
        n++;
    return n;
}

static double panel_height(const vh_facts *facts, int k, int S, bool only)
{
    int n = together(facts, k);
    if (is_kind(facts, k, "symbol"))
        return S * STRIP + names_height(facts->column[k].symbols.n);
    if (is_kind(facts, k, "bit"))
        return S * STRIP + (n <= MOST_NAMED ? names_height(n) : FOOT / 2.0);
    if (is_kind(facts, k, "count"))
        return S * STRIP + FOOT;
    return is_kind(facts, k, "angle") ? ROSE : only ? CURVES_ONE : CURVES;
}

static void draw_panel(canvas *x, int k, double y0, double height)
{
    if (is_kind(x->facts, k, "symbol"))
        draw_symbols(x, k, y0);
    else if (is_kind(x->facts, k, "bit"))
        draw_bits(x, k, together(x->facts, k), y0);
    else if (is_kind(x->facts, k, "count"))
        draw_counts(x, k, y0);
    else if (is_kind(x->facts, k, "angle"))
        draw_rose(x, k, (vh_box){ 12, y0, WIDTH - 24, height - 8 });
    else
        draw_curves(x, k, (vh_box){ 12, y0, WIDTH - 24, height - FOOT - 4 });
}

/* Allocates for the most values of a panel, points or symbols, under any centre. */
static bool get_room(canvas *x)
{
    int most = POINTS, S = x->S;
    vhem_models_facts of;
    for (int k = 0; k < x->facts->d; k++)
        most = x->facts->column[k].symbols.n > most ? x->facts->column[k].symbols.n : most;
    vhem_models_info(x->facts->level[0].hmms, &of);
    S = of.S > S ? of.S : S;
    x->value = vh_facts_room(x->facts, vh_cells(most, 1 + S), sizeof *x->value);
    x->p = x->value ? x->value + most : NULL;
    return x->value;
}

void vh_draw_values(FILE *f, const vh_facts *facts, const vh_ranges *ranges, const int where[2],
                    const char *title, const char *id)
{
    canvas x = { .f = f, .facts = facts, .ranges = ranges };
    int n = 0, last = 0;
    double height = TOP;
    bool only = together(facts, 0) == facts->d;

    turn_to(&x, where[0], where[1]);
    for (int k = 0; k < facts->d && n < MOST_PANELS; k += together(facts, k), n++) {
        height += panel_height(facts, k, x.S, only);
        last = k + together(facts, k);
    }
    if (get_room(&x)) {
        vh_svg_begin(
            f, WIDTH, height + (last < facts->d ? 16 : 0), title,
            "What each state emits: bars for symbols, counts and bits, roses for angles, densities for other "
            "numbers.");
        double y0 = TOP;
        for (int k = 0; k < last; k += together(facts, k)) {
            double own = panel_height(facts, k, x.S, only);
            if (k == 0)
                fprintf(f, "<g id=\"%s\">\n", id);
            draw_panel(&x, k, y0, own);
            fputs(k == 0 ? "</g>\n" : "", f);
            y0 += own;
        }
        if (last < facts->d) {
            char text[80];
            snprintf(text, sizeof text, "the first %d of %d columns; the tables have all", last, facts->d);
            vh_svg_text(f, WIDTH / 2.0, height + 10, 'm', vh_paint("soft"), text, 60);
        }
        vh_svg_end(f);
    }
    free(x.value);
}
