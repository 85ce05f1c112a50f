/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_distance.c - the distance matrix between models in the order of the tree, and the separation of
 * clusters by the bounds L_hmm of their members. */
#include "report/figures.h"
#include "core/array2.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include "core/alloc.h"
#include "math/order.h"

#include <math.h>
#include <string.h>

enum { LEFT = 60, TOP = 34, SIDE = 560, MOST_CELLS = 100, MOST_CLUSTERS = 40 };

/* ---- between models ------------------------------------------------------------------------------------ */

/* Blocks of neighbouring models of one cluster, slightly more than MOST_CELLS at most. */
typedef struct {
    int n, *cluster;
    int64_t *at;           /* [n+1] first model of each block; cluster [n] */
    double *mean, *sorted; /* [n][n] each; sorted: the same, ascending */
} blocks;

/* Rank of a distance as the share of smaller cells, so that a few distant pairs do not use up all shades. */
static double rank_of(const blocks *b, double x)
{
    int lo = 0, hi = b->n * b->n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (b->sorted[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (double)lo / (b->n * b->n);
}

static void free_blocks(blocks *b)
{
    free(b->at);
    free(b->cluster);
    free(b->mean);
    free(b->sorted);
}

static vhem_status make_blocks(vhem_ctx *ctx, const vh_facts *facts, blocks *out)
{
    const int *label = facts->level[0].label;
    int64_t N = facts->n_model, each = (N + MOST_CELLS - 1) / MOST_CELLS;
    VH_CLEANUP(free_blocks) blocks b = { 0 };

    VH_NEW(b.at, N + 1);
    VH_NEW(b.cluster, N);
    for (int64_t at = 0; at < N;) {
        int64_t k = 1;
        while (k < each && at + k < N && label[facts->model[at + k]] == label[facts->model[at]])
            k++;
        b.at[b.n] = at;
        b.cluster[b.n++] = label[facts->model[at]];
        at += k;
    }
    b.at[b.n] = N;
    VH_NEW(b.mean, vh_cells(b.n, b.n));
    for (int r = 0; r < b.n; r++)
        for (int c = 0; c < b.n; c++) {
            double sum = 0;
            for (int64_t i = b.at[r]; i < b.at[r + 1]; i++)
                for (int64_t k = b.at[c]; k < b.at[c + 1]; k++)
                    sum += facts->in->distance[vh_ij(facts->model[i], N, facts->model[k])];
            b.mean[r * b.n + c] = sum / (b.at[r + 1] - b.at[r]) / (b.at[c + 1] - b.at[c]);
        }
    VH_NEW(b.sorted, vh_cells(b.n, b.n));
    memcpy(b.sorted, b.mean, vh_cells(b.n, b.n) * sizeof *b.mean);
    vh_sort(vh_cells(b.n, b.n), b.sorted);
    *out = b;
    b = (blocks){ 0 };
    return VHEM_OK;
}

/* One path per shade: ten elements for thousands of cells. */
static void draw_cells(FILE *f, const blocks *b, double cell)
{
    for (int shade = 0; shade < VH_HEAT; shade++) {
        const char *paint = vh_paint_heat((shade + 0.5) / VH_HEAT);
        int some = 0;
        for (int r = 0; r < b->n; r++)
            for (int c = 0; c < b->n; c++) {
                if (vh_paint_heat(rank_of(b, b->mean[r * b->n + c])) != paint)
                    continue;
                fputs(some++ ? "" : "<path shape-rendering=\"crispEdges\" d=\"", f);
                fprintf(f, "M%.1f %.1fh%.1fv%.1fh-%.1fz", LEFT + c * cell, TOP + r * cell, cell, cell, cell);
            }
        if (some)
            fprintf(f, "\" %s/>\n", paint);
    }
}

/* Writes the values for the script, which shows the one under the pointer. */
static void put_values(FILE *f, const vh_facts *facts, const blocks *b, double cell)
{
    fprintf(f,
            "<rect class=\"matrix\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "pointer-events=\"all\" data-n=\"%d\" data-names='[",
            LEFT, TOP, b->n * cell, b->n * cell, b->n);
    for (int r = 0; r < b->n; r++) {
        char text[VH_TIP_MAX];
        int64_t i = facts->model[b->at[r]], n = b->at[r + 1] - b->at[r];
        const char *name = vh_facts_name(facts, i);
        if (n > 1)
            snprintf(text, sizeof text, "%lld %ss of cluster %d", (long long)n, facts->item, b->cluster[r]);
        else if (*name)
            snprintf(text, sizeof text, "%.300s", name);
        else
            snprintf(text, sizeof text, "%s %lld", facts->item, (long long)i);
        fputs(r ? "," : "", f);
        vh_script_text(f, text, VH_NAME_MAX);
    }
    fputs("]' data-values=\"", f);
    for (int k = 0; k < b->n * b->n; k++)
        fprintf(f, "%s%.3g", k ? " " : "", b->mean[k]);
    fputs("\"/>\n", f);
}

static void draw_borders(FILE *f, const blocks *b, double cell)
{
    char text[16];
    for (int r = 0, begin = 0; r < b->n; r++) {
        if (r + 1 < b->n && b->cluster[r + 1] == b->cluster[r])
            continue;
        double from = begin * cell, to = (r + 1) * cell, all = b->n * cell;
        snprintf(text, sizeof text, "%d", b->cluster[r]);
        if (to - from >= 10) {
            vh_svg_text(f, LEFT - 8, TOP + (from + to) / 2 + 4, 'e', vh_paint("ink"), text, 8);
            vh_svg_text(f, LEFT + (from + to) / 2, TOP - 8, 'm', vh_paint("ink"), text, 8);
        }
        if (r + 1 < b->n) {
            vh_svg_line(f, LEFT, TOP + to, LEFT + all, TOP + to, vh_paint("edge"));
            vh_svg_line(f, LEFT + to, TOP, LEFT + to, TOP + all, vh_paint("edge"));
        }
        begin = r + 1;
    }
    vh_svg_text(f, LEFT - 8, TOP - 8, 'e', vh_paint("soft"), "cluster", 20);
}

vhem_status vh_figure_distance(vhem_ctx *ctx, FILE *f, const vh_facts *facts)
{
    VH_CLEANUP(free_blocks) blocks b = { 0 };
    double lo = INFINITY, hi = -INFINITY;

    VH_TRY(make_blocks(ctx, facts, &b));
    for (int k = 0; k < b.n * b.n; k++)
        if (k % (b.n + 1) != 0 || b.n < facts->n_model || b.n == 1) { /* not a model to itself */
            lo = fmin(lo, b.mean[k]);
            hi = fmax(hi, b.mean[k]);
        }
    double cell = (double)SIDE / b.n > 16 ? 16 : (double)SIDE / b.n;
    vh_figure_begin(f, "distances", -1);
    vh_svg_begin(f, LEFT + b.n * cell + 8, TOP + b.n * cell + 8, "Distances",
                 "Matrix of the distances of all from all, in the order of the tree.");
    draw_cells(f, &b, cell);
    draw_borders(f, &b, cell);
    put_values(f, facts, &b, cell);
    vh_svg_end(f);
    vh_figure_caption(f, "Distances of all from all.");
    fprintf(f,
            "Rows and columns are the %ss in the order of the tree, from %.3g (faint) to %.3g (strong); "
            "every shade holds as many cells. Good clusters are faint squares on the diagonal.%s",
            facts->item, lo, hi,
            b.n < facts->n_model ? " A cell is the mean over neighbours in one cluster." : "");
    vh_figure_end(f);
    return VHEM_OK;
}

/* ---- between clusters ---------------------------------------------------------------------------------- */

/* D [K][K]: mean of (L_ij - L_ik) / tau over the members of j, their loss under the centre of k. */
static void separation(const vhem_clustering *c, double *D)
{
    int tau = c->options->tau > 0 ? c->options->tau : 1;
    for (int j = 0; j < c->Kr; j++) {
        int64_t n = 0;
        for (int64_t i = 0; i < c->Kb; i++)
            n += c->label[i] == j;
        for (int64_t i = 0; i < c->Kb; i++)
            for (int k = 0; c->label[i] == j && k < c->Kr; k++)
                D[j * c->Kr + k] += (c->L_hmm[vh_ij(i, c->Kr, j)] - c->L_hmm[vh_ij(i, c->Kr, k)]) / tau / n;
    }
}

static void draw_separation(FILE *f, const vh_level *v, const double *D, const char *unit)
{
    int K = v->K < MOST_CLUSTERS ? v->K : MOST_CLUSTERS;
    double hi = 0, cell = 480.0 / K > 52 ? 52 : 480.0 / K;
    char text[32], tip[VH_TIP_MAX];

    for (int k = 0; k < v->K * v->K; k++)
        hi = fmax(hi, D[k]);
    vh_svg_begin(f, LEFT + K * cell + 8, TOP + K * cell + 8, "How far apart clusters are",
                 "Matrix: what the members of a cluster lose when the centre of another explains them.");
    vh_svg_text(f, LEFT - 8, TOP - 8, 'e', vh_paint("soft"), "cluster", 20);
    for (int r = 0; r < K; r++) {
        snprintf(text, sizeof text, "%d", v->order[r]);
        vh_svg_text(f, LEFT - 8, TOP + (r + 0.5) * cell + 4, 'e', vh_paint("ink"), text, 8);
        vh_svg_text(f, LEFT + (r + 0.5) * cell, TOP - 8, 'm', vh_paint("ink"), text, 8);
        for (int c = 0; c < K; c++) {
            double d = D[v->order[r] * v->K + v->order[c]], share = hi > 0 && d > 0 ? sqrt(d / hi) : 0;
            snprintf(tip, sizeof tip, "Members of cluster %d under the centre of cluster %d: %.4g %s worse",
                     v->order[r], v->order[c], d, unit);
            vh_svg_rect(f, (vh_box){ LEFT + c * cell, TOP + r * cell, cell - 1, cell - 1 },
                        vh_paint_heat(share), "", tip);
            snprintf(text, sizeof text, d >= 99.5 ? "%.3g" : d >= 9.95 ? "%.0f" : "%.1f", d);
            if (cell >= 30 && r != c) {
                fputs("<g pointer-events=\"none\">", f);
                vh_svg_text(f, LEFT + (c + 0.5) * cell, TOP + (r + 0.5) * cell + 4, 'm',
                            vh_ink_on_heat(share), text, 8);
                fputs("</g>", f);
            }
        }
    }
    vh_svg_end(f);
}

vhem_status vh_figure_separation(vhem_ctx *ctx, FILE *f, const vh_facts *facts, int l)
{
    const vh_level *v = &facts->level[l];
    VH_AUTOFREE double *D = NULL;
    char name[32], unit[96];

    if (!v->c->L_hmm || v->K < 2)
        return VHEM_OK;
    VH_NEW(D, vh_cells(v->K, v->K));
    separation(v->c, D);
    snprintf(name, sizeof name, "separation-%d", l + 1);
    vh_figure_begin(f, name, l);
    draw_separation(f, v, D, vh_facts_unit(facts, v->c, unit, sizeof unit));
    vh_figure_caption(f, "How far apart clusters are.");
    fprintf(f,
            "Row by row: how many %s the members of a cluster lose, on average, when the centre of another "
            "cluster has to explain them. Small numbers off the diagonal mean that clusters are hard to tell "
            "apart; the shade grows with the square root.",
            vh_facts_unit(facts, v->c, unit, sizeof unit));
    if (v->K > MOST_CLUSTERS)
        fprintf(f, " The first %d clusters are drawn.", MOST_CLUSTERS);
    vh_figure_end(f);
    return VHEM_OK;
}
