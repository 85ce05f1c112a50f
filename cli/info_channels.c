/* SPDX-License-Identifier: BSD-3-Clause */
/* info_channels.c - products of channels: what each channel is, and the parameters of an HMM by state. */
#include "info.h"
#include "vhem.h"

#include <assert.h>
#include <string.h>

enum { MOST_SYMBOLS = 6, NAME = 14, CELL = 10 }; /* of a column that are listed; letters of a field */

/* How many numbers a parameter has in a channel of d columns and V symbols: one for each column, but for the
 * families named here. */
static int numbers_of(const char *emission, const char *param, int d, int V)
{
    bool full = strcmp(emission, "gaussian-full") == 0 && strcmp(param, "cov") == 0;
    return V > 0 ? V : full ? d * d : d;
}

static json_t *names_json(const vhem_symbols *of)
{
    json_t *names = json_array();
    for (int v = 0; v < of->n; v++)
        json_array_append_new(names, cli_json_text(of->name[v]));
    return names;
}

json_t *info_names(const vhem_models *models)
{
    vhem_column_view column;
    bool any = vhem_models_column(models, 0, &column) == VHEM_OK && column.symbols.n > 0;
    return any ? names_json(&column.symbols) : NULL;
}

json_t *info_channels(const vhem_models *models)
{
    json_t *list = json_array(), *one = NULL;
    vhem_column_view column;
    int last = -1;
    for (int k = 0; vhem_models_column(models, k, &column) == VHEM_OK; k++) {
        if (column.channel != last) {
            one = json_pack("{s:s, s:[]}", "emission", column.emission, "columns");
            json_array_append_new(list, one);
            last = column.channel;
        }
        json_array_append_new(json_object_get(one, "columns"), cli_json_text(column.name));
        if (column.symbols.n > 0)
            json_object_set_new(one, "symbols", names_json(&column.symbols));
    }
    return list;
}

/* A parameter in a channel. */
static int size_in(const json_t *channel, const char *param)
{
    return numbers_of(info_text(channel, "emission"), param,
                      (int)json_array_size(json_object_get(channel, "columns")),
                      (int)json_array_size(json_object_get(channel, "symbols")));
}

/* Of a component: of all parameters of all channels together. */
static size_t count_numbers(const json_t *channels)
{
    size_t c, all = 0;
    json_t *channel;
    json_array_foreach(channels, c, channel)
    {
        const char *name;
        for (int p = 0; (name = vhem_emission_param(info_text(channel, "emission"), p)) != NULL; p++)
            all += (size_t)size_in(channel, name);
    }
    return all;
}

/* The parameters of one state and component, by name: theta [numbers] of its channels.  None where there are
 * more or fewer than are known of: a family that numbers_of lacks. */
json_t *info_parameters(const json_t *channels, const vhem_hmm_view *h, int s, int m)
{
    json_t *all = json_array(), *channel;
    size_t c, SM = (size_t)h->S * (size_t)h->M, numbers = ((size_t)h->n_theta - SM) / SM;
    const double *at = h->theta + SM + ((size_t)s * (size_t)h->M + (size_t)m) * numbers;
    bool known = count_numbers(channels) == numbers;

    assert(known);
    json_array_foreach(channels, c, channel)
    {
        const char *name;
        json_t *one = json_object();
        for (int p = 0; known && (name = vhem_emission_param(info_text(channel, "emission"), p)); p++) {
            json_t *values = json_array();
            for (int i = 0, n = size_in(channel, name); i < n; i++)
                json_array_append_new(values, cli_json_real(*at++));
            json_object_set_new(one, name, values);
        }
        json_array_append_new(all, one);
    }
    return all;
}

/* ---- in words ------------------------------------------------------------------------------------------ */

void info_tell_channels(FILE *f, const json_t *channels)
{
    size_t c, k;
    json_t *channel, *name;

    fprintf(f, "\n  channel  %-15s columns\n", "emission");
    json_array_foreach(channels, c, channel)
    {
        size_t V = json_array_size(json_object_get(channel, "symbols"));
        fprintf(f, "  %7zu  %-15s ", c, info_text(channel, "emission"));
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
    info_put_text(f, NAME, column);
    info_put_text(f, NAME, what);
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

void info_tell_parameters(FILE *f, const json_t *channels, const json_t *states)
{
    size_t c, k, s;
    json_t *channel, *column, *state;

    fprintf(f, "    %-*s %-*s", NAME, "column", NAME, "parameter");
    json_array_foreach(states, s, state) fprintf(f, " %*s", CELL, info_text(state, "state"));
    fputc('\n', f);
    json_array_foreach(channels, c, channel)
    {
        const json_t *columns = json_object_get(channel, "columns");
        size_t d = json_array_size(columns);
        const char *emission = info_text(channel, "emission"), *name;
        if (json_object_get(channel, "symbols")) {
            tell_symbols(f, channel, states, c);
            continue;
        }
        json_array_foreach(columns, k, column) for (int p = 0; (name = vhem_emission_param(emission, p)); p++)
        {
            bool full = numbers_of(emission, name, (int)d, 0) > (int)d;
            tell_row(f, p == 0 && json_is_string(column) ? json_string_value(column) : "", name, states, c,
                     name, full ? k * d + k : k);
        }
    }
}
