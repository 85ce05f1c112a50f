/* SPDX-License-Identifier: BSD-3-Clause */
/* compare_write.c - see compare.h. */
#include "compare.h"

#include <string.h>

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

bool compare_is_npy(const char *path)
{
    static const char *const npy[] = { ".npy", NULL };
    return cli_ends_with(path, npy);
}

static void write_matrix(FILE *f, char separator, const comparison *s, const double *D)
{
    char buf[32];
    fputs("name", f);
    for (int64_t k = 0; k < s->Kb; k++) {
        fputc(separator, f);
        put_text(f, separator, cli_model_name(s->b, k, buf, sizeof buf));
    }
    for (int64_t i = 0; i < s->Ka && !ferror(f); i++) {
        fputc('\n', f);
        put_text(f, separator, cli_model_name(s->a, i, buf, sizeof buf));
        for (int64_t k = 0; k < s->Kb; k++)
            put_value(f, separator, D[i * s->Kb + k]);
    }
    fputc('\n', f);
}

/* Is it a pair to tell?  Not a model with itself, and not the same pair twice. */
static bool is_told(const comparison *s, bool symmetric, int64_t i, int64_t k)
{
    return s->a != s->b || (symmetric ? i < k : i != k);
}

static void write_pairs(FILE *f, char separator, const comparison *s, bool symmetric)
{
    char buf[32];
    const char *columns = "a\tb\tkl\tkl_sampled\terror\tlog_ppk\n";
    for (; *columns; columns++)
        fputc(*columns == '\t' ? separator : *columns, f);
    for (int64_t i = 0; i < s->Ka; i++)
        for (int64_t k = 0; k < s->Kb; k++) {
            int64_t at = i * s->Kb + k;
            if (!is_told(s, symmetric, i, k))
                continue;
            put_text(f, separator, cli_model_name(s->a, i, buf, sizeof buf));
            fputc(separator, f);
            put_text(f, separator, cli_model_name(s->b, k, buf, sizeof buf));
            put_value(f, separator, s->kl.x[at]);
            put_value(f, separator, s->sampled.x[at]);
            put_value(f, separator, s->error.x[at]);
            put_value(f, separator, s->ppk.x[at]);
            fputc('\n', f);
        }
}

static json_t *names_json(const vhem_models *models, int64_t K)
{
    json_t *names = json_array();
    char buf[32];
    for (int64_t i = 0; i < K; i++)
        json_array_append_new(names, cli_json_text(cli_model_name(models, i, buf, sizeof buf)));
    return names;
}

static void set_matrix(json_t *to, const char *key, const comparison *s, const double *D)
{
    json_t *rows = json_array();
    for (int64_t i = 0; D && i < s->Ka; i++) {
        json_t *row = json_array();
        for (int64_t k = 0; k < s->Kb; k++)
            json_array_append_new(row, cli_json_real(D[i * s->Kb + k]));
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
                          a->opt.normalised, "symmetric", a->opt.symmetric, "seed", (json_int_t)c->seed,
                          "names_a", names_json(s->a, s->Ka), "names_b", names_json(s->b, s->Kb));
    set_matrix(j, "kl", s, s->kl.x);
    set_matrix(j, "kl_sampled", s, s->sampled.x);
    set_matrix(j, "kl_sampled_error", s, s->error.x);
    set_matrix(j, "log_ppk", s, s->ppk.x);
    cli_json_put(f, j);
}

static const cli_matrix *only_one(const comparison *s)
{
    return s->kl.x ? &s->kl : s->sampled.x ? &s->sampled : &s->ppk;
}

int compare_write(cli *c, const compare_args *a, const comparison *s)
{
    static const char *const csv[] = { ".csv", NULL };
    char separator = cli_ends_with(a->output, csv) ? ',' : '\t', other[32] = "each other";
    cli_out out;
    int status = cli_out_open_plain(c, a->output, &out); /* it has its own quotes */
    int64_t negative = 0;
    if (status != CLI_GO)
        return status;
    if (c->json)
        write_json(out.f, c, a, s);
    else if (a->opt.kind && compare_is_npy(a->output))
        cli_matrix_write_npy(out.f, only_one(s));
    else if (a->opt.kind)
        write_matrix(out.f, separator, s, only_one(s)->x);
    else
        write_pairs(out.f, separator, s, a->opt.symmetric);
    status = cli_out_commit(c, &out);
    cli_out_close(&out);
    if (status != CLI_GO)
        return status;
    for (int64_t k = 0; s->kl.x && k < s->Ka * s->Kb; k++)
        negative += s->kl.x[k] < 0;
    if (s->a != s->b)
        snprintf(other, sizeof other, "%lld", (long long)s->Kb);
    cli_say(c, "%lld HMM%s against %s for sequences of %d frame%s, in nats", (long long)s->Ka,
            cli_plural(s->Ka), other, a->opt.tau, cli_plural(a->opt.tau));
    cli_tell_common(c, s->a == s->b ? 1 : 2, (const vhem_models *const[]){ s->a, s->b }, true);
    if (negative)
        cli_say(c, "%lld variational divergence%s below zero: a difference of two bounds, see vhem(1)",
                (long long)negative, negative == 1 ? " is" : "s are");
    return EXIT_DONE;
}
