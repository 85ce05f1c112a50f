/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - writes a tree and its related results as one HTML file. */
#include "core/ctx.h"
#include "core/atomic_file.h"
#include "core/options.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/provenance.h"
#include "report/text.h"
#include "vhem/analysis.h"
#include "vhem.h"
#include "os/stream.h"

#include <string.h>

static void put_levels(FILE *f, const vh_facts *facts)
{
    vh_section_begin(f, "levels", "Clusters, level by level");
    vh_figure_levels(f, facts);
    vh_section_end(f);
    vh_section_begin(f, "tree", facts->n_level > 1 ? "Tree of clusters" : "Clusters as a tree");
    vh_figure_tree(f, facts);
    vh_section_end(f);
    vh_section_begin(f, "members", "Members");
    fprintf(f,
            "<div class=\"panel\"><p class=\"lead\" id=\"count\">The list of all %ss needs JavaScript; the "
            "table members.tsv has it, too.</p><div class=\"scroll\"><table "
            "id=\"list\"></table></div></div>\n",
            facts->item);
    vh_section_end(f);
}

static void explain_hmm(FILE *f, const vh_facts *facts, const vh_ranges *ranges)
{
    fputs("The centre of a cluster is a hidden Markov model. Circles are its states, larger where it spends "
          "more time; arrows are as wide as the transition is likely. ",
          f);
    if (facts->level[0].K > 1)
        fputs("States with the same number and colour correspond across centres. ", f);
    if (ranges->planar)
        fputs(facts->model_of ? "Dots are a sample of the data in the cluster. " : "", f);
    if (ranges->planar)
        fputs("Ellipses are one and two standard deviations of what a state emits; all centres share one "
              "scale. ",
              f);
    else if (ranges->values)
        fputs(
            "Colours are states: bars are probabilities of symbols, counts and bits, the highest with its "
            "number; roses show where angles point, 0 to the right, with areas for probabilities; curves are "
            "densities, and a pin at 0 is the probability of exactly 0, 1 being the height of the panel. All "
            "centres are drawn to one scale. ",
            f);
    else if (ranges->d > 2)
        fputs("Each strip is a state: the line is the mean of every dimension, the band one standard "
              "deviation. ",
              f);
}

static void explain_texture(FILE *f)
{
    fputs("The centre of a cluster is a dynamic texture itself: a state that moves by x&#8242; = A x + "
          "noise, seen as frames y = C x + y&#772; + noise. "
          "Dots are the eigenvalues of A, the modes of its state: "
          "on the circle a mode lasts forever, near the middle it fades at once; the angle is how fast it "
          "swings. ",
          f);
}

static void put_centers(FILE *f, const vh_facts *facts, const vh_ranges *ranges)
{
    const vhem_clustering *c = facts->level[0].c;
    char unit[96];

    vh_section_begin(f, "centers", "Centres");
    if (c->centers) {
        fputs("<p class=\"lead\">", f);
        if (facts->level[0].hmms)
            explain_hmm(f, facts, ranges);
        else
            explain_texture(f);
        if (c->L_hmm)
            fprintf(f, "Next to each member is %s under the centre, in %s.",
                    c->options->tau > 0 ? "the bound on its expected log-likelihood" : "its log-likelihood",
                    vh_facts_unit(facts, c, unit, sizeof unit));
        fputs("</p>\n", f);
    }
    for (int l = 0; l < facts->n_level; l++)
        vh_figure_centers(f, facts, l, ranges);
    vh_section_end(f);
}

static vhem_status put_relations(vhem_ctx *ctx, FILE *f, const vh_facts *facts, const vh_ranges *ranges)
{
    vh_section_begin(f, "membership", "Who belongs where, and how surely");
    for (int l = 0; l < facts->n_level; l++)
        vh_figure_membership(f, facts, l);
    vh_section_end(f);
    vh_section_begin(f, "classes",
                     facts->n_class ? "Clusters and given classes" : "How good the clusters are");
    for (int l = 0; l < facts->n_level; l++)
        vh_figure_confusion(f, facts, l);
    if (!facts->measured)
        fputs("<p class=\"note\">There are no measures of the clusters themselves: they are computed "
              "from what was clustered, or from sequences.</p>\n",
              f);
    vh_section_end(f);
    if (facts->in->data && facts->in->examples && facts->in->examples->n > 0) {
        vh_section_begin(f, "examples", "Example sequences");
        VH_TRY(vh_figure_examples(f, facts, ranges));
        vh_section_end(f);
    }
    vh_section_begin(f, "distances", "Distances");
    if (facts->in->distance)
        VH_TRY(vh_figure_distance(ctx, f, facts));
    for (int l = 0; l < facts->n_level; l++)
        VH_TRY(vh_figure_separation(ctx, f, facts, l));
    vh_section_end(f);
    return VHEM_OK;
}

static vhem_status put_making(vhem_ctx *ctx, FILE *f, const vh_facts *facts)
{
    vhem_models_facts of_models = { 0 };
    vhem_tree_facts of_tree;

    vh_section_begin(f, "bound", "How the clusters were found");
    for (int l = 0; l < facts->n_level; l++)
        (vh_facts_graphs(&facts->level[l]) ? vh_figure_graphs : vh_figure_bound)(f, facts, l);
    vh_section_end(f);
    vh_section_begin(f, "made", "How to reproduce this");
    fputs("<div class=\"panel\"><p class=\"lead\">The same commands with the same seed give the same bytes "
          "at any number of threads.</p>\n",
          f);
    vhem_tree_info(facts->in->tree, &of_tree);
    if (facts->in->models)
        vhem_models_info(facts->in->models, &of_models);
    if (of_models.provenance)
        VH_TRY(vh_provenance_put(ctx, f, "Models", of_models.provenance));
    VH_TRY(vh_provenance_put(ctx, f, "Clusters", of_tree.provenance));
    if (facts->in->command) {
        fputs("<h3>This report</h3>\n<pre class=\"command\"><code>", f);
        vh_html_text(f, facts->in->command, 4000);
        fputs("</code></pre>\n", f);
    }
    fputs("<h3>The method</h3><p>E. Coviello, A. B. Chan, G. R. G. Lanckriet: Clustering hidden Markov "
          "models with variational HEM. <i>Journal of Machine Learning Research</i> 15, 2014.</p>",
          f);
    if (vh_facts_graphs(&facts->level[0]))
        fputs("<p>Groups of sequences: A. Y. Ng, M. I. Jordan, Y. Weiss: On spectral clustering. <i>NIPS</i> "
              "14, 2002; M. E. J. Newman: Modularity and community structure in networks. <i>PNAS</i> 103, "
              "2006.</p>",
              f);
    fputs("</div>\n", f);
    vh_section_end(f);
    return VHEM_OK;
}

static vhem_status put_page(vhem_ctx *ctx, FILE *f, const vh_facts *facts, const vh_ranges *ranges,
                            const vh_image *image)
{
    vh_page_begin(f, facts);
    vh_image_define(f, image);
    put_levels(f, facts);
    put_centers(f, facts, ranges);
    VH_TRY(put_relations(ctx, f, facts, ranges));
    if (facts->in->stats) {
        vh_section_begin(f, "statistics", "Who fits which centre: statistics");
        vh_figure_stats(f, facts);
        vh_section_end(f);
    }
    if (facts->in->n_choice > 0) {
        vh_section_begin(f, "choice", "How many clusters and states");
        vh_figure_choice(f, facts);
        vh_section_end(f);
    }
    VH_TRY(put_making(ctx, f, facts));
    vh_page_end(f, facts);
    return VHEM_OK;
}

static vhem_status write_page(vhem_ctx *ctx, const vh_facts *facts, const char *path)
{
    VH_CLEANUP(vh_image_free) vh_image image = { 0 };
    VH_CLEANUP(vh_ranges_free) vh_ranges ranges = { 0 };
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    if (facts->in->image)
        VH_TRY(vh_image_load(ctx, facts->in->image, &image));
    VH_TRY(vh_ranges_new(ctx, facts, &image, &ranges));
    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    VH_TRY(put_page(ctx, out.f, facts, &ranges, &image));
    if (facts->in->tables)
        VH_TRY(vh_tables_write(ctx, facts));
    VH_CHECK(!*facts->lacks_memory, VHEM_ENOMEM, "out of memory: a figure of the report could not be drawn");
    return vh_atomic_file_commit(ctx, &out);
}

/* Uses a decimal point regardless of the program's locale. */
static vhem_status write_all(vhem_ctx *ctx, const vh_facts *facts, const char *path)
{
    void *locale = vh_locale_enter();
    vhem_status st = write_page(ctx, facts, path);
    vh_locale_leave(locale);
    return st;
}

vhem_status vhem_report_write(vhem_ctx *ctx, const vhem_report_input *in, const char *path)
{
    VH_ENTER(in, path);
    VH_OPTIONS(VHEM_REPORT_INPUT, vhem_report_input, in);
    VH_OWN(vh_facts) *facts = NULL;

    VH_CHECK(in->tree, VHEM_EINVAL, "a report needs a tree or a clustering, there is none");
    VH_CHECK(!in->frame_name || (strlen(in->frame_name) < 40 && !strpbrk(in->frame_name, "<>&\"'%")),
             VHEM_EINVAL, "frames cannot be called '%.60s': use a word of fewer than 40 letters",
             in->frame_name);
    VH_TRY(vh_facts_new(ctx, in, &facts));
    return write_all(ctx, facts, path);
}
