/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_cluster.c - vhem cluster DATA -o OUT, vhem cluster MODELS -k K -o OUT, and vhem tree, which is the same
 * with several levels. */
#include "cluster_args.h"
#include "cluster_report.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const vhem_tree *tree;
    int levels;                  /* there are; fewer than were asked for after an interruption */
    const char *const *class_of; /* [items] */
    const char *why;             /* the sentence of the library when the run was stopped, else NULL */
    int stopped_level;           /* from 1; 0: none */
} outcome;

static bool is_flat(const cli *c, const cluster_args *a)
{
    return strcmp(c->command, "cluster") == 0 && a->K.n == 1;
}

/* The method of sequences that finds their groups before there are models. */
static bool finds_groups(const cluster_args *a)
{
    return strcmp(a->method.name, "auto") == 0;
}

/* Every option with the value that was used.  What the search for groups of sequences found is not what it
 * was asked for, and models fitted to sequences are those that were asked for. */
static json_t *used_options_json(cluster_args *a, const vhem_clustering *cl)
{
    a->opt = *cl->options; /* the rows of the table point here */
    if (finds_groups(a)) {
        a->opt.S = a->shape.S;
        a->opt.M = a->shape.M;
        a->opt.topology = a->shape.topology;
    }
    json_t *all = cli_options_json(a->usage, "method", cl->method);
    if (a->K.n == 1)
        json_object_set_new(all, "clusters",
                            a->K.value[0] > 0 ? json_integer(a->K.value[0]) : json_string("auto"));
    if (a->fitted)
        cluster_add_shape(&a->shape, all);
    return all;
}

static void put_json(cli *c, cluster_args *a, const outcome *o)
{
    json_t *facts = json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o}", "command", c->command, "input",
                              cli_json_text(c->arg[0]), "output", cli_json_text(a->output), "seed",
                              (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted",
                              o->why != NULL, "options", used_options_json(a, vhem_tree_level(o->tree, 0)));
    json_t *levels = json_array();
    for (int l = 0; l < o->levels; l++) {
        cluster_level level = cluster_level_of(o->tree, l, o->class_of);
        json_array_append_new(levels, cluster_level_json(c, &level));
    }
    if (is_flat(c, a))
        json_object_update(facts, json_array_get(levels, 0));
    else
        json_object_set(facts, "levels", levels);
    json_decref(levels);
    cli_json_put(stdout, facts);
}

/* Said even with --quiet: the result is not what was asked for. */
static void tell_stopped(cli *c, const cluster_args *a, const outcome *o)
{
    const vhem_clustering *cl = vhem_tree_level(o->tree, 0);
    const char *done = strcmp(a->output, "-") == 0 ? "written to" : "saved in", *where = cli_where(a->output);
    if (is_flat(c, a))
        cli_fail(c, "interrupted; the best so far, %lld cluster%s of %lld %s%s, is %s %s", (long long)cl->Kr,
                 cli_plural(cl->Kr), (long long)cl->Kb, cluster_item_word(o->tree), cli_plural(cl->Kb), done,
                 where);
    else if (o->levels == 1)
        cli_fail(c, "interrupted; the first level of %d is %s %s; %s", a->K.n, done, where, o->why);
    else
        cli_fail(c, "interrupted; the first %d levels of %d are %s %s; %s", o->levels, a->K.n, done, where,
                 o->why);
}

static void tell_level(cli *c, const cluster_args *a, const outcome *o, int l)
{
    cluster_level level = cluster_level_of(o->tree, l, o->class_of);
    const vhem_clustering *cl = level.clustering;
    bool stopped = o->stopped_level == 1;
    char title[512], first[32] = "", where[256] = "";
    if (is_flat(c, a))
        snprintf(where, sizeof where, " in %s", cli_where(a->output));
    else
        snprintf(first, sizeof first, "level %d, ", l + 1);
    snprintf(title, sizeof title, "%s%lld cluster%s of %lld %s%s%s", first, (long long)cl->Kr,
             cli_plural(cl->Kr), (long long)cl->Kb, cluster_level_word(o->tree, l), cli_plural(cl->Kb),
             where);
    cluster_level_tell(c, &level, cluster_item_word(o->tree), title, stopped);
}

static void tell_outcome(cli *c, const cluster_args *a, const outcome *o)
{
    const vhem_clustering *cl = vhem_tree_level(o->tree, 0);
    const char *it = is_flat(c, a) ? "them" : "it";
    char word[CLI_WORD], read[512];
    const char *out = cli_word(a->output, word, sizeof word);
    if (o->why)
        tell_stopped(c, a, o);
    else if (!is_flat(c, a))
        cli_say(c, "a tree of %d level%s over %lld %s%s in %s", o->levels, cli_plural(o->levels),
                (long long)cl->Kb, cluster_item_word(o->tree), cli_plural(cl->Kb), cli_where(a->output));
    for (int l = 0; l < o->levels; l++)
        tell_level(c, a, o, l);
    if (finds_groups(a) && !a->shape.emission && !a->start)
        cli_tell_families(c, a->input.from.data, false);
    if (!o->why && strcmp(a->output, "-") != 0)
        cli_say(c,
                "next: 'vhem info %s' shows %s; 'vhem assign %s DATA%s' puts new sequences or models into %s",
                out, it, out, cli_repeat_reading(c, a->usage, "memory columns", read, sizeof read), it);
}

static int save_tree(cli *c, cluster_args *a, const vhem_tree *tree, bool stopped)
{
    if (!cli_is_first(c)) /* rank 0 has the same */
        return CLI_GO;
    CLI_AUTOFREE char *made = cli_provenance(c, used_options_json(a, vhem_tree_level(tree, 0)), stopped);
    CLI_CHECK(made, "out of memory");
    CLI_CHECK(vhem_tree_save(c->ctx, tree, made, a->output) == VHEM_OK, "%s", vhem_ctx_error(c->ctx));
    return CLI_GO;
}

/* The models that were clustered; or, of sequences whose groups were found otherwise, models of the shape
 * that was found: that of the graph, or of the centres where that has none. */
static int save_models(cli *c, cluster_args *a, const vhem_clustering *cl)
{
    CLI_OWN vhem_models *models = NULL;
    vhem_fit_options fit = a->shape;
    if (!a->models)
        return CLI_GO;
    if (a->fitted)
        return cluster_save_models(c, a, a->fitted, &fit);
    cluster_shape(cl, &fit);
    vhem_status st = vhem_fit(c->ctx, a->input.from.data, &fit, &models, NULL);
    if (st != VHEM_ESTOPPED)
        CLI_TRY(cli_status(c, st));
    if (st == VHEM_OK)
        return cluster_save_models(c, a, models, &fit);
    cli_fail(c, "interrupted; the clusters are %s %s, but %s was not written",
             strcmp(a->output, "-") == 0 ? "written to" : "saved in", cli_where(a->output), a->models);
    return EXIT_STOPPED;
}

static int cluster_and_save(cli *c, cluster_args *a)
{
    CLI_OWN vhem_tree *tree = NULL;
    const char *checkpoint = a->opt.checkpoint; /* saving puts the options that were used in their place */
    vhem_status st = vhem_cluster(c->ctx, &a->input.from, a->K.n, a->K.value, &a->opt, &tree);
    bool stopped = st == VHEM_ESTOPPED;
    CLI_AUTOFREE char *why = stopped ? strdup(vhem_ctx_error(c->ctx)) : NULL;
    const vhem_tree_facts facts = cli_tree_facts(tree);
    CLI_TRY(facts.levels > 0 && (stopped || st == VHEM_OK) ? save_tree(c, a, tree, stopped)
                                                           : cli_status(c, st));
    if (!stopped && checkpoint && cli_is_first(c))
        cli_remove_checkpoint(checkpoint);
    CLI_TRY(cluster_find_items(c, a)); /* models that were read into memory meanwhile */
    const outcome o = { tree, facts.levels, a->items ? (const char *const *)a->items->label : NULL,
                        stopped ? why ? why : "" : NULL, facts.stopped_level };
    if (c->json)
        put_json(c, a, &o);
    tell_outcome(c, a, &o);
    CLI_TRY(save_models(c, a, vhem_tree_level(tree, 0)));
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int read_levels(cli *c, cluster_args *a)
{
    CLI_TRY(cli_read_list(c, "clusters", a->K_text, &a->K));
    if (strstr(a->K_text, ".."))
        return cli_misuse(
            c, "--clusters %s: several numbers to choose from are for vhem choose; 8,4 makes a tree",
            a->K_text);
    for (int l = 1; l < a->K.n; l++)
        if (a->K.value[l] >= a->K.value[l - 1])
            return cli_misuse(
                c,
                "--clusters %s: each level needs fewer clusters than the one before, but %lld follows %lld",
                a->K_text, (long long)a->K.value[l], (long long)a->K.value[l - 1]);
    return CLI_GO;
}

static int needs_number(cli *c)
{
    return cli_misuse(c, "give the number of clusters with -k K; 'vhem choose' helps to find it");
}

static int check_outputs(cli *c, const cluster_args *a)
{
    CLI_TRY(cli_out_check_ending(c, a->output, "clusters are written as .json", cli_json_endings));
    if (a->models && strcmp(a->models, "-") == 0)
        return cli_misuse(c, "--models needs a file, .json or .h5, not standard output");
    if (a->models)
        CLI_TRY(cli_out_check_ending(c, a->models, "models are written as .json or .h5", cli_model_endings));
    return CLI_GO;
}

static int prepare_and_cluster(cli *c, cluster_args *a, bool tree)
{
    if (!a->K_text && tree)
        return cli_misuse(c, "how many clusters at each level? say it with -k, for instance -k 8,4,2");
    bool chosen = !a->K_text || strcmp(a->K_text, "auto") == 0;
    bool named = a->opt.preset || (a->opt.method && strcmp(a->opt.method, "auto") != 0);
    if (!chosen)
        CLI_TRY(read_levels(c, a));
    if (chosen && !a->init && named)
        return needs_number(c);
    CLI_TRY(check_outputs(c, a));
    CLI_TRY(cluster_check(c, a));
    CLI_TRY(cluster_load(c, a));
    if (chosen && !a->init && !finds_groups(a))
        return needs_number(c);
    if (chosen && !a->init)
        a->K.n = 1; /* 0: it is found */
    CLI_TRY(cluster_enough(c, a, a->K.value[0]));
    CLI_TRY(cluster_fit(c, a));
    return cluster_and_save(c, a);
}

static const char cluster_about[] =
    "Groups the sequences of DATA, and finds the number of groups unless -k gives it (method auto). Or "
    "groups the models of MODELS into K clusters, by the variational hierarchical EM algorithm or another "
    "method. Each cluster gets a central HMM. With -k 8,4,2 the centres are clustered again, as by vhem "
    "tree.";
static const char cluster_more[] =
    "Method auto partitions several graphs of neighbours, and keeps the one with the largest sum of "
    "modularity and stability. With a method for models, or a preset, DATA is fitted first as by vhem fit. "
    "\"As the input\" means the largest value among the input models; for sequences, DATA, 3 states with one "
    "Gaussian each. With --init FILE --restarts 1 --tol 0 --cov-floor 0 --max-iter N a run is exactly N "
    "iterations of the equations: nothing is repaired, floored or softened. Ctrl-C saves the best so far, if "
    "there is any yet.";
static const char tree_about[] =
    "Builds a hierarchy: clusters the sequences of DATA or the models of MODELS as by vhem cluster, then the "
    "centres of these clusters, with their weights, and so on, level by level.";
static const char tree_more[] =
    "For sequences and method em-h3m each level clusters the clusters of the level below. \"As the input\" "
    "means the largest value among the input models; for sequences, 3 states with one Gaussian each. Ctrl-C "
    "saves the levels that are finished.";

static int run_cluster(cli *c, int argc, char **argv, bool tree)
{
    CLI_CLEANUP(cluster_args_free) cluster_args a = { 0 };
    cli_table t = { 0 };
    cluster_args_init(&a);
    cli_add(&t, (const cli_option[]){
                    { "output", 'o', OPT_TEXT, "OUT", &a.output, .shown = "-, standard output",
                      .help = "file to write, .json" },
                    { "clusters", 'k', OPT_TEXT, tree ? "K,K,..." : "K", &a.K_text,
                      .shown = tree ? "none, it must be given"
                                    : "sequences: found; models: as in a start file, or required",
                      .help = tree ? "number of clusters at each level, lowest level first"
                                   : "number of clusters (vbhem: the maximum); several, as in 8,4,2, make "
                                     "a tree; auto: find it, of sequences" },
                    { "models", 0, OPT_TEXT, "FILE", &a.models, .shown = "none",
                      .help = "of sequences: file to save a model of each to, .json or .h5: those that were "
                              "clustered, or of the shape that was found" },
                    { 0 } });
    cluster_add_options(&t, &a, tree ? "candidate memory" : "memory", false);
    cli_add_cov(&t, &a.cov, "method", "auto em-h3m");
    cli_add_data(&t, &a.data, "column with the group; the sequences of a group stay together");
    /* which is for models as well as for the frames that the table of data speaks of */
    cli_row_named(&t, "memory")->help =
        "memory for models (method vhem) or frames, such as 512M or 2G, 0 for all; larger sets of models "
        "stay on disk, more frames go to a file in TMPDIR";
    const cli_usage usage = {
        .args = tree ? "DATA|MODELS -k K,K,... -o OUT" : "DATA|MODELS [-k K] -o OUT",
        .n_min = 1,
        .n_max = 1,
        .merges = true,
        .table = &t,
        .first = "output clusters id columns group label emission states method preset tau nv prior",
        .second_output = "models",
        .methods = true,
        .about = tree ? tree_about : cluster_about,
        .more = tree ? tree_more : cluster_more,
        .examples = tree ? "  vhem tree walks.csv -k 8,4 -o tree.json\n"
                           "  vhem tree models.json -k 8,4,2 -o tree.json\n"
                           "  vhem tree models.json -k 20,5 --preset paper --restarts 20 -o tree.json\n"
                         : "  vhem cluster walks.csv -o clusters.json\n"
                           "  vhem cluster models.json -k 4 -o clusters.json\n"
                           "  vhem cluster models.json -k 8 --method vbhem --nv 3 -o clusters.json\n"
                           "  vhem cluster subjects.json -k 2 --preset emhmm --restarts 100 -o groups.json\n"
                           "  vhem cluster walks.csv -k 4 --method em-h3m --states 4 -o clusters.json\n",
    };
    a.usage = &usage;
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return prepare_and_cluster(c, &a, tree);
}

int cmd_cluster(cli *c, int argc, char **argv)
{
    return run_cluster(c, argc, argv, false);
}

int cmd_tree(cli *c, int argc, char **argv)
{
    return run_cluster(c, argc, argv, true);
}
