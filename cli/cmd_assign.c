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
    cli_models m;              /* either these ... */
    vhem_data *data;           /* ... or these */
    int n, levels, Kr;         /* things, levels, clusters of the lowest level */
    int *label;                /* [n][levels] */
    int *above;                /* [levels][Kr]  where a cluster of the lowest level is at each level */
    double *posterior, *score; /* [n][Kr]  [n] */
    const char **class_of;     /* [n] */
} assignment;

/* Posterior of the cluster that thing i has at level l: the sum over the lowest clusters below it. */
static double posterior_of(const assignment *s, int i, int l)
{
    double sum = 0;
    const double *posterior = s->posterior + (size_t)i * (size_t)s->Kr;
    for (int j = 0; j < s->Kr; j++)
        if (s->above[l * s->Kr + j] == s->label[i * s->levels + l])
            sum += posterior[j];
    return sum > 1 ? 1 : sum; /* rounding */
}

static const char *name_of(const assignment *s, int i, char *buf, size_t size)
{
    vhem_seq_view seq;
    if (!s->data)
        return cli_models_name(&s->m, i, buf, size);
    if (vhem_data_view(s->data, i, &seq) == VHEM_OK && seq.name[0])
        return seq.name;
    snprintf(buf, size, "%d", i);
    return buf;
}

/* Sequences are of unequal length: their score is per frame. */
static double score_of(const assignment *s, int i)
{
    vhem_seq_view seq;
    if (!s->data)
        return s->score[i];
    vhem_data_view(s->data, i, &seq);
    return s->score[i] / (double)seq.T;
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
    fputs("\tscore\n", f);
    for (int i = 0; i < s->n; i++) {
        cli_put_cell(f, name_of(s, i, buf, sizeof buf));
        fputc('\t', f);
        cli_put_cell(f, s->class_of[i]);
        for (int l = 0; l < s->levels; l++) {
            fprintf(f, "\t%d\t", s->label[i * s->levels + l]);
            cli_put_number(f, posterior_of(s, i, l));
        }
        fputc('\t', f);
        cli_put_number(f, score_of(s, i));
        fputc('\n', f);
    }
}

/* Agreement of level l with the labels of what is assigned. */
static json_t *level_json(const assignment *s, int l)
{
    int *label = malloc(((size_t)s->n + 1) * sizeof *label);
    for (int i = 0; label && i < s->n; i++)
        label[i] = s->label[i * s->levels + l];
    json_t *agreement = label ? cli_agreement_json(s->n, s->class_of, label) : json_null();
    free(label);
    return json_pack("{s:i, s:o}", "K", vhem_tree_level(s->tree, l)->Kr, "agreement", agreement);
}

static void write_json(FILE *f, cli *c, const assignment *s, json_t *levels)
{
    json_t *rows = json_array();
    char buf[32];
    for (int i = 0; i < s->n; i++) {
        json_t *cluster = json_array(), *posterior = json_array(), *lowest = json_array();
        for (int l = 0; l < s->levels; l++) {
            json_array_append_new(cluster, json_integer(s->label[i * s->levels + l]));
            json_array_append_new(posterior, cli_json_real(posterior_of(s, i, l)));
        }
        for (int j = 0; j < s->Kr; j++)
            json_array_append_new(lowest, cli_json_real(s->posterior[(size_t)i * (size_t)s->Kr + (size_t)j]));
        json_array_append_new(rows,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                                        cli_json_text(name_of(s, i, buf, sizeof buf)), "label",
                                        cli_json_text(s->class_of[i]), "cluster", cluster, "posterior",
                                        posterior, "all", lowest, "score", cli_json_real(score_of(s, i))));
    }
    cli_json_put(f, json_pack("{s:s, s:o, s:o, s:s, s:O, s:o}", "command", c->command, "clusters",
                              cli_json_text(c->arg[0]), "input", cli_json_text(c->arg[1]), "kind",
                              s->data ? "data" : "models", "levels", levels, "assigned", rows));
}

static void tell(cli *c, const assignment *s, const json_t *levels)
{
    for (int l = 0; l < s->levels; l++) {
        const json_t *g = json_object_get(json_array_get(levels, (size_t)l), "agreement");
        int K = vhem_tree_level(s->tree, l)->Kr;
        char match[96] = "";
        if (json_is_object(g))
            snprintf(match, sizeof match, "; agreement with the labels: Rand index %.3f, adjusted %.3f",
                     json_number_value(json_object_get(g, "rand")),
                     json_number_value(json_object_get(g, "adjusted_rand")));
        cli_say(c, "%d %s%s in %d cluster%s%s", s->n, s->data ? "sequence" : cli_models_kind(&s->m),
                cli_plural(s->n), K, cli_plural(K), match);
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
        json_array_append_new(levels, level_json(s, l));
    if (c->json)
        write_json(out.f, c, s, levels);
    else
        write_table(out.f, s);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        tell(c, s, levels);
    json_decref(levels);
    return status == CLI_GO ? EXIT_DONE : status;
}

/* Which model of level l cluster j of the level below is: empty clusters may have been left out, -1. */
static int row_above(const vhem_tree *tree, int l, int j)
{
    const vhem_clustering *below = vhem_tree_level(tree, l - 1);
    int row = 0;
    if (j < 0 || vhem_tree_level(tree, l)->Kb == below->Kr)
        return j;
    for (int k = 0; k <= j; k++) {
        double omega = cli_models_omega(&(cli_models){ below->centers, below->textures }, k);
        if (k == j)
            return omega > 0 ? row : -1;
        row += omega > 0;
    }
    return -1;
}

/* Room for the answer, and the way up the tree of every cluster of the lowest level. */
static bool make_room(assignment *s)
{
    size_t n, L;
    s->n = s->data ? vhem_data_size(s->data) : cli_models_size(&s->m);
    s->levels = vhem_tree_levels(s->tree);
    s->Kr = vhem_tree_level(s->tree, 0)->Kr;
    n = (size_t)s->n + 1;
    L = (size_t)s->levels;
    s->class_of = s->m.h3m   ? cli_classes_of_models(s->m.h3m)
                  : s->m.dtm ? cli_classes_of_textures(s->m.dtm)
                             : cli_classes_of_data(s->data);
    s->label = calloc(n * L, sizeof *s->label);
    s->above = calloc((size_t)s->Kr * L, sizeof *s->above);
    s->posterior = calloc(n * (size_t)s->Kr, sizeof *s->posterior);
    s->score = calloc(n, sizeof *s->score);
    if (!s->class_of || !s->label || !s->above || !s->posterior || !s->score)
        return false;
    for (int j = 0; j < s->Kr; j++) {
        s->above[j] = j;
        for (int l = 1; l < s->levels; l++) {
            int row = row_above(s->tree, l, s->above[(l - 1) * s->Kr + j]);
            s->above[l * s->Kr + j] = row < 0 ? -1 : vhem_tree_level(s->tree, l)->label[row];
        }
    }
    return true;
}

static int assign(cli *c, const assign_args *a, assignment *s)
{
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = cli_load_clusters(c, c->arg[0], &s->tree);
    if (status == CLI_GO)
        status = cli_load_textures(c, c->arg[1], &s->m.dtm);
    if (status == CLI_GO && !s->m.dtm)
        status = cli_load_any(c, c->arg[1], &a->data, &s->m.h3m, &s->data);
    if (status == CLI_GO && !make_room(s))
        status = cli_fail(c, "out of memory");
    if (status == CLI_GO && s->m.h3m)
        status =
            cli_status(c, vhem_assign_models(c->ctx, s->tree, s->m.h3m, s->label, s->posterior, s->score));
    else if (status == CLI_GO && s->m.dtm)
        status = cli_status(c, vhem_assign_dtm(c->ctx, s->tree, s->m.dtm, s->label, s->posterior, s->score));
    else if (status == CLI_GO)
        status = cli_status(c, vhem_assign_data(c->ctx, s->tree, s->data, s->label, s->posterior, s->score));
    return status == CLI_GO ? write_result(c, a, s) : status;
}

int cmd_assign(cli *c, int argc, char **argv)
{
    assign_args a = { .output = "-" };
    assignment s = { 0 };
    vhem_data_options_init(&a.data);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output", "file to write the table to" },
        CLI_UNGROUPED_OPTIONS(&a.data),
        { 0 },
    };
    const cli_usage usage = {
        .args = "OUT (DATA or MODELS)",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about = "Puts sequences or models into the clusters of OUT, which 'vhem cluster' or 'vhem tree' "
                 "made, and prints a table, one row each: name, label, the cluster at each level with its "
                 "posterior probability, and the score: of a sequence its log-likelihood per frame under "
                 "the lowest cluster, of a model the bound L_hmm on its expected log-likelihood, in nats.",
        .examples = "  vhem assign clusters.json new.csv\n"
                    "  vhem assign tree.json new-models.json -o where.tsv\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    if (status == CLI_GO)
        status = assign(c, &a, &s);
    free(s.label);
    free(s.above);
    free(s.posterior);
    free(s.score);
    free(s.class_of);
    vhem_data_free(s.data);
    cli_models_free(&s.m);
    vhem_tree_free(s.tree);
    return status;
}
