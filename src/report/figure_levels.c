/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_levels.c - the clusters of every level as stacked bars of the true classes, with arrows to their
 * parent clusters.  Paper, Figure 2. */
#include "report/figures.h"
#include "core/array2.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include <stdlib.h>

enum { WIDTH = 1010, STEP = 130, LEFT = 92, BAR = 116, GAP = 62, TOP = 26, FOOT = 22 };

/* Skips levels with too many clusters to see. */
static int drawn(const vh_facts *facts, int l)
{
    return facts->level[l].K <= VH_MOST_BARS;
}

/* Centres clusters above their children; on the lowest drawn level, puts them side by side. */
static void place(const vh_facts *facts, int l, double step, double *x, const double *below)
{
    const vh_level *v = &facts->level[l];
    int stray = 0;
    for (int k = 0; k < v->K; k++) {
        int j = v->order[k], n = 0;
        double sum = 0;
        for (int c = 0; below && c < v[-1].K; c++)
            if (v[-1].parent[c] == j) {
                sum += below[c];
                n++;
            }
        x[j] = !below ? LEFT + (k + 0.5) * step : n ? sum / n : LEFT + 8 * ++stray;
    }
}

/* Draws cluster j of level l in a box that `most` members fill. */
static void draw_bar(FILE *f, const vh_facts *facts, int l, int j, vh_box box, int most)
{
    const vh_level *v = &facts->level[l];
    double unit = box.h / most, at = box.y + box.h, x = box.x + box.w / 2;
    char tip[VH_TIP_MAX], mark[64], text[32];
    int without = v->size[j];

    vh_cluster_mark(mark, sizeof mark, l, j);
    fprintf(f,
            "<g%s class=\"pick\" tabindex=\"0\" role=\"button\" aria-label=\"Level %d, cluster %d: %d "
            "%s%s\">\n",
            mark, l + 1, j, v->size[j], facts->item, vh_plural(v->size[j]));
    vh_svg_rect(f, box, "fill=\"none\" pointer-events=\"all\"", "", NULL);
    for (int k = 0; k <= facts->n_class; k++) {
        int n = k < facts->n_class ? v->count[j * facts->n_class + k] : without;
        if (k < facts->n_class)
            without -= n;
        if (n == 0)
            continue;
        at -= n * unit;
        snprintf(tip, sizeof tip, "Level %d, cluster %d: %d of %d %s%s%s%.200s", l + 1, j, n, v->size[j],
                 facts->item, vh_plural(v->size[j]), facts->n_class ? ", " : "",
                 k < facts->n_class ? facts->class_name[k]
                 : facts->n_class   ? "without a class"
                                    : "");
        vh_svg_rect(f, (vh_box){ box.x, at, box.w, n * unit },
                    facts->n_class == 0 ? vh_paint("bar") : vh_paint_class(k < facts->n_class ? k : -1), "",
                    tip);
    }
    if (box.w > 12) {
        snprintf(text, sizeof text, "%d", v->size[j]);
        vh_svg_text(f, x, at - 4, 'm', vh_paint("ink"), text, 12);
        snprintf(text, sizeof text, "%d", j);
        vh_svg_text(f, x, box.y + box.h + 14, 'm', vh_paint("soft"), text, 12);
    }
    fputs("</g>\n", f);
}

/* Draws arrows from the space above a bar to the foot of its parent. */
static void draw_arrows(FILE *f, const vh_facts *facts, int l, const double *x, const double *above, double y)
{
    const vh_level *v = &facts->level[l];
    char mark[64];
    for (int j = 0; j < v->K; j++) {
        if (v->parent[j] < 0)
            continue;
        double to = above[v->parent[j]], end = y - GAP + FOOT, begin = y - 6, mid = (begin + end) / 2;
        vh_cluster_mark(mark, sizeof mark, l, j);
        fprintf(f, "<g%s>", mark);
        fprintf(f, "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" %s/>", x[j], begin, x[j], mid, to,
                mid, to, end + 5, vh_paint("arrow"));
        vh_svg_head(f, to, end, 0, -1, 7, vh_paint("head"));
        fputs("</g>\n", f);
    }
}

static void draw_level(FILE *f, const vh_facts *facts, int l, const double *x, double w, double y,
                       double width)
{
    const vh_level *v = &facts->level[l];
    int most = 1;
    char text[64];
    for (int j = 0; j < v->K; j++)
        most = v->size[j] > most ? v->size[j] : most;
    snprintf(text, sizeof text, "Level %d", l + 1);
    fputs("<g font-weight=\"600\">", f);
    vh_svg_text(f, 0, y + BAR / 2.0 - 2, 's', vh_paint("ink"), text, 20);
    snprintf(text, sizeof text, "%d cluster%s", v->K, vh_plural(v->K));
    fputs("</g>", f);
    vh_svg_text(f, 0, y + BAR / 2.0 + 14, 's', vh_paint("soft"), text, 20);
    vh_svg_line(f, LEFT - 6, y + BAR, width, y + BAR, vh_paint("axis"));
    for (int j = 0; j < v->K; j++)
        if (v->size[j] > 0)
            draw_bar(f, facts, l, j, (vh_box){ x[j] - w / 2, y, w, BAR }, most);
}

static void caption(FILE *f, const vh_facts *facts, int first)
{
    vh_figure_caption(f, "Clusters at every level.");
    fprintf(f,
            "Each bar is a cluster. Its height, and the number above it, is how many %ss it has; the number "
            "below is its index. Heights are relative to the largest cluster of the level. ",
            facts->item);
    if (facts->n_class)
        fputs("Colours are the given classes, which the clustering did not see. ", f);
    if (facts->n_level - first > 1)
        fputs("Arrows lead to the cluster of the next level that contains it. ", f);
    if (first > 0)
        fprintf(f, "Levels of more than %d clusters are not drawn. ", VH_MOST_BARS);
    fprintf(f, "Click a bar to show only its %ss.", facts->item);
}

void vh_figure_levels(FILE *f, const vh_facts *facts)
{
    int first = 0, n = facts->n_level;
    while (first < n && !drawn(facts, first))
        first++;
    if (first == n) {
        fprintf(f, "<p class=\"note\">No level has fewer than %d clusters: too many for bars.</p>\n",
                VH_MOST_BARS);
        return;
    }
    double *x = vh_facts_room(facts, vh_cells(VH_MOST_BARS, n - first), sizeof *x);
    if (!x)
        return;
    double step = (double)(WIDTH - LEFT) / facts->level[first].K;
    step = step > STEP ? STEP : step;
    double width = LEFT + facts->level[first].K * step, w = step * 0.72 > 56 ? 56 : step * 0.72;
    double height = (n - first) * (BAR + TOP) + (n - first - 1) * (GAP - TOP + FOOT) + FOOT;
    for (int l = first; l < n; l++)
        place(facts, l, step, x + (l - first) * VH_MOST_BARS,
              l > first ? x + (l - first - 1) * VH_MOST_BARS : NULL);
    vh_figure_begin(f, "levels", -1);
    vh_svg_begin_active(
        f, width, height, "Clusters at every level",
        "Stacked bars of the classes in each cluster, one row for each level, with arrows to the clusters "
        "of the level above.");
    for (int l = first; l < n; l++) {
        double y = height - FOOT - BAR - (l - first) * (BAR + GAP + FOOT);
        const double *at = x + (l - first) * VH_MOST_BARS;
        draw_level(f, facts, l, at, w, y, width);
        if (l + 1 < n)
            draw_arrows(f, facts, l, at, at + VH_MOST_BARS, y - 16);
    }
    vh_svg_end(f);
    caption(f, facts, first);
    vh_class_legend(f, facts);
    vh_figure_end(f);
    free(x);
}
