/* SPDX-License-Identifier: BSD-3-Clause */
/* html.c - see html.h. */
#include "report/html.h"

#include "report/assets.h"
#include "report/svg.h"
#include "report/text.h"
#include "vhem.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- pieces -------------------------------------------------------------------------------------------- */

const char *vh_plural(int n)
{
    return n == 1 ? "" : "s";
}

void vh_cluster_mark(char *text, size_t size, int l, int j)
{
    snprintf(text, size, " data-l=\"%d\" data-c=\"%d\"", l, j);
}

void vh_section_begin(FILE *f, const char *id, const char *heading)
{
    fprintf(f, "<section id=\"%s\" aria-labelledby=\"%s-h\">\n<h2 id=\"%s-h\">%s</h2>\n", id, id, id,
            heading);
}

void vh_section_end(FILE *f)
{
    fputs("</section>\n", f);
}

void vh_figure_begin(FILE *f, const char *name, int level)
{
    fprintf(f, "<figure id=\"fig-%s\" data-name=\"%s\"", name, name);
    if (level >= 0)
        fprintf(f, " data-level=\"%d\"", level);
    fputs(">\n<div class=\"scroll\">", f);
}

void vh_figure_caption(FILE *f, const char *what)
{
    fprintf(f, "</div>\n<figcaption><p>%s%s%s ", *what ? "<b>" : "", what, *what ? "</b>" : "");
}

void vh_figure_end(FILE *f)
{
    fputs("</p><p class=\"get\"><a href=\"#\" role=\"button\" data-get=\"svg\">SVG</a> <a href=\"#\" "
          "role=\"button\" data-get=\"png\">PNG</a></p></figcaption></figure>\n",
          f);
}

void vh_class_legend(FILE *f, const vh_facts *facts)
{
    enum { MOST = 40 };
    if (facts->n_class == 0)
        return;
    fputs("</p><p class=\"legend\">", f);
    for (int k = 0; k < facts->n_class && k < MOST; k++) {
        fprintf(f,
                "<span><svg width=\"11\" height=\"11\" aria-hidden=\"true\"><rect width=\"11\" "
                "height=\"11\" rx=\"2\" %s/></svg> ",
                vh_paint_class(k));
        vh_html_text(f, facts->class_name[k], VH_NAME_MAX);
        fprintf(f, " <span class=\"soft\">%d</span></span> ", facts->class_size[k]);
    }
    if (facts->n_class > MOST)
        fprintf(f, "and %d more", facts->n_class - MOST);
}

static void put_method(FILE *f, const vhem_clustering *c)
{
    vh_html_text(f, c->method ? c->method : "unknown", VH_NAME_MAX);
}

void vh_method_note(FILE *f, const vh_facts *facts, int l, const char *before, const char *after)
{
    fprintf(f, "<p class=\"note\" data-level=\"%d\">%s ", l, before);
    put_method(f, facts->level[l].c);
    fprintf(f, " %s</p>\n", after);
}

/* ---- the page ------------------------------------------------------------------------------------------ */

enum { MOST_NAME = 80 }; /* most characters of a name in the script's data */

static const struct {
    const char *id, *name;
} sections[] = {
    { "levels", "Levels" },         { "tree", "Tree" },
    { "members", "Members" },       { "centers", "Centres" },
    { "membership", "Membership" }, { "classes", "Measures" },
    { "examples", "Examples" },     { "distances", "Distances" },
    { "statistics", "Statistics" }, { "choice", "Choice" },
    { "bound", "Bound" },           { "made", "Source" },
};

static bool shown(const vh_facts *facts, const char *id)
{
    if (strcmp(id, "examples") == 0)
        return facts->in->data && facts->in->examples && facts->in->examples->n > 0;
    if (strcmp(id, "statistics") == 0)
        return facts->in->stats != NULL;
    return strcmp(id, "choice") != 0 || facts->in->n_choice > 0;
}

static void put_bar(FILE *f, const vh_facts *facts)
{
    fputs("<div class=\"bar\"><nav aria-label=\"Sections\">", f);
    for (size_t k = 0; k < sizeof sections / sizeof sections[0]; k++)
        if (shown(facts, sections[k].id))
            fprintf(f, "<a href=\"#%s\">%s</a>", sections[k].id, sections[k].name);
    fputs("</nav>\n<div class=\"tools\" role=\"group\" aria-label=\"What is shown\">", f);
    if (facts->n_level > 1) {
        fputs("<span class=\"seg\" role=\"radiogroup\" aria-label=\"Level\">", f);
        for (int l = 0; l < facts->n_level; l++)
            fprintf(
                f, "<label><input type=\"radio\" name=\"level\" value=\"%d\"%s><span>Level %d</span></label>",
                l, l == 0 ? " checked" : "", l + 1);
        fputs("</span>", f);
    }
    fputs("<label class=\"find\"><span class=\"hide\">Search by name</span><input type=\"search\" "
          "id=\"find\" placeholder=\"Search a name\" autocomplete=\"off\"></label><button type=\"button\" "
          "id=\"clear\" hidden></button><button type=\"button\" id=\"theme\" aria-label=\"Switch between "
          "light and dark\"><svg width=\"16\" height=\"16\" viewBox=\"0 0 16 16\" "
          "aria-hidden=\"true\"><circle cx=\"8\" cy=\"8\" r=\"6.2\" fill=\"none\" stroke=\"currentColor\" "
          "stroke-width=\"1.6\"/><path d=\"M8 1.8a6.2 6.2 0 0 1 0 12.4z\" "
          "fill=\"currentColor\"/></svg></button></div></div>\n",
          f);
}

static void put_card(FILE *f, const char *what, const char *value, const char *note)
{
    fprintf(f, "<li><span>%s</span> <b>%s</b> <small>", what, value);
    vh_html_text(f, note, VH_TIP_MAX);
    fputs("</small></li>\n", f);
}

/* True if the kept run has the best bound; among similar bounds, modularity may have decided. */
static bool has_best_bound(const vhem_clustering *c)
{
    double kept = c->bound[c->n_iter], best = kept;
    for (int r = 0; r < c->n_run; r++)
        best = fmax(best, c->run[r].bound);
    return best - kept <= 1e-9 * fabs(best);
}

/* True if the search added this run to the restarts: a partition from distances, or the settled best restart.
 * The command counts candidates in the same way. */
static bool is_candidate(const vhem_cluster_run *run)
{
    size_t n = run->init ? strlen(run->init) : 0;
    return n > 3 && (strcmp(run->init, "settled") == 0 || strcmp(run->init + n - 3, "-sc") == 0);
}

/* "of 101 runs: 100 restarts and 1 candidate", or "of 100 restarts". */
static void tell_runs(const vhem_clustering *c, char *text, size_t size)
{
    int candidates = 0;
    for (int r = 0; r < c->n_run; r++)
        candidates += is_candidate(&c->run[r]);
    int restarts = c->n_run - candidates;
    if (candidates > 0)
        snprintf(text, size, "of %d runs: %d restart%s and %d candidate%s", c->n_run, restarts,
                 vh_plural(restarts), candidates, vh_plural(candidates));
    else
        snprintf(text, size, "of %d restart%s", restarts, vh_plural(restarts));
}

/* z tells how certain a cluster is given these centres, share whether other starts find the same groups;
 * clear-cut members pass both. */
static void put_sure(FILE *f, const vh_facts *facts)
{
    const double ENOUGH = 0.99;
    const vh_level *v = &facts->level[0];
    char value[64], of[64], note[200];
    int sure = 0;

    for (int64_t i = 0; i < v->c->Kb; i++)
        sure += (!v->c->z || vh_facts_own_z(v, i) >= ENOUGH) && (!v->c->share || v->c->share[i] >= ENOUGH);
    snprintf(value, sizeof value, "%.0f %%", floor(100.0 * sure / v->c->Kb));
    snprintf(of, sizeof of, vh_facts_graphs(v) ? "samples of the %ss" : "runs with as good a bound",
             facts->item);
    snprintf(note, sizeof note,
             "belong to one cluster by 99\xC2\xA0%% or more, and in 99\xC2\xA0%% or more of the %s", of);
    if (v->c->share)
        put_card(f, "Clear-cut", value, note);
    else if (v->c->z)
        put_card(f, "Near one centre", value,
                 "belong to one cluster by 99\xC2\xA0% or more, given these centres");
}

static void put_cards(FILE *f, const vh_facts *facts)
{
    const vh_level *v = &facts->level[0];
    char value[64], note[128], what[32];
    int at = 0;
    vhem_agreement g;

    fputs("<ul class=\"tiles\">\n", f);
    snprintf(value, sizeof value, "%lld", (long long)facts->n_model);
    snprintf(note, sizeof note, "%s%s", facts->kind, facts->n_class ? ", with given classes" : "");
    snprintf(what, sizeof what, "%c%ss", toupper((unsigned char)facts->item[0]), facts->item + 1);
    put_card(f, what, value, note);
    for (int l = 0; l < facts->n_level && at < 40; l++)
        at += snprintf(value + at, sizeof value - (size_t)at, "%s%d", l ? " \xE2\x86\x92 " : "",
                       facts->level[l].K);
    snprintf(note, sizeof note, "on %d level%s, by method %.40s", facts->n_level, vh_plural(facts->n_level),
             v->c->method ? v->c->method : "unknown");
    put_card(f, "Clusters", value, note);
    if (vh_facts_agreement(facts, 0, &g)) {
        snprintf(value, sizeof value, "%.3f", g.rand);
        snprintf(note, sizeof note, "with %d classes; adjusted %.3f", facts->n_class, g.adjusted_rand);
        put_card(f, "Rand index", value, note);
    }
    put_sure(f, facts);
    if (v->c->bound) {
        vh_short_number(v->c->bound[v->c->n_iter], value, sizeof value);
        char runs[80];
        tell_runs(v->c, runs, sizeof runs);
        snprintf(note, sizeof note, "nats, %s %s",
                 has_best_bound(v->c) ? "the best" : "chosen by its modularity", runs);
        put_card(f, "Bound", value, note);
    }
    fputs("</ul>\n", f);
}

void vh_page_begin(FILE *f, const vh_facts *facts)
{
    char usual[64];
    snprintf(usual, sizeof usual, "Clusters of %s", facts->kind);
    const char *title = facts->in->title && *facts->in->title ? facts->in->title : usual;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
          "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
          "script-src 'unsafe-inline'; img-src data: blob:\">\n",
          f);
    fprintf(f, "<meta name=\"generator\" content=\"vhem %s\">\n<title>", vhem_version());
    vh_html_text(f, title, VH_TIP_MAX);
    fputs("</title>\n<style>\n", f);
    fwrite(vh_report_css, 1, vh_report_css_size, f);
    fputs("</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#levels\">Skip to the figures</a>\n<header "
          "class=\"top\">\n"
          "<p class=\"kicker\">vhem report</p>\n<h1>",
          f);
    vh_html_text(f, title, 200);
    fputs("</h1>\n", f);
    put_cards(f, facts);
    fputs("</header>\n", f);
    put_bar(f, facts);
    fputs("<main>\n", f);
}

/* Writes the models by cluster; if too many, a share of each cluster, nearest to the centre first. */
static void put_models(FILE *f, const vh_facts *facts)
{
    enum { MOST_LISTED = 50000 };
    const vh_level *v = &facts->level[0];
    bool all = facts->n_model <= MOST_LISTED;
    const char *next = "\n[";
    for (int k = 0; k < facts->n_model; k++) {
        int64_t i = facts->model[k];
        int j = v->label[i];
        if (!all && k - v->first[j] >= (double)MOST_LISTED * v->size[j] / facts->n_model)
            continue;
        fputs(next, f);
        vh_script_text(f, vh_facts_name(facts, i), MOST_NAME);
        fprintf(f, ",%lld,%d,%d,%.4g", (long long)i, j, facts->class_of[i], vh_facts_own_z(v, i));
        if (v->c->share)
            fprintf(f, ",%.4g", vh_facts_share(v, i));
        putc(']', f);
        next = ",\n[";
    }
}

/* Writes the data for filtering and searching: parents and sizes of clusters, a row per model. */
static void put_data(FILE *f, const vh_facts *facts)
{
    fprintf(f, "<script type=\"application/json\" id=\"data\">{\"thing\":\"%s\",\"of\":\"%s\",\"levels\":[",
            facts->item, vh_facts_graphs(&facts->level[0]) ? "samples" : "runs");
    for (int l = 0; l < facts->n_level; l++) {
        const vh_level *v = &facts->level[l];
        fprintf(f, "%s{\"parent\":[", l ? "," : "");
        for (int j = 0; j < v->K; j++)
            fprintf(f, "%s%d", j ? "," : "", v->parent[j]);
        fputs("],\"size\":[", f);
        for (int j = 0; j < v->K; j++)
            fprintf(f, "%s%d", j ? "," : "", v->size[j]);
        fputs("]}", f);
    }
    fputs("],\"classes\":[", f);
    for (int k = 0; k < facts->n_class; k++) {
        fputs(k ? "," : "", f);
        vh_script_text(f, facts->class_name[k], MOST_NAME);
    }
    fprintf(f, "],\"total\":%lld,\"models\":[", (long long)facts->n_model);
    put_models(f, facts);
    fputs("]}</script>\n", f);
}

void vh_page_end(FILE *f, const vh_facts *facts)
{
    fprintf(
        f,
        "</main>\n<footer><p>Made by vhem %s. This file is self-contained: it needs no network and can be "
        "passed on.</p></footer>\n<div id=\"tip\" role=\"status\" hidden></div>\n",
        vhem_version());
    put_data(f, facts);
    fputs("<script>\n", f);
    fwrite(vh_report_js, 1, vh_report_js_size, f);
    fputs("</script>\n</body>\n</html>\n", f);
}
