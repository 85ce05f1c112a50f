/* figure_states.c - an HMM as a diagram: states on a circle, arrows as wide as they are likely.  With very many
 * states the transition matrix as a heat map instead. */
#include "report/figures.h"
#include "report/svg.h"
#include "report/text.h"

#include <math.h>

enum { WIDTH = 320, HEIGHT = 260 };
static const double BEND = 0.2;          /* of an arrow, as a share of its length */

typedef struct {
    double x, y, r, angle;
} node;

static node node_at(int s, int S, double share)
{
    double angle = S == 2 ? VH_PI * (1 - s) : -VH_PI / 2 + 2 * VH_PI * s / S;
    double ring = S == 1 ? 0 : S == 2 ? 64 : S <= 8 ? 76 : 92;
    double least = S <= 8 ? 12 : 7, most = S <= 8 ? 9 : 5;
    return (node){ WIDTH / 2.0 + ring * cos(angle), HEIGHT / 2.0 + ring * sin(angle), least + most * sqrt(share),
                   S == 1 ? -VH_PI / 2 : angle };
}

static double label_from(int S)
{
    return S <= 5 ? 0.05 : S <= 8 ? 0.15 : 2;
}

static void put_label(FILE *f, double x, double y, double p)
{
    char text[16];
    snprintf(text, sizeof text, "%.2f", p);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"10\" class=\"halo\" fill=\"#1c2330\" "
               "stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\">%s</text>\n",
            x, y + 3.5, text);
}

static void begin_edge(FILE *f, int from, int to, double p)
{
    char tip[64];
    fprintf(f, "<g stroke-opacity=\"%.2f\" fill-opacity=\"%.2f\">", 0.35 + 0.65 * p, 0.35 + 0.65 * p);
    snprintf(tip, sizeof tip, "From state %d to state %d: %.4f", from, to, p);
    vh_svg_tip(f, tip);
}

/* A loop that leaves the node away from the middle and comes back. */
static void draw_loop(FILE *f, int s, const node *n, double p)
{
    double spread = 0.45, out = n->r + 36, width = 0.8 + 3.2 * p, head = 5 + 3 * p;
    double ax = n->x + n->r * cos(n->angle - spread), ay = n->y + n->r * sin(n->angle - spread);
    double bx = n->x + (n->r + head) * cos(n->angle + spread), by = n->y + (n->r + head) * sin(n->angle + spread);
    double cx = n->x + out * cos(n->angle - 0.62), cy = n->y + out * sin(n->angle - 0.62);
    double dx = n->x + out * cos(n->angle + 0.62), dy = n->y + out * sin(n->angle + 0.62);
    begin_edge(f, s, s, p);
    fprintf(f, "<path d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" stroke-width=\"%.1f\" %s/>", ax, ay, cx, cy, dx,
            dy, bx, by, width, vh_line_state(s));
    vh_svg_head(f, n->x + n->r * cos(n->angle + spread), n->y + n->r * sin(n->angle + spread), n->x - dx, n->y - dy,
                head + 2, vh_paint_state(s));
    fputs("</g>\n", f);
}

/* A quadratic curve bent to its left, so that both directions of a pair stay apart. */
static void draw_edge(FILE *f, int s, const node *a, const node *b, int to, double p)
{
    double dx = b->x - a->x, dy = b->y - a->y, bend = BEND, width = 0.8 + 3.2 * p;
    double cx = (a->x + b->x) / 2 + bend * dy, cy = (a->y + b->y) / 2 - bend * dx, head = 6 + 3 * p;
    double ua = hypot(cx - a->x, cy - a->y), ub = hypot(cx - b->x, cy - b->y);
    double x1 = a->x + (cx - a->x) / ua * (a->r + 2), y1 = a->y + (cy - a->y) / ua * (a->r + 2);
    double ex = b->x + (cx - b->x) / ub * (b->r + 2), ey = b->y + (cy - b->y) / ub * (b->r + 2);
    double x2 = ex + (cx - b->x) / ub * head * 0.8, y2 = ey + (cy - b->y) / ub * head * 0.8;
    begin_edge(f, s, to, p);
    fprintf(f, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" stroke-width=\"%.1f\" %s/>", x1, y1, cx, cy, x2, y2, width,
            vh_line_state(s));
    vh_svg_head(f, ex, ey, b->x - cx, b->y - cy, head + 1, vh_paint_state(s));
    fputs("</g>\n", f);
}

static void draw_nodes(FILE *f, const vhem_hmm_view *h, const double *share, const node *at)
{
    char text[16], tip[VH_TIP_MAX];
    for (int s = 0; s < h->S; s++) {
        double stay = h->A[s * h->S + s];
        snprintf(tip, sizeof tip, "State %d: begins here with %.3f, spends %.0f %% of the time here, stays with %.3f", s,
                 h->pi[s], 100 * share[s], stay);
        vh_svg_circle(f, at[s].x, at[s].y, at[s].r, vh_paint("paper"), "", NULL);
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke-width=\"3\" pointer-events=\"all\" %s>", at[s].x,
                at[s].y, at[s].r, vh_line_state(s));
        vh_svg_tip(f, tip);
        fputs("</circle>\n", f);
        snprintf(text, sizeof text, "%d", s);
        fputs("<g font-weight=\"600\" pointer-events=\"none\">", f);
        vh_svg_text(f, at[s].x, at[s].y + 4, 'm', vh_paint("ink"), text, 4);
        fputs("</g>\n", f);
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
    for (int s = 0; s < h->S; s++)                       /* labels last: nothing may cover them */
        for (int r = 0; r < h->S; r++) {
            double p = h->A[s * h->S + r], t = 0.42, bend = BEND;
            double dx = at[r].x - at[s].x, dy = at[r].y - at[s].y;
            if (p < label_from(h->S))
                continue;
            if (s == r) {
                double out = at[s].r + 31;
                put_label(f, at[s].x + out * cos(at[s].angle), at[s].y + out * sin(at[s].angle), p);
            } else {
                double k = 2 * t * (1 - t) * bend;
                put_label(f, at[s].x + t * dx + k * dy, at[s].y + t * dy - k * dx, p);
            }
        }
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
                 h->S <= VH_MOST_STATES ? "States as circles, the larger the more time is spent there; arrows as wide "
                                          "as the transition is likely."
                                        : "Transition matrix; rows are from, columns are to.");
    if (h->S <= VH_MOST_STATES)
        draw_diagram(f, h, share);
    else
        draw_matrix(f, h);
    vh_svg_end(f);
}
