/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_tree.c - vhem tree MODELS -k 8,4,2 -o OUT. */
#include "cluster_report.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    cluster_args a;
    const char *K;
    cli_list list;
} tree_args;

static cluster_level level_of(const vhem_tree *tree, int l, const char **class_of)
{
    const vhem_clustering *first = vhem_tree_level(tree, 0);
    return (cluster_level){ vhem_tree_level(tree, l), first->Kb, vhem_tree_base_labels(tree, l), first->name,
                            class_of };
}

static json_t *report_json(cli *c, const cluster_args *a, const vhem_tree *tree, const char **class_of,
                           bool stopped)
{
    json_t *levels = json_array();
    for (int l = 0; l < vhem_tree_levels(tree); l++) {
        cluster_level level = level_of(tree, l, class_of);
        json_array_append_new(levels, cluster_level_json(&level));
    }
    return json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o, s:o}", "command", c->command, "input",
                     cli_json_text(c->arg[0]), "output", cli_json_text(a->output), "seed",
                     (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted", stopped,
                     "options", cluster_options_json(a, &vhem_tree_level(tree, 0)->options), "levels",
                     levels);
}

static void tell_stopped(cli *c, int n, int of, const char *where, const char *why)
{
    char levels[64];
    if (n == 1)
        snprintf(levels, sizeof levels, "the first level of %d is", of);
    else
        snprintf(levels, sizeof levels, "the first %d levels of %d are", n, of);
    cli_fail(c, "interrupted; %s %s %s; %s", levels,
             strcmp(where, "standard output") ? "saved in" : "written to", where, why);
}

/* why: the sentence of the library when the run was stopped, else NULL. */
static void report(cli *c, const tree_args *t, const vhem_tree *tree, const char *why)
{
    bool stopped = why != NULL, first_stopped = why && strncmp(why, "level 1 ", 8) == 0;
    const cluster_args *a = &t->a;
    const char *where = strcmp(a->output, "-") == 0 ? "standard output" : a->output;
    const char **class_of = cluster_classes(a, vhem_tree_level(tree, 0));
    int n = vhem_tree_levels(tree), Kb = vhem_tree_level(tree, 0)->Kb;
    const char *thing = cluster_thing(vhem_tree_level(tree, 0));
    if (c->json)
        cli_json_put(stdout, report_json(c, a, tree, class_of, stopped));
    if (stopped)
        tell_stopped(c, n, t->list.n, where, why);
    else
        cli_say(c, "a tree of %d level%s over %d %s%s in %s", n, cli_plural(n), Kb, thing, cli_plural(Kb),
                where);
    for (int l = 0; l < n; l++) {
        cluster_level level = level_of(tree, l, class_of);
        const vhem_clustering *cl = level.clustering;
        char title[128];
        snprintf(title, sizeof title, "level %d, %d cluster%s of %d %s%s", l + 1, cl->Kr, cli_plural(cl->Kr),
                 cl->Kb,
                 l == 0    ? thing
                 : a->data ? "cluster"
                           : "centre",
                 cli_plural(cl->Kb));
        cluster_level_tell(c, &level, title, first_stopped);
    }
    if (!stopped && strcmp(a->output, "-") != 0)
        cli_say(c,
                "next: 'vhem info %s' shows it; 'vhem assign %s DATA' puts new sequences or models into it",
                a->output, a->output);
    free(class_of);
}

static int save(cli *c, const cluster_args *a, vhem_tree *tree, bool stopped)
{
    char *text = cli_provenance(c, cluster_options_json(a, &vhem_tree_level(tree, 0)->options), stopped);
    if (!text)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_tree_set_provenance(c->ctx, tree, text);
    free(text);
    if (st == VHEM_OK)
        st = vhem_tree_save(c->ctx, tree, a->output);
    return st == VHEM_OK ? CLI_GO : cli_fail(c, "%s", vhem_ctx_error(c->ctx));
}

static int build(cli *c, tree_args *t)
{
    vhem_tree *tree = NULL;
    vhem_status st = cluster_build(c, &t->a, t->list.n, t->list.value, &tree);
    bool stopped = st == VHEM_ESTOPPED, some = tree && vhem_tree_levels(tree) > 0;
    char *why = stopped ? strdup(vhem_ctx_error(c->ctx)) : NULL;
    int status = some && (stopped || st == VHEM_OK) ? save(c, &t->a, tree, stopped) : cli_status(c, st);
    if (status == CLI_GO) {
        report(c, t, tree, stopped ? why ? why : "" : NULL);
        status = stopped ? EXIT_STOPPED : EXIT_DONE;
    }
    free(why);
    vhem_tree_free(tree);
    return status;
}

static int prepare_and_build(cli *c, tree_args *t)
{
    cli_list *list = &t->list;
    if (!t->K)
        return cli_misuse(c, "how many clusters at each level? say it with -k, for instance -k 8,4,2");
    int status = cli_read_list(c, "clusters", t->K, list);
    for (int l = 1; status == CLI_GO && l < list->n; l++)
        if (list->value[l] >= list->value[l - 1])
            status = cli_misuse(
                c, "--clusters %s: each level needs fewer clusters than the one before, but %d follows %d",
                t->K, list->value[l], list->value[l - 1]);
    if (status == CLI_GO)
        status = cluster_check_output(c, &t->a);
    if (status == CLI_GO)
        status = cluster_prepare(c, &t->a, &list->value[0]);
    if (status == CLI_GO)
        status = cluster_enough(c, &t->a, list->value[0]);
    if (status == CLI_GO)
        status = build(c, t);
    cluster_args_free(&t->a);
    return status;
}

int cmd_tree(cli *c, int argc, char **argv)
{
    tree_args t = { .K = NULL };
    cluster_args *a = &t.a;
    cluster_args_init(a);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "OUT", &a->output, 0, "-, standard output", "file to write, .json" },
        { "clusters", 'k', OPT_TEXT, "K,K,...", &t.K, 0, "none, it must be given",
          "number of clusters at each level, lowest level first" },
        { "states", 'S', OPT_INT, "S", &a->opt.S, 1, "as the input", "states of the centres" },
        CLUSTER_OPTIONS(a, CLUSTER_RESTARTS, "START", CLUSTER_INIT_HELP ", at the lowest level"),
        CLUSTER_DATA_OPTIONS(a),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS|DATA -k K,K,... -o OUT",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Builds a hierarchy: the HMMs of MODELS are clustered, then the centres of these "
                 "clusters, with their weights, and so on, level by level. Of sequences, DATA, each level "
                 "clusters what the one below has put together. \"As the input\" is the largest number "
                 "found there; of sequences it means 3 states of one Gaussian. "
                 "Ctrl-C saves the levels that are finished.",
        .examples = "  vhem tree models.json -k 8,4,2 -o tree.json\n"
                    "  vhem tree models.json -k 20,5 --preset paper --restarts 20 -o tree.json\n",
    };
    a->usage = &usage;
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? prepare_and_build(c, &t) : status;
}
