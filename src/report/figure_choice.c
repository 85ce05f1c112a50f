/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_choice.c - evidence, BIC, ICL and stability against the number of clusters, one curve per number of
 * states. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { PANEL = 252, HEIGHT = 260, LEFT = 62, TOP = 32, FOOT = 42, MOST_CURVES = 6 };

typedef struct {
    const char *name;
    size_t at;
    bool most; /* the largest is best */
} criterion;

static const criterion criteria[] = {
    { "evidence", offsetof(vhem_choice, evidence), true },
    { "BIC", offsetof(vhem_choice, bic), false },
    { "ICL", offsetof(vhem_choice, icl), false },
    { "stability", offsetof(vhem_choice, stability), true },
};
enum { N_CRITERIA = sizeof criteria / sizeof criteria[0] };

static double value_of(const vhem_choice *row, const criterion *k)
{
    double x;
    memcpy(&x, (const char *)row + k->at, sizeof x);
    return row->path ? NAN : x;
}

static int best_row(const vhem_report_input *in, const criterion *k)
{
    int best = -1;
    for (int i = 0; i < in->n_choice; i++) {
        double x = value_of(&in->choice[i], k), than = best < 0 ? 0 : value_of(&in->choice[best], k);
        if (isfinite(x) && (best < 0 || (k->most ? x > than : x < than)))
            best = i;
    }
    return best;
}

/* Lists the distinct numbers of states, at most as many as there are distinguishable curves. */
static int list_states(const vhem_report_input *in, int *S)
{
    int n = 0;
    for (int i = 0; i < in->n_choice; i++) {
        int k = 0;
        while (k < n && S[k] != in->choice[i].S)
            k++;
        if (k == n && n < MOST_CURVES)
            S[n++] = in->choice[i].S;
    }
    return n;
}

static void draw_curve(FILE *f, const vhem_report_input *in, const criterion *k, int S, int color,
                       const vh_scale *x, const vh_scale *y)
{
    char tip[VH_TIP_MAX];
    fputs("<polyline points=\"", f);
    for (int i = 0; i < in->n_choice; i++)
        if (in->choice[i].S == S && isfinite(value_of(&in->choice[i], k)))
            fprintf(f, "%.1f,%.1f ", vh_at(x, in->choice[i].K), vh_at(y, value_of(&in->choice[i], k)));
    fprintf(f, "\" stroke-width=\"1.8\" stroke-linejoin=\"round\" %s/>\n", vh_line_series(color));
    for (int i = 0; i < in->n_choice; i++) {
        double v = value_of(&in->choice[i], k);
        if (in->choice[i].S != S || !isfinite(v))
            continue;
        char states[32] = "";
        if (S > 0)
            snprintf(states, sizeof states, ", %d states", S);
        snprintf(tip, sizeof tip, "%lld clusters%s: %s %.6g", (long long)in->choice[i].K, states, k->name, v);
        vh_svg_circle(f, vh_at(x, in->choice[i].K), vh_at(y, v), best_row(in, k) == i ? 5.5 : 3,
                      vh_paint_series(color), "", tip);
    }
}

static void draw_panel(FILE *f, const vhem_report_input *in, const criterion *k, double left)
{
    vh_box b = { left + LEFT, TOP, PANEL - LEFT - 16, HEIGHT - TOP - FOOT };
    vh_scale x = { INFINITY, -INFINITY, b.x, b.x + b.w }, y = { INFINITY, -INFINITY, b.y + b.h, b.y };
    int S[MOST_CURVES], n = list_states(in, S);

    for (int i = 0; i < in->n_choice; i++) {
        double v = value_of(&in->choice[i], k);
        x.lo = fmin(x.lo, in->choice[i].K);
        x.hi = fmax(x.hi, in->choice[i].K);
        y.lo = isfinite(v) ? fmin(y.lo, v) : y.lo;
        y.hi = isfinite(v) ? fmax(y.hi, v) : y.hi;
    }
    fputs("<g font-weight=\"600\">", f);
    vh_svg_text(f, left + LEFT, 14, 's', vh_paint("ink"), k->name, 20);
    fputs("</g>", f);
    if (!(y.lo <= y.hi)) {
        vh_svg_text(f, left + LEFT, TOP + 20, 's', vh_paint("soft"), "was not asked for", 40);
        return;
    }
    x.lo -= 0.3;
    x.hi += 0.3;
    vh_scale_widen(&y, 0.08);
    vh_svg_axis_x(f, &x, b, x.hi - x.lo < 8 ? (int)(x.hi - x.lo) + 1 : 8, "clusters K");
    vh_svg_axis_y(f, &y, b, 5, "");
    for (int s = 0; s < n; s++)
        draw_curve(f, in, k, S[s], s, &x, &y);
}

void vh_figure_choice(FILE *f, const vh_facts *facts)
{
    const vhem_report_input *in = facts->in;
    int S[MOST_CURVES], n = list_states(in, S);

    vh_figure_begin(f, "choice", -1);
    vh_svg_begin(
        f, N_CRITERIA * PANEL, HEIGHT, "How many clusters and states",
        "Evidence, BIC, ICL and stability against the number of clusters, a curve for each number of "
        "states.");
    for (int k = 0; k < N_CRITERIA; k++)
        draw_panel(f, in, &criteria[k], k * PANEL);
    vh_svg_end(f);
    vh_figure_caption(f, "How many clusters, how many states?");
    fputs(
        "The evidence is the bound of variational Bayes, which pays for every cluster and state that it "
        "uses: larger is better. BIC and ICL weigh the fit against the number of parameters: smaller is "
        "better. Stability is how well the clusters of two halves of the models agree: larger is better. The "
        "large dot is the best. ",
        f);
    for (int k = 0; k < N_CRITERIA; k++) {
        int i = best_row(in, &criteria[k]);
        if (i >= 0)
            fprintf(f, "Best by %s: K = %lld, S = %d. ", criteria[k].name, (long long)in->choice[i].K,
                    in->choice[i].S);
    }
    fputs("<span class=\"legend\">", f);
    for (int s = 0; s < n; s++)
        fprintf(f,
                "<span><svg width=\"18\" height=\"10\" aria-hidden=\"true\"><line x1=\"1\" x2=\"17\" "
                "y1=\"5\" y2=\"5\" stroke-width=\"2.5\" %s/></svg> %d state%s</span> ",
                vh_line_series(s), S[s], vh_plural(S[s]));
    fputs("</span>", f);
    vh_figure_end(f);
}
