/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_known.c - uncertainty of the centres of variational Bayes.  Dots are posterior means, lines are
 * intervals.
 *
 *   1. one centre      2. the figure      3. the table      4. text */
#include "core/number.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem/analysis.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 250, LEFT = 64, ROW = 15, TOP = 8, FOOT = 38, MOST_ROWS = 36 };

VH_OWNED(vhem_intervals, vh_object_free)

/* ---- 1. one centre ------------------------------------------------------------------------------------- */

typedef struct {                      /* intervals of a centre */
    const vhem_interval *omega;       /* of its weight */
    const vhem_interval **A, **means; /* [S][S]  [S][M][d]: means, or equivalents */
    int S, M, d;
    int n_A, n_means; /* 0: too many to draw */
} known;

static void free_known(known *x)
{
    free(x->A);
    free(x->means);
}

/* Sorts the intervals of one centre in drawing order; false if there are none, or out of memory. */
static bool sort_out(const vh_facts *facts, const vhem_intervals *all, known *out)
{
    out->A = vh_facts_room(facts, (size_t)all->n, sizeof *out->A);
    out->means = vh_facts_room(facts, (size_t)all->n, sizeof *out->means);
    for (int64_t i = 0; out->A && out->means && i < all->n; i++) {
        const vhem_interval *v = &all->interval[i];
        if (v->state >= out->S)
            out->S = v->state + 1;
        if (v->component >= out->M)
            out->M = v->component + 1;
        if (v->to >= 0)
            out->A[out->n_A++] = v;
        else if (v->column >= 0)
            out->means[out->n_means++] = v;
        else if (v->state < 0)
            out->omega = v;
    }
    int components = out->S * out->M;
    out->d = components > 0 ? out->n_means / components : 0;
    return out->omega;
}

/* ---- 2. the figure ------------------------------------------------------------------------------------- */

static void draw_interval(FILE *f, double y, const vh_scale *x, const vhem_interval *v, int state,
                          const char *name)
{
    char tip[VH_TIP_MAX];
    double lo = vh_at(x, fmax(v->low, x->lo)), hi = vh_at(x, fmin(v->high, x->hi));
    snprintf(tip, sizeof tip, "%s: %.4g, 95 %% interval %.4g to %.4g", name, v->mean, v->low, v->high);
    vh_svg_text(f, LEFT - 8, y + 4, 'e', vh_paint("soft"), name, 14);
    fprintf(f, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke-width=\"2\" %s/>\n", lo,
            fmax(hi, lo + 0.5), y, y, vh_line_state(state));
    vh_svg_circle(f, vh_at(x, v->mean), y, 3, vh_paint_state(state), "", tip);
}

/* Draws the transition probabilities of a centre, row by row. */
static void draw_transitions(FILE *f, const known *h, int l, int j)
{
    int rows = h->S * h->S;
    char name[64], title[96];
    vh_scale x = { 0, 1, LEFT, WIDTH - 10 };
    vh_box b = { LEFT, TOP, WIDTH - 10 - LEFT, rows * ROW };
    snprintf(name, sizeof name, "center-%d-%d-known", l + 1, j);
    snprintf(title, sizeof title, "How well transitions of cluster %d, level %d, are known", j, l + 1);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, TOP + rows * ROW + FOOT, title,
                 "Posterior mean of each transition probability, and the interval that holds it with 95 %.");
    vh_svg_axis_x(f, &x, b, 5, "probability");
    for (int r = 0; r < rows; r++) {
        snprintf(name, sizeof name, "%d \u2192 %d", r / h->S, r % h->S);
        draw_interval(f, TOP + (r + 0.5) * ROW, &x, h->A[r], r / h->S, name);
    }
    vh_svg_end(f);
    vh_figure_caption(f, "Transitions, with 95 % intervals for these virtual frames");
    vh_figure_end(f);
}

/* "x", or "x: a" for the probability of a symbol. */
static const char *entry_name(const vh_facts *facts, const vhem_interval *v, char *word, size_t size)
{
    char column[32];
    const char *name = vh_facts_dimension(facts, v->column, column, sizeof column);
    if (v->symbol)
        snprintf(word, size, "%.20s: %.20s", name, v->symbol);
    else
        snprintf(word, size, "%.40s", name);
    return word;
}

/* Draws the means of a centre, or the parameters that components have instead: one scale per entry, with the
 * states below each other. */
static void draw_means(FILE *f, const vh_facts *facts, const known *h, int l, int j)
{
    int n = h->S * h->M, d = h->d;
    char name[64], title[96], word[64];
    snprintf(name, sizeof name, "center-%d-%d-means", l + 1, j);
    snprintf(title, sizeof title, "How well means of cluster %d, level %d, are known", j, l + 1);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, TOP + d * (n * ROW + FOOT), title,
                 "Posterior mean of each mean, and the interval that holds it with 95 %.");
    for (int k = 0; k < d; k++) {
        double top = TOP + k * (n * ROW + FOOT);
        vh_scale x = { INFINITY, -INFINITY, LEFT, WIDTH - 10 };
        for (int q = 0; q < n; q++) {
            x.lo = fmin(x.lo, h->means[q * d + k]->low);
            x.hi = fmax(x.hi, h->means[q * d + k]->high);
        }
        vh_scale_widen(&x, 0.05);
        vh_svg_axis_x(f, &x, (vh_box){ LEFT, top, WIDTH - 10 - LEFT, n * ROW }, 4,
                      entry_name(facts, h->means[k], word, sizeof word));
        for (int q = 0; q < n; q++) {
            snprintf(name, sizeof name, h->M > 1 ? "state %d, %d" : "state %d", q / h->M, q % h->M);
            draw_interval(f, top + (q + 0.5) * ROW, &x, h->means[q * d + k], q / h->M, name);
        }
    }
    vh_svg_end(f);
    vh_figure_caption(f, "Means, with 95 % intervals for these virtual frames");
    vh_figure_end(f);
}

void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j)
{
    VH_OWN(vhem_intervals) *all = NULL;
    VH_CLEANUP(free_known) known h = { 0 };
    if (vhem_intervals_find(facts->ctx, facts->level[l].c, j, MOST_ROWS, &all) != VHEM_OK || all->n == 0
        || !sort_out(facts, all, &h))
        return;
    fprintf(f, "<p class=\"note\">Weight %.2f, with 95 %% from %.2f to %.2f.</p>\n<div class=\"pair\">\n",
            h.omega->mean, h.omega->low, h.omega->high);
    if (h.n_A > 1)
        draw_transitions(f, &h, l, j);
    if (h.n_means > 0)
        draw_means(f, facts, &h, l, j);
    fputs("</div>\n", f);
    if (h.n_means == 0 || h.n_A == 0)
        fprintf(f,
                "<p class=\"note\">More than %d intervals do not fit into a figure: those of %s are in "
                "<code>intervals.tsv</code>, which <code>vhem report --tables</code> writes.</p>\n",
                MOST_ROWS,
                h.n_means > 0 ? "the transitions"
                : h.n_A > 0   ? "the means"
                              : "transitions and means");
}

/* ---- 3. the table -------------------------------------------------------------------------------------- */

static void put_interval(FILE *f, int l, const vhem_interval *v)
{
    const int where[] = { v->state, v->to, v->component, v->column };
    const double number[] = { v->mean, v->low, v->high };
    char text[VH_NUMBER_SIZE];
    fprintf(f, "%d\t%lld\t%s", l + 1, (long long)v->cluster, v->name);
    for (int k = 0; k < 4; k++)
        fprintf(f, where[k] < 0 ? "\t" : "\t%d", where[k]);
    putc('\t', f);
    vh_tsv_text(f, v->symbol ? v->symbol : "");
    for (int k = 0; k < 3; k++) {
        putc('\t', f);
        fwrite(text, 1, vh_number_text(number[k], text), f);
    }
    putc('\n', f);
}

void vh_known_put(FILE *f, const vh_facts *facts)
{
    fputs("level\tcluster\tparameter\tstate\tto\tcomponent\tdimension\tsymbol\tmean\tlow\thigh\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        VH_OWN(vhem_intervals) *all = NULL;
        if (vhem_intervals_find(facts->ctx, facts->level[l].c, -1, -1, &all) != VHEM_OK)
            continue;
        for (int64_t i = 0; i < all->n; i++)
            put_interval(f, l, &all->interval[i]);
    }
}

/* ---- 4. text ------------------------------------------------------------------------------------------- */

/* "Of at most 4 states their centres need 2, 3 and 2." */
static void states_lead(FILE *f, const vhem_clustering *c)
{
    vhem_hmm_view h;
    fprintf(f, "Of at most %d state%s %s", c->options->S, c->options->S == 1 ? "" : "s",
            c->Kr == 1 ? "its centre needs " : "their centres need ");
    for (int64_t j = 0; j < c->Kr; j++)
        if (vhem_models_hmm(c->centers, j, &h) == VHEM_OK)
            fprintf(f, "%s%d", j == 0 ? "" : j + 1 < c->Kr ? ", " : " and ", h.S);
    fputs(". ", f);
}

void vh_known_lead(FILE *f, const vh_facts *facts, int l)
{
    const vhem_clustering *c = facts->level[l].c;
    if (!c->posterior)
        return;
    fprintf(f,
            "<p class=\"note\" data-level=\"%d\">Variational Bayes, for %.4g virtual frames of each %s: ", l,
            c->options->nv * c->options->tau, facts->item);
    if (c->K_max > c->Kr)
        fprintf(f, "%lld of at most %lld clusters %s needed, the largest first; %lld %s pruned. ",
                (long long)c->Kr, (long long)c->K_max, c->Kr == 1 ? "is" : "are",
                (long long)(c->K_max - c->Kr), c->K_max - c->Kr == 1 ? "was" : "were");
    else
        fprintf(f, "none of the %lld clusters was pruned. ", (long long)c->Kr);
    states_lead(f, c);
    fprintf(
        f,
        "Centres are posterior means. An interval holds its number with a probability of 95 %%, had %.4g "
        "samples of %d frames been seen of each %s; how far the %ss themselves are from the truth it does "
        "not know.</p>\n",
        c->options->nv, c->options->tau, facts->item, facts->item);
}
