/* figure_bound.c - the objective J against iterations: the curve of the run that was kept, and those of the
 * other restarts, with where each ended. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1010, HEIGHT = 320, LEFT = 64, TOP = 26, RIGHT = 20, FOOT = 42, MOST_DOTS = 1000, MOST_LINES = 200 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* From what the worse finished restarts came to up to the best; a terrible start must not flatten all. */
static void find_range(const vhem_clustering *c, vh_scale *x, vh_scale *y)
{
    double best = -INFINITY, *end = malloc(sizeof *end * (size_t)(c->n_run + 1));
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
        qsort(end, (size_t)n, sizeof *end, by_value);
        y->lo = end[n / 20];
    }
    if (c->bound && c->n_iter > 0)
        y->lo = fmin(y->lo, c->bound[c->n_iter / 3]);
    x->hi = x->hi < 1 ? 1 : x->hi;
    vh_scale_widen(y, 0.06);
    free(end);
}

static void draw_curve(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    if (!c->bound)
        return;
    fputs("<polyline points=\"", f);
    for (int k = 0; k <= c->n_iter; k++)
        fprintf(f, "%.1f,%.1f ", vh_at(x, k), vh_at(y, fmax(c->bound[k], y->lo)));
    fprintf(f, "\" stroke-width=\"2.2\" stroke-linejoin=\"round\" %s/>\n", vh_line_series(0));
    for (int k = 0; k <= c->n_iter && c->n_iter <= 60; k++) {
        char tip[VH_TIP_MAX];
        snprintf(tip, sizeof tip, "The run that was kept, iteration %d: bound %.8g", k, c->bound[k]);
        vh_svg_circle(f, vh_at(x, k), vh_at(y, fmax(c->bound[k], y->lo)), 2.6, vh_paint_series(0), "", tip);
    }
}

/* Thin lines under all else.  They are cut off below, where most of them begin. */
static void draw_others(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    for (int r = 0; r < c->n_run && r < MOST_LINES; r++) {
        const vhem_cluster_run *u = &c->run[r];
        if (!u->bounds || u->bound < y->lo)
            continue;
        fputs("<polyline points=\"", f);
        for (int k = 0; k <= u->n_iter; k++)
            fprintf(f, "%.1f,%.1f ", vh_at(x, k), vh_at(y, fmax(u->bounds[k], y->lo)));
        fprintf(f, "\" stroke-width=\"0.8\" stroke-opacity=\"0.45\" %s/>\n",
                vh_line_series(1));
    }
}

static void draw_ends(FILE *f, const vhem_clustering *c, const vh_scale *x, const vh_scale *y)
{
    char tip[VH_TIP_MAX];
    for (int r = 0; r < c->n_run && r < MOST_DOTS; r++) {
        const vhem_cluster_run *u = &c->run[r];
        bool low = u->bound < y->lo;
        snprintf(tip, sizeof tip, "Restart %d (%s): bound %.6g after %d iteration%s%s%s", r,
                 u->init ? u->init : "start unknown", u->bound, u->n_iter, vh_plural(u->n_iter),
                 u->finished ? u->converged ? ", converged" : ", not converged" : ", given up early",
                 low ? "; below the picture" : "");
        vh_svg_circle(f, vh_at(x, u->n_iter), vh_at(y, low ? y->lo : u->bound), 3.4,
                      u->finished ? vh_paint_series(1) : vh_paint("axis"),
                      u->finished ? "fill-opacity=\"0.55\"" : "", tip);
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
        fprintf(f, "The thick line is the run that was kept: it ended at %s nats after %d iteration%s%s. ", text,
                c->n_iter, vh_plural(c->n_iter), c->converged ? "" : ", not yet converged");
    }
    if (c->n_run > 0)
        fprintf(f,
            "Thin lines are the other restarts, dots where each of %d restart%s ended (hollow: given up early, %d finished). %d came within "
            "0.01 %% of the best bound: the more agree, the surer one may be of it. ",
            c->n_run, vh_plural(c->n_run), finished, near);
    fputs("Higher is better; what lies below the picture is drawn at its lower edge.", f);
    if (c->n_run > MOST_DOTS)
        fprintf(f, " The first %d restarts are drawn.", MOST_DOTS);
}

/* In thousands, millions and so on: seven digits at every tick hide what differs. */
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

    if (!c->bound && c->n_run == 0) {
        vh_method_note(f, facts, l, "Method", "has no bound that grows by iterations.");
        return;
    }
    find_range(c, &x, &y);
    snprintf(name, sizeof name, "bound-%d", l + 1);
    vh_figure_begin(f, name, l);
    vh_svg_begin(
        f, WIDTH, HEIGHT, "Bound against iterations",
        "The objective of every restart after each iteration, the run that was kept in a thick line.");
    vh_svg_axis_x(f, &x, b, 8, "iteration");
    draw_axis(f, &y, b);
    draw_others(f, c, &x, &y);
    draw_curve(f, c, &x, &y);
    draw_ends(f, c, &x, &y);
    vh_svg_end(f);
    caption(f, c);
    vh_figure_end(f);
}
