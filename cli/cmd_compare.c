/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_compare.c - vhem compare A [B]: distances between HMMs. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 10000 }; /* of a table with everything in it */

typedef struct {
    const char *output, *kind; /* kind NULL: all, as a table of pairs */
    vhem_distance_options opt;
    bool raw, symmetric;
} compare_args;

typedef struct {
    vhem_h3m *a, *b; /* the same object for a set against itself */
    int Ka, Kb;
    double *kl, *sampled, *error, *ppk; /* [Ka][Kb] each, NULL: not asked for */
} comparison;

/* A text in a table with this separator; commas ask for quotes where there is need of them. */
static void put_text(FILE *f, char separator, const char *text)
{
    if (separator == '\t' || !strpbrk(text, ",\"\r\n")) {
        cli_put_cell(f, text);
        return;
    }
    fputc('"', f);
    for (; *text; text++)
        fputs((char[]){ *text, *text == '"' ? '"' : '\0', '\0' }, f);
    fputc('"', f);
}

static void put_value(FILE *f, char separator, double x)
{
    fputc(separator, f);
    cli_put_number(f, x);
}

static void write_matrix(FILE *f, char separator, const comparison *s, const double *D)
{
    char buf[32];
    fputs("name", f);
    for (int k = 0; k < s->Kb; k++) {
        fputc(separator, f);
        put_text(f, separator, cli_hmm_name(s->b, k, buf, sizeof buf));
    }
    for (int i = 0; i < s->Ka; i++) {
        fputc('\n', f);
        put_text(f, separator, cli_hmm_name(s->a, i, buf, sizeof buf));
        for (int k = 0; k < s->Kb; k++)
            put_value(f, separator, D[(size_t)i * (size_t)s->Kb + (size_t)k]);
    }
    fputc('\n', f);
}

/* Is it a pair to tell?  Not a model with itself, and not the same pair twice. */
static bool told(const comparison *s, bool symmetric, int i, int k)
{
    return s->a != s->b || (symmetric ? i < k : i != k);
}

static void write_pairs(FILE *f, char separator, const comparison *s, bool symmetric)
{
    char buf[32];
    const char *columns = "a\tb\tkl\tkl_sampled\terror\tlog_ppk\n";
    for (; *columns; columns++)
        fputc(*columns == '\t' ? separator : *columns, f);
    for (int i = 0; i < s->Ka; i++)
        for (int k = 0; k < s->Kb; k++) {
            size_t at = (size_t)i * (size_t)s->Kb + (size_t)k;
            if (!told(s, symmetric, i, k))
                continue;
            put_text(f, separator, cli_hmm_name(s->a, i, buf, sizeof buf));
            fputc(separator, f);
            put_text(f, separator, cli_hmm_name(s->b, k, buf, sizeof buf));
            put_value(f, separator, s->kl[at]);
            put_value(f, separator, s->sampled[at]);
            put_value(f, separator, s->error[at]);
            put_value(f, separator, s->ppk[at]);
            fputc('\n', f);
        }
}

static json_t *names_json(const vhem_h3m *h3m)
{
    json_t *names = json_array();
    char buf[32];
    for (int i = 0; i < vhem_h3m_size(h3m); i++)
        json_array_append_new(names, cli_json_text(cli_hmm_name(h3m, i, buf, sizeof buf)));
    return names;
}

static void set_matrix(json_t *to, const char *key, const comparison *s, const double *D)
{
    json_t *rows = json_array();
    for (int i = 0; D && i < s->Ka; i++) {
        json_t *row = json_array();
        for (int k = 0; k < s->Kb; k++)
            json_array_append_new(row, cli_json_real(D[(size_t)i * (size_t)s->Kb + (size_t)k]));
        json_array_append_new(rows, row);
    }
    json_object_set_new(to, key, D ? rows : json_null());
    if (!D)
        json_decref(rows);
}

static void write_json(FILE *f, cli *c, const compare_args *a, const comparison *s)
{
    json_t *j = json_pack("{s:s, s:o, s:o, s:i, s:i, s:f, s:b, s:b, s:I, s:o, s:o}", "command", c->command,
                          "a", cli_json_text(c->arg[0]), "b", cli_json_text(c->arg[c->n_arg - 1]), "tau",
                          a->opt.tau, "samples", a->opt.samples, "lambda", a->opt.lambda, "normalised",
                          !a->raw, "symmetric", a->symmetric, "seed", (json_int_t)c->seed, "names_a",
                          names_json(s->a), "names_b", names_json(s->b));
    set_matrix(j, "kl", s, s->kl);
    set_matrix(j, "kl_sampled", s, s->sampled);
    set_matrix(j, "kl_sampled_error", s, s->error);
    set_matrix(j, "log_ppk", s, s->ppk);
    cli_json_put(f, j);
}

static int write_result(cli *c, const compare_args *a, const comparison *s)
{
    static const char *const csv[] = { ".csv", NULL };
    char separator = cli_ends_with(a->output, csv) ? ',' : '\t', other[32] = "each other";
    cli_out out;
    int status = cli_out_open(c, a->output, &out), negative = 0;
    if (status != CLI_GO)
        return status;
    if (c->json)
        write_json(out.f, c, a, s);
    else if (a->kind)
        write_matrix(out.f, separator, s, s->kl ? s->kl : s->sampled ? s->sampled : s->ppk);
    else
        write_pairs(out.f, separator, s, a->symmetric);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status != CLI_GO)
        return status;
    for (size_t k = 0; s->kl && k < (size_t)s->Ka * (size_t)s->Kb; k++)
        negative += s->kl[k] < 0;
    if (s->a != s->b)
        snprintf(other, sizeof other, "%d", s->Kb);
    cli_say(c, "%d HMM%s against %s for sequences of %d frame%s, in nats", s->Ka, cli_plural(s->Ka), other,
            a->opt.tau, cli_plural(a->opt.tau));
    if (negative)
        cli_say(c, "%d variational divergence%s below zero: a difference of two bounds, see vhem(1)",
                negative, negative == 1 ? " is" : "s are");
    return EXIT_DONE;
}

/* One kind into a matrix of its own; error may be NULL. */
static int distances(cli *c, const compare_args *a, const comparison *s, const char *kind, double **D,
                     double **error)
{
    vhem_distance_options opt = a->opt;
    size_t n = (size_t)s->Ka * (size_t)s->Kb;
    if (a->kind && strcmp(a->kind, kind) != 0)
        return CLI_GO;
    opt.kind = kind;
    opt.symmetric = a->symmetric;
    opt.normalised = !a->raw;
    *D = calloc(n, sizeof **D);
    if (error)
        *error = calloc(n, sizeof **error);
    if (!*D || (error && !*error))
        return cli_fail(c, "out of memory");
    return cli_status(c, vhem_distance(c->ctx, s->a, s->b, &opt, *D, error ? *error : NULL));
}

static int compare(cli *c, const compare_args *a, comparison *s)
{
    bool same = c->n_arg == 1 || strcmp(c->arg[0], c->arg[1]) == 0;
    int status = cli_check_streams(c, NULL);
    if (status == CLI_GO)
        status = cli_out_check(c, a->output);
    if (status == CLI_GO)
        status = cli_load_models(c, c->arg[0], &s->a);
    if (status == CLI_GO && same)
        s->b = s->a;
    else if (status == CLI_GO)
        status = cli_load_models(c, c->arg[1], &s->b);
    if (status != CLI_GO)
        return status;
    s->Ka = vhem_h3m_size(s->a);
    s->Kb = vhem_h3m_size(s->b);
    if (!a->kind && (double)s->Ka * s->Kb > MOST_PAIRS)
        return cli_fail(c,
                        "%d times %d pairs are too many for a table of everything; choose a matrix with "
                        "--kind",
                        s->Ka, s->Kb);
    status = distances(c, a, s, "kl", &s->kl, NULL);
    if (status == CLI_GO)
        status = distances(c, a, s, "kl-sampled", &s->sampled, &s->error);
    if (status == CLI_GO)
        status = distances(c, a, s, "ppk", &s->ppk, NULL);
    return status == CLI_GO ? write_result(c, a, s) : status;
}

int cmd_compare(cli *c, int argc, char **argv)
{
    compare_args a = { .output = "-" };
    comparison s = { 0 };
    vhem_distance_options_init(&a.opt);
    const cli_option options[] = {
        { "output", 'o', OPT_TEXT, "FILE", &a.output, 0, "-, standard output",
          "file to write, .csv with commas, else with tabs" },
        { "kind", 0, OPT_CHOICE, "kl|kl-sampled|ppk", &a.kind, 0, "all, one row per pair",
          "a matrix of this kind" },
        { "tau", 0, OPT_INT, "T", &a.opt.tau, 1, NULL, "frames of the sequences compared" },
        { "samples", 'n', OPT_INT, "N", &a.opt.samples, 2, NULL, "sequences drawn from each HMM" },
        { "lambda", 0, OPT_REAL, "P", &a.opt.lambda, 0, NULL, "power of the kernel, above 0" },
        { "raw", 0, OPT_FLAG, NULL, &a.raw, 0, NULL, "the kernel as it is, not normalised" },
        { "symmetric", 0, OPT_FLAG, NULL, &a.symmetric, 0, NULL, "divergences: the mean of both directions" },
        { 0 },
    };
    const cli_usage usage = {
        .args = "A [B]",
        .n_min = 1,
        .n_max = 2,
        .options = options,
        .about = "Compares every HMM of A with every HMM of B, or the HMMs of A with each other. One row per "
                 "pair: the Kullback-Leibler divergence from a to b by the variational bound, which may be "
                 "negative, and by sampling, with its standard error, in nats, and the logarithm of the "
                 "probability product kernel, 0 for equal HMMs. With --kind one of these as a matrix.",
        .examples = "  vhem compare models.json\n"
                    "  vhem compare models.json clusters.json --kind ppk -o kernel.csv\n",
    };
    int status = cli_begin(c, argc, argv, &usage);
    if (status == CLI_GO && !(a.opt.lambda > 0))
        status = cli_misuse(c, "--lambda is %g, must be above 0", a.opt.lambda);
    if (status == CLI_GO)
        status = compare(c, &a, &s);
    free(s.kl);
    free(s.sampled);
    free(s.error);
    free(s.ppk);
    if (s.b != s.a)
        vhem_h3m_free(s.b);
    vhem_h3m_free(s.a);
    return status;
}
