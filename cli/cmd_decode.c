/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_decode.c - vhem decode MODELS DATA.
 *
 *   1. which HMM decodes each sequence
 *   2. what is written
 *   3. the work, a block of sequences at a time */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vhem_data_options data;
    const char *output, *hmm;
    int posterior;
} decode_args;

typedef struct {
    vhem_models *models;
    vhem_data *data;
    int64_t K, N;    /* HMMs, sequences */
    int most_S;      /* states of the largest HMM */
    int64_t *hmm;    /* [N] which HMM decodes sequence n */
    const char *how; /* it was chosen */
} decoding;

typedef struct { /* one sequence */
    const decoding *all;
    vhem_seq_view seq;
    int64_t hmm;
    int S, *path;           /* [T] */
    double logprob, *gamma; /* [T][S] or NULL */
} decoded;

/* ---- 1. the HMM of each sequence ----------------------------------------------------------------------- */

static int64_t find_by_text(const decoding *d, const char *text)
{
    char buf[32], *end;
    for (int64_t i = 0; i < d->K; i++)
        if (strcmp(cli_model_name(d->models, i, buf, sizeof buf), text) == 0)
            return i;
    long long i = strtoll(text, &end, 10);
    return *text && !*end && i >= 0 && i < d->K ? i : -1;
}

/* The HMM named like each sequence, or like its group: all of them find theirs, or none counts. */
static bool match_names(decoding *d)
{
    int64_t n = 0;
    CLI_AUTOFREE cli_entry *names = malloc((size_t)d->K * sizeof *names);
    for (int64_t i = 0; names && i < d->K; i++)
        names[i] = (cli_entry){ cli_model_at(d->models, i).name, i };
    if (names)
        cli_sort_names(names, (size_t)d->K);
    for (; names && n < d->N; n++) {
        vhem_seq_view seq = cli_sequence_at(d->data, n);
        d->hmm[n] = *seq.name ? cli_find_name(names, (size_t)d->K, seq.name) : -1;
        if (d->hmm[n] < 0 && *seq.group)
            d->hmm[n] = cli_find_name(names, (size_t)d->K, seq.group);
        if (d->hmm[n] < 0)
            break;
    }
    return names && n == d->N;
}

static int find_most_likely(cli *c, decoding *d)
{
    const vhem_source from = { .data = d->data };
    CLI_AUTOFREE double *loglik = calloc((size_t)d->N * (size_t)d->K, sizeof *loglik);
    CLI_CHECK(loglik, "out of memory");
    CLI_TRY(cli_status(c, vhem_score(c->ctx, d->models, &from, loglik)));
    for (int64_t n = 0; n < d->N; n++) {
        d->hmm[n] = 0;
        for (int64_t i = 1; i < d->K; i++)
            if (loglik[n * d->K + i] > loglik[n * d->K + d->hmm[n]])
                d->hmm[n] = i;
    }
    cli_tell_common(c, 1, &(const vhem_models *){ d->models }, false);
    return CLI_GO;
}

/* which: a name or number for all sequences, "best", or NULL: by name where every sequence or its group has
 * its HMM, else the most likely one of each sequence. */
static int choose_hmms(cli *c, const char *which, decoding *d)
{
    int64_t forced = d->K == 1 ? 0 : -1;
    bool best = which && strcmp(which, "best") == 0;
    d->hmm = calloc((size_t)d->N + 1, sizeof *d->hmm);
    CLI_CHECK(d->hmm, "out of memory");
    if (which && !best)
        forced = find_by_text(d, which);
    CLI_CHECK(forced >= 0 || !which || best, "%s has no HMM named or numbered '%s'", c->arg[0], which);
    if (forced >= 0) {
        d->how = "the only one, or the one asked for";
        for (int64_t n = 0; n < d->N; n++)
            d->hmm[n] = forced;
        return CLI_GO;
    }
    if (!best && match_names(d)) {
        d->how = "matched by name";
        return CLI_GO;
    }
    d->how = "the most likely for each sequence";
    return find_most_likely(c, d);
}

/* ---- 2. what is written -------------------------------------------------------------------------------- */

static json_t *sequence_json(const decoded *one)
{
    char buf[32];
    cli_row r = { .json = json_object() };
    cli_cell_text(&r, "sequence", one->seq.name);
    cli_cell_text(&r, "hmm", cli_model_name(one->all->models, one->hmm, buf, sizeof buf));
    cli_cell_int(&r, "index", one->hmm);
    cli_cell_real(&r, "logprob", one->logprob);
    json_object_set_new(r.json, "path", json_array());
    for (int64_t t = 0; t < one->seq.T; t++)
        cli_cell_int_of(&r, "path", NULL, one->path[t]);
    cli_cell_ids(&r, one->all->data, NULL, one->seq.name);
    if (one->gamma)
        json_object_set_new(r.json, "posterior", cli_json_matrix(one->gamma, one->seq.T, one->S));
    return r.json;
}

static void put_frame(cli_row *r, const void *of, int64_t t)
{
    const decoded *one = of;
    char buf[32];
    cli_cell_text(r, "sequence", one->seq.name);
    cli_cell_int(r, "frame", t);
    cli_cell_text(r, "hmm", cli_model_name(one->all->models, one->hmm, buf, sizeof buf));
    cli_cell_int(r, "state", one->path[t]);
    for (int s = 0; one->gamma && s < one->all->most_S; s++)
        if (s < one->S)
            cli_cell_real(r, cli_numbered("p", s, buf), one->gamma[t * one->S + s]);
        else
            cli_cell_text(r, cli_numbered("p", s, buf), "");
    cli_cell_ids(r, one->all->data, NULL, one->seq.name);
}

static void write_block(const cli *c, cli_row *r, const decoding *d, int64_t first, int64_t n,
                        const vhem_decoding *found)
{
    decoded one = { .all = d, .path = found->path, .gamma = found->gamma };
    for (int64_t i = first; i < first + n; i++) {
        one.hmm = d->hmm[i];
        one.S = cli_model_at(d->models, one.hmm).S;
        one.logprob = found->logprob[i - first];
        one.seq = cli_sequence_at(d->data, i);
        if (c->json) {
            json_auto_t *all = sequence_json(&one);
            fputs(i ? ",\n" : "\n", r->out->f);
            json_dumpf(all, r->out->f, JSON_COMPACT | JSON_ENSURE_ASCII);
        } else {
            cli_put_rows(r, one.seq.T, put_frame, &one);
        }
        one.path += one.seq.T;
        one.gamma += one.gamma ? one.seq.T * one.S : 0;
    }
}

/* ---- 3. the work --------------------------------------------------------------------------------------- */

/* The sequences from first on whose results have so many numbers together, at least one: *n of them, *frames
 * and *numbers (of posteriors) in all. */
enum { BLOCK = 1 << 21 };
static void next_block(const decoding *d, int64_t first, int64_t *n, size_t *frames, size_t *numbers)
{
    *n = 0;
    *frames = *numbers = 0;
    while (first + *n < d->N && (*n == 0 || *frames + *numbers < BLOCK)) {
        vhem_seq_view seq = cli_sequence_at(d->data, first + *n);
        *frames += (size_t)seq.T;
        *numbers += (size_t)seq.T * (size_t)cli_model_at(d->models, d->hmm[first + *n]).S;
        ++*n;
    }
}

/* A block of sequences at a time, so that the output may be larger than memory, and all threads work. */
static int decode_block(cli *c, cli_row *r, const decode_args *a, const decoding *d, int64_t *first)
{
    int64_t n;
    size_t frames, numbers;
    next_block(d, *first, &n, &frames, &numbers);
    CLI_AUTOFREE int *path = calloc(frames, sizeof *path);
    CLI_AUTOFREE double *logprob = calloc((size_t)n, sizeof *logprob);
    CLI_AUTOFREE double *gamma = a->posterior ? calloc(numbers, sizeof *gamma) : NULL;
    const vhem_decoding found = { .path = path, .logprob = logprob, .gamma = gamma };
    CLI_CHECK(path && logprob && (gamma || !a->posterior), "out of memory");
    CLI_TRY(cli_status(c, vhem_decode(c->ctx, d->models, d->hmm + *first, d->data, *first, n, &found)));
    write_block(c, r, d, *first, n, &found);
    *first += n;
    return cli_interrupted() ? cli_status(c, VHEM_ESTOPPED) : CLI_GO;
}

static int decode_all(cli *c, const decode_args *a, const decoding *d)
{
    CLI_CLEANUP(cli_out_close) cli_out out = { 0 };
    cli_row r = { .out = &out, .head = true };
    CLI_TRY(cli_out_open(c, a->output, &out));
    if (c->json)
        fprintf(out.f, "{\"command\": \"decode\", \"chosen\": \"%s\", \"sequences\": [", d->how);
    for (int64_t n = 0; n < d->N;)
        CLI_TRY(decode_block(c, &r, a, d, &n));
    if (c->json)
        fputs("\n]}\n", out.f);
    CLI_TRY(cli_out_commit(c, &out));
    cli_say(c, "%lld sequence%s decoded; HMM: %s", (long long)d->N, cli_plural(d->N), d->how);
    return EXIT_DONE;
}

static int load_and_decode(cli *c, const decode_args *a, decoding *d)
{
    CLI_TRY(cli_check_streams(c, NULL));
    CLI_TRY(cli_out_check_table(c, a->output));
    CLI_TRY(cli_load_hmms(c, c->arg[0], &d->models));
    CLI_TRY(cli_load_data(c, c->arg[1], &a->data, d->models, NULL, &d->data));
    const vhem_models_facts models = cli_models_facts(d->models);
    d->K = models.K;
    d->N = cli_data_facts(d->data).N;
    d->most_S = models.S;
    CLI_TRY(choose_hmms(c, a->hmm, d));
    return decode_all(c, a, d);
}

static void free_decoding(decoding *d)
{
    free(d->hmm);
    vhem_free(d->data);
    vhem_free(d->models);
}

int cmd_decode(cli *c, int argc, char **argv)
{
    decode_args a = { .output = "-" };
    CLI_CLEANUP(free_decoding) decoding d = { 0 };
    cli_table t = { 0 };
    VHEM_INIT(VHEM_DATA_OPTIONS, &a.data);
    cli_add_output(&t, &a.output, "file to write the table to");
    cli_add(
        &t,
        (const cli_option[]){
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
    CLI_TRY(cli_begin(c, argc, argv, &usage));
    return load_and_decode(c, &a, &d);
}
