/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_known.c - see known.h.  Dots are posterior means, lines the intervals.
 *
 *   1. intervals      2. the figure      3. the table      4. words */
#include "core/number.h"
#include "math/student.h"
#include "model/layout.h"
#include "model/posterior_json.h"
#include "model/prior_json.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/intervals.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 250, LEFT = 64, ROW = 15, TOP = 8, FOOT = 38, MOST_ROWS = 36 };
#define OUTSIDE 0.05 /* probability */

/* ---- 1. intervals -------------------------------------------------------------------------------------- */

vhem_status vh_known_read(vhem_ctx *ctx, const vh_clustering *c, vh_posteriors **out)
{
    *out = NULL;
    return c->posterior ? vh_posteriors_read(ctx, c->posterior, out) : VHEM_OK;
}

/* Of Beta(a, rest). */
static vh_interval share(double a, double rest)
{
    return (vh_interval){ a / (a + rest), vh_beta_quantile(a, rest, OUTSIDE / 2),
                          vh_beta_quantile(a, rest, 1 - OUTSIDE / 2) };
}

vh_interval vh_known_share(int n, const double *a, int k)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    return n < 2 ? (vh_interval){ 1, 1, 1 } : share(a[k], sum - a[k]);
}

vh_interval vh_known_start(int S, const double *eta, double eta0, double nv, int s)
{
    double own = eta0 + (eta[s] - eta0) / fmax(nv, 1), rest = 0;
    for (int i = 0; i < S; i++)
        rest += i == s ? 0 : eta0 + (eta[i] - eta0) / fmax(nv, 1);
    return S < 2 ? (vh_interval){ 1, 1, 1 } : share(own, rest);
}

vh_interval vh_known_mean(const vh_prior *shape, const vh_posterior *h, int q, int k)
{
    const vh_counts *counts = shape->family->counts;
    int d = shape->d;
    vh_interval v;
    if (counts) {
        const double *a = h->count + (size_t)q * vh_prior_counts(shape);
        double *mean = h->work, *const par[] = { mean };
        counts->mean(&shape->shape, a, par);
        v.mean = mean[k];
        counts->interval(&shape->shape, a, k, OUTSIDE / 2, &v.low, &v.high);
        return v;
    }
    double mean = h->m[q * d + k], lambda = h->by_column ? h->col_lambda[q * d + k] : h->lambda[q];
    double f = h->by_column ? h->col_nu[q * d + k] : h->nu[q] - (vh_prior_full(shape->family) ? d - 1 : 0);
    size_t at = (size_t)q * vh_prior_size(shape) + vh_scatter_at(shape->family, d, k);
    double reach = vh_student_beyond(OUTSIDE, f) * sqrt(h->B[at] / (lambda * f));
    return (vh_interval){ mean, mean - reach, mean + reach };
}

/* One of the parameters of components that have intervals: those of the channels of a product one after the
 * other. */
typedef struct {
    const vh_prior *shape;
    const vh_posterior *h;
    const vh_channel *channel; /* NULL where there are no symbols */
    int k;                     /* entry of the first parameter */
    int column;                /* of the data */
} entry;

static int entries(const vh_prior *shape)
{
    int n = shape->n_channel > 0 ? 0 : (int)vh_param_size(shape->family, 0, &shape->shape);
    for (int c = 0; c < shape->n_channel; c++)
        n += entries(shape->channel[c]);
    return n;
}

static entry entry_of(const vh_posteriors *post, const vh_posterior *h, int i)
{
    const vh_prior *shape = post->shape;
    const vh_layout *layout = shape->shape.layout;
    entry e = { .shape = shape, .h = h, .channel = layout ? layout->channel : NULL };
    int first = 0;
    for (int c = 0; layout && c < shape->n_channel; c++) {
        e.shape = shape->channel[c];
        e.h = &h->channel[c];
        e.channel = &layout->channel[c];
        first = layout->channel[c].column;
        if (i < entries(e.shape))
            break;
        i -= entries(e.shape);
    }
    bool symbols = e.shape->family->param[0].dim[0] == VH_PER_SYMBOL;
    e.channel = symbols ? e.channel : NULL;
    e.k = i;
    e.column = first + (symbols ? 0 : i);
    return e;
}

/* ---- 2. the figure ------------------------------------------------------------------------------------- */

static void draw_interval(FILE *f, double y, const vh_scale *x, const vh_interval *v, int state,
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

/* Transition probabilities of a centre, row by row. */
static void draw_transitions(FILE *f, const vh_posterior *h, int l, int j)
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
        vh_interval v = vh_known_share(h->S, h->eps + (r / h->S) * h->S, r % h->S);
        snprintf(name, sizeof name, "%d \u2192 %d", r / h->S, r % h->S);
        draw_interval(f, TOP + (r + 0.5) * ROW, &x, &v, r / h->S, name);
    }
    vh_svg_end(f);
    vh_figure_caption(f, "Transitions, with 95 % intervals for these virtual frames");
    vh_figure_end(f);
}

/* "x", or "x: a" for the probability of a symbol. */
static const char *entry_name(const vh_facts *facts, const entry *e, char *word, size_t size)
{
    char column[32];
    const char *name = vh_facts_dimension(facts, e->column, column, sizeof column);
    if (e->channel && e->channel->symbol)
        snprintf(word, size, "%.20s: %.20s", name, e->channel->symbol[e->k]);
    else
        snprintf(word, size, "%.40s", name);
    return word;
}

/* Means of a centre, or what its components have instead: of each entry a scale of its own, the states below
 * each other. */
static void draw_means(FILE *f, const vh_facts *facts, const vh_posteriors *post, int l, int j)
{
    const vh_posterior *h = &post->hmm[j];
    int n = h->S * h->M, d = entries(post->shape);
    char name[64], title[96], word[64];
    snprintf(name, sizeof name, "center-%d-%d-means", l + 1, j);
    snprintf(title, sizeof title, "How well means of cluster %d, level %d, are known", j, l + 1);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, TOP + d * (n * ROW + FOOT), title,
                 "Posterior mean of each mean, and the interval that holds it with 95 %.");
    for (int k = 0; k < d; k++) {
        const entry e = entry_of(post, h, k);
        double top = TOP + k * (n * ROW + FOOT);
        vh_scale x = { INFINITY, -INFINITY, LEFT, WIDTH - 10 };
        for (int q = 0; q < n; q++) {
            vh_interval v = vh_known_mean(e.shape, e.h, q, e.k);
            x.lo = fmin(x.lo, v.low);
            x.hi = fmax(x.hi, v.high);
        }
        vh_scale_widen(&x, 0.05);
        vh_svg_axis_x(f, &x, (vh_box){ LEFT, top, WIDTH - 10 - LEFT, n * ROW }, 4,
                      entry_name(facts, &e, word, sizeof word));
        for (int q = 0; q < n; q++) {
            vh_interval v = vh_known_mean(e.shape, e.h, q, e.k);
            snprintf(name, sizeof name, h->M > 1 ? "state %d, %d" : "state %d", q / h->M, q % h->M);
            draw_interval(f, top + (q + 0.5) * ROW, &x, &v, q / h->M, name);
        }
    }
    vh_svg_end(f);
    vh_figure_caption(f, "Means, with 95 % intervals for these virtual frames");
    vh_figure_end(f);
}

void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j)
{
    VH_OWN(vh_posteriors) *post = NULL;
    const vh_clustering *c = facts->level[l].c;
    if (vh_known_read(facts->ctx, c, &post) != VHEM_OK || !post || j >= post->K)
        return;
    const vh_posterior *h = &post->hmm[j];
    vh_interval w = vh_known_share(post->K, post->alpha, j);
    fprintf(f, "<p class=\"note\">Weight %.2f, with 95 %% from %.2f to %.2f.</p>\n<div class=\"pair\">\n",
            w.mean, w.low, w.high);
    if (h->S > 1 && h->S * h->S <= MOST_ROWS)
        draw_transitions(f, h, l, j);
    int rows = h->S * h->M * entries(post->shape);
    if (rows <= MOST_ROWS)
        draw_means(f, facts, post, l, j);
    fputs("</div>\n", f);
    if (rows > MOST_ROWS || h->S * h->S > MOST_ROWS)
        fprintf(f,
                "<p class=\"note\">More than %d intervals do not fit into a figure: those of %s are in "
                "<code>intervals.tsv</code>, which <code>vhem report --tables</code> writes.</p>\n",
                MOST_ROWS,
                rows <= MOST_ROWS          ? "the transitions"
                : h->S * h->S <= MOST_ROWS ? "the means"
                                           : "transitions and means");
}

/* ---- 3. the table -------------------------------------------------------------------------------------- */

typedef struct { /* where a parameter stands; -1: that it has not */
    const char *name;
    int state, to, component, dimension;
    const char *symbol; /* or NULL */
} place;

static void put_interval(FILE *f, int l, int j, const place *at, vh_interval v)
{
    const int where[] = { at->state, at->to, at->component, at->dimension };
    const double number[] = { v.mean, v.low, v.high };
    char text[VH_NUMBER_SIZE];
    fprintf(f, "%d\t%d\t%s", l + 1, j, at->name);
    for (int k = 0; k < 4; k++)
        fprintf(f, where[k] < 0 ? "\t" : "\t%d", where[k]);
    putc('\t', f);
    vh_tsv_text(f, at->symbol ? at->symbol : "");
    for (int k = 0; k < 3; k++) {
        putc('\t', f);
        fwrite(text, 1, vh_number_text(number[k], text), f);
    }
    putc('\n', f);
}

/* Entries of component q; the name of the parameter is that in model files. */
static void put_component(FILE *f, const vh_posteriors *post, int l, int j, int q)
{
    const vh_posterior *h = &post->hmm[j];
    for (int i = 0; i < entries(post->shape); i++) {
        const entry e = entry_of(post, h, i);
        const place at = { .name = e.shape->family->param[0].name,
                           .state = q / h->M,
                           .to = -1,
                           .component = q % h->M,
                           .dimension = e.column,
                           .symbol = e.channel && e.channel->symbol ? e.channel->symbol[e.k] : NULL };
        put_interval(f, l, j, &at, vh_known_mean(e.shape, e.h, q, e.k));
    }
}

typedef struct { /* what the posterior of a level comes from */
    double eta, nv;
} origin;

static void put_center(FILE *f, const vh_posteriors *post, const origin *from, int l, int j)
{
    const vh_posterior *h = &post->hmm[j];
    put_interval(f, l, j, &(place){ "omega", -1, -1, -1, -1, NULL }, vh_known_share(post->K, post->alpha, j));
    for (int s = 0; s < h->S; s++) {
        put_interval(f, l, j, &(place){ "pi", s, -1, -1, -1, NULL }, vh_known_share(h->S, h->eta, s));
        put_interval(f, l, j, &(place){ "pi_once", s, -1, -1, -1, NULL },
                     vh_known_start(h->S, h->eta, from->eta, from->nv, s));
        for (int r = 0; r < h->S; r++)
            put_interval(f, l, j, &(place){ "A", s, r, -1, -1, NULL },
                         vh_known_share(h->S, h->eps + s * h->S, r));
        for (int m = 0; m < h->M; m++) {
            put_interval(f, l, j, &(place){ "c", s, -1, m, -1, NULL },
                         vh_known_share(h->M, h->kappa + s * h->M, m));
            put_component(f, post, l, j, s * h->M + m);
        }
    }
}

void vh_known_put(FILE *f, const vh_facts *facts)
{
    fputs("level\tcluster\tparameter\tstate\tto\tcomponent\tdimension\tsymbol\tmean\tlow\thigh\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        const vh_clustering *c = facts->level[l].c;
        vh_posteriors *post = NULL;
        vh_prior *prior = NULL;
        if (vh_known_read(facts->ctx, c, &post) == VHEM_OK && post) {
            bool known = c->prior && vh_prior_read(facts->ctx, c->prior, &prior) == VHEM_OK;
            const origin from = { known ? prior->eta : 1, c->options.nv };
            for (int j = 0; j < post->K; j++)
                put_center(f, post, &from, l, j);
        }
        vh_posteriors_free(post);
        vh_prior_free(prior);
    }
}

/* ---- 4. words ------------------------------------------------------------------------------------------ */

/* "Of at most 4 states their centres need 2, 3 and 2." */
static void states_lead(FILE *f, const vh_clustering *c)
{
    fprintf(f, "Of at most %d state%s %s", c->options.S, c->options.S == 1 ? "" : "s",
            c->Kr == 1 ? "its centre needs " : "their centres need ");
    for (int j = 0; j < c->Kr; j++)
        fprintf(f, "%s%d", j == 0 ? "" : j + 1 < c->Kr ? ", " : " and ", c->centers->hmm[j].S);
    fputs(". ", f);
}

void vh_known_lead(FILE *f, const vh_facts *facts, int l)
{
    const vh_clustering *c = facts->level[l].c;
    if (!c->posterior)
        return;
    fprintf(f,
            "<p class=\"note\" data-level=\"%d\">Variational Bayes, for %.4g virtual frames of each %s: ", l,
            c->options.nv * c->options.tau, facts->thing);
    if (c->K_max > c->Kr)
        fprintf(f, "%d of at most %d clusters %s needed, the largest first; %d %s pruned. ", c->Kr, c->K_max,
                c->Kr == 1 ? "is" : "are", c->K_max - c->Kr, c->K_max - c->Kr == 1 ? "was" : "were");
    else
        fprintf(f, "none of the %d clusters was pruned. ", c->Kr);
    states_lead(f, c);
    fprintf(
        f,
        "Centres are posterior means. An interval holds its number with a probability of 95 %%, had %.4g "
        "samples of %d frames been seen of each %s; how far the %ss themselves are from the truth it does "
        "not know.</p>\n",
        c->options.nv, c->options.tau, facts->thing, facts->thing);
}
