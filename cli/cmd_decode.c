/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_decode.c - vhem decode MODELS DATA. */
#include "decode_choice.h"
#include "vhem.h"

#include <stdlib.h>

typedef struct {
    vhem_data_options data;
    const char *output, *hmm;
    int posterior;
} decode_args;

typedef struct {
    vhem_models *models;
    vhem_data *data;
    decode_choice choice;
    int most_S; /* states of the largest HMM */
} decoding;

typedef struct { /* one sequence */
    vhem_seq_view seq;
    int64_t hmm;
    int S, *path;           /* [T] */
    double logprob, *gamma; /* [T][S] or NULL */
} decoded;

static json_t *sequence_json(const decoding *d, const decoded *one)
{
    char buf[32];
    json_t *states = json_array(), *posterior = one->gamma ? json_array() : NULL;
    for (int64_t t = 0; t < one->seq.T; t++) {
        json_array_append_new(states, json_integer(one->path[t]));
        if (!one->gamma)
            continue;
        json_t *row = json_array();
        for (int s = 0; s < one->S; s++)
            json_array_append_new(row, cli_json_real(one->gamma[t * one->S + s]));
        json_array_append_new(posterior, row);
    }
    json_t *all = json_pack("{s:o, s:o, s:I, s:o, s:o}", "sequence", cli_json_text(one->seq.name), "hmm",
                            cli_json_text(cli_model_name(d->models, one->hmm, buf, sizeof buf)), "index",
                            (json_int_t)one->hmm, "logprob", cli_json_real(one->logprob), "path", states);
    cli_json_ids(all, d->data, one->seq.name);
    if (posterior)
        json_object_set_new(all, "posterior", posterior);
    return all;
}

static void write_rows(FILE *f, const decoding *d, const decoded *one)
{
    char buf[32];
    const char *name = cli_model_name(d->models, one->hmm, buf, sizeof buf);
    for (int64_t t = 0; t < one->seq.T; t++) {
        cli_put_cell(f, one->seq.name);
        fprintf(f, "\t%lld\t", (long long)t);
        cli_put_cell(f, name);
        fprintf(f, "\t%d", one->path[t]);
        for (int s = 0; one->gamma && s < d->most_S; s++) {
            fputc('\t', f);
            if (s < one->S)
                cli_put_number(f, one->gamma[t * one->S + s]);
        }
        cli_put_ids(f, d->data, one->seq.name);
        fputc('\n', f);
    }
}

/* The sequences from first on whose results have so many numbers together, at least one: *n of them, *frames
 * and *numbers (of posteriors) in all. */
enum { BLOCK = 1 << 21 };
static void next_block(const decoding *d, int64_t first, int64_t N, int64_t *n, size_t *frames,
                       size_t *numbers)
{
    *n = 0;
    *frames = *numbers = 0;
    while (first + *n < N && (*n == 0 || *frames + *numbers < BLOCK)) {
        vhem_seq_view seq = cli_sequence_at(d->data, first + *n);
        *frames += (size_t)seq.T;
        *numbers += (size_t)seq.T * (size_t)cli_model_at(d->models, d->choice.hmm[first + *n]).S;
        ++*n;
    }
}

static void write_block(cli *c, FILE *f, const decoding *d, int64_t first, int64_t n,
                        const vhem_decoding *found)
{
    decoded one = { .path = found->path, .gamma = found->gamma };
    for (int64_t i = first; i < first + n; i++) {
        one.hmm = d->choice.hmm[i];
        one.S = cli_model_at(d->models, one.hmm).S;
        one.logprob = found->logprob[i - first];
        one.seq = cli_sequence_at(d->data, i);
        if (c->json) {
            fputs(i ? ",\n" : "\n", f);
            json_t *all = sequence_json(d, &one);
            json_dumpf(all, f, JSON_COMPACT | JSON_ENSURE_ASCII);
            json_decref(all);
        } else {
            write_rows(f, d, &one);
        }
        one.path += one.seq.T;
        one.gamma += one.gamma ? one.seq.T * one.S : 0;
    }
}

/* A block of sequences at a time, so that the output may be larger than memory, and all threads work. */
static int decode_block(cli *c, FILE *f, const decode_args *a, const decoding *d, int64_t N, int64_t *first)
{
    int64_t n;
    size_t frames, numbers;
    next_block(d, *first, N, &n, &frames, &numbers);
    const vhem_decoding found = { .path = calloc(frames, sizeof *found.path),
                                  .logprob = calloc((size_t)n, sizeof *found.logprob),
                                  .gamma = a->posterior ? calloc(numbers, sizeof *found.gamma) : NULL };
    bool room = found.path && found.logprob && (found.gamma || !a->posterior);
    int status = room ? CLI_GO : cli_fail(c, "out of memory");

    if (status == CLI_GO)
        status =
            cli_status(c, vhem_decode(c->ctx, d->models, d->choice.hmm + *first, d->data, *first, n, &found));
    if (status == CLI_GO)
        write_block(c, f, d, *first, n, &found);
    *first += n;
    free(found.path);
    free(found.logprob);
    free(found.gamma);
    return status;
}

static int decode_all(cli *c, const decode_args *a, const decoding *d)
{
    cli_out out;
    vhem_data_facts facts;
    int status = cli_out_open(c, a->output, &out);
    vhem_data_info(d->data, &facts);
    if (status != CLI_GO)
        return status;
    if (c->json) {
        fprintf(out.f, "{\"command\": \"decode\", \"chosen\": \"%s\", \"sequences\": [", d->choice.how);
    } else {
        fputs("sequence\tframe\thmm\tstate", out.f);
        for (int s = 0; a->posterior && s < d->most_S; s++)
            fprintf(out.f, "\tp%d", s);
        cli_put_id_names(out.f, d->data, NULL);
        fputc('\n', out.f);
    }
    for (int64_t n = 0; status == CLI_GO && n < facts.N;) {
        status = decode_block(c, out.f, a, d, facts.N, &n);
        if (status == CLI_GO && cli_interrupted())
            status = cli_status(c, VHEM_ESTOPPED);
    }
    if (status == CLI_GO && c->json)
        fputs("\n]}\n", out.f);
    if (status == CLI_GO)
        status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status == CLI_GO)
        cli_say(c, "%lld sequence%s decoded; HMM: %s", (long long)facts.N, cli_plural(facts.N),
                d->choice.how);
    return status == CLI_GO ? EXIT_DONE : status;
}

static int load_and_decode(cli *c, const decode_args *a)
{
    decoding d = { 0 };
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check_table(c, a->output);
    if (status == CLI_GO)
        status = cli_load_hmms(c, c->arg[0], &d.models);
    if (status == CLI_GO)
        status = cli_load_data(c, c->arg[1], &a->data, d.models, NULL, &d.data);
    if (status == CLI_GO) {
        vhem_models_facts facts;
        vhem_models_info(d.models, &facts);
        d.most_S = facts.S;
        status = decode_choose(c, a->hmm, d.models, d.data, &d.choice);
    }
    if (status == CLI_GO)
        status = decode_all(c, a, &d);
    free(d.choice.hmm);
    vhem_free(d.data);
    vhem_free(d.models);
    return status;
}

int cmd_decode(cli *c, int argc, char **argv)
{
    decode_args a = { .output = "-" };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add(
        &t,
        (const cli_option[]){
            { "output", 'o', OPT_TEXT, "FILE", &a.output, .shown = "-, standard output",
              .help = "file to write the table to" },
            { "hmm", 0, OPT_TEXT, "WHICH", &a.hmm,
              .shown = "the HMM named like the sequence or its group if all sequences have one, else best",
              .help = "name of the HMM to use, or its number from 0 when none has that name, or best: the "
                      "most likely for each sequence" },
            { "posterior", 'p', OPT_FLAG, NULL, &a.posterior,
              .help = "add a column for each state: its probability given the whole sequence" },
            { 0 } });
    cli_add_data(&t, &a.data, "column with the group; its HMM is found by this name");
    const cli_usage usage = {
        .args = "MODELS DATA",
        .n_min = 2,
        .n_max = 2,
        .table = &t,
        .first = "output hmm posterior id group columns",
        .about = "Prints the most likely state path (Viterbi) of each sequence of DATA, one row per frame: "
                 "sequence, frame, HMM, state. States and frames count from 0. With --json also the "
                 "log-probability of the path, in nats.",
        .examples = "  vhem decode walks.json walks.csv -o paths.tsv\n"
                    "  vhem decode walks.json new.csv --hmm walk_01 --posterior\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    return status == CLI_GO ? load_and_decode(c, &a) : status;
}
