/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_report.c - vhem report OUT -o report.html: the pictures. */
#include "choose.h"
#include "cluster_report.h"
#include "csv.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "os/stream.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    vhem_report_input in;
    const char *output, *models, *truth, *sequences, *distances, *choice, *measure, *statistics, *persons;
    vhem_tree *tree;
    vhem_models *set; /* what was clustered, or none */
    vhem_data *loaded;
    const char **class_of;
    char *line;
    double *D;
    vhem_choice *rows;
    vhem_measures *measures; /* [levels] */
    int each;                /* examples of a cluster */
    vhem_examples *examples;
    vhem_statistics *stats;
    char unmeasured[256]; /* why there are none, to be said at the end */
} report_args;

static void free_args(report_args *a)
{
    free(a->class_of);
    free(a->line);
    free(a->D);
    free(a->rows);
    free(a->measures);
    vhem_free(a->examples);
    vhem_free(a->stats);
    vhem_free(a->loaded);
    vhem_free(a->set);
    vhem_free(a->tree);
}

/* ---- distances ----------------------------------------------------------------------------------------- */

/* Row of the table whose first column is each name; [n], -1 for none.  NULL without memory. */
static int *find_rows(const csv *t, int column, int n, const char *const *name, int *found)
{
    size_t rows = (size_t)t->rows - 1;
    CLI_AUTOFREE cli_entry *names = malloc(rows * sizeof *names);
    int *row = malloc((size_t)n * sizeof *row);
    *found = 0;
    for (size_t r = 0; names && r < rows; r++)
        names[r] = (cli_entry){ csv_cell(t, (int)r + 1, column), (int)r + 1 };
    if (names)
        cli_sort_names(names, rows);
    for (int i = 0; names && row && i < n; i++) {
        row[i] = (int)cli_find_name(names, rows, name[i]);
        *found += row[i] >= 0;
    }
    return row;
}

/* Rows by name where all are found, else by their order. */
static int fill_matrix(cli *c, const char *path, const csv *t, const int *row, int n, double *D)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            int r = row ? row[i] : i + 1, col = row ? row[k] : k + 1;
            double *x = &D[(size_t)i * (size_t)n + (size_t)k];
            if (!csv_number(t, r, col, x) || !isfinite(*x))
                return cli_fail(c, "%s: row %d, column %d is '%s', must be a number", path, r + 1, col + 1,
                                csv_cell(t, r, col));
        }
    return CLI_GO;
}

/* --distances: a square matrix with a header, as 'vhem compare --kind' writes it. */
static int load_distances(cli *c, const char *path, const vhem_clustering *cl, double **D)
{
    CLI_CLEANUP(csv_free) csv t = { 0 };
    int found = 0, n = (int)cl->Kb;
    CLI_TRY(csv_load(c, path, 2, &t));
    CLI_AUTOFREE int *row = find_rows(&t, 0, n, cl->name, &found);
    *D = calloc((size_t)n * (size_t)n, sizeof **D);
    CLI_CHECK(row && *D, "out of memory");
    CLI_CHECK(
        t.rows == n + 1 && t.columns == n + 1,
        "%s: has %d rows and %d columns of distances, must have %d of each; vhem compare MODELS --kind kl "
        "writes them",
        path, t.rows - 1, t.columns - 1, n);
    return fill_matrix(c, path, &t, found == n ? row : NULL, n, *D);
}

/* ---- choices ------------------------------------------------------------------------------------------- */

static void set_number(vhem_choice *row, int k, double x)
{
    memcpy((char *)row + choose_columns[k].at, &x, sizeof x);
}

static int choice_json(cli *c, const char *path, json_t *root, vhem_choice **rows, int *n)
{
    json_t *list = json_object_get(root, "choices"), *e;
    size_t i;
    CLI_CHECK(json_array_size(list) > 0, "%s: has no choices; vhem choose --json writes them", path);
    *rows = calloc(json_array_size(list), sizeof **rows);
    CLI_CHECK(*rows, "out of memory");
    json_array_foreach(list, i, e)
    {
        vhem_choice *row = &(*rows)[(*n)++];
        row->K = json_integer_value(json_object_get(e, "K"));
        row->S = (int)json_integer_value(json_object_get(e, "S"));
        for (int k = 0; k < N_CHOOSE_COLUMNS; k++) {
            json_t *v = json_object_get(e, choose_columns[k].name);
            set_number(row, k, json_is_number(v) ? json_number_value(v) : NAN);
        }
    }
    return CLI_GO;
}

static int choice_table(cli *c, const char *path, const csv *t, vhem_choice **rows, int *n)
{
    int K = csv_column(t, (const char *const[]){ "K", NULL }),
        S = csv_column(t, (const char *const[]){ "S", NULL });
    CLI_CHECK(K >= 0, "%s: has no column K; vhem choose writes such a table", path);
    *rows = calloc((size_t)t->rows, sizeof **rows);
    CLI_CHECK(*rows, "out of memory");
    for (int r = 1; r < t->rows; r++) {
        vhem_choice *row = &(*rows)[(*n)++];
        double k_value, s_value = 0, x; /* groups of sequences have no S */
        if (!csv_number(t, r, K, &k_value) || (S >= 0 && !csv_number(t, r, S, &s_value))
            || !(fabs(k_value) < INT_MAX) || !(fabs(s_value) < INT_MAX))
            return cli_fail(c, "%s: row %d has no numbers in K and S", path, r + 1);
        row->K = (int64_t)k_value;
        row->S = (int)s_value;
        for (int k = 0; k < N_CHOOSE_COLUMNS; k++) {
            int at = csv_column(t, (const char *const[]){ choose_columns[k].name, NULL });
            set_number(row, k, at >= 0 && csv_number(t, r, at, &x) ? x : NAN);
        }
        row->path = isnan(row->bic) && isfinite(row->frames);
    }
    return CLI_GO;
}

/* --choice: the table of 'vhem choose', as text or as JSON. */
static int load_choice(cli *c, const char *path, vhem_choice **rows, int *n)
{
    json_auto_t *root = cli_ends_with(path, cli_json_endings) ? cli_json_load(path, 0, NULL) : NULL;
    CLI_CLEANUP(csv_free) csv t = { 0 };
    *n = 0;
    if (root)
        return choice_json(c, path, root, rows, n);
    CLI_TRY(csv_load(c, path, 2, &t));
    return choice_table(c, path, &t, rows, n);
}

/* ---- sequences ----------------------------------------------------------------------------------------- */

/* Examples of sequences that were not clustered are easily taken for members: other data, or no --group. */
static void warn_of_strangers(cli *c, const report_args *a, const vhem_clustering *cl)
{
    const vhem_data_facts facts = cli_data_facts(a->loaded);
    json_auto_t *known = json_object();
    const char *some = NULL;
    for (int64_t i = 0; cl->name && i < cl->Kb; i++)
        if (cl->name[i]) {
            json_object_set_new(known, cl->name[i], json_true());
            some = some ? some : cl->name[i];
        }
    for (int64_t n = 0; n < facts.N; n++) {
        vhem_seq_view seq = cli_sequence_at(a->loaded, n);
        if (json_object_get(known, seq.name) || (seq.group[0] && json_object_get(known, seq.group)))
            return;
    }
    if (some)
        cli_say(
            c,
            "warning: no sequence of %s has a name that was clustered, '%s' for instance: each is shown in "
            "the cluster that fits it best%s",
            a->sequences, some, a->data.group ? "" : "; did you mean --group?");
}

/* ---- all inputs ---------------------------------------------------------------------------------------- */

static int load_inputs(cli *c, report_args *a)
{
    CLI_TRY(cli_load_clusters(c, c->arg[0], &a->tree));
    const vhem_clustering *cl = vhem_tree_level(a->tree, 0);
    CLI_CHECK(cl->Kb > 0, "%s holds models, not clusters; run vhem cluster first", c->arg[0]);
    if (a->models) {
        CLI_TRY(cli_load_models(c, a->models, &a->set));
        CLI_TRY(cli_check_models(c, a->set, a->models, cl, c->arg[0]));
    }
    if (a->truth && a->sequences && !cli_truth_is_file(a->truth))
        a->data.label = a->truth;
    if (a->sequences)
        CLI_TRY(cli_load_data(c, a->sequences, &a->data, cl->centers, NULL, &a->loaded));
    if (a->truth || !a->models) /* a page takes the labels of models by itself */
        CLI_TRY(cli_truth_find(c, &(cli_truth){ a->truth, a->set, a->loaded }, cl, &a->class_of));
    if (a->distances)
        CLI_TRY(load_distances(c, a->distances, cl, &a->D));
    if (a->choice)
        CLI_TRY(load_choice(c, a->choice, &a->rows, &a->in.n_choice));
    return CLI_GO;
}

/* What the levels are measured by: unless the user asked for all, only what is quick. */
static vhem_source measured_by(cli *c, const report_args *a, bool asked)
{
    enum { MOST_MODELS = 200, MOST_FRAMES = 100000 };
    vhem_source from = { a->set, a->loaded, a->data.group != NULL };
    int64_t Kb = vhem_tree_level(a->tree, 0)->Kb;
    const vhem_data_facts data = cli_data_facts(a->loaded);
    if (!asked && ((a->set && Kb > MOST_MODELS) || data.frames > MOST_FRAMES))
        cli_say(c, "measures of more than %d models or %d frames are left out; --measures all computes them",
                MOST_MODELS, MOST_FRAMES);
    from.models = asked || Kb <= MOST_MODELS ? from.models : NULL;
    from.data = asked || data.frames <= MOST_FRAMES ? from.data : NULL;
    return from;
}

/* The measures of every level.  What cannot be measured, for instance with sequences that have gaps, is left
 * out, which the page says. */
static int measure_levels(cli *c, report_args *a)
{
    bool asked = a->measure && strcmp(a->measure, "all") == 0;
    const vhem_tree_facts tree = cli_tree_facts(a->tree);
    if ((a->measure && strcmp(a->measure, "none") == 0) || (!a->set && !a->loaded))
        return CLI_GO;
    const vhem_source from = measured_by(c, a, asked);
    a->measures = calloc((size_t)tree.levels, sizeof *a->measures);
    CLI_CHECK(a->measures, "out of memory");
    for (int l = 0; l < tree.levels; l++) {
        a->measures[l] = (vhem_measures){ NAN, NAN, NAN, NAN };
        vhem_status st = vhem_measure(c->ctx, a->tree, l, &from, NULL, &a->measures[l]);
        if (st == VHEM_ESTOPPED || st == VHEM_ENOMEM || (st != VHEM_OK && asked))
            return cli_status(c, st);
        if (st != VHEM_OK && l == 0)
            snprintf(a->unmeasured, sizeof a->unmeasured, "%s", vhem_ctx_error(c->ctx));
    }
    return CLI_GO;
}

static int find_statistics(cli *c, report_args *a)
{
    vhem_stats_input in;
    if (!a->statistics || strcmp(a->statistics, "none") == 0)
        return CLI_GO;
    if (!a->loaded)
        return cli_misuse(c, "--stats needs --data, and --group for the persons in it");
    VHEM_INIT(VHEM_STATS_INPUT, &in);
    in.tree = a->tree;
    in.data = a->loaded;
    in.models = a->set;
    in.by_group = a->data.group != NULL;
    in.leave_out = strcmp(a->statistics, "leave-out") == 0;
    in.persons = a->persons;
    CLI_TRY(cli_status(c, vhem_stats(c->ctx, &in, &a->stats)));
    cli_check_persons(c, a->stats, a->tree, a->loaded, a->data.group);
    return CLI_GO;
}

/* The command as it was typed. */
static char *command_line(int argc, char **argv)
{
    char *line = NULL;
    size_t size;
    FILE *f = vh_memory_open(&line, &size);
    if (!f)
        return NULL;
    fputs("vhem report", f);
    for (int k = 1; k < argc; k++) {
        fputc(' ', f);
        cli_put_word(f, argv[k]);
    }
    vh_memory_close(f, &line, &size); /* NULL on failure */
    return line;
}

static void tell_report(cli *c, const report_args *a)
{
    const vhem_clustering *cl = vhem_tree_level(a->tree, 0);
    const char *item = strcmp(cl->items, "models") == 0 ? "model" : cluster_item_word(a->tree);
    int64_t Kb = cl->Kb;
    int n = cli_tree_facts(a->tree).levels;
    if (c->json)
        cli_json_put(stdout, json_pack("{s:s, s:o, s:o, s:o, s:i, s:I}", "command", c->command, "input",
                                       cli_json_text(c->arg[0]), "output", cli_json_text(a->output), "tables",
                                       cli_json_text(a->in.tables), "levels", n, "models", (json_int_t)Kb));
    cli_say(c, "a report on %lld %s%s and %d level%s of clusters in %s", (long long)Kb, item, cli_plural(Kb),
            n, cli_plural(n), cli_where(a->output));
    if (a->unmeasured[0])
        cli_say(c, "without measures: %s", a->unmeasured);
    if (a->in.tables)
        cli_say(c, "its numbers as tables in %s", a->in.tables);
    if (strcmp(a->output, "-") != 0)
        cli_say(c, "next: open %s in a browser", a->output);
}

static int load_and_report(cli *c, report_args *a)
{
    static const char *const html[] = { ".html", ".htm", NULL };
    CLI_TRY(cli_out_check_ending(c, a->output, "a report is written as .html", html));
    CLI_TRY(load_inputs(c, a));
    CLI_TRY(measure_levels(c, a));
    if (a->loaded) {
        warn_of_strangers(c, a, vhem_tree_level(a->tree, 0));
        CLI_TRY(cli_status(c, vhem_examples_find(c->ctx, a->tree, a->loaded, a->each, &a->examples)));
    }
    CLI_TRY(find_statistics(c, a));
    a->in.stats = a->stats;
    a->in.tree = a->tree;
    a->in.models = a->set;
    a->in.truth = a->class_of;
    a->in.data = a->loaded;
    a->in.distance = a->D;
    a->in.choice = a->rows;
    a->in.measures = a->measures;
    a->in.examples = a->examples;
    a->in.command = a->line;
    CLI_TRY(cli_status(c, vhem_report_write(c->ctx, &a->in, a->output)));
    tell_report(c, a);
    return EXIT_DONE;
}

static void add_options(cli_table *t, report_args *a)
{
    const cli_option rows[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a->output, .help = "HTML file to write; - is standard output" },
        { "tables", 0, OPT_TEXT, "DIR", &a->in.tables, .help = "folder that gets every number as TSV" },
        { "title", 0, OPT_TEXT, "TEXT", &a->in.title, .shown = "what was clustered",
          .help = "heading of the page" },
        { "models", 'm', OPT_TEXT, "FILE", &a->models,
          .help =
              "the models that were clustered: their labels are the classes, and their options are shown" },
        { "truth", 0, OPT_TEXT, "COL|CSV", &a->truth, .shown = "the labels of --models, or of --data",
          .help = "classes to compare with: a column of --data, or a table of names and classes" },
        { "data", 'd', OPT_TEXT, "DATA", &a->sequences,
          .help = "sequences to show some of, coloured by decoded state" },
        { "examples", 0, OPT_INT, "N", &a->each, 1, .help = "sequences shown of each cluster" },
        { "measures", 0, OPT_CHOICE, "auto|all|none", &a->measure, .shown = "auto",
          .help = "log-likelihoods and compactness, from --models and --data: if quick, always, or never" },
        { "stats", 0, OPT_CHOICE, "none|all|leave-out", &a->statistics, .shown = "none",
          .help = "the tests of vhem stats, for --data by --group; leave-out needs --models where those "
                  "were clustered" },
        { "persons", 0, OPT_CHOICE, "same|new", &a->persons, .shown = "same if their data are",
          .help = "with --stats: people with the name of a model that was clustered and other data" },
        { "distances", 0, OPT_TEXT, "FILE", &a->distances,
          .help = "matrix of distances between the models, with a header" },
        { "choice", 0, OPT_TEXT, "FILE", &a->choice, .help = "output of vhem choose, table or JSON" },
        { "image", 0, OPT_TEXT, "FILE", &a->in.image,
          .help =
              "PNG or JPEG to draw under the emissions in the plane, one pixel per unit, y pointing down" },
        { "y-down", 0, OPT_FLAG, NULL, &a->in.y_down,
          .help = "in the plane y grows downwards, as on a screen" },
        { "plane", 0, OPT_TEXT, "COL,COL", &a->in.plane, .shown = "x,y or the first two, for pictures",
          .help = "two dimensions to draw as the plane; each other one is a strip with its own axis" },
        { "frame-name", 0, OPT_TEXT, "WORD", &a->in.frame_name, .shown = "frames",
          .help = "what to call frames on the page, such as fixations" },
        { 0 },
    };
    cli_add(t, rows);
    cli_add_data(t, &a->data,
                 "column with the group of a sequence; it is found among the models by this name");
}

int cmd_report(cli *c, int argc, char **argv)
{
    CLI_CLEANUP(free_args) report_args a = { .output = "report.html", .each = 2 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    VHEM_INIT(VHEM_REPORT_INPUT, &a.in);
    a.in.y_down = 0;
    add_options(&t, &a);
    const cli_usage usage = {
        .args = "OUT",
        .n_min = 1,
        .n_max = 1,
        .table = &t,
        .first = "output tables title models truth data stats image y-down plane frame-name id group columns",
        .about =
            "Writes a self-contained HTML page about the clusters or the tree in OUT, for any browser and "
            "without a network: levels, tree, centres, membership and bound; models, data and other files "
            "add more. Centres by variational Bayes (vhem cluster --method vbhem) have 95 % intervals of "
            "their parameters. The command itself clusters and fits nothing.",
        .examples = "  vhem report tree.json --models walks.json --data walks.csv --tables numbers\n"
                    "  vhem report groups.json --image face.png --frame-name fixations\n"
                    "  vhem report groups.json --data trials.csv -g subject --stats all\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    a.line = command_line(argc, argv);
    CLI_CHECK(a.line, "out of memory");
    return load_and_report(c, &a);
}
