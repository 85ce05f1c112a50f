/* SPDX-License-Identifier: BSD-3-Clause */
/* assign_write.c - see assign.h. */
#include "assign.h"
#include "vhem.h"

#include <stdlib.h>

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

void assign_write_table(FILE *f, const assignment *s)
{
    char buf[32];
    fputs("name\tlabel", f);
    for (int l = 0; l < s->levels; l++)
        if (s->levels == 1)
            fputs("\tcluster\tposterior", f);
        else
            fprintf(f, "\tcluster%d\tposterior%d", l + 1, l + 1);
    fputs("\tscore", f);
    cli_put_id_names(f, cli_sequences(&s->input.from), NULL);
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

json_t *assign_level_json(cli *c, const assignment *s, int l)
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

void assign_write_json(FILE *f, cli *c, const assignment *s, json_t *levels)
{
    json_t *rows = json_array();
    for (int64_t i = 0; i < s->n; i++)
        json_array_append_new(rows, item_json(s, i));
    cli_json_put(f, json_pack("{s:s, s:o, s:o, s:s, s:O, s:o}", "command", c->command, "clusters",
                              cli_json_text(c->arg[0]), "input", cli_json_text(c->arg[1]), "kind",
                              s->input.from.data ? "data" : "models", "levels", levels, "assigned", rows));
}

void assign_tell(cli *c, const assignment *s, const json_t *levels)
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
