/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_tree.c - the hierarchy as a collapsible list, with sizes, classes and a thumbnail of each centre. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem.h"

enum { STRIP = 160, MOST_MEMBERS = 24, MOST_CHILDREN = 100 };

/* Draws the classes of a cluster as one strip. */
static void draw_band(FILE *f, const vh_facts *facts, const vh_level *v, int j)
{
    double at = 0, unit = v->size[j] > 0 ? (double)STRIP / v->size[j] : 0;
    int without = v->size[j];
    char tip[VH_TIP_MAX];
    fprintf(f, "<svg class=\"strip\" width=\"%d\" height=\"10\" viewBox=\"0 0 %d 10\" aria-hidden=\"true\">",
            STRIP, STRIP);
    for (int k = 0; k <= facts->n_class; k++) {
        int n = k < facts->n_class ? v->count[j * facts->n_class + k] : without;
        without -= k < facts->n_class ? n : 0;
        if (n == 0)
            continue;
        snprintf(tip, sizeof tip, "%d of %d: %.200s", n, v->size[j],
                 k < facts->n_class ? facts->class_name[k] : "without a class");
        vh_svg_rect(f, (vh_box){ at, 0, n * unit, 10 }, vh_paint_class(k < facts->n_class ? k : -1), "", tip);
        at += n * unit;
    }
    fputs("</svg>", f);
}

static void put_members(FILE *f, const vh_facts *facts, int j)
{
    const vh_level *v = &facts->level[0];
    fputs("<p class=\"names\">", f);
    for (int k = 0; k < v->size[j] && k < MOST_MEMBERS; k++) {
        int64_t i = facts->model[v->first[j] + k];
        fputs(k ? ", " : "", f);
        vh_html_name(f, facts->item, vh_facts_name(facts, i), i);
    }
    if (v->size[j] > MOST_MEMBERS)
        fprintf(f, " and %d more", v->size[j] - MOST_MEMBERS);
    fputs("</p>\n", f);
}

/* Draws the emissions of the centre at a small size, as a link to its card. */
static void draw_center(FILE *f, const vh_level *v, int l, int j)
{
    vhem_hmm_view h;
    fprintf(f, " <a href=\"#center-%d-%d\" class=\"to-center\">", l, j);
    if (v->hmms && vhem_models_hmm(v->hmms, j, &h) == VHEM_OK)
        fprintf(f,
                "<svg class=\"thumb\" width=\"56\" height=\"%d\" viewBox=\"%s\" aria-hidden=\"true\"><use "
                "href=\"#emit-%d-%d\"/></svg>",
                h.d == 2 ? 47 : 36, h.d == 2 ? "30 10 212 180" : "8 8 236 180", l, j);
    fputs("centre</a>", f);
}

static void put_node(FILE *f, const vh_facts *facts, int l, int j)
{
    const vh_level *v = &facts->level[l];
    bool card = v->c->centers && j < VH_MOST_CARDS;
    char mark[64];
    vh_cluster_mark(mark, sizeof mark, l, j);
    fprintf(f,
            "<li%s><details%s><summary><b>Cluster %d</b> <span class=\"soft\">level %d</span> "
            "<span class=\"n\">%d %s%s</span>",
            mark, l > 0 ? " open" : "", j, l + 1, v->size[j], facts->item, vh_plural(v->size[j]));
    if (facts->n_class)
        draw_band(f, facts, v, j);
    if (card)
        draw_center(f, v, l, j);
    fputs("</summary>\n", f);
    if (l == 0) {
        put_members(f, facts, j);
    } else {
        int n = 0;
        fputs("<ul>\n", f);
        for (int k = 0; k < v[-1].K; k++) {
            int child = v[-1].order[k];
            if (v[-1].parent[child] == j && v[-1].size[child] > 0 && n++ < MOST_CHILDREN)
                put_node(f, facts, l - 1, child);
        }
        if (n > MOST_CHILDREN)
            fprintf(f, "<li>and %d more</li>\n", n - MOST_CHILDREN);
        fputs("</ul>\n", f);
    }
    fputs("</details></li>\n", f);
}

void vh_figure_tree(FILE *f, const vh_facts *facts)
{
    int top = facts->n_level - 1, n = 0;
    const vh_level *v = &facts->level[top];
    fprintf(f,
            "<div class=\"panel\"><p class=\"lead\">Open a cluster to see the clusters below it and, at the "
            "lowest level, its %ss, nearest to the centre first. <button type=\"button\" "
            "class=\"plain\" data-fold=\"1\">Open all</button> <button type=\"button\" class=\"plain\" "
            "data-fold=\"0\">Close all</button></p>\n<ul class=\"tree\">\n",
            facts->item);
    for (int k = 0; k < v->K; k++)
        if (v->size[v->order[k]] > 0 && n++ < MOST_CHILDREN)
            put_node(f, facts, top, v->order[k]);
    if (n > MOST_CHILDREN)
        fprintf(f, "<li>and %d more</li>\n", n - MOST_CHILDREN);
    fputs("</ul></div>\n", f);
}
