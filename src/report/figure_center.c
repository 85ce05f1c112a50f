/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_center.c - a card for each centre: its state diagram, its emissions, the time spent in each state
 * (or the modes of a texture), and its nearest and farthest members. */
#include "report/figures.h"
#include "core/array2.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>

enum { SHOWN = 5 };

/* Names the prevailing class. */
static void put_head(FILE *f, const vh_facts *facts, int l, int j)
{
    const vh_level *v = &facts->level[l];
    int best = -1;
    fprintf(f, "<header><h3>Cluster %d</h3><p>%d %s%s, %.0f %% of all", j, v->size[j], facts->item,
            vh_plural(v->size[j]), 100.0 * v->size[j] / facts->n_model);
    for (int k = 0; k < facts->n_class; k++)
        if (v->count[j * facts->n_class + k] > (best < 0 ? 0 : v->count[j * facts->n_class + best]))
            best = k;
    if (best >= 0) {
        fputs("; mostly ", f);
        vh_html_text(f, facts->class_name[best], VH_NAME_MAX);
        fprintf(f, " (%d)", v->count[j * facts->n_class + best]);
    }
    fputs("</p></header>\n", f);
}

static void put_state_head(FILE *f, int s)
{
    fprintf(f,
            "<tr><th scope=\"row\"><svg width=\"10\" height=\"10\" aria-hidden=\"true\"><rect width=\"10\" "
            "height=\"10\" rx=\"2\" %s/></svg> %d</th>",
            vh_paint_state(s), s);
}

static void put_states(FILE *f, const vh_facts *facts, int l, const vhem_hmm_view *h, const double *share)
{
    int64_t T = vh_facts_longest(facts, l);
    char word[64];
    fprintf(
        f,
        "<table class=\"states\"><thead><tr><th scope=\"col\">state</th><th scope=\"col\">starts here</th>"
        "<th scope=\"col\">share of time</th><th scope=\"col\">stay within %lld ",
        (long long)T);
    vh_html_text(f, vh_facts_frames(facts, (double)T, word, sizeof word), sizeof word);
    fputs("</th></tr></thead><tbody>\n", f);
    for (int s = 0; s < h->S; s++) {
        double stay = vh_stay_within(h->A[s * h->S + s], T);
        put_state_head(f, s);
        fprintf(f, "<td>%.2f</td><td>%.0f %%</td>", h->pi[s], 100 * share[s]);
        fprintf(f, stay < 100 ? "<td>%.3g " : "<td>%.0f ", stay);
        vh_html_text(f, vh_facts_frames(facts, stay, word, sizeof word), sizeof word);
        fputs("</td></tr>\n", f);
    }
    fputs("</tbody></table>\n", f);
}

/* Writes the transition matrix as numbers. */
static void put_transitions(FILE *f, const vhem_hmm_view *h)
{
    enum { MOST = 12 };
    if (h->S < 2 || h->S > MOST)
        return;
    fputs("<div class=\"scroll\"><table class=\"states\"><thead><tr><th scope=\"col\">from, to</th>", f);
    for (int r = 0; r < h->S; r++)
        fprintf(f, "<th scope=\"col\">%d</th>", r);
    fputs("</tr></thead><tbody>\n", f);
    for (int s = 0; s < h->S; s++) {
        put_state_head(f, s);
        for (int r = 0; r < h->S; r++)
            fprintf(f, "<td>%.2f</td>", h->A[s * h->S + r]);
        fputs("</tr>\n", f);
    }
    fputs("</tbody></table></div>\n", f);
}

/* The models of a cluster of level l by nearness to its centre; returns their number.  A model with missing
 * columns has L_hmm over fewer values than others: such models come last, unranked. */
typedef struct {
    int64_t i;
    double near;
    int lacking; /* missing columns */
} near_member;

static int by_nearness(const void *a, const void *b)
{
    const near_member *p = a, *q = b;
    if (p->lacking != q->lacking)
        return p->lacking < q->lacking ? -1 : 1;
    return p->near > q->near ? -1 : p->near < q->near ? 1 : (p->i > q->i) - (p->i < q->i);
}

static int64_t members_of(const vhem_clustering *c, int j, near_member *m)
{
    int64_t n = 0;
    const double *x = c->L_hmm ? c->L_hmm : c->z;
    for (int64_t i = 0; i < c->Kb; i++)
        if (c->label[i] == j)
            m[n++] = (near_member){ i, x ? x[vh_ij(i, c->Kr, j)] : 0, c->lacking ? c->lacking[i] : 0 };
    qsort(m, (size_t)n, sizeof *m, by_nearness);
    return n;
}

static void put_list(FILE *f, const vh_facts *facts, int l, const char *what, const near_member *m, int n)
{
    const vhem_clustering *c = facts->level[l].c;
    int tau = c->options->tau > 0 ? c->options->tau : 1;
    fprintf(f, "<div><h4>%s</h4><ol>", what);
    for (int k = 0; k < n; k++) {
        fputs("<li>", f);
        if (l == 0)
            vh_html_name(f, facts->item, vh_facts_name(facts, m[k].i), m[k].i);
        else
            fprintf(f, "cluster %lld of level %d", (long long)m[k].i, l);
        if (c->L_hmm)
            fprintf(f, " <span class=\"soft\">%.3f</span>", m[k].near / tau);
        fputs("</li>", f);
    }
    fputs("</ol></div>\n", f);
}

static void put_members(FILE *f, const vh_facts *facts, int l, int j, near_member *m)
{
    int64_t all = members_of(facts->level[l].c, j, m), n = 0;
    while (n < all && m[n].lacking == 0)
        n++;
    int near = n < SHOWN ? (int)n : SHOWN, far = n - near < SHOWN ? (int)(n - near) : SHOWN;
    if (all == 0)
        return;
    fputs("<div class=\"ends\">", f);
    if (n > 0)
        put_list(f, facts, l, far > 0 ? "Nearest to the centre" : "Members, the nearest first", m, near);
    if (far > 0)
        put_list(f, facts, l, "Farthest from it", m + n - far, far);
    if (n < all)
        put_list(f, facts, l, "Not ranked: they lack columns", m + n,
                 all - n < SHOWN ? (int)(all - n) : SHOWN);
    fputs("</div>\n", f);
}

/* Draws the states and emissions of an HMM. */
static void put_hmm(FILE *f, const vh_facts *facts, int l, int j, const vh_ranges *ranges)
{
    const vhem_clustering *c = facts->level[l].c;
    vhem_hmm_view h;
    char name[64], title[96], id[32];

    if (vhem_models_hmm(c->centers, j, &h) != VHEM_OK)
        return;
    double *share = vh_facts_room(facts, 3 * (size_t)h.S, sizeof *share);
    if (!share)
        return;
    vh_hmm_share(&h, vh_facts_usual(&facts->level[l]), share);
    fputs("<div class=\"pair\">\n", f);
    snprintf(name, sizeof name, "center-%d-%d-states", l + 1, j);
    snprintf(title, sizeof title, "States of the centre of cluster %d, level %d", j, l + 1);
    vh_figure_begin(f, name, -1);
    vh_draw_states(f, &h, share, title);
    vh_figure_caption(f, "States");
    vh_figure_end(f);
    if (h.mu || ranges->values) {
        snprintf(name, sizeof name, "center-%d-%d-emissions", l + 1, j);
        snprintf(title, sizeof title, "Emissions of the centre of cluster %d, level %d", j, l + 1);
        vh_figure_begin(f, name, -1);
        snprintf(id, sizeof id, "emit-%d-%d", l, j);
        if (h.mu)
            vh_draw_emission(f, facts, &h, ranges, (const int[]){ l, j }, title, id);
        else
            vh_draw_values(f, facts, ranges, (const int[]){ l, j }, title, id);
        vh_figure_caption(f, "Emissions");
        vh_figure_end(f);
    }
    fputs("</div>\n", f);
    put_states(f, facts, l, &h, share);
    put_transitions(f, &h);
    vh_figure_known(f, facts, l, j);
    free(share);
}

static void put_card(FILE *f, const vh_facts *facts, int l, int j, const vh_ranges *ranges, near_member *m)
{
    const vh_level *v = &facts->level[l];
    vhem_dt_view t;
    char mark[64];

    vh_cluster_mark(mark, sizeof mark, l, j);
    fprintf(f, "<article class=\"card\" id=\"center-%d-%d\" data-level=\"%d\"%s>\n", l, j, l, mark);
    put_head(f, facts, l, j);
    if (v->hmms)
        put_hmm(f, facts, l, j, ranges);
    else if (vhem_models_texture(v->textures, j, &t) == VHEM_OK)
        vh_figure_texture(f, facts, &t, l, j);
    put_members(f, facts, l, j, m);
    fputs("</article>\n", f);
}

void vh_figure_centers(FILE *f, const vh_facts *facts, int l, const vh_ranges *ranges)
{
    const vh_level *v = &facts->level[l];
    int n = 0;
    if (!v->c->centers) {
        vh_method_note(f, facts, l, "Method", "gives clusters no centres.");
        return;
    }
    near_member *m = vh_facts_room(facts, (size_t)v->c->Kb, sizeof *m);
    if (!m)
        return;
    vh_known_lead(f, facts, l);
    fprintf(f, "<div class=\"cards\" data-level=\"%d\">\n", l);
    for (int k = 0; k < v->K; k++)
        if (v->order[k] < VH_MOST_CARDS) {
            put_card(f, facts, l, v->order[k], ranges, m);
            n++;
        }
    fputs("</div>\n", f);
    if (n < v->K)
        fprintf(
            f,
            "<p class=\"note\" data-level=\"%d\">The first %d of %d centres are drawn; the tables have all "
            "of them.</p>\n",
            l, n, v->K);
    free(m);
}
