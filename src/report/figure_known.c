/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_known.c - see known.h.  Dots are posterior means, lines the intervals.
 *
 *   1. intervals      2. the figure      3. the table      4. words */
#include "core/number.h"
#include "math/student.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/known.h"
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

vh_interval vh_known_share(int n, const double *a, int k)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i];
    if (n < 2)
        return (vh_interval){ 1, 1, 1 };
    return (vh_interval){ a[k] / sum, vh_beta_quantile(a[k], sum - a[k], OUTSIDE / 2),
                          vh_beta_quantile(a[k], sum - a[k], 1 - OUTSIDE / 2) };
}

vh_interval vh_known_mean(const vh_posteriors *post, const vh_posterior *h, int q, int k)
{
    const vh_prior *shape = post->shape;
    int d = shape->d;
    double mean = h->m[q * d + k], f = h->nu[q] - (vh_prior_full(shape->family) ? d - 1 : 0);
    size_t at = (size_t)q * vh_prior_size(shape) + vh_scatter_at(shape->family, d, k);
    double reach = vh_student_beyond(OUTSIDE, f) * sqrt(h->B[at] / (h->lambda[q] * f));
    return (vh_interval){ mean, mean - reach, mean + reach };
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
    vh_figure_caption(f, "Transitions, with 95 % intervals");
    vh_figure_end(f);
}

/* Means of a centre: of each dimension a scale of its own, the states below each other. */
static void draw_means(FILE *f, const vh_facts *facts, const vh_posteriors *post, int l, int j)
{
    const vh_posterior *h = &post->hmm[j];
    int n = h->S * h->M, d = post->shape->d;
    char name[64], title[96], word[32];
    snprintf(name, sizeof name, "center-%d-%d-means", l + 1, j);
    snprintf(title, sizeof title, "How well means of cluster %d, level %d, are known", j, l + 1);
    vh_figure_begin(f, name, -1);
    vh_svg_begin(f, WIDTH, TOP + d * (n * ROW + FOOT), title,
                 "Posterior mean of each mean, and the interval that holds it with 95 %.");
    for (int k = 0; k < d; k++) {
        double top = TOP + k * (n * ROW + FOOT);
        vh_scale x = { INFINITY, -INFINITY, LEFT, WIDTH - 10 };
        for (int q = 0; q < n; q++) {
            vh_interval v = vh_known_mean(post, h, q, k);
            x.lo = fmin(x.lo, v.low);
            x.hi = fmax(x.hi, v.high);
        }
        vh_scale_widen(&x, 0.05);
        vh_svg_axis_x(f, &x, (vh_box){ LEFT, top, WIDTH - 10 - LEFT, n * ROW }, 4,
                      vh_facts_dimension(facts, k, word, sizeof word));
        for (int q = 0; q < n; q++) {
            vh_interval v = vh_known_mean(post, h, q, k);
            snprintf(name, sizeof name, h->M > 1 ? "state %d, %d" : "state %d", q / h->M, q % h->M);
            draw_interval(f, top + (q + 0.5) * ROW, &x, &v, q / h->M, name);
        }
    }
    vh_svg_end(f);
    vh_figure_caption(f, "Means, with 95 % intervals");
    vh_figure_end(f);
}

void vh_figure_known(FILE *f, const vh_facts *facts, int l, int j)
{
    vh_posteriors *post = NULL;
    const vh_clustering *c = facts->level[l].c;
    if (vh_known_read(facts->ctx, c, &post) != VHEM_OK || !post || j >= post->K)
        goto done;
    const vh_posterior *h = &post->hmm[j];
    vh_interval w = vh_known_share(post->K, post->alpha, j);
    fprintf(f, "<p class=\"note\">Weight %.2f, with 95 %% from %.2f to %.2f.</p>\n<div class=\"pair\">\n",
            w.mean, w.low, w.high);
    if (h->S > 1 && h->S * h->S <= MOST_ROWS)
        draw_transitions(f, h, l, j);
    if (h->S * h->M * post->shape->d <= MOST_ROWS)
        draw_means(f, facts, post, l, j);
    fputs("</div>\n", f);
done:
    vh_posteriors_free(post);
}

/* ---- 3. the table -------------------------------------------------------------------------------------- */

static void put_interval(FILE *f, int l, int j, const char *what, const vh_interval *v)
{
    const double number[] = { v->mean, v->low, v->high };
    char text[VH_NUMBER_SIZE];
    fprintf(f, "%d\t%d\t%s", l + 1, j, what);
    for (int k = 0; k < 3; k++) {
        putc('\t', f);
        fwrite(text, 1, vh_number_text(number[k], text), f);
    }
    putc('\n', f);
}

static void put_center(FILE *f, const vh_posteriors *post, int l, int j)
{
    const vh_posterior *h = &post->hmm[j];
    vh_interval v = vh_known_share(post->K, post->alpha, j);
    char what[96];
    put_interval(f, l, j, "omega\t\t\t", &v);
    for (int s = 0; s < h->S; s++) {
        v = vh_known_share(h->S, h->eta, s);
        snprintf(what, sizeof what, "pi\t%d\t\t", s);
        put_interval(f, l, j, what, &v);
        for (int r = 0; r < h->S; r++) {
            v = vh_known_share(h->S, h->eps + s * h->S, r);
            snprintf(what, sizeof what, "A\t%d\t%d\t", s, r);
            put_interval(f, l, j, what, &v);
        }
        for (int m = 0; m < h->M; m++) {
            v = vh_known_share(h->M, h->kappa + s * h->M, m);
            snprintf(what, sizeof what, "c\t%d\t%d\t", s, m);
            put_interval(f, l, j, what, &v);
            for (int k = 0; k < post->shape->d; k++) {
                v = vh_known_mean(post, h, s * h->M + m, k);
                snprintf(what, sizeof what, "mu\t%d\t%d\t%d", s, m, k);
                put_interval(f, l, j, what, &v);
            }
        }
    }
}

void vh_known_put(FILE *f, const vh_facts *facts)
{
    fputs("level\tcluster\tparameter\tstate\tto\tdimension\tmean\tlow\thigh\n", f);
    for (int l = 0; l < facts->n_level; l++) {
        vh_posteriors *post = NULL;
        if (vh_known_read(facts->ctx, facts->level[l].c, &post) == VHEM_OK && post)
            for (int j = 0; j < post->K; j++)
                put_center(f, post, l, j);
        vh_posteriors_free(post);
    }
}

/* ---- 4. words ------------------------------------------------------------------------------------------ */

void vh_known_lead(FILE *f, const vh_facts *facts, int l)
{
    const vh_clustering *c = facts->level[l].c;
    if (!c->posterior)
        return;
    fprintf(f,
            "<p class=\"note\" data-level=\"%d\">Variational Bayes, for %.4g virtual frames of each %s: ", l,
            c->options.nv * c->options.tau, facts->thing);
    if (c->K_max > c->Kr + 1)
        fprintf(f, "%d of at most %d clusters are needed, the largest first; clusters %d to %d were pruned. ",
                c->Kr, c->K_max, c->Kr, c->K_max - 1);
    else if (c->K_max > c->Kr)
        fprintf(f, "%d of at most %d clusters are needed, the largest first; cluster %d was pruned. ", c->Kr,
                c->K_max, c->Kr);
    else
        fprintf(f, "none of the %d clusters was pruned. ", c->Kr);
    fputs("Centres are posterior means; an interval holds its number with a probability of 95 %.</p>\n", f);
}
