/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_states.c - an HMM as a diagram: states on a circle, arrow width by probability.  With very many
 * states, the transition matrix as a heat map instead. */
#include "report/figures.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 250, HEIGHT = 224 };
static const double BEND = 0.2; /* of an arrow, as a share of its length */
static const double LOOP = 11;  /* radius of a self-transition arrow */

typedef struct {
    double x, y, r, angle;
} node;

static node node_at(int s, int S, double share)
{
    double angle = S == 2 ? VH_PI * (1 - s) : -VH_PI / 2 + 2 * VH_PI * s / S;
    double ring = S == 1 ? 0 : S == 2 ? 54 : S <= 8 ? 62 : 82;
    double least = S <= 8 ? 10 : 7, most = S <= 8 ? 8 : 5;
    return (node){ WIDTH / 2.0 + ring * cos(angle), HEIGHT / 2.0 + ring * sin(angle),
                   least + most * sqrt(share), S == 1 ? -VH_PI / 2 : angle };
}

static double label_from(int S)
{
    return S <= 5 ? 0.05 : S <= 8 ? 0.15 : 2;
}

static void put_label(FILE *f, double x, double y, double p)
{
    char text[16];
    snprintf(text, sizeof text, "%.2f", p);
    fputs("<g font-size=\"10\">", f);
    vh_svg_text(f, x, y + 3.5, 'm', vh_paint("halo"), text, 8);
    fputs("</g>", f);
}

static void begin_edge(FILE *f, int from, int to, double p)
{
    char tip[64];
    fprintf(f, "<g stroke-opacity=\"%.2f\" fill-opacity=\"%.2f\">", 0.5 + 0.5 * p, 0.5 + 0.5 * p);
    snprintf(tip, sizeof tip, "From state %d to state %d: %.4f", from, to, p);
    vh_svg_tip(f, tip);
}

/* Draws a circle partly hidden by the node, on its outer side. */
static void draw_loop(FILE *f, int s, const node *n, double p)
{
    double far = n->r + 0.55 * LOOP, near = n->r + 2, width = 0.8 + 3.2 * p;
    double cx = n->x + far * cos(n->angle), cy = n->y + far * sin(n->angle);
    double half = acos((far * far + near * near - LOOP * LOOP) / (2 * far * near));
    double ax = n->x + near * cos(n->angle - half), ay = n->y + near * sin(n->angle - half);
    double bx = n->x + near * cos(n->angle + half), by = n->y + near * sin(n->angle + half);
    double turn = 0.45, vx = bx - cx, vy = by - cy; /* the line ends where the head begins */
    double ex = cx + vx * cos(turn) + vy * sin(turn), ey = cy + vy * cos(turn) - vx * sin(turn);
    begin_edge(f, s, s, p);
    fprintf(f, "<path d=\"M%.1f %.1fA%.1f %.1f 0 1 1 %.1f %.1f\" stroke-width=\"%.1f\" %s/>", ax, ay, LOOP,
            LOOP, ex, ey, width, vh_line_state(s));
    vh_svg_head(f, bx, by, bx - ex, by - ey, 6 + 3 * p, vh_paint_state(s));
    fputs("</g>\n", f);
}

/* Draws a quadratic curve bent to its left, so that both directions of a pair stay apart. */
static void draw_edge(FILE *f, int s, const node *a, const node *b, int to, double p)
{
    double dx = b->x - a->x, dy = b->y - a->y, bend = BEND, width = 1 + 3 * p;
    double cx = (a->x + b->x) / 2 + bend * dy, cy = (a->y + b->y) / 2 - bend * dx, head = 6 + 3 * p;
    double ua = hypot(cx - a->x, cy - a->y), ub = hypot(cx - b->x, cy - b->y);
    double x1 = a->x + (cx - a->x) / ua * (a->r + 2), y1 = a->y + (cy - a->y) / ua * (a->r + 2);
    double ex = b->x + (cx - b->x) / ub * (b->r + 2), ey = b->y + (cy - b->y) / ub * (b->r + 2);
    double x2 = ex + (cx - b->x) / ub * head * 0.8, y2 = ey + (cy - b->y) / ub * head * 0.8;
    begin_edge(f, s, to, p);
    fprintf(f, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke-width=\"%.1f\" %s/>", x1, y1, cx, cy, x2,
            y2, width, vh_line_state(s));
    vh_svg_head(f, ex, ey, b->x - cx, b->y - cy, head + 1, vh_paint_state(s));
    fputs("</g>\n", f);
}

static void draw_nodes(FILE *f, const vhem_hmm_view *h, const double *share, const node *at)
{
    char text[16], tip[VH_TIP_MAX];
    for (int s = 0; s < h->S; s++) {
        double stay = h->A[s * h->S + s];
        snprintf(tip, sizeof tip,
                 "State %d: begins here with %.3f, spends %.0f %% of the time here, stays with %.3f", s,
                 h->pi[s], 100 * share[s], stay);
        vh_svg_circle(f, at[s].x, at[s].y, at[s].r, vh_paint("paper"), "", NULL);
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke-width=\"3\" pointer-events=\"all\" %s>",
                at[s].x, at[s].y, at[s].r, vh_line_state(s));
        vh_svg_tip(f, tip);
        fputs("</circle>\n", f);
        snprintf(text, sizeof text, "%d", s);
        fputs("<g font-weight=\"600\" pointer-events=\"none\">", f);
        vh_svg_text(f, at[s].x, at[s].y + 4, 'm', vh_paint("ink"), text, 4);
        fputs("</g>\n", f);
    }
}

typedef struct {
    int n;
    double x[VH_MOST_STATES * VH_MOST_STATES], y[VH_MOST_STATES * VH_MOST_STATES];
} state_layout;

static bool is_free(const state_layout *p, double x, double y)
{
    for (int k = 0; k < p->n; k++)
        if (fabs(p->x[k] - x) < 24 && fabs(p->y[k] - y) < 11)
            return false;
    return true;
}

/* Labels an arrow at the first free position; diagonals start away from the middle, where they cross. */
static void label_edge(FILE *f, const node *a, const node *b, bool beside, double p, state_layout *all)
{
    static const double near[] = { 0.45, 0.36, 0.54, 0.28, 0.62 }, far[] = { 0.32, 0.26, 0.4, 0.6, 0.68 };
    const double *share = beside ? near : far;
    double x = 0, y = 0;
    for (int k = 0; k < 5; k++) {
        double t = share[k], off = 2 * t * (1 - t) * BEND;
        x = a->x + t * (b->x - a->x) + off * (b->y - a->y);
        y = a->y + t * (b->y - a->y) - off * (b->x - a->x);
        if (is_free(all, x, y))
            break;
    }
    all->x[all->n] = x;
    all->y[all->n++] = y;
    vh_svg_rect(f, (vh_box){ x - 12, y - 6, 24, 12 }, vh_paint("paper"), "rx=\"3\"",
                NULL); /* hides the arrow behind the label */
    put_label(f, x, y, p);
}

static void draw_labels(FILE *f, const vhem_hmm_view *h, const node *at)
{
    state_layout all = { 0 };
    for (int s = 0; s < h->S; s++)
        for (int r = 0; r < h->S; r++) {
            double p = h->A[s * h->S + r];
            double out = at[s].r + 1.55 * LOOP + 8 + 6 * fabs(cos(at[s].angle));
            if (p < label_from(h->S))
                continue;
            if (s == r)
                put_label(f, at[s].x + out * cos(at[s].angle), at[s].y + out * sin(at[s].angle), p);
            else
                label_edge(f, &at[s], &at[r], abs(s - r) == 1 || abs(s - r) == h->S - 1, p, &all);
        }
}

static void draw_diagram(FILE *f, const vhem_hmm_view *h, const double *share)
{
    node at[VH_MOST_STATES];
    double least = h->S <= 5 ? 0.01 : 0.03;
    for (int s = 0; s < h->S; s++)
        at[s] = node_at(s, h->S, share[s]);
    for (int s = 0; s < h->S; s++)
        for (int r = 0; r < h->S; r++) {
            double p = h->A[s * h->S + r];
            if (p < least)
                continue;
            if (s == r)
                draw_loop(f, s, &at[s], p);
            else
                draw_edge(f, s, &at[s], &at[r], r, p);
        }
    draw_nodes(f, h, share, at);
    draw_labels(f, h, at); /* last, to be on top */
}

static void draw_matrix(FILE *f, const vhem_hmm_view *h)
{
    double cell = (HEIGHT - 40.0) / h->S;
    char tip[64];
    for (int s = 0; s < h->S; s++)
        for (int r = 0; r < h->S; r++) {
            double p = h->A[s * h->S + r];
            if (p < 0.005)
                continue;
            snprintf(tip, sizeof tip, "From state %d to state %d: %.4f", s, r, p);
            vh_svg_rect(f, (vh_box){ 40 + r * cell, 30 + s * cell, cell, cell }, vh_paint_heat(p), "", tip);
        }
    vh_svg_text(f, 40, 22, 's', vh_paint("soft"), "to state", 20);
    vh_svg_text(f, 36, 40, 'e', vh_paint("soft"), "from", 20);
}

void vh_draw_states(FILE *f, const vhem_hmm_view *h, const double *share, const char *title)
{
    vh_svg_begin(f, WIDTH, HEIGHT, title,
                 h->S <= VH_MOST_STATES
                     ? "States as circles, the larger the more time is spent there; arrows as wide "
                       "as the transition is likely."
                     : "Transition matrix; rows are from, columns are to.");
    if (h->S <= VH_MOST_STATES)
        draw_diagram(f, h, share);
    else
        draw_matrix(f, h);
    vh_svg_end(f);
}
