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
    vhem_source from;
    vhem_items *items;
    int64_t K, *frames, *values; /* models; [items]; [items] values that were observed */
    double *loglik;              /* [items][K] */
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

static void write_header(FILE *f, const scores *s, bool all)
{
    char buf[32];
    fprintf(f, "%s\tlabel\tframes\tloglik\tper_frame\tbest\tper_value", cli_item_word(&s->from));
    for (int64_t i = 0; all && i < s->K; i++) {
        fputc('\t', f);
        cli_put_cell(f, cli_model_name(s->models, i, buf, sizeof buf));
    }
    cli_put_id_names(f, cli_sequences(&s->from), all ? s->models : NULL);
    fputc('\n', f);
}

static void write_row(FILE *f, const scores *s, int64_t n, bool all)
{
    mixture_score of = score_of(s, n);
    char buf[32];
    cli_put_cell(f, s->items->name[n]);
    fputc('\t', f);
    cli_put_cell(f, s->items->label[n]);
    fprintf(f, "\t%lld\t", (long long)s->frames[n]);
    cli_put_number(f, of.loglik);
    fputc('\t', f);
    cli_put_number(f, of.loglik / (double)s->frames[n]);
    fputc('\t', f);
    if (of.best >= 0)
        cli_put_cell(f, cli_model_name(s->models, of.best, buf, sizeof buf));
    fputc('\t', f);
    if (s->values[n] > 0)
        cli_put_number(f, of.loglik / (double)s->values[n]);
    for (int64_t i = 0; all && i < s->K; i++) {
        fputc('\t', f);
        cli_put_number(f, s->loglik[n * s->K + i]);
    }
    cli_put_ids(f, cli_sequences(&s->from), s->items->name[n]);
    fputc('\n', f);
}

static json_t *row_json(const scores *s, int64_t n, bool all)
{
    mixture_score of = score_of(s, n);
    char buf[32];
    json_t *best =
        of.best < 0 ? json_null() : cli_json_text(cli_model_name(s->models, of.best, buf, sizeof buf));
    double per_value = s->values[n] > 0 ? of.loglik / (double)s->values[n] : NAN;
    json_t *row = json_pack("{s:o, s:o, s:I, s:o, s:o, s:o, s:o}", cli_item_word(&s->from),
                            cli_json_text(s->items->name[n]), "label", cli_json_text(s->items->label[n]),
                            "frames", (json_int_t)s->frames[n], "loglik", cli_json_real(of.loglik),
                            "per_frame", cli_json_real(of.loglik / (double)s->frames[n]), "best", best,
                            "per_value", cli_json_real(per_value));
    cli_json_ids(row, cli_sequences(&s->from), s->items->name[n]);
    if (all) {
        json_t *each = json_array();
        for (int64_t i = 0; i < s->K; i++)
            json_array_append_new(each, cli_json_real(s->loglik[n * s->K + i]));
        json_object_set_new(row, "each", each);
    }
    return row;
}

static void write_json(FILE *f, cli *c, const scores *s, bool all)
{
    json_t *rows = json_array(), *names = json_array();
    char buf[32];
    for (int64_t i = 0; i < s->K; i++)
        json_array_append_new(names, cli_json_text(cli_model_name(s->models, i, buf, sizeof buf)));
    for (int64_t n = 0; n < s->items->n; n++)
        json_array_append_new(rows, row_json(s, n, all));
    cli_json_put(f, json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", c->command, "models",
                              cli_json_text(c->arg[0]), "data", cli_json_text(c->arg[1]), "hmms", names,
                              s->from.by_group ? "groups" : "sequences", rows));
}

static int write_scores(cli *c, const score_args *a, const scores *s)
{
    cli_out out;
    int status = cli_out_open(c, a->output, &out);
    double sum = 0, frames = 0;
    if (status != CLI_GO)
        return status;
    if (!c->json)
        write_header(out.f, s, a->all);
    for (int64_t n = 0; n < s->items->n; n++) {
        if (!c->json)
            write_row(out.f, s, n, a->all);
        sum += score_of(s, n).loglik;
        frames += (double)s->frames[n];
    }
    if (c->json)
        write_json(out.f, c, s, a->all);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        cli_say(c, "%lld %s%s under %lld %s%s: mean log-likelihood %.4f per frame", (long long)s->items->n,
                cli_item_word(&s->from), cli_plural(s->items->n), (long long)s->K, cli_model_word(s->models),
                cli_plural(s->K), sum / frames);
    const cli_values v = cli_count_values(s->models, s->from.data, true);
    if (status == CLI_GO && v.missing > 0 && v.missing < v.all)
        cli_say(c, "%lld of %lld values %s missing: %.4f per value that was observed", (long long)v.missing,
                (long long)v.all, v.missing == 1 ? "is" : "are", sum / (double)(v.all - v.missing));
    if (status == CLI_GO)
        cli_tell_common(c, 1, (const vhem_models *const[]){ s->models }, false);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int compute_scores(cli *c, scores *s)
{
    vhem_models_facts facts;
    int status = cli_status(c, vhem_source_items(c->ctx, &s->from, &s->items));
    if (status != CLI_GO)
        return status;
    vhem_models_info(s->models, &facts);
    s->K = facts.K;
    s->frames = cli_frames(s->from.data, s->items);
    s->loglik = calloc((size_t)s->items->n * (size_t)s->K, sizeof *s->loglik);
    if (!s->loglik || !s->frames)
        return cli_fail(c, "out of memory");
    status = cli_status(c, vhem_score(c->ctx, s->models, &s->from, s->loglik));
    if (status == CLI_GO && !(s->values = cli_observed(s->models, s->from.data, s->items)))
        status = cli_fail(c, "out of memory");
    return status;
}

static int load_and_score(cli *c, const score_args *a)
{
    scores s = { 0 };
    vhem_data *data = NULL;
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = cli_load_models(c, c->arg[0], &s.models);
    if (status == CLI_GO)
        status = cli_load_data(c, c->arg[1], &a->data, s.models, NULL, &data);
    s.from = (vhem_source){ .data = data, .by_group = a->data.group != NULL };
    if (status == CLI_GO)
        status = compute_scores(c, &s);
    if (status == CLI_GO)
        status = write_scores(c, a, &s);
    free(s.loglik);
    free(s.frames);
    free(s.values);
    vhem_free(s.items);
    vhem_free(data);
    vhem_free(s.models);
    return status;
}

int cmd_score(cli *c, int argc, char **argv)
{
    score_args a = { .output = "-" };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add(&t, (const cli_option[]){ { "output", 'o', OPT_TEXT, "FILE", &a.output,
                                        .shown = "-, standard output", .help = "file to write the table to" },
                                      { "all", 'a', OPT_FLAG, NULL, &a.all,
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
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_score(c, &a) : status;
}
