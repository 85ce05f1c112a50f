/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_membership.c - z as a heat map, one row per model, sorted by cluster; with many models, a row is the
 * mean of neighbours in one cluster. */
#include "report/figures.h"
#include "core/array2.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include <stdlib.h>

enum { NAMES = 150, NO_NAMES = 64, TOP = 30, MOST_ROWS = 160, MOST_COLUMNS = 60, NAMED = 60 };

/* One row: n models of cluster j, starting at `at`. */
typedef struct {
    int j, at, n;
} row;

/* The models of a level in drawing order: input models at level 0, centres of the level below above it. */
static int models_of(const vh_facts *facts, int l, int64_t *model)
{
    const vh_level *v = &facts->level[l];
    const vhem_clustering *c = v->c;
    int n = 0;
    if (l == 0) {
        for (int64_t i = 0; i < c->Kb; i++)
            model[n++] = facts->model[i];
        return n;
    }
    for (int k = 0; k < v->K; k++)
        for (int64_t i = 0; i < c->Kb; i++)
            if (c->label[i] == v->order[k])
                model[n++] = i;
    return n;
}

static int cut_rows(const vhem_clustering *c, const int64_t *model, int n, row *rows)
{
    int each = (n + MOST_ROWS - 1) / MOST_ROWS, m = 0;
    for (int at = 0; at < n;) {
        int j = c->label[model[at]], k = 1;
        while (k < each && at + k < n && c->label[model[at + k]] == j)
            k++;
        rows[m++] = (row){ j, at, k };
        at += k;
    }
    return m;
}

static void row_name(const vh_facts *facts, int l, const int64_t *model, const row *r, char *text,
                     size_t size)
{
    int64_t i = model[r->at];
    const char *name = l == 0 ? vh_facts_name(facts, i) : "";
    if (r->n > 1)
        snprintf(text, size, "%d %ss like %.200s", r->n, facts->item, *name ? name : "this");
    else if (*name)
        snprintf(text, size, "%.300s", name);
    else
        snprintf(text, size, "%s %lld", l == 0 ? facts->item : "cluster", (long long)i);
}

static void draw_row(FILE *f, const vh_facts *facts, int l, const int64_t *model, const row *r, vh_box cell)
{
    const vh_level *v = &facts->level[l];
    const vhem_clustering *c = v->c;
    char name[VH_TIP_MAX], tip[2 * VH_TIP_MAX], mark[64];

    row_name(facts, l, model, r, name, sizeof name);
    vh_cluster_mark(mark, sizeof mark, l, r->j);
    fprintf(f, "<g%s>\n", mark);
    if (cell.h >= 9)
        vh_svg_text(f, cell.x - 8, cell.y + cell.h / 2 + 3.5, 'e', vh_paint("soft"), name, 22);
    for (int k = 0; k < v->K && k < MOST_COLUMNS; k++) {
        int j = v->order[k];
        double z = 0;
        for (int m = 0; m < r->n; m++)
            z += c->z[vh_ij(model[r->at + m], c->Kr, j)] / r->n;
        if (z < 0.005)
            continue;
        snprintf(tip, sizeof tip, "%s: z = %.3f in cluster %d", name, z, j);
        vh_svg_rect(f, (vh_box){ cell.x + k * cell.w, cell.y, cell.w - (cell.w > 6), cell.h - (cell.h > 6) },
                    vh_paint_heat(z), "", tip);
    }
    fputs("</g>\n", f);
}

static void draw_membership(FILE *f, const vh_facts *facts, int l, const int64_t *model, const row *rows,
                            int n)
{
    const vh_level *v = &facts->level[l];
    int columns = v->K < MOST_COLUMNS ? v->K : MOST_COLUMNS;
    double w = 520.0 / columns > 76 ? 76 : 520.0 / columns, h = n <= NAMED      ? 13
                                                                : 640.0 / n < 4 ? 4
                                                                                : 640.0 / n;
    double y = TOP, gap = 4, height, left = h >= 9 ? NAMES : NO_NAMES;
    char text[32];

    height = TOP + n * h + gap * v->K + 8;
    vh_svg_begin(f, left + columns * w + 16, height, "Soft membership",
                 "Heat map: how much of each row belongs to each cluster.");
    for (int k = 0; k < columns && w >= 9; k++) {
        snprintf(text, sizeof text, "%d", v->order[k]);
        vh_svg_text(f, left + (k + 0.5) * w, TOP - 8, 'm', vh_paint("ink"), text, 8);
    }
    vh_svg_text(f, left - 8, TOP - 8, 'e', vh_paint("soft"), "cluster", 20);
    for (int m = 0; m < n; m++) {
        if (m > 0 && rows[m].j != rows[m - 1].j)
            y += gap;
        vh_svg_rect(f, (vh_box){ left, y, columns * w - 1, h - (h > 6) }, vh_paint("faint"), "", NULL);
        draw_row(f, facts, l, model, &rows[m], (vh_box){ left, y, w, h });
        y += h;
    }
    vh_svg_end(f);
}

void vh_figure_membership(FILE *f, const vh_facts *facts, int l)
{
    const vh_level *v = &facts->level[l];
    const vhem_clustering *c = v->c;
    int64_t *model = vh_facts_room(facts, (size_t)c->Kb, sizeof *model);
    int sure = 0;
    row *rows = vh_facts_room(facts, (size_t)c->Kb, sizeof *rows);
    char name[32];

    if (model && rows && c->z) {
        int n = models_of(facts, l, model), m = cut_rows(c, model, n, rows);
        for (int64_t i = 0; i < c->Kb; i++)
            sure += vh_facts_own_z(v, i) >= 0.99;
        snprintf(name, sizeof name, "membership-%d", l + 1);
        vh_figure_begin(f, name, l);
        draw_membership(f, facts, l, model, rows, m);
        vh_figure_caption(f, "Soft membership.");
        const char *what = l == 0 ? facts->item : "cluster";
        fprintf(f,
                "One row for each %s%s%s, sorted by cluster; the stronger the colour, the more of the %s "
                "belongs to the cluster of its column (z, from 0 to 1). %d of %lld belong to one cluster by "
                "99 %% or more, given these centres.",
                m < n ? "few neighbouring " : what, m < n ? what : "",
                m < n ? "s"
                : l   ? " of the level below"
                      : "",
                what, sure, (long long)c->Kb);
        if (v->K > MOST_COLUMNS)
            fprintf(f, " The first %d of %d clusters are drawn.", MOST_COLUMNS, v->K);
        vh_figure_end(f);
    } else if (!c->z) {
        vh_method_note(f, facts, l, "Method",
                       "assigns each to one cluster alone; there is no soft membership to show.");
    }
    free(model);
    free(rows);
}
