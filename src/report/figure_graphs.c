/* SPDX-License-Identifier: BSD-3-Clause */
/* figure_graphs.c - how groups of sequences were found: the graphs that were partitioned, which of them was
 * kept, and the numbers of groups that were tried in it. */
#include "report/figures.h"
#include "report/html.h"
#include "report/text.h"

#include <math.h>

/* Groups of a partition; 0: not known. */
static int count_groups(const vhem_clustering *c, const vhem_cluster_run *graph)
{
    int n = 0;
    if (graph->as_good)
        return (int)c->Kr;
    for (int64_t i = 0; graph->label && i < c->Kb; i++)
        n = graph->label[i] >= n ? graph->label[i] + 1 : n;
    return n;
}

static void put_number(FILE *f, double x)
{
    fprintf(f, isfinite(x) ? "<td>%.3f</td>" : "<td>-</td>", x);
}

static void put_graph(FILE *f, const vhem_clustering *c, const vhem_cluster_run *graph)
{
    int groups = count_groups(c, graph);
    fputs("<tr><th scope=\"row\">", f);
    vh_html_text(f, graph->init, VH_TIP_MAX);
    fputs("</th>", f);
    fprintf(f, groups > 0 ? "<td>%d</td>" : "<td>-</td>", groups);
    put_number(f, graph->modularity);
    put_number(f, graph->stability);
    put_number(f, graph->agreement);
    fprintf(f, "<td>%s</td></tr>\n", graph->as_good ? "kept" : "");
}

static void put_choice(FILE *f, const vhem_clustering *c)
{
    if (c->n_choice == 0)
        return;
    fputs("<details><summary>Numbers of groups that were tried</summary>\n<table class=\"states\"><thead><tr>"
          "<th scope=\"col\">groups</th><th scope=\"col\">modularity</th><th scope=\"col\">stability</th>"
          "<th scope=\"col\"></th></tr></thead><tbody>\n",
          f);
    for (int t = 0; t < c->n_choice; t++) {
        const vhem_choice *row = &c->choice[t];
        fprintf(f, "<tr><th scope=\"row\">%lld</th>", (long long)row->K);
        put_number(f, row->modularity);
        put_number(f, row->stability);
        fprintf(f, "<td>%s</td></tr>\n", row->K == c->Kr ? "kept" : "");
    }
    fputs("</tbody></table></details>\n", f);
}

void vh_figure_graphs(FILE *f, const vh_facts *facts, int l)
{
    const vhem_clustering *c = facts->level[l].c;
    fprintf(
        f,
        "<div class=\"panel\" data-level=\"%d\"><p>Each graph joins %ss that are alike, by what models of "
        "one shape, one fitted to each, say about all others, or by an elastic distance. Modularity is "
        "the share of its edges inside groups, less what chance would put there; stability is how well "
        "samples of the %ss have the same groups, as a mean adjusted Rand index. The graph with the "
        "largest sum is kept. Agreement is the adjusted Rand index with the groups that were kept.</p>\n"
        "<div class=\"scroll\"><table class=\"states\"><thead><tr><th scope=\"col\">graph</th><th "
        "scope=\"col\">groups</th><th scope=\"col\">modularity</th><th scope=\"col\">stability</th><th "
        "scope=\"col\">agreement</th><th scope=\"col\"></th></tr></thead><tbody>\n",
        l, facts->item, facts->item);
    for (int r = 0; r < c->n_run; r++)
        put_graph(f, c, &c->run[r]);
    fputs("</tbody></table></div>\n", f);
    put_choice(f, c);
    fputs("</div>\n", f);
}
