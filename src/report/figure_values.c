/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_values.c - what the states of an HMM emit where that is not Gaussian throughout: a panel for each
 * column, with bars for symbols, counts and bits, a rose for angles, densities for all other numbers.
 *
 *   1. columns and densities     2. ranges     3. curves and roses     4. bars     5. the figure
 *
 * A figure asks a family for nothing but the kind of its values, draws, and densities.  The density of one
 * column is that of a frame which lacks all others. */
#include "report/figures.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "model/layout.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 250,
    LEFT = 30,
    TOP = 12,
    CURVES = 92,      /* height of a panel of curves, */
    CURVES_ONE = 190, /* of the only one, */
    ROSE = 176,       /* of a rose, */
    STRIP = 34,       /* of the bars of a state */
    FOOT = 34,
    NAMES = 58, /* names of symbols, askew */
    POINTS = 121,
    MOST_PANELS = 8,
    MOST_BARS = 40,
    MOST_NAMED = 20,
    MOST_LEVEL = 4,
    DRAWS = 64
};

#define FAINT_WEIGHT 0.02 /* components below it do not widen a range */
#define SEEN_ZERO    0.005

/* ---- 1. columns and densities -------------------------------------------------------------------------- */

typedef struct { /* a column of frames */
    const vh_emission *family;
    vh_shape shape;            /* of its channel, or of the model */
    const vh_channel *channel; /* of a product; else NULL */
    int at;                    /* which of the columns of these it is */
    vh_values_kind values;
    char *const *symbol; /* [V]  of symbols */
} column;

static column find_column(const vh_h3m *h3m, int k)
{
    const vh_layout *layout = h3m->shape.layout;
    column c = { .family = h3m->family, .shape = h3m->shape, .at = k, .values = h3m->family->values };
    if (layout && layout->n_channel == 1)
        c.symbol = layout->channel[0].symbol;
    for (int i = 0; layout && vh_param_is_channels(&h3m->family->param[0]) && i < layout->n_channel; i++) {
        const vh_channel *of = &layout->channel[i];
        if (k >= of->column && k < of->column + of->shape.d)
            c = (column){ of->family, of->shape, of, k - of->column, of->family->values, of->symbol };
    }
    return c;
}

typedef struct { /* a figure that is being drawn */
    FILE *f;
    const vh_facts *facts;
    const vh_h3m *h3m;
    const vh_hmm *hmm;
    const vh_ranges *ranges;
    double *value, *row, *p; /* [n] [n] [S][n]  n = most: values, densities of one component, of all states */
    double *y, *work;        /* [n][d] */
    int most;
} canvas;

/* x->p [S][n] := the densities or probabilities of n values of a column, x->value, in each state. */
static void find_densities(canvas *x, const column *c, int n)
{
    const vh_hmm *h = x->hmm;
    const vh_emission *gaps = vh_emission_with_gaps(c->family, &c->shape);
    const vh_emission *by = gaps ? gaps : c->family;
    int d = c->shape.d;
    for (int t = 0; t < n; t++)
        for (int k = 0; k < d; k++)
            x->y[vh_ij(t, d, k)] = k == c->at ? x->value[t] : NAN;
    memset(x->p, 0, sizeof *x->p * vh_cells(h->S, n));
    for (int s = 0; s < h->S; s++)
        for (int m = 0; m < h->M; m++) {
            double *all[VH_MAX_PARAM], *own[VH_MAX_PARAM], weight = vh_hmm_c(h)[vh_ij(s, h->M, m)];
            vh_hmm_component(x->h3m, h, s, m, all);
            if (c->channel)
                vh_channel_par(c->channel, all, own);
            if (!by->log_density(&c->shape, (const double *const *)(c->channel ? own : all), x->y, n, x->row,
                                 x->work))
                continue;
            for (int t = 0; t < n; t++)
                x->p[vh_ij(s, n, t)] += weight * exp(x->row[t]);
        }
}

static double highest(const canvas *x, int n)
{
    double top = 0;
    for (size_t i = 0; i < vh_cells(x->hmm->S, n); i++)
        top = isfinite(x->p[i]) ? fmax(top, x->p[i]) : top;
    return top > 0 ? top : 1;
}

/* ---- 2. ranges ----------------------------------------------------------------------------------------- */

typedef struct {
    vh_value_range *range; /* [d] */
    double *y, *end;       /* [d] [d][4]  the two least and the two largest of each column */
    double *root, *work;
} survey;

static void free_survey(survey *x)
{
    free(x->y);
    free(x->end);
    free(x->root);
    free(x->work);
}

/* Puts a number among the two least and the two largest. */
static void put_end(double *end, double v)
{
    if (v < end[0]) {
        end[1] = end[0];
        end[0] = v;
    } else if (v < end[1]) {
        end[1] = v;
    }
    if (v > end[3]) {
        end[2] = end[3];
        end[3] = v;
    } else if (v > end[2]) {
        end[2] = v;
    }
}

/* Widens the ranges to what draws of a component reach, the outermost left out. */
static void look_at(const vh_h3m *h3m, double *const *par, vh_rng *rng, survey *x)
{
    const double *const *of = (const double *const *)par;
    if (!h3m->family->root(&h3m->shape, of, x->root, x->work))
        return;
    for (int k = 0; k < h3m->d; k++) {
        x->end[4 * k] = x->end[4 * k + 1] = INFINITY;
        x->end[4 * k + 2] = x->end[4 * k + 3] = -INFINITY;
    }
    for (int t = 0; t < DRAWS; t++) {
        h3m->family->draw(rng, &h3m->shape, of, x->root, x->y);
        for (int k = 0; k < h3m->d; k++)
            put_end(x->end + 4 * k, x->y[k]);
    }
    for (int k = 0; k < h3m->d; k++) {
        x->range[k].lo = fmin(x->range[k].lo, x->end[4 * k + 1]);
        x->range[k].hi = fmax(x->range[k].hi, x->end[4 * k + 2]);
    }
}

static void settle(vh_value_range *r, vh_values_kind values)
{
    vh_scale s = { .lo = r->lo, .hi = r->hi };
    vh_scale_widen(&s, 0.2);
    if ((values == VH_POSITIVES || values == VH_COUNTS) && s.lo < 0.5 * s.hi)
        s.lo = 0;
    if (values == VH_COUNTS) {
        s.lo = floor(fmax(s.lo, 0));
        s.hi = ceil(s.hi);
    }
    r->lo = s.lo;
    r->hi = s.hi;
}

vhem_status vh_value_ranges(vhem_ctx *ctx, const vh_facts *facts, vh_ranges *r)
{
    const vh_h3m *first = facts->level[0].c->centers;
    const vh_emission *family = first->family;
    VH_CLEANUP(free_survey) survey x = { 0 };
    vh_rng rng;

    vh_rng_init(&rng, 0, VH_RNG_SAMPLE, 0);
    VH_NEW(r->value, r->d);
    VH_NEW(x.y, r->d);
    VH_NEW(x.end, 4 * (size_t)r->d);
    VH_NEW(x.root, vh_param_size(family, family->n_param - 1, &first->shape));
    VH_NEW(x.work, vh_emission_room(family, &first->shape));
    x.range = r->value;
    for (int k = 0; k < r->d; k++)
        r->value[k] = (vh_value_range){ INFINITY, -INFINITY };
    for (int l = 0; l < facts->n_level; l++) {
        const vh_h3m *h3m = facts->level[l].c->centers;
        for (int64_t j = 0; h3m && j < h3m->K; j++)
            for (int q = 0; q < h3m->hmm[j].S * h3m->hmm[j].M; q++) {
                double *par[VH_MAX_PARAM];
                vh_hmm_component(h3m, &h3m->hmm[j], q / h3m->hmm[j].M, q % h3m->hmm[j].M, par);
                if (vh_hmm_c(&h3m->hmm[j])[q] >= FAINT_WEIGHT)
                    look_at(h3m, par, &rng, &x);
            }
    }
    for (int k = 0; k < r->d; k++)
        settle(&r->value[k], find_column(first, k).values);
    return VHEM_OK;
}

/* ---- 3. curves and roses ------------------------------------------------------------------------------- */

static const char *name_of(const canvas *x, int k, char *buf, size_t size)
{
    return vh_facts_dimension(x->facts, k, buf, size);
}

/* A closed shape of n points, filled faintly and with its line; at(i): where point i is. */
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

/* The probability of exactly 0 as a pin whose height is the share of that of the panel. */
static void draw_zeros(canvas *x, const column *c, vh_box b)
{
    char tip[VH_TIP_MAX];
    x->value[0] = 0;
    find_densities(x, c, 1);
    for (int s = 0; s < x->hmm->S; s++) {
        double at = b.x + 2 + 4 * s, top = b.y + b.h - fmin(x->p[s], 1) * b.h;
        if (x->p[s] < SEEN_ZERO)
            continue;
        snprintf(tip, sizeof tip, "State %d: exactly 0 with probability %.3g", s, x->p[s]);
        fprintf(x->f, "<path d=\"M%.1f %.1fV%.1f\" stroke-width=\"2\" %s/>", at, b.y + b.h, top,
                vh_line_state(s));
        vh_svg_circle(x->f, at, top, 3, vh_paint_state(s), "", tip);
    }
}

static void draw_curves(canvas *x, const column *c, int k, vh_box b)
{
    const vh_value_range *r = &x->ranges->value[k];
    vh_scale across = { r->lo, r->hi, b.x, b.x + b.w }, up = { 0, 0, b.y + b.h, b.y };
    double at[POINTS + 2][2];
    char name[32], tip[VH_TIP_MAX];

    for (int t = 0; t < POINTS; t++) /* the middles of small stretches: some densities are infinite at 0 */
        x->value[t] = r->lo + (r->hi - r->lo) * (t + 0.5) / POINTS;
    find_densities(x, c, POINTS);
    up.hi = 1.08 * highest(x, POINTS);
    vh_svg_axis_x(x->f, &across, b, 6, name_of(x, k, name, sizeof name));
    for (int s = 0; s < x->hmm->S; s++) {
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
    if (c->values == VH_POSITIVES)
        draw_zeros(x, c, b);
}

/* Angles run against the clock from 0, at the right.  Radii are roots of densities, so that areas are
 * probabilities. */
static void draw_rose(canvas *x, const column *c, int k, vh_box b)
{
    static const char *const mark[] = { "0", "\xcf\x80/2", "\xc2\xb1\xcf\x80", "-\xcf\x80/2" };
    double cx = b.x + b.w / 2, cy = b.y + b.h / 2, R = b.h / 2 - 16, at[POINTS][2];
    char name[32], tip[VH_TIP_MAX];

    for (int t = 0; t < POINTS; t++)
        x->value[t] = VH_PI * (2.0 * t / POINTS - 1);
    find_densities(x, c, POINTS);
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
    for (int s = 0; s < x->hmm->S; s++) {
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
    int n;                 /* bars of each state */
    const double *p;       /* [S][n] */
    char (*name)[48];      /* [n]  what a bar is */
    bool named;            /* names stand below the bars */
    const char *what;      /* of the whole panel */
    const vh_scale *scale; /* of numbers: the axis below the bars; else NULL */
} bars;

static double names_height(int n)
{
    return n <= MOST_LEVEL ? FOOT : NAMES;
}

/* Below its bar; many stand askew. */
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

/* A strip of bars for each state. */
static void draw_bars(const canvas *x, const bars *a, double y0)
{
    double step = (WIDTH - LEFT - 12.0) / a->n, top = 0, foot = y0 + x->hmm->S * STRIP;
    char tip[VH_TIP_MAX], text[16];
    for (size_t i = 0; i < vh_cells(x->hmm->S, a->n); i++)
        top = fmax(top, a->p[i]);
    for (int s = 0; s < x->hmm->S; s++) {
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

/* Each count, or stretches of them where they are many. */
static void draw_counts(canvas *x, const column *c, int k, double y0)
{
    const vh_value_range *r = &x->ranges->value[k];
    double all = r->hi - r->lo + 1, width = ceil(all / MOST_BARS);
    char names[MOST_BARS][48], name[32];
    int n = (int)ceil(all / width);
    vh_scale scale = { r->lo - 0.5, r->lo + n * width - 0.5, LEFT, WIDTH - 12 };
    for (int t = 0; t < n; t++) {
        double lo = r->lo + t * width;
        x->value[t] = lo + floor((width - 1) / 2);
        snprintf(names[t], sizeof names[t], width > 1 ? "%.0f to %.0f" : "%.0f", lo, lo + width - 1);
    }
    find_densities(x, c, n);
    for (size_t i = 0; i < vh_cells(x->hmm->S, n); i++)
        x->p[i] *= width;
    draw_bars(x, &(bars){ n, x->p, names, false, name_of(x, k, name, sizeof name), &scale }, y0);
}

/* The symbols that are likeliest over all states of all centres of the lowest level, in their order: pick
 * [MOST_NAMED]. */
static int pick_symbols(canvas *x, const column *c, int *pick)
{
    int V = c->shape.V, n = V < MOST_NAMED ? V : MOST_NAMED;
    double *sum = vh_facts_room(x->facts, (size_t)V, sizeof *sum);
    const canvas here = *x;
    if (!sum)
        return 0;
    x->h3m = x->facts->level[0].c->centers;
    for (int64_t j = 0; V > n && j < x->h3m->K; j++) {
        x->hmm = &x->h3m->hmm[j];
        for (int v = 0; v < V; v++)
            x->value[v] = v;
        find_densities(x, c, V);
        for (size_t i = 0; i < vh_cells(x->hmm->S, V); i++)
            sum[i % (size_t)V] += x->p[i];
    }
    x->h3m = here.h3m;
    x->hmm = here.hmm;
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int v = 0; V > n && v < V; v++)
            best = sum[v] > sum[best] ? v : best;
        pick[i] = best;
        sum[best] = -1;
    }
    free(sum);
    for (int i = 1; i < n; i++) /* by their numbers */
        for (int e = i; e > 0 && pick[e] < pick[e - 1]; e--) {
            int swap = pick[e];
            pick[e] = pick[e - 1];
            pick[e - 1] = swap;
        }
    return n;
}

static void draw_symbols(canvas *x, const column *c, int k, double y0)
{
    char names[MOST_NAMED][48], name[32], what[80];
    int pick[MOST_NAMED], n = pick_symbols(x, c, pick);
    for (int t = 0; t < n; t++) {
        x->value[t] = pick[t];
        snprintf(names[t], sizeof names[t], "%.40s", c->symbol ? c->symbol[pick[t]] : "");
    }
    if (n == 0)
        return;
    find_densities(x, c, n);
    snprintf(what, sizeof what, n < c->shape.V ? "%.30s, %d of %d symbols" : "%.30s",
             name_of(x, k, name, sizeof name), n, c->shape.V);
    draw_bars(x, &(bars){ n, x->p, names, true, what, NULL }, y0);
}

/* The probability of 1 in n columns of bits from k on. */
static void draw_bits(canvas *x, int k, int n, double y0)
{
    char names[MOST_BARS][48], buf[32];
    double *p = vh_facts_room(x->facts, vh_cells(x->hmm->S, n), sizeof *p);
    if (!p)
        return;
    for (int t = 0; t < n; t++) {
        const column c = find_column(x->h3m, k + t);
        x->value[0] = 1;
        find_densities(x, &c, 1);
        for (int s = 0; s < x->hmm->S; s++)
            p[vh_ij(s, n, t)] = x->p[s];
        snprintf(names[t], sizeof names[t], "%s", name_of(x, k + t, buf, sizeof buf));
    }
    draw_bars(x, &(bars){ n, p, names, n <= MOST_NAMED, "probability of 1", NULL }, y0);
    free(p);
}

/* ---- 5. the figure ------------------------------------------------------------------------------------- */

/* Columns of bits that stand side by side share a panel. */
static int together(const vh_h3m *h3m, int k)
{
    int n = 1;
    while (find_column(h3m, k).values == VH_BITS && n < MOST_BARS && k + n < h3m->d
           && find_column(h3m, k + n).values == VH_BITS)
        n++;
    return n;
}

static double panel_height(const vh_h3m *h3m, int k, int S, bool only)
{
    const column c = find_column(h3m, k);
    int n = together(h3m, k);
    switch (c.values) {
    case VH_SYMBOLS: return S * STRIP + names_height(c.shape.V);
    case VH_BITS: return S * STRIP + (n <= MOST_NAMED ? names_height(n) : FOOT / 2.0);
    case VH_COUNTS: return S * STRIP + FOOT;
    case VH_ANGLES: return ROSE;
    default: return only ? CURVES_ONE : CURVES;
    }
}

static void draw_panel(canvas *x, int k, double y0, double height)
{
    const column c = find_column(x->h3m, k);
    const vh_box b = { 12, y0, WIDTH - 24, height - FOOT - 4 };
    switch (c.values) {
    case VH_SYMBOLS: draw_symbols(x, &c, k, y0); break;
    case VH_BITS: draw_bits(x, k, together(x->h3m, k), y0); break;
    case VH_COUNTS: draw_counts(x, &c, k, y0); break;
    case VH_ANGLES: draw_rose(x, &c, k, (vh_box){ 12, y0, WIDTH - 24, height - 8 }); break;
    default: draw_curves(x, &c, k, b);
    }
}

static bool get_room(canvas *x)
{
    int V = x->h3m->shape.V;
    x->most = V > POINTS ? V : POINTS;
    int S = 0;
    for (int64_t j = 0; j < x->facts->level[0].c->centers->K; j++)
        S = x->facts->level[0].c->centers->hmm[j].S > S ? x->facts->level[0].c->centers->hmm[j].S : S;
    S = x->hmm->S > S ? x->hmm->S : S;
    size_t most = (size_t)x->most;
    x->value = vh_facts_room(x->facts, most * (2 + (size_t)S + (size_t)x->h3m->d), sizeof *x->value);
    x->work = vh_facts_room(x->facts, vh_emission_room(x->h3m->family, &x->h3m->shape), sizeof *x->work);
    if (!x->value || !x->work)
        return false;
    x->row = x->value + most;
    x->p = x->row + most;
    x->y = x->p + most * (size_t)S;
    return true;
}

void vh_draw_values(FILE *f, const vh_facts *facts, const vh_ranges *ranges, const int where[2],
                    const char *title, const char *id)
{
    const vh_h3m *h3m = facts->level[where[0]].c->centers;
    canvas x = { .f = f, .facts = facts, .h3m = h3m, .hmm = &h3m->hmm[where[1]], .ranges = ranges };
    int S = x.hmm->S, n = 0, last = 0;
    double height = TOP;
    bool only = together(h3m, 0) == h3m->d;

    for (int k = 0; k < h3m->d && n < MOST_PANELS; k += together(h3m, k), n++) {
        height += panel_height(h3m, k, S, only);
        last = k + together(h3m, k);
    }
    if (get_room(&x)) {
        vh_svg_begin(
            f, WIDTH, height + (last < h3m->d ? 16 : 0), title,
            "What each state emits: bars for symbols, counts and bits, roses for angles, densities for other "
            "numbers.");
        double y0 = TOP;
        for (int k = 0; k < last; k += together(h3m, k)) {
            double own = panel_height(h3m, k, S, only);
            if (k == 0)
                fprintf(f, "<g id=\"%s\">\n", id);
            draw_panel(&x, k, y0, own);
            fputs(k == 0 ? "</g>\n" : "", f);
            y0 += own;
        }
        if (last < h3m->d) {
            char text[80];
            snprintf(text, sizeof text, "the first %d of %d columns; the tables have all", last, h3m->d);
            vh_svg_text(f, WIDTH / 2.0, height + 10, 'm', vh_paint("soft"), text, 60);
        }
        vh_svg_end(f);
    }
    free(x.value);
    free(x.work);
}
