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
    int status = cli_load_clusters(c, c->arg[0], &a->tree);
    if (status == CLI_GO && vhem_tree_level(a->tree, 0)->Kb == 0)
        status = cli_fail(c, "%s holds models, not clusters; run vhem cluster first", c->arg[0]);
    if (status == CLI_GO && a->models)
        status = cli_load_models(c, a->models, &a->set);
    if (status == CLI_GO && a->models)
        status = cli_check_models(c, a->set, a->models, vhem_tree_level(a->tree, 0), c->arg[0]);
    vhem_data_options read = a->read; /* as the centres see it */
    if (status == CLI_GO)
        status = cli_read_for(c, c->arg[1], vhem_tree_level(a->tree, 0)->centers, NULL, &read);
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[1], &read, &a->data));
    return status;
}

typedef void put_table(FILE *f, const vhem_statistics *s, const stats_who *who);

static void put_tests(FILE *f, const vhem_statistics *s, const stats_who *who)
{
    (void)who;
    stats_put_tests(f, s);
}

static int write_table(cli *c, const stats_args *a, const char *path, put_table *put, const stats_who *who)
{
    cli_out out;
    int status = cli_out_open(c, path, &out);
    if (status != CLI_GO)
        return status;
    put(out.f, a->s, who);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    return status;
}

static int write_folder(cli *c, const stats_args *a, const stats_who *who)
{
    char path[4096];
    if (mkdir(a->tables, 0777) != 0 && errno != EEXIST)
        return cli_fail(c, "%s: cannot make the folder: %s", a->tables, strerror(errno));
    snprintf(path, sizeof path, "%s/persons.tsv", a->tables);
    int status = write_table(c, a, path, stats_put_persons, who);
    snprintf(path, sizeof path, "%s/tests.tsv", a->tables);
    return status == CLI_GO ? write_table(c, a, path, put_tests, who) : status;
}

static int write_all(cli *c, const stats_args *a)
{
    const stats_who who = { a->read.group ? a->read.group : "sequence", a->read.group ? NULL : a->data };
    bool persons_shown = a->output && strcmp(a->output, "-") == 0;
    int status = CLI_GO;
    if (c->json)
        cli_json_put(stdout, stats_json(c, a->s, &who));
    else if (!persons_shown)
        stats_put_tests(stdout, a->s);
    if (a->output && (!c->json || !persons_shown))
        status = write_table(c, a, a->output, stats_put_persons, &who);
    if (status == CLI_GO && a->tables)
        status = write_folder(c, a, &who);
    if (status == CLI_GO)
        stats_say(c, a->s);
    if (status == CLI_GO)
        stats_check_persons(c, a->s, a->tree, a->data, a->read.group);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int compute_and_write(cli *c, stats_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && a->output)
        status = cli_out_check_table(c, a->output);
    if (status == CLI_GO && a->in.leave_out > 0 && !a->models)
        status = cli_misuse(c, "--leave-out needs --models, the models that were clustered");
    if (status == CLI_GO)
        status = load_inputs(c, a);
    a->in.tree = a->tree;
    a->in.data = a->data;
    a->in.models = a->set;
    a->in.by_group = a->read.group != NULL;
    a->in.level = a->level > 0 ? a->level - 1 : 0;
    if (status == CLI_GO)
        status = cli_status(c, vhem_stats(c->ctx, &a->in, &a->s));
    if (status == CLI_GO && a->set)
        cli_tell_common(c, 1, (const vhem_models *const[]){ a->set }, false);
    if (status == CLI_GO)
        status = write_all(c, a);
    vhem_free(a->s);
    vhem_free(a->data);
    vhem_free(a->set);
    vhem_free(a->tree);
    return status;
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
    stats_args a = { .level = -1 };
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
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? compute_and_write(c, &a) : status;
}
