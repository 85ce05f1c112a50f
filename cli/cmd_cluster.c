/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_cluster.c - vhem cluster MODELS -k K -o OUT. */
#include "cluster_report.h"

#include <stdlib.h>
#include <string.h>

static void report(cli *c, const cluster_args *a, const vhem_clustering *cl, bool stopped)
{
    bool piped = strcmp(a->output, "-") == 0;
    const char *where = piped ? "standard output" : a->output;
    cluster_level level = { cl, cl->Kb, cl->label, cl->name, cluster_classes(a, cl) };
    if (c->json) {
        json_t *facts = json_pack("{s:s, s:o, s:o, s:I, s:s, s:b, s:o}", "command", c->command, "input",
                                  cli_json_text(c->arg[0]), "output", cli_json_text(a->output), "seed",
                                  (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx), "interrupted",
                                  stopped, "options", cluster_options_json(a, &cl->options)),
               *rest = cluster_level_json(&level);
        json_object_update(facts, rest);
        json_decref(rest);
        cli_json_put(stdout, facts);
    }
    char title[512];
    snprintf(title, sizeof title, "%d cluster%s of %d %s%s in %s", cl->Kr, cli_plural(cl->Kr), cl->Kb,
             cluster_thing(cl), cli_plural(cl->Kb), where);
    if (stopped) /* said even with --quiet: the result is not what was asked for */
        cli_fail(c, "interrupted; the best so far, %d cluster%s of %d %s%s, is %s %s", cl->Kr,
                 cli_plural(cl->Kr), cl->Kb, cluster_thing(cl), cli_plural(cl->Kb),
                 piped ? "written to" : "saved in", where);
    cluster_level_tell(c, &level, title, stopped);
    if (!stopped && strcmp(a->output, "-") != 0)
        cli_say(
            c,
            "next: 'vhem info %s' shows them; 'vhem assign %s DATA' puts new sequences or models into them",
            a->output, a->output);
    free(level.class_of);
}

static int save(cli *c, const cluster_args *a, vhem_clustering *cl, bool stopped)
{
    free(cl->provenance);
    cl->provenance = cli_provenance(c, cluster_options_json(a, &cl->options), stopped);
    if (!cl->provenance)
        return cli_fail(c, "out of memory");
    vhem_status st = vhem_clustering_save(c->ctx, cl, a->output);
    return st == VHEM_OK ? CLI_GO : cli_fail(c, "%s", vhem_ctx_error(c->ctx));
}

static int cluster(cli *c, cluster_args *a)
{
    vhem_clustering *cl = NULL;
    vhem_status st = cluster_run(c, a, &cl);
    bool stopped = st == VHEM_ESTOPPED;
    int status = cl && (stopped || st == VHEM_OK) ? save(c, a, cl, stopped) : cli_status(c, st);
    if (status == CLI_GO) {
        report(c, a, cl, stopped);
        status = stopped ? EXIT_STOPPED : EXIT_DONE;
    }
    vhem_clustering_free(cl);
    return status;
}

static int prepare_and_cluster(cli *c, cluster_args *a)
{
    if (a->opt.K < 1 && !cluster_has_start(a))
        return cli_misuse(c, "how many clusters? say it with -k K; 'vhem choose' helps to find out");
    int status = cluster_check_output(c, a);
    if (status == CLI_GO)
        status = cluster_prepare(c, a, &a->opt.K);
    if (status == CLI_GO)
        status = cluster_enough(c, a, a->opt.K);
    if (status == CLI_GO)
        status = cluster(c, a);
    cluster_args_free(a);
    return status;
}

int cmd_cluster(cli *c, int argc, char **argv)
{
    cluster_args a;
    cluster_args_init(&a);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "OUT", &a.output, 0, "-, standard output", "file to write, .json" },
        { "clusters", 'k', OPT_INT, "K", &a.opt.K, 1, "those of a start file, else it must be given",
          "number of clusters" },
        { "states", 'S', OPT_INT, "S", &a.opt.S, 1, "as the input", "states of the centres" },
        CLUSTER_OPTIONS(&a, CLUSTER_RESTARTS, "START", CLUSTER_INIT_HELP),
        { "candidate", 0, OPT_INT, "N", &a.opt.candidate, 1, "1, the best",
          "keep the N-th best of the partitions that the search found and that differ" },
        CLUSTER_DATA_OPTIONS(&a),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS|DATA -k K -o OUT",
        .n_min = 1,
        .n_max = 1,
        .options = options,
        .about = "Groups the HMMs of MODELS into K clusters by the variational hierarchical EM algorithm "
                 "and gives each cluster a centre, an HMM that stands for its members. \"As the input\" is "
                 "the largest number found there; of sequences, DATA, it means 3 states of one Gaussian. "
                 "With --init FILE --restarts 1 --tol 0 --cov-floor 0 --max-iter N a run is exactly N "
                 "iterations of the equations: nothing is repaired, floored or softened. Ctrl-C saves the "
                 "best so far.",
        .examples = "  vhem cluster models.json -k 4 -o clusters.json\n"
                    "  vhem cluster subjects.json -k 2 --preset emhmm --restarts 100 -o groups.json\n"
                    "  vhem cluster walks.csv -k 4 --method em-h3m --states 4 -o clusters.json\n"
                    "  vhem cluster textures.json -k 4 --method hem-dtm -o clusters.json\n",
    };
    a.usage = &usage;
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? prepare_and_cluster(c, &a) : status;
}
