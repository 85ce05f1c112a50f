/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_stats.c - vhem stats CLUSTERS DATA: scores of persons and tests, after clustering. */
#include "cli.h"
#include "vhem.h"
#include "vhem/analysis.h"
#include "os/path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

typedef struct {
    const vhem_statistics *s;
    const char *who;            /* what the persons are called, "subject" */
    const vhem_data *sequences; /* where each is a sequence; NULL: groups of them */
} stats_table;

/* ---- what is written ----------------------------------------------------------------------------------- */

static void put_person(cli_row *r, const void *of, int64_t i)
{
    const stats_table *t = of;
    const vhem_statistics *s = t->s;
    char buf[32];
    cli_cell_text(r, r->json ? "name" : t->who, s->name[i]);
    cli_cell_text(r, "label", s->label[i]);
    cli_cell_int(r, "cluster", s->cluster[i]);
    if (r->json)
        json_object_set_new(r->json, "clustered", json_boolean(s->clustered[i]));
    else
        cli_cell_text(r, "clustered", s->clustered[i] ? "yes" : "no");
    cli_cell_int(r, "sequences", s->sequences[i]);
    cli_cell_int(r, "frames", s->frames[i]);
    for (int j = 0; j < s->K; j++)
        cli_cell_real_of(r, "loglik", cli_numbered("loglik_", j, buf), s->loglik[i * s->K + j]);
    for (int j = 0; j < s->K; j++)
        cli_cell_real_of(r, "scale", cli_numbered("scale_", j, buf), s->scale[i * s->K + j]);
    cli_cell_real(r, "uncertainty", s->uncertainty[i]);
    cli_cell_real(r, "entropy", s->entropy[i]);
    cli_cell_real(r, "share", s->share[i]);
    cli_cell_ids(r, t->sequences, NULL, s->name[i]);
}

/* "loglik_0", "entropy": the column of the persons' table. */
static const char *column(const char *measure, int centre, char buf[32])
{
    snprintf(buf, 32, centre < 0 ? "%s" : "%s_%d", measure, centre);
    return buf;
}

/* What stands on the two sides of a test. */
static void sides(const vhem_test *t, char a[64], char b[64])
{
    if (t->b) {
        snprintf(a, 64, "%s", t->a);
        snprintf(b, 64, "%s", t->b);
    } else {
        snprintf(a, 64, "centre %d", t->centre);
        snprintf(b, 64, "centre %d", t->other);
    }
}

static void put_test(cli_row *r, const void *of, int64_t k)
{
    static const vhem_test none = { .kind = "", .measure = "", .a = "", .b = "" };
    const vhem_statistics *s = ((const stats_table *)of)->s;
    const vhem_test *t = s->n_test > 0 ? &s->test[k] : &none; /* for the head */
    char buf[64], a[64], b[64];
    sides(t, a, b);
    cli_cell_text(r, "test", t->kind);
    cli_cell_text(r, "measure", t->b && !r->json ? column(t->measure, t->centre, buf) : t->measure);
    if (r->json)
        cli_cell_int(r, "centre", t->centre);
    else
        cli_cell_text(r, "persons", t->b ? "all" : cli_numbered("cluster ", t->centre, buf));
    cli_cell_text(r, "a", a);
    cli_cell_text(r, "b", b);
    cli_cell_int(r, "n_a", t->n_a);
    cli_cell_int(r, "n_b", t->n_b);
    cli_cell_real(r, "mean_a", t->mean_a);
    cli_cell_real(r, "mean_b", t->mean_b);
    cli_cell_real(r, "statistic", t->statistic);
    cli_cell_real(r, "df", t->freedom);
    cli_cell_real(r, "p", t->p);
    cli_cell_real(r, "p_greater", t->p_greater);
    cli_cell_real(r, "p_adjusted", t->p_adjusted);
    cli_cell_real(r, "d", t->d);
    cli_cell_real(r, "d_low", t->d_low);
    cli_cell_real(r, "d_high", t->d_high);
}

static cli_rows persons_table(const stats_table *t)
{
    return (cli_rows){ .n = t->s->n, .put = put_person, .of = t, .unknown = "" };
}

static cli_rows tests_table(const stats_table *t)
{
    return (cli_rows){ .n = t->s->n_test, .put = put_test, .of = t, .unknown = "" };
}

static json_t *stats_json(const cli *c, const stats_table *t)
{
    const cli_rows persons = persons_table(t), tests = tests_table(t);
    return json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:o}", "command", c->command, "clusters",
                     cli_json_text(c->arg[0]), "data", cli_json_text(c->arg[1]), "left_out", t->s->left_out,
                     "who", cli_json_text(t->who), "persons", cli_rows_json(&persons), "tests",
                     cli_rows_json(&tests));
}

static const double CLEAR = 0.05; /* of p, corrected where there is more than one test */

static void say_paired(cli *c, const vhem_test *t)
{
    double p = isfinite(t->p_adjusted) ? t->p_adjusted : t->p;
    if (!isfinite(t->p))
        cli_say(c, "cluster %d: %lld person%s too few to test centre %d against centre %d", t->centre,
                (long long)t->n_a, t->n_a == 1 ? " is" : "s are", t->centre, t->other);
    else if (p > CLEAR)
        cli_say(
            c,
            "cluster %d: no clear difference between centre %d and centre %d, t(%.0f) = %.2f, p = %.2g%s, "
            "d = %.2f [%.2f, %.2f]",
            t->centre, t->centre, t->other, t->freedom, t->statistic, p, p > t->p ? " (corrected)" : "", t->d,
            t->d_low, t->d_high);
    else
        cli_say(
            c,
            "cluster %d: centre %d fits %s than centre %d, t(%.0f) = %.2f, p = %.2g, d = %.2f [%.2f, %.2f]",
            t->centre, t->centre, t->statistic > 0 ? "better" : "worse", t->other, t->freedom, t->statistic,
            t->p, t->d, t->d_low, t->d_high);
}

/* Welch's t between groups of persons, their labels; the rank test of the same is in the table. */
static void say_between(cli *c, const vhem_test *t)
{
    char measure[32];
    double p = isfinite(t->p_adjusted) ? t->p_adjusted : t->p;
    column(t->measure, t->centre, measure);
    if (!isfinite(t->p))
        cli_say(c, "%s and %s: too few persons to compare %s (%lld and %lld)", t->a, t->b, measure,
                (long long)t->n_a, (long long)t->n_b);
    else
        cli_say(c, "%s and %s: %s in %s, t(%.1f) = %.2f, p = %.2g%s, d = %.2f [%.2f, %.2f]", t->a, t->b,
                p > CLEAR ? "no clear difference" : "they differ", measure, t->freedom, t->statistic, p,
                p > t->p ? " (corrected)" : "", t->d, t->d_low, t->d_high);
}

void cli_check_persons(cli *c, const vhem_statistics *s, const vhem_tree *tree, const vhem_data *data,
                       const char *group)
{
    const vhem_clustering *items = vhem_tree_level(tree, 0);
    const char *column;
    for (int64_t i = 0; i < s->n; i++)
        if (s->clustered[i])
            return;
    if (!group && cli_ids_have(data, items->Kb, items->name, &column))
        cli_say(c,
                "warning: %lld sequences were tested as separate persons, but what was clustered has several "
                "of them; did you mean --group %s?",
                (long long)s->n, column ? column : "COLUMN, the one with the persons");
}

/* How far the tests between centres can be believed. */
static void say_who(cli *c, const vhem_statistics *s)
{
    int64_t seen = 0, other = 0;
    for (int64_t i = 0; i < s->n; i++) {
        seen += s->clustered[i] == 1;
        other += s->clustered[i] > 1;
    }
    if (s->left_out && seen + other > 0)
        cli_say(c, "each was scored under centres made without its own model; cluster membership still comes "
                   "from the full clustering");
    else if (seen > 0)
        cli_say(
            c,
            "warning: %lld of %lld were clustered, so their centres were made to fit them: the tests between "
            "centres are circular and their p values too small; use --leave-out, or sequences that no model "
            "was fitted to",
            (long long)seen, (long long)s->n);
    else if (other > 0)
        cli_say(c,
                "the models of %lld of %lld were clustered, fitted to other data than these: the tests "
                "between centres are not circular",
                (long long)other, (long long)s->n);
    else
        cli_say(
            c,
            "warning: none of these was clustered: each is in the cluster whose centre fits it best, so the "
            "tests between centres only say how clear that choice is; labels can be tested without this "
            "circle");
}

/* Are the groups of persons their labels, not the clusters? */
static bool is_label(const vhem_statistics *s, const char *group)
{
    for (int64_t i = 0; i < s->n; i++)
        if (strcmp(s->label[i], group) == 0)
            return true;
    return false;
}

static void say_tests(cli *c, const vhem_statistics *s)
{
    for (int k = 0; k < s->n_test && s->n_test <= 12; k++)
        if (!s->test[k].b)
            say_paired(c, &s->test[k]);
        else if (strcmp(s->test[k].kind, "t") == 0 && is_label(s, s->test[k].a))
            say_between(c, &s->test[k]);
    say_who(c, s);
}

/* ---- the work ------------------------------------------------------------------------------------------ */

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
    CLI_CHECK(vh_folder_make(folder), "%s: cannot make the folder: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/persons.tsv", folder);
    CLI_TRY(cli_write_table(c, path, NULL, persons));
    snprintf(path, sizeof path, "%s/tests.tsv", folder);
    return cli_write_table(c, path, NULL, tests);
}

static int write_all(cli *c, const stats_args *a)
{
    const stats_table t = { a->s, a->read.group ? a->read.group : "sequence",
                            a->read.group ? NULL : a->data };
    const cli_rows persons = persons_table(&t), tests = tests_table(&t);
    bool persons_shown = a->output && strcmp(a->output, "-") == 0;
    if (c->json)
        cli_json_put(stdout, stats_json(c, &t));
    else if (!persons_shown)
        cli_write_rows(&(cli_out){ .f = stdout, .separator = '\t' }, &tests);
    if (a->output && (!c->json || !persons_shown))
        CLI_TRY(cli_write_table(c, a->output, NULL, &persons));
    if (a->tables)
        CLI_TRY(write_folder(c, a->tables, &persons, &tests));
    say_tests(c, a->s);
    cli_check_persons(c, a->s, a->tree, a->data, a->read.group);
    return EXIT_DONE;
}

static int compute_and_write(cli *c, stats_args *a)
{
    CLI_TRY(cli_check_streams(c, a->output));
    if (a->output)
        CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(load_inputs(c, a));
    if (a->in.leave_out > 0 && !a->models && strcmp(vhem_tree_level(a->tree, 0)->items, "models") == 0)
        return cli_misuse(c, "--leave-out needs --models, the models that were clustered");
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
          .help = "score each person under centres made without that person; where models were clustered it "
                  "needs --models" },
        { "persons", 0, OPT_CHOICE, "same|new", &a->in.persons, .shown = "same if their data are",
          .help = "people with the name of a model that was clustered and other data" },
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
            "trials of one viewer (--group). Prints the tests: in each cluster, whether its own centre fits "
            "better than the others (paired t); between groups of persons, by --label or else by cluster, "
            "whether scales and entropies differ (Welch's t, Mann-Whitney). d is Cohen's d with its "
            "interval.",
        .more =
            "For each person, --output has the mean log-likelihood per frame under each centre; the scale "
            "(L_j - L_k) / (|L_j| + |L_k|) of each centre against the best other one, which with two centres "
            "is the A-B scale; the entropy of the posterior over centres; and with --models the entropy "
            "under the person's own model.",
        .examples = "  vhem stats groups.json trials.csv -i subject,trial -g subject -o persons.tsv\n"
                    "  vhem stats groups.json trials.csv -g subject -m subjects.json --leave-out\n"
                    "  vhem stats groups.json trials.csv -g subject --label age_group\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return compute_and_write(c, &a);
}
