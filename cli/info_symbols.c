/* SPDX-License-Identifier: BSD-3-Clause */
/* info_symbols.c - columns of symbols: how often each occurs. */
#include "info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 90 }; /* letters of a list of symbols, unless all are asked for */

typedef struct {
    const char *name;
    int number; /* in the order in which they came */
    int64_t n;
} symbol;

/* The most frequent first, then in the order in which they came. */
static int by_count(const void *a, const void *b)
{
    const symbol *x = a, *y = b;
    return x->n != y->n ? (x->n < y->n ? 1 : -1) : x->number - y->number;
}

json_t *info_symbols(const vhem_data *data, const vhem_data_facts *facts, int k)
{
    const vhem_symbols *of = &facts->symbols[k];
    symbol *all = calloc((size_t)of->n + 1, sizeof *all);
    json_t *list = json_array();
    int64_t missing = 0;

    for (int v = 0; all && v < of->n; v++)
        all[v] = (symbol){ of->name[v], v, 0 };
    for (int64_t s = 0; all && s < facts->N; s++) {
        vhem_seq_view seq = cli_sequence_at(data, s);
        for (int64_t t = 0; t < seq.T; t++) {
            double y = seq.y[t * facts->d + k];
            missing += isnan(y);
            if (y >= 0 && y < of->n)
                all[(int)y].n++;
        }
    }
    if (all)
        qsort(all, (size_t)of->n, sizeof *all, by_count);
    else
        cli_json_lacks();
    for (int v = 0; all && v < of->n; v++)
        json_array_append_new(list, json_pack("{s:o, s:I}", "name", cli_json_text(all[v].name), "frames",
                                              (json_int_t)all[v].n));
    free(all);
    return json_pack("{s:o, s:o, s:I}", "name", cli_json_text(facts->column[k]), "symbols", list, "missing",
                     (json_int_t)missing);
}

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
        const char *name = json_is_string(one) ? json_string_value(one) : info_text(one, "name");
        char count[32] = "";
        if (json_is_object(one))
            snprintf(count, sizeof count, " (%lld)", info_int(one, "frames"));
        used += letters(name) + strlen(count) + 2;
        if (k > 0 && used > ROOM && !all) {
            fprintf(f, " and %zu more", n - k);
            break;
        }
        fprintf(f, "%s%s%s", k ? ", " : "", name, count);
    }
    fputc('\n', f);
}

void info_tell_names(FILE *f, const json_t *names, bool all)
{
    if (!names)
        return;
    fprintf(f, "  symbols    %zu: ", json_array_size(names));
    tell_list(f, names, all);
}

void info_tell_symbols(FILE *f, const json_t *columns, bool all)
{
    size_t k;
    json_t *column;

    json_array_foreach(columns, k, column)
    {
        const json_t *list = json_object_get(column, "symbols");
        size_t n = json_array_size(list);
        if (!list)
            continue;
        fprintf(f, "\n  %s: %zu symbol%s, %lld missing\n    ", info_text(column, "name"), n,
                cli_plural((int64_t)n), info_int(column, "missing"));
        tell_list(f, list, all);
    }
}
