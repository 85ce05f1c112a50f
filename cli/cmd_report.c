/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_report.c - vhem report OUT -o report.html: the pictures. */
#include "report_input.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    vhem_report_input in;
    const char *output, *models, *truth, *sequences, *distances, *choice;
    bool y_down;
    vhem_tree *tree;
    cli_models set; /* what was clustered, or none */
    vhem_data *loaded;
    const char **class_of;
    char *line;
    double *D;
    vhem_choice *rows;
} report_args;

static void release(report_args *a)
{
    free(a->class_of);
    free(a->line);
    free(a->D);
    free(a->rows);
    vhem_data_free(a->loaded);
    cli_models_free(&a->set);
    vhem_tree_free(a->tree);
}

static int load(cli *c, report_args *a)
{
    int status = cli_load_clusters(c, c->arg[0], &a->tree);
    const vhem_clustering *cl = status == CLI_GO ? vhem_tree_level(a->tree, 0) : NULL;
    if (status == CLI_GO && a->models)
        status = cli_models_load(c, a->models, &a->set);
    if (status == CLI_GO && a->models)
        status = cli_models_check(c, &a->set, a->models, cl, c->arg[0]);
    if (status == CLI_GO && a->set.dtm && !a->truth)
        a->class_of = cli_models_classes(&a->set);
    if (status == CLI_GO && a->truth)
        status = cli_truth_load(c, a->truth, cl->Kb, cl->name, &a->class_of);
    if (status == CLI_GO && a->sequences)
        status = cli_status(c, vhem_data_load(c->ctx, a->sequences, &a->data, &a->loaded));
    if (status == CLI_GO && a->loaded && !a->truth && !a->models)
        status = cli_truth_of_data(c, a->loaded, cl->Kb, cl->name, &a->class_of);
    if (status == CLI_GO && a->distances)
        status = report_distances(c, a->distances, cl, &a->D);
    if (status == CLI_GO && a->choice)
        status = report_choice(c, a->choice, &a->rows, &a->in.n_choice);
    return status;
}

/* The command as it was typed. */
static char *typed(int argc, char **argv)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);
    if (!f)
        return NULL;
    fputs("vhem report", f);
    for (int k = 1; k < argc; k++) {
        fputc(' ', f);
        cli_put_word(f, argv[k]);
    }
    fclose(f);
    return line;
}

static void tell(cli *c, const report_args *a)
{
    const char *where = strcmp(a->output, "-") == 0 ? "standard output" : a->output;
    int n = vhem_tree_levels(a->tree), Kb = vhem_tree_level(a->tree, 0)->Kb;
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:o, s:i, s:i}", "command", c->command, "input",
                                       cli_json_text(c->arg[0]), "output", cli_json_text(a->output), "tables",
                                       cli_json_text(a->in.tables), "levels", n, "models", Kb));
    cli_say(c, "a report on %d model%s and %d level%s of clusters in %s", Kb, cli_plural(Kb), n,
            cli_plural(n), where);
    if (a->in.tables)
        cli_say(c, "its numbers as tables in %s", a->in.tables);
    if (strcmp(a->output, "-") != 0)
        cli_say(c, "next: open %s in a browser", a->output);
}

static int run(cli *c, report_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = load(c, a);
    a->in.tree = a->tree;
    a->in.models = a->set.h3m;
    a->in.truth = a->class_of;
    a->in.data = a->loaded;
    a->in.distance = a->D;
    a->in.choice = a->rows;
    a->in.y_down = a->y_down;
    a->in.command = a->line;
    if (status == CLI_GO)
        status = cli_status(c, vhem_report_write(c->ctx, &a->in, a->output));
    if (status == CLI_GO)
        tell(c, a);
    release(a);
    return status == CLI_GO ? EXIT_DONE : status;
}

int cmd_report(cli *c, int argc, char **argv)
{
    report_args a = { .output = "report.html" };
    vhem_data_options_init(&a.data);
    vhem_report_input_init(&a.in);
    a.in.n_example = 2;
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, NULL, "HTML file to write; - is standard output" },
        { "tables", 0, OPT_TEXT, "DIR", &a.in.tables, 0, "none", "folder that gets every number as TSV" },
        { "title", 0, OPT_TEXT, "TEXT", &a.in.title, 0, "what was clustered", "heading of the page" },
        { "models", 'm', OPT_TEXT, "FILE", &a.models, 0, "none",
          "the models that were clustered: their labels are the classes, and their options are shown" },
        { "truth", 0, OPT_TEXT, "CSV", &a.truth, 0, "the labels of --models, or of --data",
          "table with a name and a class for each model" },
        { "data", 'd', OPT_TEXT, "DATA", &a.sequences, 0, "none",
          "sequences to show some of, coloured by decoded state" },
        { "examples", 0, OPT_INT, "N", &a.in.n_example, 1, NULL, "sequences shown of each cluster" },
        { "distances", 0, OPT_TEXT, "FILE", &a.distances, 0, "none",
          "matrix of distances between the models, with a header" },
        { "choice", 0, OPT_TEXT, "FILE", &a.choice, 0, "none", "what vhem choose wrote, table or JSON" },
        { "image", 0, OPT_TEXT, "FILE", &a.in.image, 0, "none",
          "PNG or JPEG to lie under emissions in the plane, one unit a pixel, y downwards" },
        { "y-down", 0, OPT_FLAG, NULL, &a.y_down, 0, NULL, "in the plane y grows downwards, as on a screen" },
        CLI_DATA_OPTIONS(&a.data,
                         "column with the group of a sequence; it is found among the models by this name"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "OUT",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Writes one HTML file about the clusters or the tree in OUT that needs no network and "
                 "opens in any browser: levels, tree, centres, membership, bound, and what further files "
                 "let it show. Nothing is clustered or fitted for it.",
        .examples = "  vhem report tree.json -o report.html\n"
                    "  vhem report tree.json --models walks.json --data walks.csv --tables numbers\n"
                    "  vhem report strategies.json --image face.png -o report.html\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    if (status != CLI_GO)
        return status;
    a.line = typed(argc, argv);
    return run(c, &a);
}
