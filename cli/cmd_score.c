/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_score.c - vhem score MODELS DATA. */
#include "cli.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    const char *output;
    int all;
} score_args;

typedef struct {
    vhem_models *models;
    vhem_data *data;
    vhem_source from;
    vhem_items *items;
    int64_t K, *frames, *values; /* models; [items]; [items] values that were observed */
    double *loglik;              /* [items][K] */
    int all;                     /* a column for each model */
} scores;

typedef struct {   /* one item */
    double loglik; /* log sum_i omega_i p(y | model i), in nats */
    int64_t best;  /* argmax_i omega_i p(y | model i); -1 when no model can have made it */
} mixture_score;

static mixture_score score_of(const scores *s, int64_t n)
{
    mixture_score of = { -INFINITY, -1 };
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < s->K; i++) {
        double x = s->loglik[n * s->K + i] + log(cli_model_at(s->models, i).omega);
        if (x > most) {
            sum *= exp(most - x); /* running log-sum-exp: the scale moves to the largest term so far */
            most = x;
            of.best = i;
        }
        sum += x > -INFINITY ? exp(x - most) : 0;
    }
    if (of.best >= 0)
        of.loglik = most + log(sum);
    return of;
}

static void put_item(cli_row *r, const void *of, int64_t n)
{
    const scores *s = of;
    const mixture_score mix = score_of(s, n);
    char buf[32];
    cli_cell_text(r, cli_item_word(&s->from), s->items->name[n]);
    cli_cell_text(r, "label", s->items->label[n]);
    cli_cell_int(r, "frames", s->frames[n]);
    cli_cell_real(r, "loglik", mix.loglik);
    cli_cell_real(r, "per_frame", mix.loglik / (double)s->frames[n]);
    cli_cell_text(r, "best", mix.best < 0 ? "" : cli_model_name(s->models, mix.best, buf, sizeof buf));
    if (s->values[n] > 0)
        cli_cell_real(r, "per_value", mix.loglik / (double)s->values[n]);
    else
        cli_cell_text(r, "per_value", "");
    if (r->json)
        cli_cell_ids(r, cli_sequences(&s->from), NULL, s->items->name[n]);
    for (int64_t i = 0; s->all && i < s->K; i++)
        cli_cell_real_of(r, "each", r->head ? cli_model_name(s->models, i, buf, sizeof buf) : NULL,
                         s->loglik[n * s->K + i]);
    if (!r->json)
        cli_cell_ids(r, cli_sequences(&s->from), s->all ? s->models : NULL, s->items->name[n]);
}

static json_t *result_json(const cli *c, const scores *s)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", c->command, "models", cli_json_text(c->arg[0]),
                     "data", cli_json_text(c->arg[1]), "hmms", cli_json_names(s->models),
                     s->from.by_group ? "groups" : "sequences",
                     cli_rows_json(&(cli_rows){ .n = s->items->n, .put = put_item, .of = s }));
}

static void tell_scores(cli *c, const scores *s)
{
    double sum = 0, frames = 0;
    for (int64_t n = 0; n < s->items->n; n++) {
        sum += score_of(s, n).loglik;
        frames += (double)s->frames[n];
    }
    cli_say(c, "%lld %s%s under %lld %s%s: mean log-likelihood %.4f per frame", (long long)s->items->n,
            cli_item_word(&s->from), cli_plural(s->items->n), (long long)s->K, cli_model_word(s->models),
            cli_plural(s->K), sum / frames);
    const cli_values v = cli_count_values(s->models, s->from.data, true);
    if (v.missing > 0 && v.missing < v.all)
        cli_say(c, "%lld of %lld values %s missing: %.4f per value that was observed", (long long)v.missing,
                (long long)v.all, v.missing == 1 ? "is" : "are", sum / (double)(v.all - v.missing));
    cli_tell_common(c, 1, (const vhem_models *const[]){ s->models }, false);
}

static int load_and_score(cli *c, const score_args *a, scores *s)
{
    CLI_TRY(cli_check_streams(c, NULL));
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(cli_load_models(c, c->arg[0], &s->models));
    CLI_TRY(cli_load_data(c, c->arg[1], &a->data, s->models, NULL, &s->data));
    s->from = (vhem_source){ .data = s->data, .by_group = a->data.group != NULL };
    s->all = a->all;
    CLI_TRY(cli_status(c, vhem_source_items(c->ctx, &s->from, &s->items)));
    s->K = cli_models_facts(s->models).K;
    s->frames = cli_frames(s->data, s->items);
    s->loglik = calloc((size_t)s->items->n * (size_t)s->K, sizeof *s->loglik);
    CLI_CHECK(s->loglik && s->frames, "out of memory");
    CLI_TRY(cli_status(c, vhem_score(c->ctx, s->models, &s->from, s->loglik)));
    s->values = cli_observed(s->models, s->data, s->items);
    CLI_CHECK(s->values, "out of memory");
    CLI_TRY(cli_write_table(c, a->output, c->json ? result_json(c, s) : NULL,
                            &(cli_rows){ .n = s->items->n, .put = put_item, .of = s }));
    tell_scores(c, s);
    return EXIT_DONE;
}

static void free_scores(scores *s)
{
    free(s->loglik);
    free(s->frames);
    free(s->values);
    vhem_free(s->items);
    vhem_free(s->data);
    vhem_free(s->models);
}

int cmd_score(cli *c, int argc, char **argv)
{
    score_args a = { .output = "-" };
    CLI_CLEANUP(free_scores) scores s = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add_output(&t, &a.output, "file to write the table to");
    cli_add(&t, (const cli_option[]){ { "all", 'a', OPT_FLAG, NULL, &a.all,
                                        .help = "add a column for each model: log p(sequence | model)" },
                                      { 0 } });
    cli_add_data(&t, &a.data, "column with the group; one row per group, the sum over its sequences");
    const cli_usage usage = {
        .args = "MODELS DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .first = "output all id label group columns",
        .about =
            "Prints a table, one row per sequence of DATA: its log-likelihood in nats under the weighted "
            "set of models, log sum_i omega_i p_i, the same per frame, which compares sequences of different "
            "length, and the model that most likely made it.",
        .examples = "  vhem score walks.json new.csv\n"
                    "  vhem score walks.json new.csv --all -o scores.tsv\n",
    };
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return load_and_score(c, &a, &s);
}
