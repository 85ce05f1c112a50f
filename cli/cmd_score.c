/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_score.c - vhem score MODELS DATA. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    const char *output;
    bool all;
} score_args;

typedef struct {   /* one sequence */
    double loglik; /* log sum_i omega_i p(y | HMM i), in nats */
    int best;      /* argmax_i omega_i p(y | HMM i); -1 when no HMM can have made it */
} score;

static score score_of(const cli_models *m, const double *loglik)
{
    score s = { -INFINITY, -1 };
    double most = -INFINITY, sum = 0;
    int K = cli_models_size(m);
    for (int i = 0; i < K; i++) {
        double x = loglik[i] + log(cli_models_omega(m, i));
        if (x > most) {
            sum *= exp(most - x); /* running log-sum-exp: the scale moves to the largest term so far */
            most = x;
            s.best = i;
        }
        sum += x > -INFINITY ? exp(x - most) : 0;
    }
    if (s.best >= 0)
        s.loglik = most + log(sum);
    return s;
}

static void write_header(FILE *f, const cli_models *m, bool all)
{
    char buf[32];
    fputs("sequence\tlabel\tframes\tloglik\tper_frame\tbest", f);
    for (int i = 0; all && i < cli_models_size(m); i++) {
        fputc('\t', f);
        cli_put_cell(f, cli_models_name(m, i, buf, sizeof buf));
    }
    fputc('\n', f);
}

static void write_row(FILE *f, const cli_models *m, const vhem_seq_view *seq, const double *loglik, bool all)
{
    score s = score_of(m, loglik);
    char buf[32];
    cli_put_cell(f, seq->name);
    fputc('\t', f);
    cli_put_cell(f, seq->label);
    fprintf(f, "\t%lld\t", (long long)seq->T);
    cli_put_number(f, s.loglik);
    fputc('\t', f);
    cli_put_number(f, s.loglik / (double)seq->T);
    fputc('\t', f);
    if (s.best >= 0)
        cli_put_cell(f, cli_models_name(m, s.best, buf, sizeof buf));
    for (int i = 0; all && i < cli_models_size(m); i++) {
        fputc('\t', f);
        cli_put_number(f, loglik[i]);
    }
    fputc('\n', f);
}

static json_t *row_json(const cli_models *m, const vhem_seq_view *seq, const double *loglik, bool all)
{
    score s = score_of(m, loglik);
    char buf[32];
    json_t *best = s.best < 0 ? json_null() : cli_json_text(cli_models_name(m, s.best, buf, sizeof buf));
    json_t *row =
        json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "sequence", cli_json_text(seq->name), "label",
                  cli_json_text(seq->label), "frames", (json_int_t)seq->T, "loglik", cli_json_real(s.loglik),
                  "per_frame", cli_json_real(s.loglik / (double)seq->T), "best", best);
    if (all) {
        json_t *each = json_array();
        for (int i = 0; i < cli_models_size(m); i++)
            json_array_append_new(each, cli_json_real(loglik[i]));
        json_object_set_new(row, "each", each);
    }
    return row;
}

static void write_json(FILE *f, cli *c, const cli_models *m, const vhem_data *data, const double *loglik,
                       bool all)
{
    json_t *rows = json_array(), *names = json_array();
    char buf[32];
    int K = cli_models_size(m);
    for (int i = 0; i < K; i++)
        json_array_append_new(names, cli_json_text(cli_models_name(m, i, buf, sizeof buf)));
    for (int n = 0; n < vhem_data_size(data); n++) {
        vhem_seq_view seq;
        vhem_data_view(data, n, &seq);
        json_array_append_new(rows, row_json(m, &seq, loglik + (size_t)n * (size_t)K, all));
    }
    cli_json_put(f, json_pack("{s:s, s:o, s:o, s:o, s:o}", "command", c->command, "models",
                              cli_json_text(c->arg[0]), "data", cli_json_text(c->arg[1]), "hmms", names,
                              "sequences", rows));
}

static int write_scores(cli *c, const score_args *a, const cli_models *m, const vhem_data *data,
                        const double *loglik)
{
    cli_out out;
    int status = cli_out_open(c, a->output, &out), N = vhem_data_size(data), K = cli_models_size(m);
    double sum = 0;
    int64_t frames = 0;
    if (status != CLI_GO)
        return status;
    if (!c->json)
        write_header(out.f, m, a->all);
    for (int n = 0; n < N; n++) {
        vhem_seq_view seq;
        vhem_data_view(data, n, &seq);
        if (!c->json)
            write_row(out.f, m, &seq, loglik + (size_t)n * (size_t)K, a->all);
        sum += score_of(m, loglik + (size_t)n * (size_t)K).loglik;
        frames += seq.T;
    }
    if (c->json)
        write_json(out.f, c, m, data, loglik, a->all);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        cli_say(c, "%d sequence%s under %d %s%s: mean log-likelihood %.4f per frame", N, cli_plural(N), K,
                cli_models_kind(m), cli_plural(K), sum / (double)frames);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int load_and_score(cli *c, const score_args *a)
{
    cli_models m = { 0 };
    vhem_data *data = NULL;
    double *loglik = NULL;
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = cli_models_load(c, c->arg[0], &m);
    if (status == CLI_GO)
        status = cli_status(c, vhem_data_load(c->ctx, c->arg[1], &a->data, &data));
    if (status == CLI_GO) {
        loglik = calloc((size_t)vhem_data_size(data) * (size_t)cli_models_size(&m), sizeof *loglik);
        if (!loglik)
            status = cli_fail(c, "out of memory");
        else
            status = cli_status(c, m.h3m ? vhem_score(c->ctx, m.h3m, data, loglik)
                                         : vhem_dtm_score(c->ctx, m.dtm, data, loglik));
    }
    if (status == CLI_GO)
        status = write_scores(c, a, &m, data, loglik);
    free(loglik);
    vhem_data_free(data);
    cli_models_free(&m);
    return status;
}

int cmd_score(cli *c, int argc, char **argv)
{
    score_args a = { .output = "-" };
    vhem_data_options_init(&a.data);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output", "file to write the table to" },
        { "all", 'a', OPT_FLAG, NULL, &a.all, 0, NULL,
          "one more column for each HMM: log p(sequence | HMM)" },
        CLI_UNGROUPED_OPTIONS(&a.data),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS DATA",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about =
            "Prints a table, one row per sequence of DATA: its log-likelihood in nats under the weighted "
            "set of HMMs, log sum_i omega_i p_i, the same per frame so that lengths compare, and the HMM "
            "that most likely made it.",
        .examples = "  vhem score walks.json new.csv\n"
                    "  vhem score walks.json new.csv --all -o scores.tsv\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_score(c, &a) : status;
}
