/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_examples.c - a few sequences of each cluster, coloured by the most likely state of the centre at
 * each frame.  Lines break at missing values. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include "core/alloc.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 320,
    LEFT = 12,
    PLANE = 200,
    LINES = 110,
    RIBBON = 12,
    FOOT = 20,
    MOST_POINTS = 500,
    MOST_LINES = 4,
    MOST_CLUSTERS = 24
};

/* Draws runs of the same state along the time axis. */
static void draw_ribbon(FILE *f, const vh_facts *facts, const int *path, int64_t T, double y)
{
    char word[64];
    double unit = (double)(WIDTH - 2 * LEFT) / (double)T;
    char tip[VH_TIP_MAX];
    for (int64_t t = 0, begin = 0; t < T; t++) {
        if (t + 1 < T && path[t + 1] == path[t])
            continue;
        snprintf(tip, sizeof tip, "State %d, %s %lld to %lld", path[t],
                 vh_facts_frames(facts, 2, word, sizeof word), (long long)begin, (long long)t);
        vh_svg_rect(f, (vh_box){ LEFT + (double)begin * unit, y, (double)(t + 1 - begin) * unit, RIBBON },
                    vh_paint_state(path[t]), "", tip);
        begin = t + 1;
    }
    vh_svg_text(f, LEFT, y + RIBBON + 13, 's', vh_paint("soft"), "state along time", 40);
}

static void range_of(const vhem_seq_view *seq, int d, int k, vh_scale *s)
{
    s->lo = INFINITY;
    s->hi = -INFINITY;
    for (int64_t t = 0; t < seq->T; t++) {
        s->lo = fmin(s->lo, seq->y[t * d + k]);
        s->hi = fmax(s->hi, seq->y[t * d + k]);
    }
    if (!(s->lo <= s->hi)) /* no values observed */
        s->lo = s->hi = 0;
    vh_scale_widen(s, 0.05);
}

/* A line through the frames where both values are present; x NULL: against time. */
typedef struct {
    const double *x, *y; /* [T] with stride d */
    int d;
    vh_scale across, up;
} track;

static bool is_seen(const track *l, int64_t t)
{
    return isfinite(l->y[t * l->d]) && (!l->x || isfinite(l->x[t * l->d]));
}

/* Draws every each-th of T frames; a frame without neighbours becomes a dot. */
static void draw_track(FILE *f, const track *l, int64_t T, int64_t each, const char *paint)
{
    bool down = false;
    fputs("<path stroke-linecap=\"round\" d=\"", f);
    for (int64_t t = 0; t < T; t += each) {
        if (is_seen(l, t))
            fprintf(f, "%c%.1f %.1f%s", down ? 'L' : 'M',
                    vh_at(&l->across, l->x ? l->x[t * l->d] : (double)t), vh_at(&l->up, l->y[t * l->d]),
                    !down && (t + each >= T || !is_seen(l, t + each)) ? "h0" : "");
        down = is_seen(l, t);
    }
    fprintf(f, "\" stroke-linejoin=\"round\" %s/>\n", paint);
}

static void draw_plane(FILE *f, const vh_facts *facts, const vhem_seq_view *seq, const int *path,
                       const int plane[2])
{
    int d = facts->data.d;
    int first = vh_facts_column(facts, plane[0]), second = vh_facts_column(facts, plane[1]);
    const double *across = seq->y + first, *up = seq->y + second;
    bool down = facts->in->y_down || facts->in->image;
    vh_scale x = { .from = LEFT, .to = WIDTH - LEFT },
             y = { .from = down ? 6 : PLANE - 6, .to = down ? PLANE - 6 : 6 };
    int64_t each = (seq->T + MOST_POINTS - 1) / MOST_POINTS;
    range_of(seq, d, first, &x);
    range_of(seq, d, second, &y);
    double ux = (x.hi - x.lo) / (x.to - x.from), uy = (y.hi - y.lo) / fabs(y.to - y.from),
           unit = fmax(ux, uy);
    if (ux < 5 * uy && uy < 5 * ux) {
        double mx = (x.lo + x.hi) / 2, my = (y.lo + y.hi) / 2, wx = unit * (x.to - x.from) / 2,
               wy = unit * fabs(y.to - y.from) / 2;
        x.lo = mx - wx;
        x.hi = mx + wx;
        y.lo = my - wy;
        y.hi = my + wy;
    }
    const track line = { across, up, d, x, y };
    fputs("<g stroke-opacity=\"0.6\">", f);
    draw_track(f, &line, seq->T, each, vh_paint("arrow"));
    fputs("</g>", f);
    for (int64_t t = 0; t < seq->T; t += each)
        if (is_seen(&line, t))
            fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" %s/>", vh_at(&x, across[t * d]),
                    vh_at(&y, up[t * d]), seq->T > 30 ? "2.6" : "5", vh_paint_state(path[t]));
    putc('\n', f);
}

/* The dimension with the largest variation among those not taken. */
static int liveliest(const vhem_seq_view *seq, int d, const int *taken, int n)
{
    int best = 0;
    double most = -1;
    for (int k = 0; k < d; k++) {
        double sum = 0, square = 0, seen = 0;
        bool free_to_take = true;
        for (int m = 0; m < n; m++)
            free_to_take = free_to_take && taken[m] != k;
        for (int64_t t = 0; free_to_take && t < seq->T; t++)
            if (isfinite(seq->y[t * d + k])) {
                sum += seq->y[t * d + k];
                seen++;
            }
        sum /= seen > 0 ? seen : 1;
        for (int64_t t = 0; free_to_take && t < seq->T; t++)
            if (isfinite(seq->y[t * d + k]))
                square += (seq->y[t * d + k] - sum) * (seq->y[t * d + k] - sum);
        if (free_to_take && square > most) {
            most = square;
            best = k;
        }
    }
    return best;
}

/* Draws the dimensions with the largest variation, each over its own range. */
static void draw_lines(FILE *f, const vh_facts *facts, const vhem_seq_view *seq, int d)
{
    int64_t each = (seq->T + MOST_POINTS - 1) / MOST_POINTS;
    int lines = d < MOST_LINES ? d : MOST_LINES, taken[MOST_LINES];
    for (int m = 0; m < lines; m++) {
        int k = taken[m] = d <= MOST_LINES ? m : liveliest(seq, d, taken, m);
        double h = (double)LINES / lines;
        vh_scale x = { 0, seq->T > 1 ? (double)(seq->T - 1) : 1, LEFT, WIDTH - LEFT };
        vh_scale y = { .from = (m + 1) * h - 3, .to = m * h + 3 };
        range_of(seq, d, k, &y);
        draw_track(f, &(track){ NULL, seq->y + k, d, x, y }, seq->T, each, vh_paint("line"));
        vh_svg_text(f, WIDTH - LEFT, m * h + 10, 'e', vh_paint("halo"), facts->data.column[k], 12);
    }
}

static vhem_status draw_example(FILE *f, const vh_facts *facts, const vh_ranges *ranges, int64_t n, int j,
                                const int *path)
{
    vhem_seq_view seq;
    int d = facts->data.d, top = ranges->planar ? PLANE : LINES;
    char mark[64], name[32], word[64];

    VH_TRY(vhem_data_view(facts->in->data, n, &seq));
    vh_cluster_mark(mark, sizeof mark, 0, j);
    fprintf(f, "<div class=\"example\"%s>", mark);
    snprintf(name, sizeof name, "example-%lld", (long long)n);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, top + RIBBON + FOOT, seq.name, "A sequence, coloured by decoded state.");
    if (ranges->planar)
        draw_plane(f, facts, &seq, path, ranges->plane);
    else
        draw_lines(f, facts, &seq, d);
    draw_ribbon(f, facts, path, seq.T, top);
    vh_svg_end(f);
    vh_figure_caption(f, "");
    fputs("<b>", f);
    vh_html_name(f, "sequence", seq.name, n);
    fprintf(f, "</b> cluster %d, %lld ", j, (long long)seq.T);
    vh_html_text(f, vh_facts_frames(facts, (double)seq.T, word, sizeof word), sizeof word);
    vh_figure_end(f);
    fputs("</div>\n", f);
    return VHEM_OK;
}

vhem_status vh_figure_examples(FILE *f, const vh_facts *facts, const vh_ranges *ranges)
{
    const vhem_examples *e = facts->in->examples;
    const vh_level *v = &facts->level[0];
    char word[64];

    fputs("<p class=\"lead\">A few sequences of each cluster. Colours are the states of its centre, as "
          "numbered and coloured "
          "above, that most likely made each ",
          f);
    vh_html_text(f, vh_facts_frames(facts, 1, word, sizeof word), sizeof word);
    fputs(".</p>\n<div class=\"examples\">\n", f);
    for (int k = 0; k < v->K && k < MOST_CLUSTERS; k++)
        for (int64_t i = 0; i < e->n; i++)
            if (e->cluster[i] == v->order[k])
                VH_TRY(draw_example(f, facts, ranges, e->sequence[i], e->cluster[i], e->path[i]));
    fputs("</div>\n", f);
    if (v->K > MOST_CLUSTERS)
        fprintf(f, "<p class=\"note\">The first %d of %d clusters.</p>\n", MOST_CLUSTERS, v->K);
    return VHEM_OK;
}
