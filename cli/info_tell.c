/* SPDX-License-Identifier: BSD-3-Clause */
/* info_tell.c - the facts of info.c in words; those about clusters are in info_clusters.c. */
#include "info.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 10 }; /* rows of a list, unless all are asked for */

const char *info_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Bytes of a text that take no room of their own: the width of a field counts bytes, eyes count letters. */
static int extra(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) == 0x80;
    return n;
}

/* The text and a blank, in a column this wide. */
void info_put_text(FILE *f, int width, const char *text)
{
    fprintf(f, "%-*s ", width + extra(text), text);
}

long long info_int(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

double info_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* "circle 12, line 9, ..."; nothing when there are none. */
static void tell_counts(FILE *f, const char *title, json_t *counts, bool all)
{
    const char *key;
    json_t *value;
    size_t n = json_object_size(counts), k = 0;
    if (n == 0)
        return;
    fprintf(f, "  %-11s%zu: ", title, n);
    json_object_foreach(counts, key, value)
    {
        if (k == FEW && !all) {
            fprintf(f, " and %zu more", n - k);
            break;
        }
        fprintf(f, "%s%s (%lld)", k++ ? ", " : "", key, (long long)json_integer_value(value));
    }
    fputc('\n', f);
}

/* "text" after a lead, where the object has that key. */
static void tell_text(FILE *f, const char *lead, const json_t *made, const char *key)
{
    const char *text = info_text(made, key);
    if (*text)
        fprintf(f, "%s%s", lead, text);
}

static void tell_options(FILE *f, json_t *options)
{
    const char *key, *lead = "  with      ";
    json_t *value;

    json_object_foreach(options, key, value)
    {
        if (!json_is_number(value) && !json_is_string(value))
            continue;
        fprintf(f, "%s --", lead);
        cli_put_word(f, key);
        fputc(' ', f);
        lead = "";
        if (json_is_real(value))
            fprintf(f, "%g", json_real_value(value));
        else if (json_is_integer(value))
            fprintf(f, "%lld", (long long)json_integer_value(value));
        else
            cli_put_word(f, json_string_value(value));
    }
    if (!*lead)
        fputc('\n', f);
}

void info_tell_provenance(FILE *f, const json_t *made)
{
    if (!json_is_object(made))
        return;
    fprintf(f, "  made by   ");
    tell_text(f, " ", made, "program");
    tell_text(f, " ", made, "version");
    tell_text(f, " ", made, "command");
    tell_text(f, " from ", made, "input");
    if (json_is_integer(json_object_get(made, "seed")))
        fprintf(f, ", seed %lld", info_int(made, "seed"));
    fprintf(f, "%s\n", json_is_true(json_object_get(made, "interrupted")) ? ", interrupted" : "");
    tell_options(f, json_object_get(made, "options"));
}

/* "3" or "2 to 5". */
static void put_range(FILE *f, const char *title, double least, double most)
{
    fprintf(f, "  %-11s%.4g", title, least);
    if (most > least)
        fprintf(f, " to %.4g", most);
    fputc('\n', f);
}

static void tell_range(FILE *f, const char *title, const json_t *rows, const char *key)
{
    double least = 0, most = 0;
    for (size_t k = 0; k < json_array_size(rows); k++) {
        double x = info_real(json_array_get(rows, k), key);
        least = k == 0 || x < least ? x : least;
        most = k == 0 || x > most ? x : most;
    }
    put_range(f, title, least, most);
}

/* Of a set on disk: what its files say without a look at every HMM. */
static void tell_shapes(FILE *f, const json_t *facts)
{
    const json_t *S = json_object_get(facts, "S"), *M = json_object_get(facts, "M");
    put_range(f, "states", json_number_value(json_array_get(S, 0)), json_number_value(json_array_get(S, 1)));
    put_range(f, "mixture", json_number_value(json_array_get(M, 0)), json_number_value(json_array_get(M, 1)));
    fputs("  not read   the range of the weights, and labels: --all reads every HMM for them\n", f);
}

/* Of products the channels, and the parameters of the first HMM, or of all. */
static void tell_products(FILE *f, const json_t *channels, const json_t *rows, bool all)
{
    size_t i;
    json_t *row;
    if (!channels)
        return;
    info_tell_channels(f, channels);
    json_array_foreach(rows, i, row)
    {
        const json_t *states = json_object_get(row, "states");
        if (!states)
            continue;
        fprintf(f, "\n  HMM %zu%s%s%s\n", i, *info_text(row, "name") ? " " : "", info_text(row, "name"),
                !all && json_array_size(rows) > 1 ? " (--all shows the parameters of every HMM)" : "");
        info_tell_parameters(f, channels, states);
    }
}

/* A line for each model, up to a few. */
static void tell_rows(FILE *f, const json_t *rows, const char *word, bool textures, bool all)
{
    int wide = textures ? 7 : 5;
    fprintf(f, "\n  %*s  %-24s %-16s %3s%s  %s\n", wide, word, "name", "label", textures ? "n" : "S",
            textures ? "" : "   M", "weight");
    for (size_t i = 0; i < json_array_size(rows) && (all || i < FEW); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(f, "  %*zu  ", wide, i);
        info_put_text(f, 24, info_text(row, "name"));
        info_put_text(f, 16, info_text(row, "label"));
        fprintf(f, "%3lld", info_int(row, textures ? "n" : "S"));
        if (!textures)
            fprintf(f, " %3lld", info_int(row, "M"));
        fprintf(f, "  %.4g\n", info_real(row, "omega"));
    }
}

/* HMMs and textures: the sizes of textures have other names. */
static void tell_models(FILE *f, json_t *facts, bool all)
{
    const json_t *rows = json_object_get(facts, "textures");
    bool textures = rows != NULL;
    const char *word = textures ? "texture" : "HMM";
    rows = textures ? rows : json_object_get(facts, "hmms");
    size_t K = (size_t)info_int(facts, "K"), listed = json_array_size(rows);
    long long files = info_int(facts, "files");
    fprintf(f, "%s: %zu %s%s%s\n", info_text(facts, "file"), K, textures ? "dynamic " : "", word,
            K == 1 ? "" : "s");
    if (files > 1)
        fprintf(f, "  files      %lld\n", files);
    if (!textures)
        fprintf(f, "  emission   %s\n", info_text(facts, "emission"));
    fprintf(f, "  dimension  %lld\n", info_int(facts, "d"));
    info_tell_names(f, json_object_get(facts, "symbols"), all);
    if (listed == K) {
        tell_range(f, textures ? "state" : "states", rows, textures ? "n" : "S");
        if (!textures)
            tell_range(f, "mixture", rows, "M");
        tell_range(f, "weight", rows, "omega");
    } else if (json_object_get(facts, "S")) {
        tell_shapes(f, facts);
    }
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    info_tell_provenance(f, json_object_get(facts, "provenance"));
    tell_rows(f, rows, word, textures, all);
    if (K > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", K - FEW);
    tell_products(f, json_object_get(facts, "channels"), rows, all);
}

static void tell_columns(FILE *f, const json_t *columns, bool all)
{
    size_t k, d = 0, listed = 0;
    json_t *column;
    json_array_foreach(columns, k, column) d += !json_object_get(column, "symbols");
    if (d > 0)
        fprintf(f, "\n  %-16s %12s %12s %12s %12s %9s\n", "column", "min", "mean", "sd", "max", "missing");
    json_array_foreach(columns, k, column)
    {
        if (json_object_get(column, "symbols") || (listed == FEW && !all))
            continue;
        listed++;
        fputs("  ", f);
        info_put_text(f, 16, info_text(column, "name"));
        fprintf(f, "%12.6g %12.6g %12.6g %12.6g %9lld\n", info_real(column, "min"), info_real(column, "mean"),
                info_real(column, "sd"), info_real(column, "max"), info_int(column, "missing"));
    }
    if (d > listed)
        fprintf(f, "  ... and %zu more; --all lists them\n", d - listed);
    info_tell_symbols(f, columns, all);
}

static void tell_data(FILE *f, json_t *facts, bool all)
{
    const json_t *list = json_object_get(facts, "sequences"), *length = json_object_get(facts, "length");
    size_t N = json_array_size(list);
    fprintf(f, "%s: %zu sequence%s (%s)\n", info_text(facts, "file"), N, N == 1 ? "" : "s",
            info_text(facts, "format"));
    fprintf(f, "  frames     %lld; shortest %lld, median %g, longest %lld\n", info_int(facts, "frames"),
            info_int(length, "min"), info_real(length, "median"), info_int(length, "max"));
    fprintf(f, "  dimension  %lld", info_int(facts, "d"));
    if (info_int(facts, "texts") > 0)
        fprintf(f, ", and %lld column%s of text", info_int(facts, "texts"),
                cli_plural(info_int(facts, "texts")));
    fputc('\n', f);
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    tell_counts(f, "groups", json_object_get(facts, "groups"), all);
    fprintf(f, "  missing    %lld value%s\n", info_int(facts, "missing"),
            info_int(facts, "missing") == 1 ? "" : "s");
    tell_columns(f, json_object_get(facts, "columns"), all);
    if (!all)
        return;
    fprintf(f, "\n  %-24s %-16s %-16s %8s\n", "sequence", "label", "group", "frames");
    for (size_t n = 0; n < N; n++) {
        const json_t *seq = json_array_get(list, n);
        fputs("  ", f);
        info_put_text(f, 24, info_text(seq, "name"));
        info_put_text(f, 16, info_text(seq, "label"));
        info_put_text(f, 16, info_text(seq, "group"));
        fprintf(f, "%8lld\n", info_int(seq, "frames"));
    }
}

static void tell_classes(FILE *f, json_t *facts, bool all)
{
    const json_t *list = json_object_get(facts, "classes");
    size_t C = json_array_size(list);
    fprintf(f, "%s: models of %zu class%s or tags, made by %s\n", info_text(facts, "file"), C,
            C == 1 ? "" : "es", info_text(facts, "estimator"));
    if (*info_text(facts, "emission"))
        fprintf(f, "  emission   %s\n", info_text(facts, "emission"));
    fprintf(f, "  dimension  %lld\n\n", info_int(facts, "d"));
    fprintf(f, "  %-24s %8s %8s %6s %4s %4s %10s\n", "name", "examples", "pieces", "models", "S", "M",
            "prior");
    for (size_t c = 0; c < C && (all || c < FEW); c++) {
        const json_t *one = json_array_get(list, c);
        fputs("  ", f);
        info_put_text(f, 24, info_text(one, "name"));
        fprintf(f, "%8lld %8lld %6lld %4lld %4lld %10.4g\n", info_int(one, "examples"),
                info_int(one, "pieces"), info_int(one, "K"), info_int(one, "S"), info_int(one, "M"),
                info_real(one, "prior"));
    }
    if (C > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", C - FEW);
}

void info_tell(FILE *f, json_t *facts, bool all)
{
    info_clean(facts);
    if (json_object_get(facts, "hmms") || json_object_get(facts, "textures"))
        tell_models(f, facts, all);
    else if (json_object_get(facts, "classes"))
        tell_classes(f, facts, all);
    else if (json_object_get(facts, "levels"))
        info_tell_clusters(f, facts, all);
    else
        tell_data(f, facts, all);
    json_decref(facts);
}
