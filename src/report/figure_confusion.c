/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_confusion.c - given classes against clusters, and measures of cluster quality. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>

enum { LEFT = 170, TOP = 34, MOST = 60 };

static void draw_row(FILE *f, const vh_facts *facts, const vh_level *v, int l, int k, vh_box cell,
                     int columns)
{
    char tip[VH_TIP_MAX], text[16], mark[64];
    vh_svg_rect(f, (vh_box){ LEFT - 14, cell.y + cell.h / 2 - 5, 9, 9 }, vh_paint_class(k), "rx=\"2\"", NULL);
    vh_svg_text(f, LEFT - 20, cell.y + cell.h / 2 + 4, 'e', vh_paint("ink"), facts->class_name[k], 22);
    for (int c = 0; c < columns; c++) {
        int j = v->order[c], n = v->count[j * facts->n_class + k];
        double share = facts->class_size[k] ? (double)n / facts->class_size[k] : 0;
        snprintf(tip, sizeof tip, "%d of %d %ss of class %.200s are in cluster %d", n, facts->class_size[k],
                 facts->item, facts->class_name[k], j);
        vh_cluster_mark(mark, sizeof mark, l, j);
        vh_svg_rect(f, (vh_box){ LEFT + c * cell.w, cell.y, cell.w - 1, cell.h - 1 }, vh_paint_heat(share),
                    mark + 1, tip);
        snprintf(text, sizeof text, "%d", n);
        if (n > 0 && cell.w >= 18) {
            fputs("<g pointer-events=\"none\">", f);
            vh_svg_text(f, LEFT + (c + 0.5) * cell.w - 0.5, cell.y + cell.h / 2 + 4, 'm',
                        vh_ink_on_heat(share), text, 8);
            fputs("</g>", f);
        }
    }
}

static void draw_confusion(FILE *f, const vh_facts *facts, int l)
{
    const vh_level *v = &facts->level[l];
    int columns = v->K < MOST ? v->K : MOST, rows = facts->n_class < MOST ? facts->n_class : MOST;
    double w = 640.0 / columns > 58 ? 58 : 640.0 / columns, h = rows > 20 ? 18 : 26;
    char text[16];

    vh_svg_begin(f, LEFT + columns * w + 8, TOP + rows * h + 8, "Classes against clusters",
                 "Table of how many of each class are in each cluster, shaded by share of the class.");
    vh_svg_text(f, LEFT - 20, TOP - 10, 'e', vh_paint("soft"), "class, by cluster", 20);
    for (int c = 0; c < columns; c++) {
        snprintf(text, sizeof text, "%d", v->order[c]);
        if (w >= 12)
            vh_svg_text(f, LEFT + (c + 0.5) * w - 0.5, TOP - 10, 'm', vh_paint("ink"), text, 8);
    }
    for (int k = 0; k < rows; k++)
        draw_row(f, facts, v, l, k, (vh_box){ 0, TOP + k * h, w, h }, columns);
    vh_svg_end(f);
}

static void put_measure(FILE *f, const char *name, const char *format, double value, const char *words)
{
    char text[32];
    if (!isfinite(value))
        return;
    snprintf(text, sizeof text, format, value);
    fprintf(f, "<li><span>%s</span> <b>%s</b> <small>%s</small></li>\n", name, text, words);
}

static void put_measures(FILE *f, const vh_facts *facts, int l)
{
    vhem_agreement g = { NAN, NAN, NAN, NAN };
    const vhem_measures *m = &facts->measures[l];

    vh_facts_agreement(facts, l, &g);
    if (!vh_facts_measured(facts, l))
        return;
    fprintf(f, "<ul class=\"measures\" data-level=\"%d\">\n", l);
    put_measure(f, "Rand index", "%.3f", g.rand,
                "of two picked at random, how often both partitions agree whether they belong "
                "together");
    put_measure(f, "Adjusted Rand index", "%.3f", g.adjusted_rand,
                "the same, 0 for chance and 1 for perfect");
    put_measure(f, "Normalised mutual information", "%.3f", g.nmi,
                "what the cluster tells of the class, 0 to 1");
    put_measure(f, "Purity", "%.3f", g.purity, "how many are of the commonest class of their cluster");
    put_measure(f, "Expected log-likelihood", "%.5g", m->expected_loglik,
                "nats for a virtual sample of a member under the centre of its cluster, on average");
    put_measure(f, "Log-likelihood", "%.5g", m->loglik,
                "nats, of the sequences, each under the centre of its cluster");
    put_measure(f, "Compactness", "%.4g", m->compactness,
                "mean kernel between members of a cluster, summed over the clusters");
    put_measure(f, "Modularity", "%.3f", m->modularity,
                "how much more than by chance models share a cluster with their 5 nearest neighbours");
    fputs("</ul>\n", f);
}

void vh_figure_confusion(FILE *f, const vh_facts *facts, int l)
{
    char name[32];
    snprintf(name, sizeof name, "classes-%d", l + 1);
    put_measures(f, facts, l);
    if (facts->n_class == 0)
        return;
    vh_figure_begin(f, name, l);
    draw_confusion(f, facts, l);
    vh_figure_caption(f, "Classes against clusters.");
    fprintf(f,
            "How many %ss of each given class are in each cluster; the stronger the colour, the larger "
            "the share of the class.",
            facts->item);
    if (facts->n_class > MOST || facts->level[l].K > MOST)
        fprintf(f, " The first %d of each are drawn; the tables have all.", MOST);
    vh_figure_end(f);
}
