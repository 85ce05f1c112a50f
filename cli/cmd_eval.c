/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_eval.c - vhem eval OUT... */
#include "eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *output, *truth, *models, *data;
    vhem_data_options read;
    vhem_cluster_options opt; /* tau, lambda, kernel */
    cli_texts against;
} eval_args;

typedef struct {       /* what clusters are judged by */
    cli_models models; /* of either kind, or none */
    vhem_data *data;
    char **name; /* [Kb]  of the models of the first file */
} yardstick;

/* Names to look classes up by; a model without one is known by its number. */
static bool make_names(const eval_result *r, yardstick *y)
{
    const vhem_clustering *first = vhem_tree_level(r->a.run[0].tree, 0);
    char buf[32];
    y->name = calloc((size_t)r->Kb + 1, sizeof *y->name);
    for (int i = 0; y->name && i < r->Kb; i++) {
        snprintf(buf, sizeof buf, "%d", i);
        y->name[i] = strdup(first->name[i][0] ? first->name[i] : buf);
        if (!y->name[i])
            return false;
    }
    return y->name != NULL;
}

/* A word of --truth that is no file is a column of the data, or the labels of the models. */
static int find_classes(cli *c, const eval_args *a, const yardstick *y, eval_result *r)
{
    bool file = a->truth && (strpbrk(a->truth, "./") || access(a->truth, F_OK) == 0);
    if (file)
        return cli_truth_load(c, a->truth, r->Kb, y->name, &r->class_of);
    if (y->data && (a->truth || !a->models))
        return cli_truth_of_data(c, y->data, r->Kb, y->name, &r->class_of);
    if (a->models && (!a->truth || strcmp(a->truth, "label") == 0))
        r->class_of = cli_models_classes(&y->models);
    else if (a->truth)
        return cli_misuse(c,
                          "--truth %s is a column of what? give the sequences with --data, or a table of "
                          "names and classes as a file",
                          a->truth);
    return CLI_GO;
}

/* Fewer than two models of known class cannot be compared with anything. */
static void need_two_classes(cli *c, const eval_args *a, eval_result *r)
{
    vhem_agreement g;
    if (!r->class_of || cli_agreement(r->Kb, r->class_of, vhem_tree_base_labels(r->a.run[0].tree, 0), &g))
        return;
    if (a->truth)
        cli_say(c, "fewer than two models have a class in %s: there is nothing to compare", a->truth);
    free(r->class_of);
    r->class_of = NULL;
}

static int judge_level(cli *c, const eval_args *a, const yardstick *y, const eval_result *r, eval_run *run,
                       int l)
{
    vhem_measures m;
    vhem_agreement g = { NAN, NAN, NAN, NAN };
    if (r->class_of)
        cli_agreement(r->Kb, r->class_of, vhem_tree_base_labels(run->tree, l), &g);
    vhem_status st = vhem_measure(c->ctx, run->tree, l, y->models.h3m, y->data, &a->opt, &m);
    if (st != VHEM_OK)
        return cli_status(c, st);
    const double all[EVAL_MEASURES] = { g.rand,   g.adjusted_rand, g.nmi,       g.purity, m.expected_loglik,
                                        m.loglik, m.compactness,   m.modularity };
    memcpy(run->value[l], all, sizeof all);
    return CLI_GO;
}

static int judge(cli *c, const eval_args *a, const yardstick *y, const eval_result *r, const eval_runs *runs)
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
    int status = cli_models_load(c, a->models, &y->models);
    for (int s = 0; s < 2; s++)
        for (int k = 0; status == CLI_GO && k < all[s]->n; k++)
            status = cli_models_check(c, &y->models, a->models, vhem_tree_level(all[s]->run[k].tree, 0),
                                      all[s]->path[k]);
    return status;
}

static int tell(cli *c, const eval_args *a, const eval_result *r)
{
    cli_out out;
    if (c->json)
        cli_json_put(stdout, eval_json(c, r));
    else if (!a->output || strcmp(a->output, "-") != 0)
        eval_put_text(stdout, r);
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

static int evaluate(cli *c, eval_args *a, yardstick *y, eval_result *r)
{
    int status = cli_check_streams(c, a->output);
    if (status == CLI_GO && !a->truth && !a->models && !a->data)
        status = cli_misuse(c, "nothing to judge the clusters by: give --truth, --models or --data");
    if (status == CLI_GO && a->against.n && a->against.n != c->n_arg)
        status = cli_misuse(c, "%d file%s --against %d: runs are compared in pairs", c->n_arg,
                            cli_plural(c->n_arg), a->against.n);
    if (status == CLI_GO && a->output)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = eval_load(c, &r->a, r);
    if (status == CLI_GO)
        status = eval_load(c, &r->b, r);
    if (status == CLI_GO && !make_names(r, y))
        status = cli_fail(c, "out of memory");
    if (a->truth && a->data && !strpbrk(a->truth, "./"))
        a->read.label = a->truth;
    if (status == CLI_GO && a->models)
        status = load_models(c, a, r, y);
    if (status == CLI_GO && a->data)
        status = cli_status(c, vhem_data_load(c->ctx, a->data, &a->read, &y->data));
    if (status == CLI_GO)
        status = find_classes(c, a, y, r);
    if (status == CLI_GO)
        need_two_classes(c, a, r);
    if (status == CLI_GO)
        status = judge(c, a, y, r, &r->a);
    if (status == CLI_GO)
        status = judge(c, a, y, r, &r->b);
    return status == CLI_GO ? tell(c, a, r) : status;
}

static int run_and_free(cli *c, eval_args *a)
{
    yardstick y = { 0 };
    eval_result r = { .a = { c->n_arg, c->arg, NULL }, .b = { a->against.n, a->against.text, NULL } };
    int status = evaluate(c, a, &y, &r), Kb = r.Kb;
    for (int i = 0; y.name && i < Kb; i++)
        free(y.name[i]);
    free(y.name);
    free(r.class_of);
    eval_free(&r.a);
    eval_free(&r.b);
    cli_models_free(&y.models);
    vhem_data_free(y.data);
    return status;
}

int cmd_eval(cli *c, int argc, char **argv)
{
    eval_args a = { .output = NULL };
    vhem_data_options_init(&a.read);
    vhem_cluster_options_init(&a.opt);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "none", "a table with tabs to write, .tsv" },
        { "truth", 0, OPT_TEXT, "COL|CSV", &a.truth, 0, "labels of the models, or of the data",
          "classes to compare with: a column of --data, or a table of names and classes" },
        { "models", 'm', OPT_TEXT, "FILE", &a.models, 0, "none",
          "the models that were clustered, for expected log-likelihood, compactness and modularity" },
        { "data", 'd', OPT_TEXT, "FILE", &a.data, 0, "none", "sequences, for their log-likelihood" },
        { "against", 0, OPT_LIST, "OUT...", &a.against, 0, NULL,
          "runs to compare with those before, in the same order, by paired t-tests" },
        { "tau", 0, OPT_INT, "T", &a.opt.tau, 1, "as the clusters were made", "length of virtual samples" },
        { "lambda", 0, OPT_REAL, "L", &a.opt.lambda, 0, "as the clusters were made", "power of the kernel" },
        { "kernel", 0, OPT_CHOICE, "normalised|raw", &a.opt.kernel, 0, "as the clusters were made",
          "kernels divided by those of each HMM with itself, or as they are" },
        CLI_DATA_OPTIONS(&a.read, "column with the group of a sequence, if groups were clustered"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "OUT...",
        .n_min = 1,
        .n_max = CLI_MAX_ARGS,
        .options = options,
        .about = "Says how good the clusters of each level of OUT, a file of 'vhem cluster' or 'vhem tree', "
                 "are: how well they agree with classes (Rand index, adjusted Rand index, normalised mutual "
                 "information, purity), the mean over the models of the expected log-likelihood under their "
                 "centre, the log-likelihood of sequences under theirs, and the compactness, the "
                 "sum over clusters of the mean kernel between different members, and the modularity, how "
                 "much more than by chance models are in one cluster with their 5 nearest neighbours. Of "
                 "several OUT, repeated runs, mean and standard deviation.",
        .examples = "  vhem eval tree.json --models models.json\n"
                    "  vhem eval clusters.json --truth classes.csv --data songs.csv\n"
                    "  vhem eval vhem-*.json --models models.json --against ppk-*.json\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? run_and_free(c, &a) : status;
}
