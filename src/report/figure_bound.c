/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_bound.c - the objective J against iterations: the curve of the run that was kept, and the
 * curves and ends of the other restarts. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include "math/order.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1010, HEIGHT = 320, LEFT = 64, TOP = 26, RIGHT = 20, FOOT = 42 };
enum { MOST_DOTS = 1000, MOST_LINES = 200 };

/* The y axis spans the finished restarts; bad starts are clipped. */
static void find_range(const vh_facts *facts, const vhem_clustering *c, vh_scale *x, vh_scale *y)
{
    double best = -INFINITY, *end = vh_facts_room(facts, (size_t)(c->n_run + 1), sizeof *end);
    int n = 0;
    x->lo = 0;
    x->hi = c->bound ? c->n_iter : 1;
    for (int r = 0; r < c->n_run; r++) {
        x->hi = c->run[r].n_iter > x->hi ? c->run[r].n_iter : x->hi;
        best = c->run[r].bound > best ? c->run[r].bound : best;
        if (end && c->run[r].finished)
            end[n++] = c->run[r].bound;
    }
    for (int k = 0; c->bound && k <= c->n_iter; k++)
        best = c->bound[k] > best ? c->bound[k] : best;
    y->lo = y->hi = best;
    if (end && n > 0) {
        vh_sort((size_t)n, end);
        y->lo = end[n / 20];
    }
    if (c->bound && c->n_iter > 0)
        y->lo = fmin(y->lo, c->bound[(c->n_iter + 2) / 3]);
    x->hi = x->hi < 1 ? 1 : x->hi;
    vh_scale_widen(y, 0.06);
    free(end);
}

/* Draws the part of a curve above the lower edge of the picture. */
static void put_path(FILE *f, int n, const double *bound, const vh_scale *x, const vh_scale *y)
{
    fputs("<path stroke-linejoin=\"round\" d=\"", f);
    for (int k = 0, on = 0; k <= n; k++) {
        bool in = bound[k] >= y->lo;
        if (k > 0 && in != (bound[k - 1] >= y->lo)) {
            double at = k - 1 + (y->lo - bound[k - 1]) / (bound[k] - bound[k - 1]);
            fprintf(f, "%c%.1f,%.1f ", on ? 'L' : 'M', vh_at(x, isfinite(at) ? at : k), vh_at(y, y->lo));
            on = 1;
        }
        if (in)
            fprintf(f, "%c%.1f,%.1f ", on ? 'L' : 'M', vh_at(x, k), vh_at(y, bound[k]));
        on = in;
    }
    fputs("\" ", f);
}

static void draw_kept(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    if (!c->bound)
        return;
    put_path(f, c->n_iter, c->bound, x, y);
    fprintf(f, "stroke-width=\"2.4\" %s/>\n", vh_line_series(0));
    for (int k = 0; k <= c->n_iter && c->n_iter <= 60; k++) {
        char tip[VH_TIP_MAX];
        snprintf(tip, sizeof tip, "The run that was kept, iteration %d: bound %.8g", k, c->bound[k]);
        if (c->bound[k] >= y->lo)
            vh_svg_circle(f, vh_at(x, k), vh_at(y, c->bound[k]), k < c->n_iter ? 2.2 : 4.6,
                          vh_paint_series(0), "", tip);
    }
}

static void tell_run(const vhem_clustering *c, int r, const vh_scale *y, char *tip, size_t size)
{
    const vhem_cluster_run *u = &c->run[r];
    snprintf(tip, size, "Restart %d (%.100s): bound %.6g after %d iteration%s%s%s", r,
             u->init ? u->init : "start unknown", u->bound, u->n_iter, vh_plural(u->n_iter),
             u->finished ? u->converged ? ", converged" : ", not converged" : ", given up early",
             u->bound < y->lo ? "; below the picture" : "");
}

/* Draws thin lines below everything else, fainter for abandoned runs. */
static void draw_others(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    char tip[VH_TIP_MAX];
    for (int r = 0; r < c->n_run && r < MOST_LINES; r++) {
        const vhem_cluster_run *u = &c->run[r];
        if (!u->bounds || u->bound < y->lo)
            continue;
        put_path(f, u->n_iter, u->bounds, x, y);
        if (u->finished)
            fprintf(f, "stroke-width=\"1.1\" stroke-opacity=\"0.6\" %s>", vh_line_series(1));
        else
            fprintf(f, "stroke-width=\"0.9\" stroke-opacity=\"0.8\" %s>", vh_paint("axis"));
        tell_run(c, r, y, tip, sizeof tip);
        vh_svg_tip(f, tip);
        fputs("</path>\n", f);
    }
}

/* Draws a dot at the end of each run, a larger one for the run that was kept. */
static void draw_ends(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    char tip[VH_TIP_MAX];
    for (int r = 0; r < c->n_run && r < MOST_DOTS; r++) {
        const vhem_cluster_run *u = &c->run[r];
        bool kept = c->bound && u->n_iter == c->n_iter && u->bound == c->bound[c->n_iter];
        tell_run(c, r, y, tip, sizeof tip);
        vh_svg_circle(f, vh_at(x, u->n_iter), vh_at(y, fmax(u->bound, y->lo)), kept ? 4.6 : 3.2,
                      kept          ? vh_paint_series(0)
                      : u->finished ? vh_paint_series(1)
                                    : vh_paint("axis"),
                      u->finished ? "fill-opacity=\"0.8\"" : "", tip);
    }
}

static void caption(FILE *f, const vhem_clustering *c)
{
    double best = -INFINITY;
    int near = 0, finished = 0;
    for (int r = 0; r < c->n_run; r++)
        best = fmax(best, c->run[r].bound);
    for (int r = 0; r < c->n_run; r++) {
        finished += c->run[r].finished != 0;
        near += c->run[r].bound >= best - 1e-4 * fabs(best);
    }
    vh_figure_caption(f, "The bound, iteration by iteration.");
    if (c->bound) {
        char text[32];
        vh_short_number(c->bound[c->n_iter], text, sizeof text);
        fprintf(f, "The thick line is the run that was kept: it ended at %s nats after %d iteration%s%s. ",
                text, c->n_iter, vh_plural(c->n_iter), c->converged ? "" : ", not yet converged");
    }
    if (c->n_run > 1)
        fprintf(f,
                "Thin lines are the other runs; a dot marks where each of the %d ended%s. %d came within "
                "0.01 %% of the best bound: the more runs agree, the more reliable it is. ",
                c->n_run, finished < c->n_run ? "; hollow dots are runs that were stopped early" : "", near);
    fputs("Higher is better; runs that ended below the picture have their dot at its lower edge.", f);
    if (c->n_run > MOST_LINES)
        fprintf(f, " Lines are drawn of the first %d runs, dots of the first %d.", MOST_LINES, MOST_DOTS);
}

/* False for methods that compare distances: their restarts have no iterations. */
static bool has_iterations(const vhem_clustering *c)
{
    for (int r = 0; r < c->n_run; r++)
        if (c->run[r].n_iter > 0)
            return true;
    return false;
}

/* Number of ticks to request so that all are at whole iterations. */
static int whole_ticks(const vh_scale *x)
{
    int n = 10;
    while (n > 1 && fmod(vh_tick_step(x->lo, x->hi, n), 1) != 0)
        n--;
    return n;
}

/* In thousands, millions etc.: seven digits at every tick would hide the differences. */
static void draw_axis(FILE *f, const vh_scale *y, vh_box b)
{
    double most = fmax(fabs(y->lo), fabs(y->hi));
    int power = most >= 1e4 ? 3 * (int)(log10(most) / 3) : 0;
    vh_scale s = { y->lo / pow(10, power), y->hi / pow(10, power), y->from, y->to };
    char name[48];
    snprintf(name, sizeof name, power ? "bound J, in 1e%d nats" : "bound J, in nats", power);
    vh_svg_axis_y(f, &s, b, 6, "");
    vh_svg_text(f, 0, b.y - 10, 's', vh_paint("soft"), name, 40);
}

void vh_figure_bound(FILE *f, const vh_facts *facts, int l)
{
    const vhem_clustering *c = facts->level[l].c;
    vh_box b = { LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - FOOT };
    vh_scale x = { .from = b.x, .to = b.x + b.w }, y = { .from = b.y + b.h, .to = b.y };
    char name[32];

    if (!c->bound && !has_iterations(c)) {
        vh_method_note(f, facts, l, "Method", "has no bound that grows by iterations.");
        return;
    }
    find_range(facts, c, &x, &y);
    snprintf(name, sizeof name, "bound-%d", l + 1);
    vh_figure_begin(f, name, l);
    vh_svg_begin(
        f, WIDTH, HEIGHT, "Bound against iterations",
        "The objective of every restart after each iteration, the run that was kept in a thick line.");
    vh_svg_axis_x(f, &x, b, whole_ticks(&x), "iteration");
    draw_axis(f, &y, b);
    draw_others(f, c, &x, &y);
    draw_kept(f, c, &x, &y);
    draw_ends(f, c, &x, &y);
    vh_svg_end(f);
    caption(f, c);
    vh_figure_end(f);
}
