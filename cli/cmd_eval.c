/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_eval.c - vhem eval OUT...: values of one run; mean and standard deviation of several; the paired t-test
 * of one list of runs against another.
 *
 *   1. what is measured
 *   2. what is written
 *   3. the work */
#include "cli.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1. what is measured ------------------------------------------------------------------------------- */

enum {
    EVAL_RAND,
    EVAL_ADJUSTED,
    EVAL_NMI,
    EVAL_PURITY,
    EVAL_EXPECTED,
    EVAL_LOGLIK,
    EVAL_COMPACTNESS,
    EVAL_MODULARITY,
    EVAL_MEASURES
};

static const struct {
    const char *key, *name;
} measures[EVAL_MEASURES] = {
    { "rand", "Rand index" },
    { "adjusted_rand", "adjusted Rand index" },
    { "nmi", "mutual information" },
    { "purity", "purity" },
    { "expected_loglik", "expected log-likelihood" },
    { "loglik", "log-likelihood" },
    { "compactness", "PPK compactness" },
    { "modularity", "modularity" },
};

typedef struct {
    const char *output, *truth, *models, *data;
    vhem_data_options read;
    vhem_cluster_options opt; /* tau, lambda, kernel */
    cli_texts against;
} eval_args;

typedef struct { /* what clusters are judged by; each may be NULL */
    vhem_models *models;
    vhem_data *data;
} yardstick;

typedef struct { /* one file, one run */
    vhem_tree *tree;
    double (*value)[EVAL_MEASURES]; /* [levels]  NaN: not known */
} eval_run;

typedef struct { /* runs of one method, repeated */
    int n;
    const char *const *path; /* [n] */
    eval_run *run;           /* [n] */
} eval_runs;

typedef struct { /* one row of the table */
    int level, measure;
    int64_t K;
    double mean[2], sd[2]; /* of a and b; sd is NaN for one run */
    double t, p;           /* NaN without b, or when the test cannot be made */
} row;

typedef struct {
    int levels;
    int64_t Kb;
    eval_runs a, b;        /* b: what a is compared with, or n = 0 */
    const char **class_of; /* [Kb]  or NULL */
    int n_row;
    row *row; /* [n_row]  what is known, by level and measure */
} eval_result;

/* ---- 2. what is written -------------------------------------------------------------------------------- */

/* x [n]: the values of the runs; false when none is known. */
static bool summarise(const eval_runs *runs, int l, int m, double *x, double *mean, double *sd)
{
    double square = 0;
    *mean = 0;
    *sd = NAN;
    for (int r = 0; r < runs->n; r++) {
        x[r] = runs->run[r].value[l][m];
        *mean += x[r] / runs->n;
    }
    for (int r = 0; r < runs->n; r++)
        square += (x[r] - *mean) * (x[r] - *mean);
    if (runs->n > 1)
        *sd = sqrt(square / (runs->n - 1));
    return runs->n > 0 && !isnan(*mean);
}

static bool make_row(const eval_result *r, int l, int m, row *out)
{
    double a[CLI_MAX_ARGS], b[CLI_MAX_ARGS] = { 0 };
    *out =
        (row){ .level = l, .measure = m, .K = vhem_tree_level(r->a.run[0].tree, l)->Kr, .t = NAN, .p = NAN };
    bool known = summarise(&r->a, l, m, a, &out->mean[0], &out->sd[0]);
    if (summarise(&r->b, l, m, b, &out->mean[1], &out->sd[1]) && known)
        vhem_paired_t(r->a.n, a, b, &out->t, &out->p);
    return known;
}

static int make_rows(cli *c, eval_result *r)
{
    r->row = calloc((size_t)r->levels * EVAL_MEASURES, sizeof *r->row);
    CLI_CHECK(r->row, "out of memory");
    for (int l = 0; l < r->levels; l++)
        for (int m = 0; m < EVAL_MEASURES; m++)
            r->n_row += make_row(r, l, m, &r->row[r->n_row]);
    return CLI_GO;
}

static void put_or_dash(FILE *f, const char *lead, double x, const char *format)
{
    fputs(lead, f);
    if (isnan(x))
        fputs("-", f);
    else
        fprintf(f, format, x);
}

/* Items of class k in cluster j. */
static int64_t count_of(const eval_result *r, int l, const int *number, int j, int k)
{
    const int *label = vhem_tree_level(r->a.run[0].tree, l)->base_label;
    int64_t count = 0;
    for (int64_t i = 0; i < r->Kb; i++)
        count += label[i] == j && number[i] == k;
    return count;
}

/* Rows are clusters, columns classes, of one run; number [Kb] of the class of each item.  False: no
 * memory. */
static bool put_confusion(FILE *f, const eval_result *r, int l, const int *number, int classes)
{
    int64_t K = vhem_tree_level(r->a.run[0].tree, l)->Kr;
    int k = 0;
    CLI_AUTOFREE int *width = calloc((size_t)classes + 1, sizeof *width);
    if (!width)
        return false;
    fprintf(f, "\nlevel %d: clusters by classes\ncluster", l + 1);
    for (int64_t i = 0; i < r->Kb; i++)
        if (number[i] == k) {
            width[k++] = (int)strlen(r->class_of[i]);
            fprintf(f, "  %s", r->class_of[i]);
        }
    fputc('\n', f);
    for (int64_t j = 0; j < K; j++) {
        fprintf(f, "%7lld", (long long)j);
        for (k = 0; k < classes; k++)
            fprintf(f, "  %*lld", width[k], (long long)count_of(r, l, number, j, k));
        fputc('\n', f);
    }
    return true;
}

static bool put_confusions(cli *c, FILE *f, const eval_result *r)
{
    int classes;
    CLI_AUTOFREE int *number = malloc(((size_t)r->Kb + 1) * sizeof *number);
    bool good = number && vhem_number_names(c->ctx, r->Kb, r->class_of, number, &classes) == VHEM_OK;
    for (int l = 0; good && classes > 0 && l < r->levels; l++)
        good = put_confusion(f, r, l, number, classes);
    return good;
}

static bool put_text(cli *c, FILE *f, const eval_result *r)
{
    bool several = r->a.n > 1, pair = r->b.n > 0;
    fprintf(f, "%5s %8s  %-24s %14s", "level", "clusters", "measure", several ? "mean" : "value");
    fprintf(f, several ? " %10s" : "", "sd");
    if (pair)
        fprintf(f, " %14s %10s %8s %9s", "against", "sd", "t", "p");
    fputc('\n', f);
    for (const row *x = r->row; x < r->row + r->n_row; x++) {
        fprintf(f, "%5d %8lld  %-24s", x->level + 1, (long long)x->K, measures[x->measure].name);
        put_or_dash(f, " ", x->mean[0], "%14.6g");
        if (several)
            put_or_dash(f, " ", x->sd[0], "%10.3g");
        if (pair) {
            put_or_dash(f, " ", x->mean[1], "%14.6g");
            put_or_dash(f, " ", x->sd[1], "%10.3g");
            put_or_dash(f, isnan(x->t) ? "        " : " ", x->t, "%8.3f");
            put_or_dash(f, isnan(x->p) ? "         " : " ", x->p, "%9.2g");
        }
        fputc('\n', f);
    }
    return !r->class_of || several || pair || put_confusions(c, f, r);
}

static void put_known(cli_row *r, const char *name, double x)
{
    if (isnan(x))
        cli_cell_text(r, name, "");
    else
        cli_cell_real(r, name, x);
}

static void put_measure(cli_row *r, const void *of, int64_t i)
{
    static const row none;
    const eval_result *all = of;
    const row *x = i < all->n_row ? &all->row[i] : &none; /* for the head */
    cli_cell_int(r, "level", x->level + 1);
    cli_cell_int(r, "clusters", x->K);
    cli_cell_text(r, "measure", measures[x->measure].key);
    cli_cell_int(r, "runs", all->a.n);
    put_known(r, "mean", x->mean[0]);
    put_known(r, "sd", x->sd[0]);
    if (all->b.n == 0)
        return;
    put_known(r, "against_mean", x->mean[1]);
    put_known(r, "against_sd", x->sd[1]);
    put_known(r, "t", x->t);
    put_known(r, "p", x->p);
}

/* {cluster: {class: count}}, as a list over clusters. */
static json_t *confusion_json(const eval_result *r, int l)
{
    const int *label = vhem_tree_level(r->a.run[0].tree, l)->base_label;
    json_t *all = json_array();
    for (int j = 0; j < vhem_tree_level(r->a.run[0].tree, l)->Kr; j++)
        json_array_append_new(all, json_object());
    for (int64_t i = 0; i < r->Kb; i++) {
        json_t *one = json_array_get(all, (size_t)label[i]);
        if (r->class_of[i][0])
            json_object_set_new(one, r->class_of[i],
                                json_integer(json_integer_value(json_object_get(one, r->class_of[i])) + 1));
    }
    return all;
}

static json_t *runs_json(const eval_runs *runs, int l, int m)
{
    json_t *all = json_array();
    for (int k = 0; k < runs->n; k++)
        json_array_append_new(all, cli_json_real(runs->run[k].value[l][m]));
    return all;
}

static json_t *row_json(const eval_result *r, const row *x)
{
    json_t *one = json_pack("{s:o, s:o, s:o}", "mean", cli_json_real(x->mean[0]), "sd",
                            cli_json_real(x->sd[0]), "runs", runs_json(&r->a, x->level, x->measure));
    if (r->b.n)
        json_object_set_new(one, "against",
                            json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean", cli_json_real(x->mean[1]), "sd",
                                      cli_json_real(x->sd[1]), "runs", runs_json(&r->b, x->level, x->measure),
                                      "t", cli_json_real(x->t), "p", cli_json_real(x->p)));
    return one;
}

static json_t *result_json(const cli *c, const eval_result *r)
{
    json_t *levels = json_array();
    const row *x = r->row;
    for (int l = 0; l < r->levels; l++) {
        json_t *all = json_object();
        for (; x < r->row + r->n_row && x->level == l; x++)
            json_object_set_new(all, measures[x->measure].key, row_json(r, x));
        json_t *level = json_pack("{s:i, s:I, s:o}", "level", l + 1, "K",
                                  (json_int_t)vhem_tree_level(r->a.run[0].tree, l)->Kr, "measures", all);
        if (r->class_of && r->a.n == 1)
            json_object_set_new(level, "confusion", confusion_json(r, l));
        json_array_append_new(levels, level);
    }
    return json_pack("{s:s, s:o, s:i, s:I, s:o}", "command", c->command, "input", cli_json_text(c->arg[0]),
                     "runs", r->a.n, "models", (json_int_t)r->Kb, "levels", levels);
}

/* ---- 3. the work --------------------------------------------------------------------------------------- */

/* Runs can be compared when they have the same levels over the same models, which the first file settles. */
static int check_run(cli *c, const char *path, const vhem_tree *tree, eval_result *r)
{
    const vhem_tree_facts facts = cli_tree_facts(tree);
    int64_t Kb = vhem_tree_level(tree, 0)->Kb;
    CLI_CHECK(Kb > 0, "%s holds models, not clusters; run vhem cluster first", path);
    if (r->levels == 0) {
        r->levels = facts.levels;
        r->Kb = Kb;
    }
    CLI_CHECK(facts.levels == r->levels, "%s has %d level%s, but %s has %d", path, facts.levels,
              cli_plural(facts.levels), r->a.path[0], r->levels);
    CLI_CHECK(Kb == r->Kb, "%s clusters %lld models, but %s %lld", path, (long long)Kb, r->a.path[0],
              (long long)r->Kb);
    return CLI_GO;
}

static int load_runs(cli *c, eval_runs *runs, eval_result *r)
{
    runs->run = calloc((size_t)runs->n + 1, sizeof *runs->run);
    CLI_CHECK(runs->run, "out of memory");
    for (int k = 0; k < runs->n; k++) {
        eval_run *one = &runs->run[k];
        CLI_TRY(cli_load_clusters(c, runs->path[k], &one->tree));
        CLI_TRY(check_run(c, runs->path[k], one->tree, r));
        one->value = calloc((size_t)r->levels, sizeof *one->value);
        CLI_CHECK(one->value, "out of memory");
    }
    return CLI_GO;
}

static void free_runs(eval_runs *runs)
{
    for (int k = 0; runs->run && k < runs->n; k++) {
        vhem_free(runs->run[k].tree);
        free(runs->run[k].value);
    }
    free(runs->run);
}

/* Fewer than two models of known class cannot be compared with anything. */
static int need_two_classes(cli *c, const eval_args *a, eval_result *r)
{
    vhem_agreement g = { 0 };
    const int *label = vhem_tree_level(r->a.run[0].tree, 0)->base_label;
    if (r->class_of)
        CLI_TRY(cli_agreement(c, r->Kb, r->class_of, label, &g));
    if (!isnan(g.rand))
        return CLI_GO;
    if (a->truth)
        cli_say(c, "fewer than two models have a class in %s: there is nothing to compare", a->truth);
    free(r->class_of);
    r->class_of = NULL;
    return CLI_GO;
}

static int judge_level(cli *c, const eval_args *a, const yardstick *y, const eval_result *r, eval_run *run,
                       int l)
{
    const vhem_source from = { y->models, y->data, a->read.group != NULL };
    vhem_measures m;
    vhem_agreement g = { NAN, NAN, NAN, NAN };
    const int *label = vhem_tree_level(run->tree, l)->base_label;
    if (r->class_of)
        CLI_TRY(cli_agreement(c, r->Kb, r->class_of, label, &g));
    CLI_TRY(cli_status(c, vhem_measure(c->ctx, run->tree, l, &from, &a->opt, &m)));
    const double all[EVAL_MEASURES] = { g.rand,   g.adjusted_rand, g.nmi,       g.purity, m.expected_loglik,
                                        m.loglik, m.compactness,   m.modularity };
    memcpy(run->value[l], all, sizeof all);
    return CLI_GO;
}

static int judge_runs(cli *c, const eval_args *a, const yardstick *y, const eval_result *r,
                      const eval_runs *runs)
{
    for (int k = 0; k < runs->n; k++)
        for (int l = 0; l < r->levels; l++)
            CLI_TRY(judge_level(c, a, y, r, &runs->run[k], l));
    return CLI_GO;
}

/* The models must be those that all the runs clustered. */
static int load_models(cli *c, const eval_args *a, const eval_result *r, yardstick *y)
{
    const eval_runs *all[] = { &r->a, &r->b };
    CLI_TRY(cli_load_models(c, a->models, &y->models));
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < all[s]->n; k++)
            CLI_TRY(cli_check_models(c, y->models, a->models, vhem_tree_level(all[s]->run[k].tree, 0),
                                     all[s]->path[k]));
    return CLI_GO;
}

static int write_measures(cli *c, const eval_args *a, const eval_result *r)
{
    if (c->json)
        cli_json_put(stdout, result_json(c, r));
    else if (!a->output || strcmp(a->output, "-") != 0)
        CLI_CHECK(put_text(c, stdout, r), "out of memory");
    if (a->output)
        CLI_TRY(
            cli_write_table(c, a->output, NULL, &(cli_rows){ .n = r->n_row, .put = put_measure, .of = r }));
    return EXIT_DONE;
}

static int check_args(cli *c, const eval_args *a)
{
    CLI_TRY(cli_check_streams(c, a->output));
    if (!a->truth && !a->models && !a->data)
        return cli_misuse(c, "nothing to judge the clusters by: give --truth, --models or --data");
    if (a->against.n && a->against.n != c->n_arg)
        return cli_misuse(c, "%d file%s --against %d: runs are compared in pairs", c->n_arg,
                          cli_plural(c->n_arg), a->against.n);
    return a->output ? cli_out_check_table(c, a->output) : CLI_GO;
}

static int evaluate_runs(cli *c, eval_args *a, yardstick *y, eval_result *r)
{
    CLI_TRY(check_args(c, a));
    CLI_TRY(load_runs(c, &r->a, r));
    CLI_TRY(load_runs(c, &r->b, r));
    const vhem_clustering *first = vhem_tree_level(r->a.run[0].tree, 0);
    if (a->truth && a->data && !cli_truth_is_file(a->truth))
        a->read.label = a->truth;
    if (a->models)
        CLI_TRY(load_models(c, a, r, y));
    if (a->data)
        CLI_TRY(cli_load_data(c, a->data, &a->read, first->centers, NULL, &y->data));
    CLI_TRY(cli_truth_find(c, &(cli_truth){ a->truth, y->models, y->data }, first, &r->class_of));
    CLI_TRY(need_two_classes(c, a, r));
    CLI_TRY(judge_runs(c, a, y, r, &r->a));
    CLI_TRY(judge_runs(c, a, y, r, &r->b));
    CLI_TRY(make_rows(c, r));
    return write_measures(c, a, r);
}

static int evaluate_and_free(cli *c, eval_args *a)
{
    yardstick y = { 0 };
    eval_result r = { .a = { c->n_arg, c->arg, NULL }, .b = { a->against.n, a->against.text, NULL } };
    int status = evaluate_runs(c, a, &y, &r);
    free(r.class_of);
    free(r.row);
    free_runs(&r.a);
    free_runs(&r.b);
    vhem_free(y.models);
    vhem_free(y.data);
    return status;
}

int cmd_eval(cli *c, int argc, char **argv)
{
    eval_args a = { .output = NULL };
    cli_table t = { 0 };
    static const char as_made[] = "as the clusters were made";
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.read);
    VHEM_INIT(VHEM_CLUSTER_OPTIONS, &a.opt);
    const cli_change change[] = {
        { .field = "tau", .shown = as_made },
        { .field = "lambda", .shown = as_made },
        { .field = "kernel", .shown = as_made },
        { 0 },
    };
    cli_add(
        &t,
        (const cli_option[]){
            { "output", 'o', OPT_TEXT, "FILE", &a.output, .help = "a table with tabs to write, .tsv" },
            { "truth", 0, OPT_TEXT, "COL|CSV", &a.truth, .shown = "labels of the models, or of the data",
              .help = "classes to compare with: a column of --data, or a table of names and classes" },
            { "models", 'm', OPT_TEXT, "FILE", &a.models,
              .help =
                  "the models that were clustered, for expected log-likelihood, compactness and modularity" },
            { "data", 'd', OPT_TEXT, "FILE", &a.data, .help = "sequences, for their log-likelihood" },
            { "against", 0, OPT_LIST, "OUT...", &a.against, .shown = "none",
              .help = "runs to compare with those before, in the same order, by paired t-tests" },
            { 0 } });
    cli_add_fields(&t, &(cli_fields){ VHEM_CLUSTER_OPTIONS, &a.opt, .only = "tau lambda kernel",
                                      .heading = "Options", .change = change });
    cli_add_data(&t, &a.read, "column with the group of a sequence, if groups were clustered");
    const cli_usage usage = {
        .args = "OUT...",
        .n_min = 1,
        .n_max = CLI_MAX_ARGS,
        .table = &t,
        .first = "output truth models data against id group columns",
        .about =
            "Measures how good the clusters of each level of OUT, a file of 'vhem cluster' or 'vhem tree', "
            "are: how well they agree with classes (Rand index, adjusted Rand index, normalised mutual "
            "information, purity), the mean over the models of the expected log-likelihood under their "
            "centre, the log-likelihood of sequences under theirs, the compactness, the sum over clusters of "
            "the mean kernel between different members, and the modularity, how much more often than by "
            "chance models are in one cluster with their 5 nearest neighbours. Clusters without members do "
            "not count. For several OUT, repeated runs, it prints mean and standard deviation.",
        .examples = "  vhem eval tree.json --models models.json\n"
                    "  vhem eval clusters.json --truth classes.csv --data songs.csv\n"
                    "  vhem eval vhem-*.json --models models.json --against ppk-*.json\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return evaluate_and_free(c, &a);
}
