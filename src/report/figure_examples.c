/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_examples.c - a few sequences of each cluster, coloured by the state of the centre that most likely
 * made each frame (Viterbi). */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include "core/alloc.h"

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

/* ---- which sequences ----------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    int i;
} entry;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

/* cluster [N] of level 0 by the name of the sequence or its group, -1 for none; returns how many have one. */
static vhem_status match_names(vhem_ctx *ctx, const vh_facts *facts, int *cluster, int *n_found)
{
    vhem_status st = VHEM_OK;
    size_t n = 0;
    entry *names = NULL;

    VH_NEW(names, facts->n_model);
    for (int i = 0; i < facts->n_model; i++)
        if (*vh_facts_name(facts, i))
            names[n++] = (entry){ vh_facts_name(facts, i), i };
    qsort(names, n, sizeof *names, by_name);
    *n_found = 0;
    for (int k = 0; k < vh_data_size(facts->in->data); k++) {
        vhem_seq_view seq;
        VH_TRY(vhem_data_view(facts->in->data, k, &seq));
        entry own = { seq.name, 0 }, group = { seq.group, 0 };
        const entry *e = *seq.name ? bsearch(&own, names, n, sizeof *names, by_name) : NULL;
        if (!e && *seq.group)
            e = bsearch(&group, names, n, sizeof *names, by_name);
        cluster[k] = e ? facts->level[0].label[e->i] : -1;
        *n_found += e != NULL;
    }
done:
    free(names);
    return st;
}

/* Sequences that are no models' find their clusters as new ones do. */
static vhem_status find_clusters(vhem_ctx *ctx, const vh_facts *facts, int *cluster)
{
    vhem_status st = VHEM_OK;
    int N = vh_data_size(facts->in->data), found, *label = NULL;

    VH_TRY(match_names(ctx, facts, cluster, &found));
    if (found > 0)
        goto done;
    VH_NEW(label, (size_t)N * (size_t)facts->n_level);
    VH_TRY(vh_assign_data(ctx, facts->in->tree, facts->in->data, label, NULL, NULL));
    for (int n = 0; n < N; n++)
        cluster[n] = label[(size_t)n * (size_t)facts->n_level];
done:
    free(label);
    return st;
}

static bool complete(const vhem_seq_view *seq, int d)
{
    for (int64_t k = 0; k < seq->T * d; k++)
        if (!isfinite(seq->y[k]))
            return false;
    return true;
}

/* ---- pictures ------------------------------------------------------------------------------------------ */

/* Runs of one state along the time axis. */
static void draw_ribbon(FILE *f, const int *path, int64_t T, double y)
{
    double unit = (double)(WIDTH - 2 * LEFT) / (double)T;
    char tip[VH_TIP_MAX];
    for (int64_t t = 0, begin = 0; t < T; t++) {
        if (t + 1 < T && path[t + 1] == path[t])
            continue;
        snprintf(tip, sizeof tip, "State %d, frames %lld to %lld", path[t], (long long)begin, (long long)t);
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
    vh_scale_widen(s, 0.05);
}

static void draw_plane(FILE *f, const vh_facts *facts, const vhem_seq_view *seq, const int *path)
{
    bool down = facts->in->y_down || facts->in->image;
    vh_scale x = { .from = LEFT, .to = WIDTH - LEFT },
             y = { .from = down ? 6 : PLANE - 6, .to = down ? PLANE - 6 : 6 };
    int64_t each = (seq->T + MOST_POINTS - 1) / MOST_POINTS;
    range_of(seq, 2, 0, &x);
    range_of(seq, 2, 1, &y);
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
    fputs("<polyline points=\"", f);
    for (int64_t t = 0; t < seq->T; t += each)
        fprintf(f, "%.1f,%.1f ", vh_at(&x, seq->y[2 * t]), vh_at(&y, seq->y[2 * t + 1]));
    fprintf(f, "\" stroke-linejoin=\"round\" stroke-opacity=\"0.6\" %s/>\n", vh_paint("arrow"));
    for (int64_t t = 0; t < seq->T; t += each)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" %s/>", vh_at(&x, seq->y[2 * t]),
                vh_at(&y, seq->y[2 * t + 1]), seq->T > 30 ? "2.6" : "5", vh_paint_state(path[t]));
    putc('\n', f);
}

/* Of the dimensions not taken yet the one that varies most. */
static int liveliest(const vhem_seq_view *seq, int d, const int *taken, int n)
{
    int best = 0;
    double most = -1;
    for (int k = 0; k < d; k++) {
        double sum = 0, square = 0;
        bool free_to_take = true;
        for (int m = 0; m < n; m++)
            free_to_take = free_to_take && taken[m] != k;
        for (int64_t t = 0; free_to_take && t < seq->T; t++)
            sum += seq->y[t * d + k] / (double)seq->T;
        for (int64_t t = 0; free_to_take && t < seq->T; t++)
            square += (seq->y[t * d + k] - sum) * (seq->y[t * d + k] - sum);
        if (free_to_take && square > most) {
            most = square;
            best = k;
        }
    }
    return best;
}

/* The liveliest dimensions, each over its own range. */
static void draw_lines(FILE *f, const vh_facts *facts, const vhem_seq_view *seq, int d)
{
    int64_t each = (seq->T + MOST_POINTS - 1) / MOST_POINTS;
    int lines = d < MOST_LINES ? d : MOST_LINES, taken[MOST_LINES];
    char name[32];
    for (int m = 0; m < lines; m++) {
        int k = taken[m] = d <= MOST_LINES ? m : liveliest(seq, d, taken, m);
        double h = (double)LINES / lines;
        vh_scale x = { 0, seq->T > 1 ? (double)(seq->T - 1) : 1, LEFT, WIDTH - LEFT };
        vh_scale y = { .from = (m + 1) * h - 3, .to = m * h + 3 };
        range_of(seq, d, k, &y);
        fputs("<polyline points=\"", f);
        for (int64_t t = 0; t < seq->T; t += each)
            fprintf(f, "%.1f,%.1f ", vh_at(&x, (double)t), vh_at(&y, seq->y[t * d + k]));
        fprintf(f, "\" stroke-linejoin=\"round\" %s/>\n", vh_paint("line"));
        vh_svg_text(f, WIDTH - LEFT, m * h + 10, 'e', vh_paint("halo"),
                    vh_facts_dimension(facts, k, name, sizeof name), 12);
    }
}

static vhem_status draw_example(vhem_ctx *ctx, FILE *f, const vh_facts *facts, int n, int j)
{
    vhem_status st = VHEM_OK;
    vhem_seq_view seq;
    int *path = NULL, d = vh_data_dim(facts->in->data), top = d == 2 ? PLANE : LINES;
    double logprob;
    char mark[64], name[32];

    VH_TRY(vhem_data_view(facts->in->data, n, &seq));
    if (!complete(&seq, d))
        goto done;
    VH_NEW(path, seq.T);
    VH_TRY(vh_h3m_viterbi(ctx, facts->level[0].c->centers, j, facts->in->data, n, path, &logprob));
    vh_cluster_mark(mark, sizeof mark, 0, j);
    fprintf(f, "<div class=\"example\"%s>", mark);
    snprintf(name, sizeof name, "example-%d", n);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, top + RIBBON + FOOT, seq.name, "A sequence, coloured by decoded state.");
    if (d == 2)
        draw_plane(f, facts, &seq, path);
    else
        draw_lines(f, facts, &seq, d);
    draw_ribbon(f, path, seq.T, top);
    vh_svg_end(f);
    vh_figure_caption(f, "");
    fputs("<b>", f);
    vh_html_name(f, "sequence", seq.name, n);
    fprintf(f, "</b> cluster %d, %lld frame%s", j, (long long)seq.T, seq.T == 1 ? "" : "s");
    vh_figure_end(f);
    fputs("</div>\n", f);
done:
    free(path);
    return st;
}

vhem_status vh_figure_examples(vhem_ctx *ctx, FILE *f, const vh_facts *facts)
{
    vhem_status st = VHEM_OK;
    const vhem_data *data = facts->in->data;
    const vh_level *v = &facts->level[0];
    int *cluster = NULL, N = vh_data_size(data), each = facts->in->n_example > 0 ? facts->in->n_example : 2;
    vhem_hmm_view h;

    VH_TRY(vh_h3m_view(v->c->centers, 0, &h));
    VH_CHECK(h.d == vh_data_dim(data), VHEM_EINVAL, "the sequences have dimension %d, the centres %d",
             vh_data_dim(data), h.d);
    VH_NEW(cluster, N);
    VH_TRY(find_clusters(ctx, facts, cluster));
    fputs("<p class=\"lead\">A few sequences of each cluster. Colours are the states of its centre, as "
          "numbered and coloured "
          "above, that most likely made each frame.</p>\n<div class=\"examples\">\n",
          f);
    for (int k = 0; k < v->K && k < MOST_CLUSTERS; k++)
        for (int n = 0, shown = 0; n < N && shown < each; n++)
            if (cluster[n] == v->order[k]) {
                VH_TRY(draw_example(ctx, f, facts, n, v->order[k]));
                shown++;
            }
    fputs("</div>\n", f);
done:
    free(cluster);
    return st;
}
