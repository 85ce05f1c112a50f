/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_assign.c - vhem assign OUT (DATA or MODELS). */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    const char *output;
} assign_args;

typedef struct { /* what is assigned, and where it went */
    vhem_tree *tree;
    cli_input input;
    vhem_items *items;
    int levels;
    int64_t n, Kr;             /* items, clusters of the lowest level */
    int *label;                /* [n][levels] */
    int *above;                /* [levels][Kr]  where a cluster of the lowest level is at each level */
    double *posterior, *score; /* [n][Kr]  [n] */
    int64_t *frames;           /* [n]  of sequences and groups; NULL for models */
} assignment;

/* ---- what is written ----------------------------------------------------------------------------------- */

/* Posterior of the cluster that item i has at level l: the sum over the lowest clusters below it. */
static double posterior_of(const assignment *s, int64_t i, int l)
{
    double sum = 0;
    const double *posterior = s->posterior + i * s->Kr;
    for (int64_t j = 0; j < s->Kr; j++)
        if (s->above[l * s->Kr + j] == s->label[i * s->levels + l])
            sum += posterior[j];
    return sum > 1 ? 1 : sum; /* rounding */
}

/* Sequences are of unequal length: their score is per frame. */
static double score_of(const assignment *s, int64_t i)
{
    return s->frames ? s->score[i] / (double)s->frames[i] : s->score[i];
}

static void put_item(cli_row *r, const void *of, int64_t i)
{
    const assignment *s = of;
    char buf[32], number[32];
    cli_cell_text(r, "name", cli_name((const char *const *)s->items->name, i, buf, sizeof buf));
    cli_cell_text(r, "label", s->items->label[i]);
    for (int l = 0; l < s->levels; l++) {
        bool one = s->levels == 1;
        cli_cell_int_of(r, "cluster", one ? "cluster" : cli_numbered("cluster", l + 1, number),
                        s->label[i * s->levels + l]);
        cli_cell_real_of(r, "posterior", one ? "posterior" : cli_numbered("posterior", l + 1, number),
                         posterior_of(s, i, l));
    }
    for (int64_t j = 0; r->json && j < s->Kr; j++)
        cli_cell_real_of(r, "all", NULL, s->posterior[i * s->Kr + j]);
    cli_cell_real(r, "score", score_of(s, i));
    cli_cell_ids(r, cli_sequences(&s->input.from), NULL, s->items->name[i]);
}

static json_t *level_json(cli *c, const assignment *s, int l)
{
    CLI_AUTOFREE int *label = malloc(((size_t)s->n + 1) * sizeof *label);
    for (int64_t i = 0; label && i < s->n; i++)
        label[i] = s->label[i * s->levels + l];
    if (!label)
        cli_json_lacks();
    return json_pack("{s:I, s:o}", "K", (json_int_t)vhem_tree_level(s->tree, l)->Kr, "agreement",
                     label ? cli_agreement_json(c, s->n, (const char *const *)s->items->label, label)
                           : json_null());
}

static json_t *result_json(const cli *c, const assignment *s, json_t *levels)
{
    return json_pack("{s:s, s:o, s:o, s:s, s:O, s:o}", "command", c->command, "clusters",
                     cli_json_text(c->arg[0]), "input", cli_json_text(c->arg[1]), "kind",
                     s->input.from.data ? "data" : "models", "levels", levels, "assigned",
                     cli_rows_json(&(cli_rows){ .n = s->n, .put = put_item, .of = s }));
}

static void tell_levels(cli *c, const assignment *s, const json_t *levels)
{
    for (int l = 0; l < s->levels; l++) {
        const json_t *g = json_object_get(json_array_get(levels, (size_t)l), "agreement");
        int64_t K = vhem_tree_level(s->tree, l)->Kr;
        char match[96] = "";
        if (json_is_object(g))
            snprintf(match, sizeof match, "; agreement with the labels: Rand index %.3f, adjusted %.3f",
                     json_number_value(json_object_get(g, "rand")),
                     json_number_value(json_object_get(g, "adjusted_rand")));
        cli_say(c, "%lld %s%s in %lld cluster%s%s", (long long)s->n, cli_item_word(&s->input.from),
                cli_plural(s->n), (long long)K, cli_plural(K), match);
    }
}

static int write_result(cli *c, const assign_args *a, const assignment *s)
{
    json_auto_t *levels = json_array();
    for (int l = 0; l < s->levels; l++)
        json_array_append_new(levels, level_json(c, s, l));
    CLI_TRY(cli_write_table(c, a->output, c->json ? result_json(c, s, levels) : NULL,
                            &(cli_rows){ .n = s->n, .put = put_item, .of = s }));
    tell_levels(c, s, levels);
    return EXIT_DONE;
}

/* ---- the work ------------------------------------------------------------------------------------------ */

/* Room for the answer, and the way up the tree of every cluster of the lowest level. */
static int make_room(cli *c, assignment *s)
{
    s->n = s->items->n;
    s->levels = cli_tree_facts(s->tree).levels;
    s->Kr = vhem_tree_level(s->tree, 0)->Kr;
    size_t n = (size_t)s->n + 1, L = (size_t)s->levels, Kr = (size_t)s->Kr;
    s->label = calloc(n * L, sizeof *s->label);
    s->above = calloc(Kr * L, sizeof *s->above);
    s->posterior = calloc(n * Kr, sizeof *s->posterior);
    s->score = calloc(n, sizeof *s->score);
    s->frames = s->input.from.data ? cli_frames(s->input.from.data, s->items) : NULL;
    CLI_CHECK(s->label && s->above && s->posterior && s->score && (s->frames || !s->input.from.data),
              "out of memory");
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
    const vhem_tree_facts facts = cli_tree_facts(tree);
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
    CLI_CHECK(centers,
              "%s has clusters without centres, so nothing can be assigned to them; make the file again with "
              "'vhem cluster' or 'vhem tree'",
              c->arg[0]);
    CLI_TRY(cli_read_for(c, c->arg[1], centers, NULL, &data));
    return cli_load_input(c, c->arg[1], &data, &s->input);
}

static int load_and_assign(cli *c, const assign_args *a, assignment *s)
{
    CLI_TRY(cli_check_streams(c, NULL));
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(cli_load_clusters(c, c->arg[0], &s->tree));
    CLI_TRY(load_input(c, a, s));
    const vhem_models *centers = vhem_tree_level(s->tree, 0)->centers;
    tell_separate(c, s->tree);
    cli_tell_common(c, 1, &centers, false);
    CLI_TRY(cli_status(c, vhem_source_items(c->ctx, &s->input.from, &s->items)));
    CLI_TRY(make_room(c, s));
    CLI_TRY(cli_status(c, vhem_assign(c->ctx, s->tree, &s->input.from, s->label, s->posterior, s->score)));
    return write_result(c, a, s);
}

static void free_assignment(assignment *s)
{
    free(s->label);
    free(s->above);
    free(s->posterior);
    free(s->score);
    free(s->frames);
    vhem_free(s->items);
    cli_input_free(&s->input);
    vhem_free(s->tree);
}

int cmd_assign(cli *c, int argc, char **argv)
{
    assign_args a = { .output = "-" };
    CLI_CLEANUP(free_assignment) assignment s = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add_output(&t, &a.output, "file to write the table to");
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
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return load_and_assign(c, &a, &s);
}
