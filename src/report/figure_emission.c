/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_emission.c - emissions of the states of an HMM: ellipses in the plane, densities on a line, mean and
 * band per dimension for more, or a plane of two dimensions and a line for each other.
 *
 *   1. moments and ranges     2. the plane     3. the line     4. many dimensions */
#include "report/figures.h"
#include "core/array2.h"
#include "report/svg.h"
#include "report/text.h"

#include "core/alloc.h"
#include "vhem.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum {
    WIDTH = 250,
    HEIGHT = 224,
    LEFT = 32,
    TOP = 12,
    FOOT = 34,
    STRIP = 42,
    NAMED = 12,
    OTHER = 92,
    MOST_OTHERS = 8
};

/* ---- 1. moments and ranges ----------------------------------------------------------------------------- */

static double covariance(const vhem_hmm_view *h, int s, int m, int k, int k2)
{
    size_t at = vh_ij(s, h->M, m), d = (size_t)h->d;
    if (vh_is_full(h))
        return h->cov[at * d * d + (size_t)k * d + (size_t)k2];
    return k == k2 ? h->cov[at * d + (size_t)k] : 0;
}

static double mean_of(const vhem_hmm_view *h, int s, int m, int k)
{
    return h->mu[vh_ij((int64_t)vh_ij(s, h->M, m), h->d, k)];
}

/* Moments of the mixture of state s in dimension k. */
static void mixture_moments(const vhem_hmm_view *h, int s, int k, double *mean, double *sd)
{
    double sum = 0, square = 0;
    for (int m = 0; m < h->M; m++) {
        double c = h->c[s * h->M + m], mu = mean_of(h, s, m, k);
        sum += c * mu;
        square += c * covariance(h, s, m, k, k);
    }
    for (int m = 0; m < h->M; m++) {
        double off = mean_of(h, s, m, k) - sum;
        square += h->c[s * h->M + m] * off * off;
    }
    *mean = sum;
    *sd = sqrt(square > 0 ? square : 0);
}

typedef void each_state(const vhem_hmm_view *h, int s, void *arg);

static void for_each_state(const vh_facts *facts, each_state *visit, void *arg)
{
    vhem_hmm_view h;
    for (int l = 0; l < facts->n_level; l++)
        for (int j = 0; facts->level[l].hmms && j < facts->level[l].K; j++)
            if (vhem_models_hmm(facts->level[l].hmms, j, &h) == VHEM_OK && h.mu)
                for (int s = 0; s < h.S; s++)
                    visit(&h, s, arg);
}

typedef struct {
    vh_ranges *r;
    double n, *square, *lo, *hi; /* [d] */
} gathering;

static void free_gathering(gathering *g)
{
    free(g->square);
    free(g->lo);
    free(g->hi);
}

static void gather_densities(const vhem_hmm_view *h, int s, void *arg)
{
    gathering *g = arg;
    g->n++;
    for (int k = 0; k < h->d; k++) {
        double mean, sd, reach;
        mixture_moments(h, s, k, &mean, &sd);
        g->r->mean[k] += mean;
        g->square[k] += sd * sd + mean * mean;
        bool across = g->r->planar && (k == g->r->plane[0] || k == g->r->plane[1]);
        reach = (across ? 2.1 : h->d == 1 || g->r->planar ? 3 : 1.1) * sd;
        g->lo[k] = fmin(g->lo[k], mean - reach);
        g->hi[k] = fmax(g->hi[k], mean + reach);
    }
}

/* Gives both axes of the plane the same scale, unless the dimensions are of different kinds. */
static void even_out(vh_ranges *r)
{
    double w = WIDTH - LEFT - 10, h = HEIGHT - TOP - FOOT, x = r->hi[0] - r->lo[0], y = r->hi[1] - r->lo[1];
    double unit = fmax(x / w, y / h), more;
    if (!(x < 5 * y && y < 5 * x))
        return;
    more = (unit * w - x) / 2;
    r->lo[0] -= more;
    r->hi[0] += more;
    more = (unit * h - y) / 2;
    r->lo[1] -= more;
    r->hi[1] += more;
}

/* One range for all dimensions side by side, in units of their deviations where these differ widely. */
static void choose_common_range(vh_ranges *r, const gathering *g)
{
    for (int k = 0; k < r->d; k++) {
        double unit = !r->scaled ? 1 : r->sd[k] > 0 ? r->sd[k] : 1, from = r->scaled ? r->mean[k] : 0;
        double lo = (g->lo[k] - from) / unit, hi = (g->hi[k] - from) / unit;
        r->lo[0] = k == 0 ? lo : fmin(r->lo[0], lo);
        r->hi[0] = k == 0 ? hi : fmax(r->hi[0], hi);
    }
    if (r->scaled) { /* a single distant mean must not flatten the rest */
        r->lo[0] = fmax(r->lo[0], -2.5);
        r->hi[0] = fmin(r->hi[0], 2.5);
    }
    if (!(r->hi[0] > r->lo[0])) {
        r->lo[0] -= 1;
        r->hi[0] += 1;
    }
}

static void choose_ranges(vh_ranges *r, const gathering *g, const vh_image *image)
{
    double least = INFINITY, most = 0;
    for (int k = 0; k < r->d && k < 2; k++) {
        int of = r->planar ? r->plane[k] : k;
        vh_scale s = { .lo = g->lo[of], .hi = g->hi[of] };
        vh_scale_widen(&s, 0.04);
        r->lo[k] = s.lo;
        r->hi[k] = s.hi;
    }
    if (r->planar && image->n > 0) {
        r->lo[0] = r->lo[1] = 0;
        r->hi[0] = image->width;
        r->hi[1] = image->height;
    }
    if (r->planar)
        even_out(r);
    for (int k = 0; k < r->d; k++) {
        double width = g->hi[k] - g->lo[k];
        r->mean[k] /= g->n;
        r->sd[k] = sqrt(fmax(g->square[k] / g->n - r->mean[k] * r->mean[k], 0));
        least = width > 0 ? fmin(least, width) : least;
        most = fmax(most, width);
    }
    r->scaled = most > 10 * least;
    if (!r->planar && r->d > 2)
        choose_common_range(r, g);
}

/* Finds a dimension by name or number. */
static vhem_status find_dimension(vhem_ctx *ctx, const vh_facts *facts, int d, const char *name, size_t n,
                                  int *out)
{
    char buf[32], number[16];
    *out = -1;
    for (int k = 0; k < d && *out < 0; k++) {
        const char *own = vh_facts_dimension(facts, k, buf, sizeof buf);
        snprintf(number, sizeof number, "%d", k);
        if ((strlen(own) == n && strncasecmp(own, name, n) == 0)
            || (strlen(number) == n && !strncmp(number, name, n)))
            *out = k;
    }
    VH_CHECK(*out >= 0, VHEM_EINVAL, "the plane is '%.60s', but there is no dimension '%.*s' among %d",
             facts->in->plane ? facts->in->plane : "", (int)(n < 40 ? n : 40), name, d);
    return VHEM_OK;
}

/* Chooses the plane: with more than two dimensions, those requested, else those named x and y, else the first
 * two; only on request or with an image. */
static vhem_status find_plane(vhem_ctx *ctx, const vh_facts *facts, vh_ranges *r)
{
    const char *asked = facts->in->plane, *comma = asked ? strchr(asked, ',') : NULL;

    r->planar = r->d == 2 || (r->d > 2 && (asked || facts->in->image || facts->in->y_down));
    r->plane[0] = 0;
    r->plane[1] = 1;
    if (asked) {
        VH_CHECK(comma && r->d >= 2, VHEM_EINVAL,
                 "the plane is '%.60s', must be two of the %d dimensions, as x,y", asked, r->d);
        VH_TRY(find_dimension(ctx, facts, r->d, asked, (size_t)(comma - asked), &r->plane[0]));
        VH_TRY(find_dimension(ctx, facts, r->d, comma + 1, strlen(comma + 1), &r->plane[1]));
        VH_CHECK(r->plane[0] != r->plane[1], VHEM_EINVAL,
                 "the plane is '%.60s', must be two different dimensions", asked);
    } else if (r->d > 2 && r->planar) {
        int x = -1, y = -1;
        char buf[32];
        for (int k = 0; k < r->d; k++) {
            const char *name = vh_facts_dimension(facts, k, buf, sizeof buf);
            x = strcasecmp(name, "x") == 0 ? k : x;
            y = strcasecmp(name, "y") == 0 ? k : y;
        }
        r->plane[0] = x >= 0 && y >= 0 ? x : 0;
        r->plane[1] = x >= 0 && y >= 0 ? y : 1;
    }
    return VHEM_OK;
}

vhem_status vh_ranges_new(vhem_ctx *ctx, const vh_facts *facts, const vh_image *image, vh_ranges *out)
{
    vhem_hmm_view h;
    VH_CLEANUP(vh_ranges_free) vh_ranges r = { 0 };
    VH_CLEANUP(free_gathering) gathering g = { .r = &r };
    const vhem_models *centers = facts->level[0].hmms;

    if (centers && vhem_models_hmm(centers, 0, &h) == VHEM_OK && h.mu) {
        r.d = h.d;
        r.image = image;
        VH_TRY(find_plane(ctx, facts, &r));
        VH_NEW(r.mean, r.d);
        VH_NEW(r.sd, r.d);
        VH_NEW(g.square, r.d);
        VH_NEW(g.lo, r.d);
        VH_NEW(g.hi, r.d);
        for (int k = 0; k < r.d; k++) {
            g.lo[k] = INFINITY;
            g.hi[k] = -INFINITY;
        }
        for_each_state(facts, gather_densities, &g);
        choose_ranges(&r, &g, image);
        r.least = vh_take(g.lo);
        r.most = vh_take(g.hi);
    } else if (centers) {
        r.d = facts->d;
        VH_TRY(vh_value_ranges(ctx, facts, &r));
    }
    *out = r;
    r = (vh_ranges){ 0 };
    return VHEM_OK;
}

void vh_ranges_free(vh_ranges *ranges)
{
    free(ranges->mean);
    free(ranges->sd);
    free(ranges->least);
    free(ranges->most);
}

/* ---- 2. the plane -------------------------------------------------------------------------------------- */

void vh_ellipse(const double cov[4], double *rx, double *ry, double *degrees)
{
    double mid = (cov[0] + cov[3]) / 2, half = hypot((cov[0] - cov[3]) / 2, cov[1]);
    *rx = sqrt(fmax(mid + half, 0));
    *ry = sqrt(fmax(mid - half, 0));
    *degrees = 0.5 * atan2(2 * cov[1], cov[0] - cov[3]) * 180 / VH_PI;
}

typedef struct {
    vh_scale x, y;
    int a, b; /* dimensions */
} plane;

static void draw_component(FILE *f, const vhem_hmm_view *h, int s, int m, const plane *p)
{
    const vh_scale *x = &p->x, *y = &p->y;
    int a = p->a, b = p->b;
    double ux = (x->to - x->from) / (x->hi - x->lo), uy = (y->to - y->from) / (y->hi - y->lo);
    double cov[4] = { ux * ux * covariance(h, s, m, a, a), ux * uy * covariance(h, s, m, a, b), 0,
                      uy * uy * covariance(h, s, m, b, b) };
    double rx, ry, degrees, c = h->c[s * h->M + m], cx = vh_at(x, mean_of(h, s, m, a)),
                            cy = vh_at(y, mean_of(h, s, m, b));
    char tip[VH_TIP_MAX];

    if (c < 0.02)
        return;
    vh_ellipse(cov, &rx, &ry, &degrees);
    snprintf(tip, sizeof tip, "State %d: mean (%.4g, %.4g), standard deviations %.3g and %.3g%s", s,
             mean_of(h, s, m, a), mean_of(h, s, m, b), sqrt(covariance(h, s, m, a, a)),
             sqrt(covariance(h, s, m, b, b)), h->M > 1 ? ", one of several Gaussians" : "");
    fprintf(f, "<g transform=\"translate(%.1f %.1f) rotate(%.1f)\" opacity=\"%.2f\">", cx, cy, degrees,
            0.35 + 0.65 * c);
    vh_svg_tip(f, tip);
    for (int scale = 2; scale >= 1; scale--) {
        double wide = fmax(scale * rx, 1.5), high = fmax(scale * ry, 1.5);
        fprintf(f,
                "<ellipse rx=\"%.1f\" ry=\"%.1f\" fill-opacity=\"0.13\" %s/><ellipse rx=\"%.1f\" ry=\"%.1f\" "
                "stroke-width=\"%s\" pointer-events=\"none\" %s/>",
                wide, high, vh_paint_state(s), wide, high, scale == 1 ? "1.6" : "0.7", vh_line_state(s));
    }
    fputs("</g>\n", f);
}

/* True if a number at (x, y) is clear of the n numbers placed so far and inside the picture. */
static bool has_room(double x, double y, const double (*taken)[2], int n, const plane *p)
{
    if (fabs(x - (p->x.from + p->x.to) / 2) > fabs(p->x.to - p->x.from) / 2 - 6
        || fabs(y - (p->y.from + p->y.to) / 2) > fabs(p->y.to - p->y.from) / 2 - 7)
        return false;
    for (int k = 0; k < n; k++)
        if (fabs(taken[k][0] - x) < 13 && fabs(taken[k][1] - y) < 13)
            return false;
    return true;
}

/* Places a number at the mean of its state, or at the nearest free position in one of sixteen directions. */
static void find_room(double at[2], const double (*taken)[2], int n, const plane *p)
{
    const double x = at[0], y = at[1];
    if (has_room(x, y, taken, n, p))
        return;
    for (int r = 18; r < 58; r += 10)
        for (int k = 0; k < 16; k++) {
            double dx = r * cos(VH_PI * k / 8), dy = r * sin(VH_PI * k / 8);
            if (has_room(x + dx, y + dy, taken, n, p)) {
                at[0] = x + dx;
                at[1] = y + dy;
                return;
            }
        }
}

/* Writes the state numbers over everything else, at their means or, where means are close, next to them with
 * a leader line.  Lines are drawn first, so that none crosses a number. */
static void name_states(FILE *f, const vhem_hmm_view *h, const plane *p)
{
    enum { MOST = 64 }; /* more could not be kept apart */
    double at[MOST][2], mean[2], sd;
    int n = h->S < MOST ? h->S : MOST;
    char text[16];
    fputs("<g font-weight=\"600\" pointer-events=\"none\">", f);
    for (int s = 0; s < n; s++) {
        mixture_moments(h, s, p->a, &mean[0], &sd);
        mixture_moments(h, s, p->b, &mean[1], &sd);
        const double x = vh_at(&p->x, mean[0]), y = vh_at(&p->y, mean[1]);
        at[s][0] = x;
        at[s][1] = y;
        find_room(at[s], (const double(*)[2])at, s, p);
        if (hypot(at[s][0] - x, at[s][1] - y) > 1) {
            vh_svg_line(f, x, y, at[s][0], at[s][1], vh_paint("line"));
            vh_svg_circle(f, x, y, 1.8, vh_paint_state(s), "", NULL);
        }
    }
    for (int s = 0; s < h->S; s++) {
        mixture_moments(h, s, p->a, &mean[0], &sd);
        mixture_moments(h, s, p->b, &mean[1], &sd);
        snprintf(text, sizeof text, "%d", s);
        vh_svg_text(f, s < n ? at[s][0] : vh_at(&p->x, mean[0]),
                    (s < n ? at[s][1] : vh_at(&p->y, mean[1])) + 4, 'm', vh_paint("halo"), text, 8);
    }
    fputs("</g>\n", f);
}

/* Draws frames of the sequences in a cluster, spread evenly. */
static void draw_frames(FILE *f, const vh_facts *facts, const plane *p, const int where[2])
{
    enum { MOST_DOTS = 400 };
    const int *label = facts->level[where[0]].label;
    const vhem_data *data = facts->in->data;
    int64_t total = 0, at = 0, each;
    vhem_seq_view seq;

    if (!facts->model_of)
        return;
    int across = vh_facts_column(facts, p->a), up = vh_facts_column(facts, p->b);
    for (int64_t n = 0; n < facts->data.N; n++)
        if (facts->model_of[n] >= 0 && label[facts->model_of[n]] == where[1]
            && !vhem_data_view(data, n, &seq))
            total += seq.T;
    each = total / MOST_DOTS + 1;
    if (total == 0)
        return;
    fprintf(
        f,
        "<path data-kind=\"frames\" stroke-linecap=\"round\" stroke-width=\"2.2\" stroke-opacity=\"0.3\" %s "
        "d=\"",
        vh_paint("arrow"));
    for (int64_t n = 0; n < facts->data.N; n++) {
        if (facts->model_of[n] < 0 || label[facts->model_of[n]] != where[1] || vhem_data_view(data, n, &seq))
            continue;
        for (int64_t t = 0; t < seq.T; t++, at++) {
            const double *y = seq.y + t * facts->data.d;
            if (at % each == 0 && isfinite(y[across]) && isfinite(y[up]))
                fprintf(f, "M%.1f %.1fh0", vh_at(&p->x, y[across]), vh_at(&p->y, y[up]));
        }
    }
    fputs("\"/>\n", f);
}

static void draw_plane(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *r,
                       const int where[2], const char *id)
{
    const vh_image *image = r->image;
    vh_box b = { LEFT, TOP, WIDTH - LEFT - 10, HEIGHT - TOP - FOOT };
    bool down = facts->in->y_down || image->n > 0;
    vh_scale x = { r->lo[0], r->hi[0], b.x, b.x + b.w };
    vh_scale y = { r->lo[1], r->hi[1], down ? b.y : b.y + b.h, down ? b.y + b.h : b.y };
    const plane p = { x, y, r->plane[0], r->plane[1] };
    char name[32];

    vh_svg_axis_x(f, &x, b, 5, vh_facts_dimension(facts, p.a, name, sizeof name));
    vh_svg_axis_y(f, &y, b, 5, "");
    vh_svg_text(f, b.x + 4, b.y + 2, 's', vh_paint("soft"), vh_facts_dimension(facts, p.b, name, sizeof name),
                20);
    fprintf(f,
            "<svg id=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f "
            "%.1f\">\n",
            id, b.x, b.y, b.w, b.h, b.x, b.y, b.w, b.h);
    if (image->n > 0)
        fprintf(f, "<use href=\"#stimulus\" transform=\"matrix(%.5f 0 0 %.5f %.2f %.2f)\"/>\n",
                (vh_at(&x, 1) - vh_at(&x, 0)), (vh_at(&y, 1) - vh_at(&y, 0)), vh_at(&x, 0), vh_at(&y, 0));
    draw_frames(f, facts, &p, where);
    for (int s = 0; s < h->S; s++)
        for (int m = 0; m < h->M; m++)
            draw_component(f, h, s, m, &p);
    name_states(f, h, &p);
    fputs("</svg>\n", f);
}

/* ---- 3. the line --------------------------------------------------------------------------------------- */

enum { POINTS = 121 };

static double density(const vhem_hmm_view *h, int s, int k, double value, double least)
{
    double p = 0;
    for (int m = 0; m < h->M; m++) {
        double var = fmax(covariance(h, s, m, k, k), least * least), off = value - mean_of(h, s, m, k);
        p += h->c[s * h->M + m] * exp(-0.5 * off * off / var) / sqrt(2 * VH_PI * var);
    }
    return p;
}

static void draw_density(FILE *f, const vhem_hmm_view *h, int s, int dim, const vh_scale *x,
                         const vh_scale *y)
{
    double mean, sd, least = (x->hi - x->lo) / POINTS;
    char tip[VH_TIP_MAX];
    mixture_moments(h, s, dim, &mean, &sd);
    snprintf(tip, sizeof tip, "State %d: mean %.4g, standard deviation %.4g", s, mean, sd);
    for (int line = 0; line < 2; line++) {
        fprintf(f, "<path d=\"M%.1f %.1f", x->from, y->from);
        for (int k = 0; k < POINTS; k++) {
            double v = x->lo + (x->hi - x->lo) * k / (POINTS - 1);
            fprintf(f, "L%.1f %.1f", vh_at(x, v), vh_at(y, density(h, s, dim, v, least)));
        }
        fprintf(f, "L%.1f %.1f\" %s %s>", x->to, y->from,
                line ? "stroke-width=\"1.6\"" : "fill-opacity=\"0.14\"",
                line ? vh_line_state(s) : vh_paint_state(s));
        vh_svg_tip(f, tip);
        fputs("</path>\n", f);
    }
}

/* Draws the densities of all states in one dimension within a box; id: of the curves, or NULL. */
static void draw_curves(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, int dim, vh_scale x, vh_box b,
                        const char *id)
{
    vh_scale y = { 0, 0, b.y + b.h, b.y };
    double least = (x.hi - x.lo) / POINTS;
    char name[32];

    x.from = b.x;
    x.to = b.x + b.w;
    for (int s = 0; s < h->S; s++)
        for (int k = 0; k < POINTS; k++)
            y.hi = fmax(y.hi, density(h, s, dim, x.lo + (x.hi - x.lo) * k / (POINTS - 1), least));
    y.hi = y.hi > 0 ? 1.08 * y.hi : 1;
    vh_svg_axis_x(f, &x, b, 6, vh_facts_dimension(facts, dim, name, sizeof name));
    if (id)
        fprintf(f, "<g id=\"%s\">\n", id);
    for (int s = 0; s < h->S; s++)
        draw_density(f, h, s, dim, &x, &y);
    fputs(id ? "</g>\n" : "", f);
}

static void draw_densities(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *r,
                           const char *id)
{
    draw_curves(f, facts, h, 0, (vh_scale){ .lo = r->lo[0], .hi = r->hi[0] },
                (vh_box){ 12, TOP, WIDTH - 22, HEIGHT - TOP - FOOT }, id);
}

/* Draws a line for each other dimension below the plane, with its own axis. */
static void draw_others(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *r)
{
    int n = 0;
    for (int k = 0; k < h->d && n < MOST_OTHERS; k++) {
        if (k == r->plane[0] || k == r->plane[1])
            continue;
        vh_scale x = { .lo = r->least[k], .hi = r->most[k] };
        vh_scale_widen(&x, 0.02);
        draw_curves(f, facts, h, k, x,
                    (vh_box){ LEFT, HEIGHT + n * OTHER + 4, WIDTH - LEFT - 10, OTHER - FOOT - 4 }, NULL);
        n++;
    }
}

/* ---- 4. many dimensions -------------------------------------------------------------------------------- */

static void scaled_moments(const vhem_hmm_view *h, const vh_ranges *r, int s, int k, double *mean, double *sd)
{
    mixture_moments(h, s, k, mean, sd);
    if (r->scaled) {
        double unit = r->sd[k] > 0 ? r->sd[k] : 1;
        *mean = (*mean - r->mean[k]) / unit;
        *sd /= unit;
    }
}

static double within(const vh_scale *s, double x)
{
    return fmin(fmax(x, s->lo), s->hi);
}

static void draw_band(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *r, int s,
                      const vh_scale *x, const vh_scale *y)
{
    double mean, sd, column = x->to > x->from ? (x->to - x->from) / (h->d - 1) : 1;
    char tip[VH_TIP_MAX], name[32];

    fputs("<path d=\"", f);
    for (int k = 0; k < 2 * h->d; k++) {
        int at = k < h->d ? k : 2 * h->d - 1 - k;
        scaled_moments(h, r, s, at, &mean, &sd);
        fprintf(f, "%c%.1f %.1f", k ? 'L' : 'M', vh_at(x, at),
                vh_at(y, within(y, mean + (k < h->d ? sd : -sd))));
    }
    fprintf(f, "z\" fill-opacity=\"0.2\" %s/>\n<polyline points=\"", vh_paint_state(s));
    for (int k = 0; k < h->d; k++) {
        scaled_moments(h, r, s, k, &mean, &sd);
        fprintf(f, "%.1f,%.1f ", vh_at(x, k), vh_at(y, within(y, mean)));
    }
    fprintf(f, "\" stroke-width=\"1.6\" stroke-linejoin=\"round\" %s/>\n", vh_line_state(s));
    for (int k = 0; k < h->d && h->d <= 100; k++) {
        mixture_moments(h, s, k, &mean, &sd);
        snprintf(tip, sizeof tip, "State %d, %.100s: mean %.4g, standard deviation %.3g", s,
                 vh_facts_dimension(facts, k, name, sizeof name), mean, sd);
        vh_svg_rect(f,
                    (vh_box){ vh_at(x, k) - column / 2, fmin(y->from, y->to), column, fabs(y->to - y->from) },
                    "fill=\"none\" pointer-events=\"all\"", "", tip);
    }
}

static void draw_bands(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *r,
                       const char *id)
{
    vh_scale x = { 0, h->d - 1, LEFT, WIDTH - 12 };
    char text[32];
    fprintf(f, "<g id=\"%s\">\n", id);
    for (int s = 0; s < h->S; s++) {
        double top = TOP + s * STRIP;
        vh_scale y = { r->lo[0], r->hi[0], top + STRIP - 5, top + 1 };
        vh_svg_rect(f, (vh_box){ LEFT, top, WIDTH - 12 - LEFT, STRIP - 4 }, vh_paint("faint"), "", NULL);
        snprintf(text, sizeof text, "%d", s);
        fputs("<g font-weight=\"600\">", f);
        vh_svg_text(f, LEFT - 10, top + STRIP / 2.0 + 2, 'e', vh_paint("ink"), text, 4);
        fputs("</g>", f);
        draw_band(f, facts, h, r, s, &x, &y);
    }
    fputs("</g>\n", f);
    int each = h->d <= NAMED ? 1 : (h->d + 7) / 8;
    for (int k = 0; k < h->d; k += each)
        vh_svg_text(f, vh_at(&x, k), TOP + h->S * STRIP + 12, 'm', vh_paint("soft"),
                    vh_facts_dimension(facts, k, text, sizeof text), h->d <= 6 ? 8 : 4);
    vh_svg_text(f, (x.from + x.to) / 2, TOP + h->S * STRIP + 27, 'm', vh_paint("soft"),
                r->scaled ? "dimension, each in units of its spread" : "dimension", 60);
}

void vh_draw_emission(FILE *f, const vh_facts *facts, const vhem_hmm_view *h, const vh_ranges *ranges,
                      const int where[2], const char *title, const char *id)
{
    int others = h->d - 2 < MOST_OTHERS ? h->d - 2 : MOST_OTHERS;
    double height = ranges->planar ? HEIGHT + others * OTHER : h->d > 2 ? TOP + h->S * STRIP + FOOT : HEIGHT;
    vh_svg_begin(f, WIDTH, height, title,
                 ranges->planar ? "Ellipses of one and two standard deviations around the mean of each state."
                 : h->d == 1    ? "Density of each state."
                             : "Mean and band of one standard deviation of each state in every dimension.");
    if (ranges->planar)
        draw_plane(f, facts, h, ranges, where, id);
    if (ranges->planar && h->d > 2)
        draw_others(f, facts, h, ranges);
    else if (h->d == 1)
        draw_densities(f, facts, h, ranges, id);
    else if (!ranges->planar)
        draw_bands(f, facts, h, ranges, id);
    vh_svg_end(f);
}
