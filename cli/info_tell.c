/* SPDX-License-Identifier: BSD-3-Clause */
/* info_tell.c - the facts of info.c in words. */
#include "info.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 10 }; /* rows of a list, unless all are asked for */

static const char *text_of(const json_t *object, const char *key)
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
static void put_text(FILE *f, int width, const char *text)
{
    fprintf(f, "%-*s ", width + extra(text), text);
}

static long long int_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static double real_of(const json_t *object, const char *key)
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
            fprintf(f, ", ...");
            break;
        }
        fprintf(f, "%s%s (%lld)", k++ ? ", " : "", key, (long long)json_integer_value(value));
    }
    fputc('\n', f);
}

static void tell_provenance(FILE *f, const json_t *made)
{
    const char *key;
    json_t *value, *options = json_object_get(made, "options");
    if (!json_is_object(made))
        return;
    fprintf(f, "  made by    %s %s %s from %s, seed %lld%s\n", text_of(made, "program"),
            text_of(made, "version"), text_of(made, "command"), text_of(made, "input"), int_of(made, "seed"),
            json_is_true(json_object_get(made, "interrupted")) ? ", interrupted" : "");
    if (!json_is_object(options))
        return;
    fprintf(f, "  with      ");
    json_object_foreach(options, key, value)
    {
        if (json_is_null(value))
            continue;
        if (json_is_real(value))
            fprintf(f, " --%s %g", key, json_real_value(value));
        else if (json_is_integer(value))
            fprintf(f, " --%s %lld", key, (long long)json_integer_value(value));
        else if (json_is_string(value))
            fprintf(f, " --%s %s", key, json_string_value(value));
    }
    fputc('\n', f);
}

/* "3" or "2 to 5". */
static void tell_range(FILE *f, const char *title, const json_t *rows, const char *key)
{
    double least = 0, most = 0;
    for (size_t k = 0; k < json_array_size(rows); k++) {
        double x = real_of(json_array_get(rows, k), key);
        least = k == 0 || x < least ? x : least;
        most = k == 0 || x > most ? x : most;
    }
    fprintf(f, "  %-11s%.4g", title, least);
    if (most > least)
        fprintf(f, " to %.4g", most);
    fputc('\n', f);
}

/* HMMs and textures: the sizes of textures have other names. */
static void tell_models(FILE *f, json_t *facts, bool all)
{
    const json_t *rows = json_object_get(facts, "textures");
    bool textures = rows != NULL;
    const char *word = textures ? "texture" : "HMM";
    rows = textures ? rows : json_object_get(facts, "hmms");
    size_t K = json_array_size(rows);
    fprintf(f, "%s: %zu %s%s%s\n", text_of(facts, "file"), K, textures ? "dynamic " : "", word,
            K == 1 ? "" : "s");
    if (!textures)
        fprintf(f, "  emission   %s\n", text_of(facts, "emission"));
    fprintf(f, "  dimension  %lld\n", int_of(facts, "d"));
    tell_range(f, textures ? "state" : "states", rows, textures ? "n" : "S");
    if (!textures)
        tell_range(f, "mixture", rows, "M");
    tell_range(f, "weight", rows, "omega");
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    tell_provenance(f, json_object_get(facts, "provenance"));
    int wide = textures ? 7 : 5;
    fprintf(f, "\n  %*s  %-24s %-16s %3s%s  %s\n", wide, word, "name", "label", textures ? "n" : "S",
            textures ? "" : "   M", "weight");
    for (size_t i = 0; i < K && (all || i < FEW); i++) {
        const json_t *row = json_array_get(rows, i);
        fprintf(f, "  %*zu  ", wide, i);
        put_text(f, 24, text_of(row, "name"));
        put_text(f, 16, text_of(row, "label"));
        fprintf(f, "%3lld", int_of(row, textures ? "n" : "S"));
        if (!textures)
            fprintf(f, " %3lld", int_of(row, "M"));
        fprintf(f, "  %.4g\n", real_of(row, "omega"));
    }
    if (K > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", K - FEW);
}

/* "a, b, c, ..." */
static void tell_members(FILE *f, const json_t *members, bool all)
{
    enum { FEW_NAMES = 5 };
    size_t n = json_array_size(members);
    for (size_t k = 0; k < n && (all || k < FEW_NAMES); k++)
        fprintf(f, "%s%s", k ? ", " : "", json_string_value(json_array_get(members, k)));
    fputs(n > FEW_NAMES && !all ? ", ...\n" : "\n", f);
}

/* "tau 10 nv 10000 ..." */
static void tell_options(FILE *f, json_t *options)
{
    const char *key;
    json_t *value;
    fprintf(f, "  options   ");
    json_object_foreach(options, key, value)
    {
        if (json_is_string(value))
            fprintf(f, " %s %s", key, json_string_value(value));
        else if (json_is_number(value))
            fprintf(f, " %s %g", key, json_number_value(value));
    }
    fputc('\n', f);
}

static void tell_level(FILE *f, const json_t *level, bool all)
{
    const json_t *clusters = json_object_get(level, "clusters"), *repairs = json_object_get(level, "repairs");
    size_t R = json_array_size(json_object_get(level, "restarts")), K = json_array_size(clusters);

    if (json_is_number(json_object_get(level, "bound")))
        fprintf(f, "  bound      %.2f nats after %lld iteration%s, %s\n", real_of(level, "bound"),
                int_of(level, "n_iter"), cli_plural(int_of(level, "n_iter")),
                json_is_true(json_object_get(level, "converged")) ? "converged" : "not converged");
    if (R > 0)
        fprintf(f, "  restarts   %zu, %lld of which were as good as the best\n", R,
                int_of(level, "reached_best"));
    long long empty = int_of(repairs, "empty"), revived = int_of(repairs, "revived");
    if (empty)
        fprintf(f, "  repairs    %lld cluster%s re-seeded\n", empty, cli_plural(empty));
    if (revived)
        fprintf(f, "  repairs    %lld state%s revived\n", revived, cli_plural(revived));
    bool textures = json_object_get(json_array_get(clusters, 0), "n") != NULL;
    fprintf(f, "\n  %7s %6s %8s %3s %3s  %s\n", "cluster", "size", "weight", textures ? "n" : "S",
            textures ? "" : "M", "members");
    for (size_t j = 0; j < K; j++) {
        const json_t *one = json_array_get(clusters, j);
        fprintf(f, "  %7zu %6lld %8.4g ", j, int_of(one, "size"), real_of(one, "omega"));
        if (textures)
            fprintf(f, "%3lld %3s  ", int_of(one, "n"), "");
        else
            fprintf(f, "%3lld %3lld  ", int_of(one, "S"), int_of(one, "M"));
        tell_members(f, json_object_get(one, "members"), all);
    }
}

static void tell_clusters(FILE *f, json_t *facts, bool all)
{
    const json_t *levels = json_object_get(facts, "levels"), *first = json_array_get(levels, 0);
    size_t n = json_array_size(levels);
    bool tree = strcmp(text_of(facts, "kind"), "tree") == 0;

    fprintf(f, "%s: ", text_of(facts, "file"));
    if (tree)
        fprintf(f, "a tree of %zu level%s over %lld %ss\n", n, n == 1 ? "" : "s", int_of(facts, "models"),
                text_of(facts, "thing"));
    else
        fprintf(f, "%lld %ss in %lld clusters\n", int_of(facts, "models"), text_of(facts, "thing"),
                int_of(first, "K"));
    fprintf(f, "  method     %s\n", text_of(first, "method"));
    tell_provenance(f, json_object_get(facts, "provenance"));
    if (!json_is_object(json_object_get(facts, "provenance")))
        tell_options(f, json_object_get(first, "options"));
    for (size_t l = 0; l < n; l++) {
        const json_t *level = json_array_get(levels, l);
        if (tree)
            fprintf(f, "\nlevel %zu: %lld %ss in %lld clusters\n", l + 1, int_of(level, "Kb"),
                    l ? "centre" : text_of(facts, "thing"), int_of(level, "K"));
        tell_level(f, level, all);
    }
}

static void tell_columns(FILE *f, const json_t *columns, bool all)
{
    size_t d = json_array_size(columns);
    fprintf(f, "\n  %-16s %12s %12s %12s %12s %9s\n", "column", "min", "mean", "sd", "max", "missing");
    for (size_t k = 0; k < d && (all || k < FEW); k++) {
        const json_t *column = json_array_get(columns, k);
        fputs("  ", f);
        put_text(f, 16, text_of(column, "name"));
        fprintf(f, "%12.6g %12.6g %12.6g %12.6g %9lld\n", real_of(column, "min"), real_of(column, "mean"),
                real_of(column, "sd"), real_of(column, "max"), int_of(column, "missing"));
    }
    if (d > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", d - FEW);
}

static void tell_data(FILE *f, json_t *facts, bool all)
{
    const json_t *list = json_object_get(facts, "sequences"), *length = json_object_get(facts, "length");
    size_t N = json_array_size(list);
    fprintf(f, "%s: %zu sequence%s (%s)\n", text_of(facts, "file"), N, N == 1 ? "" : "s",
            text_of(facts, "format"));
    fprintf(f, "  frames     %lld; shortest %lld, median %g, longest %lld\n", int_of(facts, "frames"),
            int_of(length, "min"), real_of(length, "median"), int_of(length, "max"));
    fprintf(f, "  dimension  %lld\n", int_of(facts, "d"));
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    tell_counts(f, "groups", json_object_get(facts, "groups"), all);
    fprintf(f, "  missing    %lld value%s\n", int_of(facts, "missing"),
            int_of(facts, "missing") == 1 ? "" : "s");
    tell_columns(f, json_object_get(facts, "columns"), all);
    if (!all)
        return;
    fprintf(f, "\n  %-24s %-16s %-16s %8s\n", "sequence", "label", "group", "frames");
    for (size_t n = 0; n < N; n++) {
        const json_t *seq = json_array_get(list, n);
        fputs("  ", f);
        put_text(f, 24, text_of(seq, "name"));
        put_text(f, 16, text_of(seq, "label"));
        put_text(f, 16, text_of(seq, "group"));
        fprintf(f, "%8lld\n", int_of(seq, "frames"));
    }
}

static void tell_classes(FILE *f, json_t *facts, bool all)
{
    const json_t *list = json_object_get(facts, "classes");
    size_t C = json_array_size(list);
    fprintf(f, "%s: models of %zu class%s or tags, made by %s\n", text_of(facts, "file"), C,
            C == 1 ? "" : "es", text_of(facts, "estimator"));
    if (*text_of(facts, "emission"))
        fprintf(f, "  emission   %s\n", text_of(facts, "emission"));
    fprintf(f, "  dimension  %lld\n\n", int_of(facts, "d"));
    fprintf(f, "  %-24s %8s %8s %6s %4s %4s %10s\n", "name", "examples", "pieces", "models", "S", "M",
            "prior");
    for (size_t c = 0; c < C && (all || c < FEW); c++) {
        const json_t *one = json_array_get(list, c);
        fputs("  ", f);
        put_text(f, 24, text_of(one, "name"));
        fprintf(f, "%8lld %8lld %6lld %4lld %4lld %10.4g\n", int_of(one, "examples"), int_of(one, "pieces"),
                int_of(one, "K"), int_of(one, "S"), int_of(one, "M"), real_of(one, "prior"));
    }
    if (C > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", C - FEW);
}

void info_tell(FILE *f, json_t *facts, bool all)
{
    if (json_object_get(facts, "hmms") || json_object_get(facts, "textures"))
        tell_models(f, facts, all);
    else if (json_object_get(facts, "classes"))
        tell_classes(f, facts, all);
    else if (json_object_get(facts, "levels"))
        tell_clusters(f, facts, all);
    else
        tell_data(f, facts, all);
    json_decref(facts);
}
