/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_stats.c - vhem stats CLUSTERS DATA: scores of persons and tests, after clustering. */
#include "stats.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    vhem_data_options read;
    vhem_stats_input in;
    const char *output, *tables, *models;
    int level; /* as people count: 1 is the lowest; -1: that */
    vhem_tree *tree;
    vhem_models *set;
    vhem_data *data;
    vhem_statistics *s;
} stats_args;

static int load_inputs(cli *c, stats_args *a)
{
    vhem_data_options read = a->read; /* as the centres see it */
    CLI_TRY(cli_load_clusters(c, c->arg[0], &a->tree));
    const vhem_clustering *first = vhem_tree_level(a->tree, 0);
    CLI_CHECK(first->Kb > 0, "%s holds models, not clusters; run vhem cluster first", c->arg[0]);
    if (a->models) {
        CLI_TRY(cli_load_models(c, a->models, &a->set));
        CLI_TRY(cli_check_models(c, a->set, a->models, first, c->arg[0]));
    }
    CLI_TRY(cli_read_for(c, c->arg[1], first->centers, NULL, &read));
    return cli_status(c, vhem_data_load(c->ctx, c->arg[1], &read, &a->data));
}

static int write_folder(cli *c, const char *folder, const cli_rows *persons, const cli_rows *tests)
{
    char path[4096];
    CLI_CHECK(mkdir(folder, 0777) == 0 || errno == EEXIST, "%s: cannot make the folder: %s", folder,
              strerror(errno));
    snprintf(path, sizeof path, "%s/persons.tsv", folder);
    CLI_TRY(cli_write_table(c, path, NULL, persons));
    snprintf(path, sizeof path, "%s/tests.tsv", folder);
    return cli_write_table(c, path, NULL, tests);
}

static int write_all(cli *c, const stats_args *a)
{
    const stats_table t = { a->s, a->read.group ? a->read.group : "sequence",
                            a->read.group ? NULL : a->data };
    const cli_rows persons = stats_persons(&t), tests = stats_tests(&t);
    bool persons_shown = a->output && strcmp(a->output, "-") == 0;
    if (c->json)
        cli_json_put(stdout, stats_json(c, &t));
    else if (!persons_shown)
        cli_write_rows(&(cli_out){ .f = stdout, .separator = '\t' }, &tests);
    if (a->output && (!c->json || !persons_shown))
        CLI_TRY(cli_write_table(c, a->output, NULL, &persons));
    if (a->tables)
        CLI_TRY(write_folder(c, a->tables, &persons, &tests));
    stats_say(c, a->s);
    stats_check_persons(c, a->s, a->tree, a->data, a->read.group);
    return EXIT_DONE;
}

static int compute_and_write(cli *c, stats_args *a)
{
    CLI_TRY(cli_check_streams(c, a->output));
    if (a->output)
        CLI_TRY(cli_out_check_table(c, a->output));
    if (a->in.leave_out > 0 && !a->models)
        return cli_misuse(c, "--leave-out needs --models, the models that were clustered");
    CLI_TRY(load_inputs(c, a));
    a->in.tree = a->tree;
    a->in.data = a->data;
    a->in.models = a->set;
    a->in.by_group = a->read.group != NULL;
    a->in.level = a->level > 0 ? a->level - 1 : 0;
    CLI_TRY(cli_status(c, vhem_stats(c->ctx, &a->in, &a->s)));
    if (a->set)
        cli_tell_common(c, 1, (const vhem_models *const[]){ a->set }, false);
    return write_all(c, a);
}

static void free_args(stats_args *a)
{
    vhem_free(a->s);
    vhem_free(a->data);
    vhem_free(a->set);
    vhem_free(a->tree);
}

static void add_options(cli_table *t, stats_args *a)
{
    const cli_option rows[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a->output, .shown = "none",
          .help = "table with a row for each person, .tsv or .csv" },
        { "tables", 0, OPT_TEXT, "DIR", &a->tables, .shown = "none",
          .help = "folder that gets both tables, persons.tsv and tests.tsv" },
        { "models", 'm', OPT_TEXT, "FILE", &a->models, .shown = "none",
          .help = "the models that were clustered, for entropies and --leave-out" },
        { "leave-out", 0, OPT_FLAG, NULL, &a->in.leave_out,
          .help = "score each person under centres made without that person's model; needs --models" },
        { "persons", 0, OPT_CHOICE, "same|new", &a->in.persons, .shown = "same if their data are",
          .help = "persons who have the name of a model that was clustered and other data" },
        { "correction", 0, OPT_CHOICE, "holm|bonferroni|bh|none", &a->in.correction, .shown = "holm",
          .help = "of p for many tests of one kind; bh: false discovery rate" },
        { "confidence", 0, OPT_REAL, "C", &a->in.confidence, .shown = "0.95",
          .help = "confidence of the intervals of Cohen's d" },
        { "level", 0, OPT_INT, "L", &a->level, 1, .shown = "1, the lowest", .help = "level of a tree" },
        { 0 },
    };
    cli_add(t, rows);
    cli_add_data(t, &a->read, "column with the person; without it each sequence is one");
}

int cmd_stats(cli *c, int argc, char **argv)
{
    CLI_CLEANUP(free_args) stats_args a = { .level = -1 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.read);
    VHEM_INIT(VHEM_STATS_INPUT, &a.in);
    add_options(&t, &a);
    const cli_usage usage = {
        .args = "CLUSTERS DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .first = "output tables models leave-out correction id label group columns",
        .about =
            "Tests whether clusters differ, person by person. A person is a group of sequences, such as the "
            "trials of one viewer (--group). For each person: the mean log-likelihood per frame under each "
            "centre; the scale (L_j - L_k) / (|L_j| + |L_k|) of each centre against the best other one, "
            "which with two centres is the A-B scale; the entropy of the posterior over centres; and with "
            "--models the entropy under the person's own model. Prints the tests: in each cluster, whether "
            "its own centre fits better than the others (paired t); between groups of persons, by --label or "
            "else by cluster, whether scales and entropies differ (Welch's t, Mann-Whitney). d is Cohen's d "
            "with its interval.",
        .examples = "  vhem stats groups.json trials.csv -i subject,trial -g subject -o persons.tsv\n"
                    "  vhem stats groups.json trials.csv -g subject -m subjects.json --leave-out\n"
                    "  vhem stats groups.json trials.csv -g subject --label age_group\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return compute_and_write(c, &a);
}
