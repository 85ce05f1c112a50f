/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_assign.c - vhem assign OUT (DATA or MODELS). */
#include "cli.h"

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

static void write_table(FILE *f, const assignment *s)
{
    char buf[32];
    fputs("name\tlabel", f);
    for (int l = 0; l < s->levels; l++)
        if (s->levels == 1)
            fputs("\tcluster\tposterior", f);
        else
            fprintf(f, "\tcluster%d\tposterior%d", l + 1, l + 1);
    fputs("\tscore", f);
    cli_put_ids(f, cli_sequences(&s->input.from), NULL);
    fputc('\n', f);
    for (int64_t i = 0; i < s->n; i++) {
        cli_put_cell(f, cli_name((const char *const *)s->items->name, i, buf, sizeof buf));
        fputc('\t', f);
        cli_put_cell(f, s->items->label[i]);
        for (int l = 0; l < s->levels; l++) {
            fprintf(f, "\t%d\t", s->label[i * s->levels + l]);
            cli_put_number(f, posterior_of(s, i, l));
        }
        fputc('\t', f);
        cli_put_number(f, score_of(s, i));
        cli_put_ids(f, cli_sequences(&s->input.from), s->items->name[i]);
        fputc('\n', f);
    }
}

/* Agreement of level l with the labels of what is assigned. */
static json_t *level_json(cli *c, const assignment *s, int l)
{
    int *label = malloc(((size_t)s->n + 1) * sizeof *label);
    for (int64_t i = 0; label && i < s->n; i++)
        label[i] = s->label[i * s->levels + l];
    if (!label)
        cli_json_lacks();
    json_t *agreement =
        label ? cli_agreement_json(c, s->n, (const char *const *)s->items->label, label) : json_null();
    free(label);
    return json_pack("{s:I, s:o}", "K", (json_int_t)vhem_tree_level(s->tree, l)->Kr, "agreement", agreement);
}

static json_t *item_json(const assignment *s, int64_t i)
{
    char buf[32];
    json_t *cluster = json_array(), *posterior = json_array(), *lowest = json_array();
    for (int l = 0; l < s->levels; l++) {
        json_array_append_new(cluster, json_integer(s->label[i * s->levels + l]));
        json_array_append_new(posterior, cli_json_real(posterior_of(s, i, l)));
    }
    for (int64_t j = 0; j < s->Kr; j++)
        json_array_append_new(lowest, cli_json_real(s->posterior[i * s->Kr + j]));
    json_t *row = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                            cli_json_text(cli_name((const char *const *)s->items->name, i, buf, sizeof buf)),
                            "label", cli_json_text(s->items->label[i]), "cluster", cluster, "posterior",
                            posterior, "all", lowest, "score", cli_json_real(score_of(s, i)));
    cli_json_ids(row, cli_sequences(&s->input.from), s->items->name[i]);
    return row;
}

static void write_json(FILE *f, cli *c, const assignment *s, json_t *levels)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < s->n; i++)
        json_array_append_new(rows, item_json(s, i));
    cli_json_put(f, json_pack("{s:s, s:o, s:o, s:s, s:O, s:o}", "command", c->command, "clusters",
                              cli_json_text(c->arg[0]), "input", cli_json_text(c->arg[1]), "kind",
                              s->input.from.data ? "data" : "models", "levels", levels, "assigned", rows));
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
    cli_out out;
    int status = cli_out_open(c, a->output, &out);
    if (status != CLI_GO)
        return status;
    json_t *levels = json_array();
    for (int l = 0; l < s->levels; l++)
        json_array_append_new(levels, level_json(c, s, l));
    if (c->json)
        write_json(out.f, c, s, levels);
    else
        write_table(out.f, s);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        tell_levels(c, s, levels);
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
    int status = cli_read_for(c, c->arg[1], vhem_tree_level(s->tree, 0)->centers, NULL, &data);
    return status == CLI_GO ? cli_load_input(c, c->arg[1], &data, &s->input) : status;
}

static int load_and_assign(cli *c, const assign_args *a, assignment *s)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = cli_load_clusters(c, c->arg[0], &s->tree);
    if (status == CLI_GO)
        status = load_input(c, a, s);
    if (status == CLI_GO)
        tell_separate(c, s->tree);
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
    vhem_options_init(VHEM_DATA_OPTIONS, &a.data);
    cli_add(&t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "FILE", &a.output,
                                        .shown = "-, standard output", .help = "file to write the table to" },
                                      { 0 } });
    cli_add_data(&t, &a.data, "column with the group; the sequences of a group are assigned together");
    const cli_usage usage = {
        .args = "OUT (DATA or MODELS)",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .about =
            "Puts sequences, groups of sequences or models into the clusters of OUT and prints a table, one "
            "row each: name, label, the cluster at each level with its posterior probability, and the "
            "score in nats: of sequences the log-likelihood per frame under the lowest cluster, of a model "
            "the bound L_hmm on its expected log-likelihood. OUT is a file of 'vhem cluster' or 'vhem "
            "tree', or a mixture from 'vhem fit --mixture', whose components are the clusters.",
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
