/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_eval.c - vhem eval OUT... */
#include "eval.h"
#include "vhem.h"
#include "vhem/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Runs can be compared when they have the same levels over the same models, which the first file settles. */
static int check_run(cli *c, const char *path, const vhem_tree *tree, eval_result *r)
{
    vhem_tree_facts facts;
    vhem_tree_info(tree, &facts);
    int64_t Kb = vhem_tree_level(tree, 0)->Kb;
    if (Kb == 0)
        return cli_fail(c, "%s holds models, not clusters; run vhem cluster first", path);
    if (r->levels == 0) {
        r->levels = facts.levels;
        r->Kb = Kb;
    }
    if (facts.levels != r->levels)
        return cli_fail(c, "%s has %d level%s, but %s has %d", path, facts.levels, cli_plural(facts.levels),
                        r->a.path[0], r->levels);
    if (Kb != r->Kb)
        return cli_fail(c, "%s clusters %lld models, but %s %lld", path, (long long)Kb, r->a.path[0],
                        (long long)r->Kb);
    return CLI_GO;
}

static int load_runs(cli *c, eval_runs *runs, eval_result *r)
{
    int status = CLI_GO;
    runs->run = calloc((size_t)runs->n + 1, sizeof *runs->run);
    if (!runs->run)
        return cli_fail(c, "out of memory");
    for (int k = 0; status == CLI_GO && k < runs->n; k++) {
        eval_run *one = &runs->run[k];
        status = cli_load_clusters(c, runs->path[k], &one->tree);
        if (status == CLI_GO)
            status = check_run(c, runs->path[k], one->tree, r);
        if (status == CLI_GO && !(one->value = calloc((size_t)r->levels, sizeof *one->value)))
            status = cli_fail(c, "out of memory");
    }
    return status;
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
    int status = r->class_of ? cli_agreement(c, r->Kb, r->class_of, label, &g) : CLI_GO;
    if (status != CLI_GO || !isnan(g.rand))
        return status;
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
    int status = r->class_of ? cli_agreement(c, r->Kb, r->class_of, label, &g) : CLI_GO;
    if (status != CLI_GO)
        return status;
    vhem_status st = vhem_measure(c->ctx, run->tree, l, &from, &a->opt, &m);
    if (st != VHEM_OK)
        return cli_status(c, st);
    const double all[EVAL_MEASURES] = { g.rand,   g.adjusted_rand, g.nmi,       g.purity, m.expected_loglik,
                                        m.loglik, m.compactness,   m.modularity };
    memcpy(run->value[l], all, sizeof all);
    return CLI_GO;
}

static int judge_runs(cli *c, const eval_args *a, const yardstick *y, const eval_result *r,
                      const eval_runs *runs)
{
    int status = CLI_GO;
    for (int k = 0; status == CLI_GO && k < runs->n; k++)
        for (int l = 0; status == CLI_GO && l < r->levels; l++)
            status = judge_level(c, a, y, r, &runs->run[k], l);
    return status;
}

/* The models must be those that all the runs clustered. */
static int load_models(cli *c, const eval_args *a, const eval_result *r, yardstick *y)
{
    const eval_runs *all[] = { &r->a, &r->b };
    int status = cli_load_models(c, a->models, &y->models);
    for (int s = 0; s < 2; s++)
        for (int k = 0; status == CLI_GO && k < all[s]->n; k++)
            status = cli_check_models(c, y->models, a->models, vhem_tree_level(all[s]->run[k].tree, 0),
                                      all[s]->path[k]);
    return status;
}

static int write_measures(cli *c, const eval_args *a, const eval_result *r)
{
    cli_out out;
    if (c->json)
        cli_json_put(stdout, eval_json(c, r));
    else if ((!a->output || strcmp(a->output, "-") != 0) && !eval_put_text(c, stdout, r))
        return cli_fail(c, "out of memory");
    if (!a->output)
        return EXIT_DONE;
    int status = cli_out_open(c, a->output, &out);
    if (status != CLI_GO)
        return status;
    eval_put_tsv(out.f, r);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int check_args(cli *c, const eval_args *a)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && !a->truth && !a->models && !a->data)
        status = cli_misuse(c, "nothing to judge the clusters by: give --truth, --models or --data");
    if (status == CLI_GO && a->against.n && a->against.n != c->n_arg)
        status = cli_misuse(c, "%d file%s --against %d: runs are compared in pairs", c->n_arg,
                            cli_plural(c->n_arg), a->against.n);
    return status == CLI_GO && a->output ? cli_out_check_table(c, a->output) : status;
}

static int evaluate_runs(cli *c, eval_args *a, yardstick *y, eval_result *r)
{
    int status = check_args(c, a);
    if (status == CLI_GO)
        status = load_runs(c, &r->a, r);
    if (status == CLI_GO)
        status = load_runs(c, &r->b, r);
    if (a->truth && a->data && !cli_truth_is_file(a->truth))
        a->read.label = a->truth;
    if (status == CLI_GO && a->models)
        status = load_models(c, a, r, y);
    if (status == CLI_GO && a->data)
        status = cli_load_data(c, a->data, &a->read, vhem_tree_level(r->a.run[0].tree, 0)->centers, NULL,
                               &y->data);
    if (status == CLI_GO)
        status = cli_truth_find(c, &(cli_truth){ a->truth, y->models, y->data },
                                vhem_tree_level(r->a.run[0].tree, 0), &r->class_of);
    if (status == CLI_GO)
        status = need_two_classes(c, a, r);
    if (status == CLI_GO)
        status = judge_runs(c, a, y, r, &r->a);
    if (status == CLI_GO)
        status = judge_runs(c, a, y, r, &r->b);
    return status == CLI_GO ? write_measures(c, a, r) : status;
}

static int evaluate_and_free(cli *c, eval_args *a)
{
    yardstick y = { 0 };
    eval_result r = { .a = { c->n_arg, c->arg, NULL }, .b = { a->against.n, a->against.text, NULL } };
    int status = evaluate_runs(c, a, &y, &r);
    free(r.class_of);
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
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? evaluate_and_free(c, &a) : status;
}
