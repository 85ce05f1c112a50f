/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_decode.c - vhem decode MODELS DATA. */
#include "choose.h"
#include "cli.h"

#include <stdlib.h>

typedef struct {
    vhem_data_options data;
    const char *output, *hmm;
    bool posterior;
} decode_args;

static json_t *sequence_json(const vhem_h3m *h3m, const vhem_seq_view *seq, int i, int S, const int *path,
                             double logprob, const double *gamma)
{
    char buf[32];
    json_t *states = json_array(), *posterior = gamma ? json_array() : NULL;
    for (int64_t t = 0; t < seq->T; t++) {
        json_array_append_new(states, json_integer(path[t]));
        if (!gamma)
            continue;
        json_t *row = json_array();
        for (int s = 0; s < S; s++)
            json_array_append_new(row, cli_json_real(gamma[t * S + s]));
        json_array_append_new(posterior, row);
    }
    json_t *all = json_pack("{s:o, s:o, s:i, s:o, s:o}", "sequence", cli_json_text(seq->name), "hmm",
                            cli_json_text(cli_hmm_name(h3m, i, buf, sizeof buf)), "index", i, "logprob",
                            cli_json_real(logprob), "path", states);
    if (posterior)
        json_object_set_new(all, "posterior", posterior);
    return all;
}

static void write_rows(FILE *f, const vhem_h3m *h3m, const vhem_seq_view *seq, int i, int S, int most_S,
                       const int *path, const double *gamma)
{
    char buf[32];
    const char *name = cli_hmm_name(h3m, i, buf, sizeof buf);
    for (int64_t t = 0; t < seq->T; t++) {
        cli_put_cell(f, seq->name);
        fprintf(f, "\t%lld\t", (long long)t);
        cli_put_cell(f, name);
        fprintf(f, "\t%d", path[t]);
        for (int s = 0; gamma && s < most_S; s++) {
            fputc('\t', f);
            if (s < S)
                cli_put_number(f, gamma[t * S + s]);
        }
        fputc('\n', f);
    }
}

/* One sequence at a time, so that the output may be larger than memory. */
static int decode_one(cli *c, FILE *f, const decode_args *a, const vhem_h3m *h3m, const vhem_data *data,
                      int n, const choice *ch)
{
    vhem_seq_view seq;
    vhem_hmm_view hmm;
    double logprob;
    vhem_data_view(data, n, &seq);
    vhem_h3m_view(h3m, ch->hmm[n], &hmm);
    int *path = calloc((size_t)seq.T, sizeof *path), i = ch->hmm[n];
    double *gamma = a->posterior ? calloc((size_t)seq.T * (size_t)hmm.S, sizeof *gamma) : NULL;
    int status = CLI_GO;

    if (!path || (a->posterior && !gamma))
        status = cli_fail(c, "out of memory");
    if (status == CLI_GO)
        status = cli_status(c, vhem_viterbi(c->ctx, h3m, i, data, n, path, &logprob));
    if (status == CLI_GO && gamma)
        status = cli_status(c, vhem_posterior(c->ctx, h3m, i, data, n, gamma, NULL, NULL));
    if (status == CLI_GO && c->json) {
        fputs(n ? ",\n" : "\n", f);
        json_t *all = sequence_json(h3m, &seq, i, hmm.S, path, logprob, gamma);
        json_dumpf(all, f, JSON_COMPACT | JSON_ENSURE_ASCII);
        json_decref(all);
    } else if (status == CLI_GO) {
        write_rows(f, h3m, &seq, i, hmm.S, ch->most_S, path, gamma);
    }
    free(gamma);
    free(path);
    return status;
}

static int decode_all(cli *c, const decode_args *a, const vhem_h3m *h3m, const vhem_data *data,
                      const choice *ch)
{
    cli_out out;
    int status = cli_out_open(c, a->output, &out), N = vhem_data_size(data);
    if (status != CLI_GO)
        return status;
    if (c->json) {
        fprintf(out.f, "{\"command\": \"decode\", \"chosen\": \"%s\", \"sequences\": [", ch->how);
    } else {
        fputs("sequence\tframe\thmm\tstate", out.f);
        for (int s = 0; a->posterior && s < ch->most_S; s++)
            fprintf(out.f, "\tp%d", s);
        fputc('\n', out.f);
    }
    for (int n = 0; status == CLI_GO && n < N; n++) {
        status = decode_one(c, out.f, a, h3m, data, n, ch);
        if (status == CLI_GO && cli_interrupted())
            status = cli_status(c, VHEM_ESTOPPED);
    }
    if (status == CLI_GO && c->json)
        fputs("\n]}\n", out.f);
    if (status == CLI_GO)
        status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        cli_say(c, "%d sequence%s decoded; HMM: %s", N, N == 1 ? "" : "s", ch->how);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int load_and_decode(cli *c, const decode_args *a)
{
    vhem_h3m *h3m = NULL;
    vhem_data *data = NULL;
    choice ch = { 0 };
    int status = cli_load_both(c, a->output, &a->data, &h3m, &data);
    for (int i = 0; status == CLI_GO && i < vhem_h3m_size(h3m); i++) {
        vhem_hmm_view hmm;
        vhem_h3m_view(h3m, i, &hmm);
        ch.most_S = hmm.S > ch.most_S ? hmm.S : ch.most_S;
    }
    if (status == CLI_GO)
        status = choose_hmms(c, a->hmm, h3m, data, &ch);
    if (status == CLI_GO)
        status = decode_all(c, a, h3m, data, &ch);
    free(ch.hmm);
    vhem_data_free(data);
    vhem_h3m_free(h3m);
    return status;
}

int cmd_decode(cli *c, int argc, char **argv)
{
    decode_args a = { .output = "-" };
    vhem_data_options_init(&a.data);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output", "file to write the table to" },
        { "hmm", 0, OPT_TEXT, "WHICH", &a.hmm, 0,
          "the HMM named like the sequence or its group if all sequences have one, else best",
          "name of the HMM to use, or its number from 0 when none has that name, or best: the most likely "
          "for each sequence" },
        { "posterior", 'p', OPT_FLAG, NULL, &a.posterior, 0, NULL,
          "one more column for each state: its probability given the whole sequence" },
        CLI_DATA_OPTIONS(&a.data, "column with the group; its HMM is found by this name"),
        { 0 },
    };
    const cli_usage usage = {
        .args = "MODELS DATA",
        .n_min = 2,
        .n_max = 2,
        .options = options,
        .about = "Prints the most likely state path (Viterbi) of each sequence of DATA, one row per frame. "
                 "With --json also the log-probability of the path, in nats.",
        .examples = "  vhem decode walks.json walks.csv -o paths.tsv\n"
                    "  vhem decode walks.json new.csv --hmm walk_01 --posterior\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_decode(c, &a) : status;
}
