/* SPDX-License-Identifier: BSD-3-Clause */
/* info_tell.c - the facts of info.c in words.
 *
 *   1. control characters, which are taken out of them first
 *   2. texts and numbers
 *   3. columns of symbols
 *   4. what made a file
 *   5. channels
 *   6. models
 *   7. clusters
 *   8. data and classes */
#include "cluster_report.h"
#include "info.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 10 };                               /* rows of a list, unless all are asked for */
enum { ROOM = 90 };                              /* letters of a list of symbols, unless all are asked for */
enum { MOST_SYMBOLS = 6, NAME = 14, CELL = 10 }; /* of a column that are listed; letters of a field */

/* ---- 1. control characters ----------------------------------------------------------------------------- */

/* The names in a file from elsewhere may hold commands for the terminal. */
static bool has_control(const char *text)
{
    while (*text && !((unsigned char)*text < 32 || *text == 127 || (*text == '\xC2' && text[1] < '\xA0')))
        text++;
    return *text != '\0';
}

/* A copy with '?' for each; from malloc.  NULL: no memory. */
static char *cleaned(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        cli_clean(copy);
    return copy;
}

/* Two keys may become one: the number at the end keeps them apart. */
static void clean_key(json_t *object, const char *key, int number)
{
    char *copy = cleaned(key), *name = NULL;
    size_t size = copy ? strlen(copy) + 16 : 0;
    if (copy && (name = malloc(size))) {
        snprintf(name, size, "%s", copy);
        if (json_object_get(object, name))
            snprintf(name, size, "%s %d", copy, number);
        json_object_set(object, name, json_object_get(object, key));
    }
    json_object_del(object, key);
    free(name);
    free(copy);
}

static void clean(json_t *v)
{
    const char *key;
    json_t *child;
    void *next;
    size_t k;
    int number = 0;

    if (json_is_string(v) && has_control(json_string_value(v))) {
        char *copy = cleaned(json_string_value(v));
        json_string_set(v, copy ? copy : "");
        free(copy);
    }
    if (json_is_array(v))
        json_array_foreach(v, k, child) clean(child);
    if (!json_is_object(v))
        return;
    json_object_foreach(v, key, child) clean(child);
    json_object_foreach_safe(v, next, key, child) if (has_control(key)) clean_key(v, key, ++number);
}

/* ---- 2. texts and numbers ------------------------------------------------------------------------------ */

/* "" and 0 where the object has no such key. */
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
            fprintf(f, " and %zu more", n - k);
            break;
        }
        fprintf(f, "%s%s (%lld)", k++ ? ", " : "", key, (long long)json_integer_value(value));
    }
    fputc('\n', f);
}

/* ---- 3. symbols ---------------------------------------------------------------------------------------- */

/* Letters of a text in UTF-8. */
static size_t letters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* "home (12), work (9) and 3 more"; names without counts are names alone. */
static void tell_list(FILE *f, const json_t *list, bool all)
{
    size_t n = json_array_size(list), used = 0;
    for (size_t k = 0; k < n; k++) {
        const json_t *one = json_array_get(list, k);
        const char *name = json_is_string(one) ? json_string_value(one) : text_of(one, "name");
        char count[32] = "";
        if (json_is_object(one))
            snprintf(count, sizeof count, " (%lld)", int_of(one, "frames"));
        used += letters(name) + strlen(count) + 2;
        if (k > 0 && used > ROOM && !all) {
            fprintf(f, " and %zu more", n - k);
            break;
        }
        fprintf(f, "%s%s%s", k ? ", " : "", name, count);
    }
    fputc('\n', f);
}

static void tell_names(FILE *f, const json_t *names, bool all)
{
    if (!names)
        return;
    fprintf(f, "  symbols    %zu: ", json_array_size(names));
    tell_list(f, names, all);
}

static void tell_columns_of_symbols(FILE *f, const json_t *columns, bool all)
{
    size_t k;
    json_t *column;

    json_array_foreach(columns, k, column)
    {
        const json_t *list = json_object_get(column, "symbols");
        size_t n = json_array_size(list);
        if (!list)
            continue;
        fprintf(f, "\n  %s: %zu symbol%s, %lld missing\n    ", text_of(column, "name"), n,
                cli_plural((int64_t)n), int_of(column, "missing"));
        tell_list(f, list, all);
    }
}

/* ---- 4. what made a file ------------------------------------------------------------------------------- */

/* "text" after a lead, where the object has that key. */
static void tell_text(FILE *f, const char *lead, const json_t *made, const char *key)
{
    const char *text = text_of(made, key);
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

static void tell_provenance(FILE *f, const json_t *made)
{
    if (!json_is_object(made))
        return;
    fprintf(f, "  made by   ");
    tell_text(f, " ", made, "program");
    tell_text(f, " ", made, "version");
    tell_text(f, " ", made, "command");
    tell_text(f, " from ", made, "input");
    if (json_is_integer(json_object_get(made, "seed")))
        fprintf(f, ", seed %lld", int_of(made, "seed"));
    fprintf(f, "%s\n", json_is_true(json_object_get(made, "interrupted")) ? ", interrupted" : "");
    tell_options(f, json_object_get(made, "options"));
}

/* ---- 5. channels --------------------------------------------------------------------------------------- */

static void tell_channels(FILE *f, const json_t *channels)
{
    size_t c, k;
    json_t *channel, *name;

    fprintf(f, "\n  channel  %-15s columns\n", "emission");
    json_array_foreach(channels, c, channel)
    {
        size_t V = json_array_size(json_object_get(channel, "symbols"));
        fprintf(f, "  %7zu  %-15s ", c, text_of(channel, "emission"));
        json_array_foreach(json_object_get(channel, "columns"), k, name)
            fprintf(f, "%s%s", k ? ", " : "", json_is_string(name) ? json_string_value(name) : "?");
        if (V > 0)
            fprintf(f, " (%zu symbol%s)", V, cli_plural((int64_t)V));
        fputc('\n', f);
    }
}

/* One row: what it is, and number i of a parameter of channel c in each state. */
static void tell_row(FILE *f, const char *column, const char *what, const json_t *states, size_t c,
                     const char *param, size_t i)
{
    size_t s;
    json_t *state;

    fputs("    ", f);
    put_text(f, NAME, column);
    put_text(f, NAME, what);
    json_array_foreach(states, s, state)
    {
        json_t *channel = json_array_get(json_object_get(state, "channels"), c);
        json_t *value = json_array_get(json_object_get(channel, param), i);
        if (json_is_number(value))
            fprintf(f, " %*.4g", CELL, json_number_value(value));
        else
            fprintf(f, " %*s", CELL, "-");
    }
    fputc('\n', f);
}

static void tell_symbols(FILE *f, const json_t *channel, const json_t *states, size_t c)
{
    const json_t *symbols = json_object_get(channel, "symbols");
    const json_t *column = json_array_get(json_object_get(channel, "columns"), 0);
    size_t V = json_array_size(symbols), v = 0;
    for (; v < V && v < MOST_SYMBOLS; v++) {
        const json_t *name = json_array_get(symbols, v);
        tell_row(f, v == 0 && json_is_string(column) ? json_string_value(column) : "",
                 json_is_string(name) ? json_string_value(name) : "?", states, c, "p", v);
    }
    if (v < V)
        fprintf(f, "    %*s and %zu more\n", NAME, "", V - v);
}

static void tell_parameters(FILE *f, const json_t *channels, const json_t *states)
{
    size_t c, k, s;
    json_t *channel, *column, *state;

    fprintf(f, "    %-*s %-*s", NAME, "column", NAME, "parameter");
    json_array_foreach(states, s, state) fprintf(f, " %*s", CELL, text_of(state, "state"));
    fputc('\n', f);
    json_array_foreach(channels, c, channel)
    {
        const json_t *columns = json_object_get(channel, "columns");
        size_t d = json_array_size(columns);
        const char *emission = text_of(channel, "emission"), *name;
        if (json_object_get(channel, "symbols")) {
            tell_symbols(f, channel, states, c);
            continue;
        }
        json_array_foreach(columns, k, column) for (int p = 0; (name = vhem_emission_param(emission, p)); p++)
        {
            const json_t *first = json_array_get(json_object_get(json_array_get(states, 0), "channels"), c);
            bool full = json_array_size(json_object_get(first, name)) > d;
            tell_row(f, p == 0 && json_is_string(column) ? json_string_value(column) : "", name, states, c,
                     name, full ? k * d + k : k);
        }
    }
}

/* ---- 6. models ----------------------------------------------------------------------------------------- */

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
        double x = real_of(json_array_get(rows, k), key);
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
    tell_channels(f, channels);
    json_array_foreach(rows, i, row)
    {
        const json_t *states = json_object_get(row, "states");
        if (!states)
            continue;
        fprintf(f, "\n  HMM %zu%s%s%s\n", i, *text_of(row, "name") ? " " : "", text_of(row, "name"),
                !all && json_array_size(rows) > 1 ? " (--all shows the parameters of every HMM)" : "");
        tell_parameters(f, channels, states);
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
        put_text(f, 24, text_of(row, "name"));
        put_text(f, 16, text_of(row, "label"));
        fprintf(f, "%3lld", int_of(row, textures ? "n" : "S"));
        if (!textures)
            fprintf(f, " %3lld", int_of(row, "M"));
        fprintf(f, "  %.4g\n", real_of(row, "omega"));
    }
}

/* HMMs and textures: the sizes of textures have other names. */
static void tell_models(FILE *f, json_t *facts, bool all)
{
    const json_t *rows = json_object_get(facts, "textures");
    bool textures = rows != NULL;
    const char *word = textures ? "texture" : "HMM";
    rows = textures ? rows : json_object_get(facts, "hmms");
    size_t K = (size_t)int_of(facts, "K"), listed = json_array_size(rows);
    long long files = int_of(facts, "files");
    fprintf(f, "%s: %zu %s%s%s\n", text_of(facts, "file"), K, textures ? "dynamic " : "", word,
            K == 1 ? "" : "s");
    if (files > 1)
        fprintf(f, "  files      %lld\n", files);
    if (!textures)
        fprintf(f, "  emission   %s\n", text_of(facts, "emission"));
    fprintf(f, "  dimension  %lld\n", int_of(facts, "d"));
    tell_names(f, json_object_get(facts, "symbols"), all);
    if (listed == K) {
        tell_range(f, textures ? "state" : "states", rows, textures ? "n" : "S");
        if (!textures)
            tell_range(f, "mixture", rows, "M");
        tell_range(f, "weight", rows, "omega");
    } else if (json_object_get(facts, "S")) {
        tell_shapes(f, facts);
    }
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    tell_provenance(f, json_object_get(facts, "provenance"));
    tell_rows(f, rows, word, textures, all);
    if (K > FEW && !all)
        fprintf(f, "  ... and %zu more; --all lists them\n", K - FEW);
    tell_products(f, json_object_get(facts, "channels"), rows, all);
}

/* ---- 7. clusters --------------------------------------------------------------------------------------- */

/* "a, b (43 %), c, ...": with the share of the runs that are as good where that is not all. */
static void tell_members(FILE *f, const json_t *one, bool all)
{
    const json_t *members = json_object_get(one, "members"), *share = json_object_get(one, "share");
    enum { FEW_NAMES = 5 };
    size_t n = json_array_size(members);
    for (size_t k = 0; k < n && (all || k < FEW_NAMES); k++) {
        const json_t *part = json_array_get(share, k);
        fprintf(f, "%s%s", k ? ", " : "", json_string_value(json_array_get(members, k)));
        if (part && json_number_value(part) < 1)
            fprintf(f, " (%.0f %%)", fmin(99, 100 * json_number_value(part)));
    }
    fputs(n > FEW_NAMES && !all ? ", ...\n" : "\n", f);
}

/* "tau 10 nv 10000 ..." */
static void tell_used(FILE *f, json_t *options)
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

/* As vhem cluster counts them: what the search added to the restarts are candidates. */
static void tell_restarts(FILE *f, const json_t *level)
{
    const json_t *runs = json_object_get(level, "restarts");
    size_t R = json_array_size(runs), candidates = 0;
    for (size_t r = 0; r < R; r++)
        candidates += cli_is_candidate(text_of(json_array_get(runs, r), "init"));
    if (R == 0)
        return;
    fprintf(f, "  restarts   %zu", R - candidates);
    if (candidates > 0)
        fprintf(f, " and %zu candidate%s", candidates, cli_plural((int64_t)candidates));
    fprintf(f, "; %lld reached this bound\n", int_of(level, "reached_best"));
}

static void tell_level(FILE *f, const json_t *level, bool all)
{
    const json_t *clusters = json_object_get(level, "clusters"), *repairs = json_object_get(level, "repairs");
    size_t K = json_array_size(clusters);

    if (json_is_number(json_object_get(level, "bound")))
        fprintf(f, "  bound      %.2f nats after %lld iteration%s, %s\n", real_of(level, "bound"),
                int_of(level, "n_iter"), cli_plural(int_of(level, "n_iter")),
                json_is_true(json_object_get(level, "converged")) ? "converged" : "not converged");
    tell_restarts(f, level);
    long long empty = int_of(repairs, "empty"), revived = int_of(repairs, "revived");
    if (empty)
        fprintf(f, "  repairs    %lld cluster%s re-seeded\n", empty, cli_plural(empty));
    if (revived)
        fprintf(f, "  repairs    %lld state%s revived\n", revived, cli_plural(revived));
    const json_t *first = json_array_get(clusters, 0);
    bool centers = json_object_get(first, "omega") != NULL, textures = json_object_get(first, "n") != NULL;
    fprintf(f, "\n  %7s %6s ", "cluster", "size");
    if (centers)
        fprintf(f, "%8s %3s %3s ", "weight", textures ? "n" : "S", textures ? "" : "M");
    fprintf(f, " members\n");
    for (size_t j = 0; j < K; j++) {
        const json_t *one = json_array_get(clusters, j);
        fprintf(f, "  %7zu %6lld ", j, int_of(one, "size"));
        if (centers)
            fprintf(f, "%8.4g ", real_of(one, "omega"));
        if (textures)
            fprintf(f, "%3lld %3s ", int_of(one, "n"), "");
        else if (centers)
            fprintf(f, "%3lld %3lld ", int_of(one, "S"), int_of(one, "M"));
        fputc(' ', f);
        tell_members(f, one, all);
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
                text_of(facts, "item"));
    else
        fprintf(f, "%lld %ss in %lld clusters\n", int_of(facts, "models"), text_of(facts, "item"),
                int_of(first, "K"));
    if (*text_of(first, "method"))
        fprintf(f, "  method     %s\n", text_of(first, "method"));
    tell_provenance(f, json_object_get(facts, "provenance"));
    if (!json_is_object(json_object_get(facts, "provenance")))
        tell_used(f, json_object_get(first, "options"));
    for (size_t l = 0; l < n; l++) {
        const json_t *level = json_array_get(levels, l);
        if (tree)
            fprintf(f, "\nlevel %zu: %lld %ss in %lld clusters\n", l + 1, int_of(level, "Kb"),
                    l ? "centre" : text_of(facts, "item"), int_of(level, "K"));
        tell_level(f, level, all);
    }
}

/* ---- 8. data and classes ------------------------------------------------------------------------------- */

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
        put_text(f, 16, text_of(column, "name"));
        double min = real_of(column, "min"), max = real_of(column, "max");
        fprintf(f, "%12.6g %12.6g %12.6g %12.6g %9lld%s\n", min, real_of(column, "mean"),
                real_of(column, "sd"), max, int_of(column, "missing"), min == max ? "  never varies" : "");
    }
    if (d > listed)
        fprintf(f, "  ... and %zu more; --all lists them\n", d - listed);
    tell_columns_of_symbols(f, columns, all);
}

static void tell_data(FILE *f, json_t *facts, bool all)
{
    const json_t *list = json_object_get(facts, "sequences"), *length = json_object_get(facts, "length");
    size_t N = json_array_size(list);
    fprintf(f, "%s: %zu sequence%s (%s)\n", text_of(facts, "file"), N, N == 1 ? "" : "s",
            text_of(facts, "format"));
    fprintf(f, "  frames     %lld; shortest %lld, median %g, longest %lld\n", int_of(facts, "frames"),
            int_of(length, "min"), real_of(length, "median"), int_of(length, "max"));
    if (N > 1 && int_of(length, "max") == 1)
        fputs("             every sequence has only one frame: a table needs a row for each frame\n", f);
    fprintf(f, "  dimension  %lld", int_of(facts, "d"));
    if (int_of(facts, "texts") > 0)
        fprintf(f, ", and %lld column%s of text", int_of(facts, "texts"), cli_plural(int_of(facts, "texts")));
    fputc('\n', f);
    tell_counts(f, "labels", json_object_get(facts, "labels"), all);
    tell_counts(f, "groups", json_object_get(facts, "groups"), all);
    fprintf(f, "  missing    %lld value%s\n", int_of(facts, "missing"), cli_plural(int_of(facts, "missing")));
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
    clean(facts);
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
