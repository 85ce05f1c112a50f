/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_assign.c - vhem assign OUT (DATA or MODELS). */
#include "assign.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    const char *output;
} assign_args;

static int write_result(cli *c, const assign_args *a, const assignment *s)
{
    cli_out out;
    int status = cli_out_open(c, a->output, &out);
    if (status != CLI_GO)
        return status;
    json_t *levels = json_array();
    for (int l = 0; l < s->levels; l++)
        json_array_append_new(levels, assign_level_json(c, s, l));
    if (c->json)
        assign_write_json(out.f, c, s, levels);
    else
        assign_write_table(out.f, s);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        assign_tell(c, s, levels);
    json_decref(levels);
    return status == CLI_GO ? EXIT_DONE : status;
}

/* Room for the answer, and the way up the tree of every cluster of the lowest level. */
static int make_room(cli *c, assignment *s)
{
    vhem_tree_facts facts;
    vhem_tree_info(s->tree, &facts);
    s->n = s->items->n;
    s->levels = facts.levels;
    s->Kr = vhem_tree_level(s->tree, 0)->Kr;
    size_t n = (size_t)s->n + 1, L = (size_t)s->levels, Kr = (size_t)s->Kr;
    s->label = calloc(n * L, sizeof *s->label);
    s->above = calloc(Kr * L, sizeof *s->above);
    s->posterior = calloc(n * Kr, sizeof *s->posterior);
    s->score = calloc(n, sizeof *s->score);
    s->frames = s->input.from.data ? cli_frames(s->input.from.data, s->items) : NULL;
    if (!s->label || !s->above || !s->posterior || !s->score || (s->input.from.data && !s->frames))
        return cli_fail(c, "out of memory");
    for (int64_t j = 0; j < s->Kr; j++) {
        s->above[j] = (int)j;
        for (int l = 1; l < s->levels; l++) {
            int below = s->above[(l - 1) * s->Kr + j];
            s->above[l * s->Kr + j] = below < 0 ? -1 : vhem_tree_level(s->tree, l - 1)->parent[below];
        }
    }
    return CLI_GO;
}

/* Models that were fitted one by one may be meant, as the nearest of them is a fair question; but they may
 * also be a file that was to be clustered first. */
static void tell_separate(cli *c, const vhem_tree *tree)
{
    vhem_tree_facts facts;
    vhem_tree_info(tree, &facts);
    json_t *made = facts.provenance ? json_loads(facts.provenance, 0, NULL) : NULL;
    const char *command = json_string_value(json_object_get(made, "command"));
    if (command && strcmp(command, "fit") == 0
        && !json_is_integer(json_object_get(json_object_get(made, "options"), "mixture")))
        cli_say(c,
                "%s holds models that were fitted one by one: each counts as a cluster, by its number; 'vhem "
                "cluster' groups them",
                c->arg[0]);
    json_decref(made);
}

/* Sequences are read as the centres see them. */
static int load_input(cli *c, const assign_args *a, assignment *s)
{
    vhem_data_options data = a->data;
    const vhem_models *centers = vhem_tree_level(s->tree, 0)->centers;
    if (!centers)
        return cli_fail(c,
                        "%s has clusters without centres, so nothing can be assigned to them; make the file "
                        "again with 'vhem cluster' or 'vhem tree'",
                        c->arg[0]);
    int status = cli_read_for(c, c->arg[1], centers, NULL, &data);
    if (status == CLI_GO)
        status = cli_load_input(c, c->arg[1], &data, &s->input);
    return status;
}

static int load_and_assign(cli *c, const assign_args *a, assignment *s)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = cli_load_clusters(c, c->arg[0], &s->tree);
    if (status == CLI_GO)
        status = load_input(c, a, s);
    if (status == CLI_GO) {
        const vhem_models *centers = vhem_tree_level(s->tree, 0)->centers;
        tell_separate(c, s->tree);
        cli_tell_common(c, 1, &centers, false);
    }
    if (status == CLI_GO)
        status = cli_status(c, vhem_source_items(c->ctx, &s->input.from, &s->items));
    if (status == CLI_GO)
        status = make_room(c, s);
    if (status == CLI_GO)
        status =
            cli_status(c, vhem_assign(c->ctx, s->tree, &s->input.from, s->label, s->posterior, s->score));
    return status == CLI_GO ? write_result(c, a, s) : status;
}

int cmd_assign(cli *c, int argc, char **argv)
{
    assign_args a = { .output = "-" };
    assignment s = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add(&t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "FILE", &a.output,
                                        .shown = "-, standard output", .help = "file to write the table to" },
                                      { 0 } });
    cli_add_data(&t, &a.data, "column with the group; the sequences of a group are assigned together");
    const cli_usage usage = {
        .args = "OUT (DATA or MODELS)",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .first = "output id label group columns",
        .about =
            "Puts sequences, groups of sequences or models into the clusters of OUT and prints a table, one "
            "row each: name, label, the cluster at each level with its posterior probability, and the "
            "score in nats: for sequences, the log-likelihood per frame under the lowest cluster; for "
            "models, the bound L_hmm on their expected log-likelihood. Each goes to the cluster of its "
            "largest posterior; the models that method vhem has clustered go where they are. OUT is a file "
            "of 'vhem cluster' or 'vhem tree', or a mixture from 'vhem fit --mixture', whose components are "
            "the clusters.",
        .examples = "  vhem assign clusters.json new.csv\n"
                    "  vhem assign tree.json new-models.json -o where.tsv\n"
                    "  vhem assign mixture.json new.csv --group subject\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    if (status == CLI_GO)
        status = load_and_assign(c, &a, &s);
    free(s.label);
    free(s.above);
    free(s.posterior);
    free(s.score);
    free(s.frames);
    vhem_free(s.items);
    cli_input_free(&s.input);
    vhem_free(s.tree);
    return status;
}
