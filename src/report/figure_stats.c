/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_stats.c - statistics after clustering: the persons on the scale between centres, and the tests. */
#include "report/figures.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem/analysis.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 720, LEFT = 130, ROW = 34, TOP = 8, FOOT = 34, MOST_TESTS = 60, MOST_GROUPS = 24 };

/* With two centres the A-B scale; with more, the own cluster against the best other one. */
static double scale_of(const vhem_statistics *s, int64_t i)
{
    return s->scale[i * s->K + (s->K == 2 ? 0 : s->cluster[i])];
}

static void draw_persons(FILE *f, const vhem_statistics *s, const vh_scale *x, int g)
{
    double middle = TOP + (g + 0.5) * ROW, sum = 0;
    int64_t n = 0;
    char tip[VH_TIP_MAX];
    for (int64_t i = 0; i < s->n; i++) {
        double value = scale_of(s, i);
        if (s->group_of[i] != g || !isfinite(value))
            continue;
        /* Alternates positions up and down to separate equal values. */
        double y = middle + 7.0 * (double)(n % 3 - 1);
        snprintf(tip, sizeof tip, "%.100s: %.4f, cluster %d", s->name[i], value, s->cluster[i]);
        vh_svg_circle(f, vh_at(x, value), y, 3.6, vh_paint_series(g), "fill-opacity=\"0.75\"", tip);
        sum += value;
        n++;
    }
    if (n > 0) {
        double at = vh_at(x, sum / (double)n);
        vh_svg_line(f, at, middle - ROW / 2.0 + 4, at, middle + ROW / 2.0 - 4, vh_paint("line"));
    }
    vh_svg_text(f, LEFT - 12, middle + 4, 'e', vh_paint("ink"), s->group[g], 18);
}

static void draw_scales(FILE *f, const vhem_statistics *s)
{
    int rows = s->n_group < MOST_GROUPS ? s->n_group : MOST_GROUPS;
    vh_box b = { LEFT, TOP, WIDTH - LEFT - 14, rows * ROW };
    vh_scale x = { 0, 0, b.x, b.x + b.w };
    for (int64_t i = 0; i < s->n; i++)
        if (isfinite(scale_of(s, i))) {
            x.lo = fmin(x.lo, scale_of(s, i));
            x.hi = fmax(x.hi, scale_of(s, i));
        }
    vh_scale_widen(&x, 0.05);
    vh_svg_begin(f, WIDTH, TOP + rows * ROW + FOOT, "Scale of each person",
                 "A dot for each person by group; a line at the mean of the group.");
    vh_svg_axis_x(f, &x, b, 8,
                  s->K == 2
                      ? "fits centre 1 better   \xE2\x86\x90   scale   \xE2\x86\x92   fits centre 0 better"
                      : "own centre against the best other one");
    for (int g = 0; g < rows; g++)
        draw_persons(f, s, &x, g);
    vh_svg_end(f);
}

static void put_cell(FILE *f, const char *format, double value)
{
    fputs("<td>", f);
    if (isfinite(value))
        fprintf(f, format, value);
    fputs("</td>", f);
}

static void put_p(FILE *f, double p)
{
    fputs("<td>", f);
    if (isfinite(p) && p < 0.0001)
        fputs("&lt; 0.0001", f);
    else if (isfinite(p))
        fprintf(f, "%.4f", p);
    fputs("</td>", f);
}

static const char *kind_words(const char *kind)
{
    return strcmp(kind, "t") == 0          ? "Welch's t"
           : strcmp(kind, "paired-t") == 0 ? "paired t"
                                           : "Mann-Whitney U";
}

static void put_compared(FILE *f, const vhem_test *t)
{
    fputs("<td>", f);
    if (!t->b) {
        fprintf(f, "cluster %d: log-likelihood under centre %d and centre %d", t->centre, t->centre,
                t->other);
    } else {
        fputs(t->measure, f);
        if (t->centre >= 0)
            fprintf(f, " of centre %d", t->centre);
        fputs(": ", f);
        vh_html_text(f, t->a, VH_NAME_MAX);
        fputs(" and ", f);
        vh_html_text(f, t->b, VH_NAME_MAX);
    }
    fputs("</td>", f);
}

static void put_tests(FILE *f, const vhem_statistics *s)
{
    static const char *const head[] = { "compared", "n", "first mean",  "second mean", "statistic",
                                        "df",       "p", "corrected p", "Cohen's d",   "interval" };
    fputs("<div class=\"panel\"><div class=\"scroll\"><table class=\"tests\"><thead><tr><th "
          "scope=\"col\">test</th>",
          f);
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        fprintf(f, "<th scope=\"col\">%s</th>", head[k]);
    fputs("</tr></thead><tbody>\n", f);
    for (int k = 0; k < s->n_test && k < MOST_TESTS; k++) {
        const vhem_test *t = &s->test[k];
        fprintf(f, "<tr><th scope=\"row\">%s</th>", kind_words(t->kind));
        put_compared(f, t);
        if (t->b)
            fprintf(f, "<td>%lld, %lld</td>", (long long)t->n_a, (long long)t->n_b);
        else
            fprintf(f, "<td>%lld</td>", (long long)t->n_a);
        put_cell(f, "%.4g", t->mean_a);
        put_cell(f, "%.4g", t->mean_b);
        put_cell(f, "%.3f", t->statistic);
        put_cell(f, "%.4g", t->freedom);
        put_p(f, t->p);
        put_p(f, t->p_adjusted);
        put_cell(f, "%.2f", t->d);
        fputs("<td>", f);
        if (isfinite(t->d_low))
            fprintf(f, "%.2f to %.2f", t->d_low, t->d_high);
        fputs("</td></tr>\n", f);
    }
    fputs("</tbody></table></div></div>\n", f);
    if (s->n_test > MOST_TESTS)
        fprintf(
            f, "<p class=\"note\">The first %d of %d tests; the table tests.tsv of vhem stats has all.</p>\n",
            MOST_TESTS, s->n_test);
}

static void put_caution(FILE *f, const vhem_statistics *s)
{
    int64_t seen = 0, other = 0, single = 0;
    for (int64_t i = 0; i < s->n; i++) {
        seen += s->clustered[i] == 1;
        other += s->clustered[i] > 1;
        single += s->sequences[i] == 1;
    }
    fputs("<p class=\"note\">", f);
    if (s->left_out && seen + other > 0)
        fputs("Each person was scored under centres made without the person's own model. Which cluster a "
              "person is in still comes from all of them.",
              f);
    else if (seen > 0)
        fprintf(
            f,
            "%lld of %lld persons were clustered, so their centres were made to fit them. If these are the "
            "sequences their models were fitted to, the tests between centres are circular and p is too "
            "small.",
            (long long)seen, (long long)s->n);
    else if (other > 0)
        fprintf(f,
                "The models of %lld of %lld persons were clustered. They were fitted to other data than "
                "these, so the tests between centres are not circular.",
                (long long)other, (long long)s->n);
    else
        fputs("None of these persons was clustered. Each is in the cluster whose centre fits best, so the "
              "tests between centres only say how clear that choice is.",
              f);
    if (seen + other == 0 && single == s->n && s->n > 1)
        fputs(" Each sequence counts as a person here: if these are trials of fewer people, p is far too "
              "small, and <code>--group</code> must name the column with the people.",
              f);
    fputs("</p>\n", f);
}

void vh_figure_stats(FILE *f, const vh_facts *facts)
{
    const vhem_statistics *s = facts->in->stats;
    put_caution(f, s);
    if (s->K > 1) {
        vh_figure_begin(f, "scales", -1);
        draw_scales(f, s);
        vh_figure_caption(f, "The scale between centres.");
        fputs("A dot for each person: (L<sub>a</sub> &minus; L<sub>b</sub>) / (|L<sub>a</sub>| + "
              "|L<sub>b</sub>|) of the mean log-likelihoods under two centres",
              f);
        fputs(s->K == 2
                  ? ", 0 and 1. The line is the mean of a group."
                  : ", that of the own cluster and the best other one. The line is the mean of a group.",
              f);
        vh_figure_end(f);
    }
    put_tests(f, s);
}
