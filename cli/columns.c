/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c - how DATA is to be read for an emission or for models: which columns, and which of them hold
 * symbols, whose cells may be text. */
#include "cli.h"
#include "vhem.h"

#include <stdlib.h>
#include <string.h>

static const char of_symbols[] = "categorical";
static const char of_background[] = "gaussian-tied:"; /* and a file */

/* Adds name [n] to a list that has room for it. */
static void add_name(char *list, const char *name, size_t n)
{
    size_t at = strlen(list);
    if (at > 0)
        list[at++] = ',';
    memcpy(list + at, name, n);
    list[at + n] = '\0';
}

typedef struct { /* "x+y:gaussian-full": a part of an emission by column */
    const char *text, *names;
    size_t n_text, n_names; /* bytes; no names where it is malformed */
    char family[64];
} part;

/* The part at *p, behind which *p stands then; false at the end. */
static bool next_part(const char **p, part *out)
{
    size_t all = strcspn(*p, ","), names = all;
    if (!**p)
        return false;
    while (names > 0 && (*p)[names - 1] != ':')
        names--;
    *out = (part){ *p, *p, all, names > 0 ? names - 1 : 0, "" };
    snprintf(out->family, sizeof out->family, "%.*s", (int)(all - names < 63 ? all - names : 63), *p + names);
    *p += all + ((*p)[all] == ',');
    return true;
}

/* The next of its columns, name [n]; false when there are no more. */
static bool next_name(part *of, const char **name, size_t *n)
{
    const char *plus = memchr(of->names, '+', of->n_names);
    *name = of->names;
    *n = plus ? (size_t)(plus - of->names) : of->n_names;
    if (of->n_names == 0)
        return false;
    of->n_names -= *n + (plus != NULL);
    of->names += *n + (plus != NULL);
    return true;
}

/* "x+y:gaussian-full,place:categorical" as columns, "x,y,place", and symbols, "place". */
static void split(const char *emission, char *columns, char *symbols)
{
    part of;
    const char *name;
    size_t n;
    while (next_part(&emission, &of))
        while (next_name(&of, &name, &n)) {
            add_name(columns, name, n);
            if (strcmp(of.family, of_symbols) == 0)
                add_name(symbols, name, n);
        }
}

/* Is name [n] in a list of names with commas between them?  An empty one is none. */
static bool has_name(const char *list, const char *name, size_t n)
{
    for (const char *p = n > 0 ? list : NULL; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

static size_t names_size(const vhem_models *models)
{
    size_t size = 1;
    vhem_column_view column;
    for (int k = 0; vhem_models_column(models, k, &column) == VHEM_OK; k++)
        size += strlen(column.name) + 1;
    return size;
}

/* The columns of the models, none where they have no names or such that cannot stand in a list; and those of
 * symbols, "*" where they have no names. */
static void list_columns(const vhem_models *models, char *columns, char *symbols)
{
    vhem_column_view column;
    bool named = true;
    for (int k = 0; vhem_models_column(models, k, &column) == VHEM_OK; k++) {
        const char *name = column.name;
        named = named && *name && !strchr(name, ',');
        if (named)
            add_name(columns, name, strlen(name));
        if (strcmp(column.emission, of_symbols) == 0)
            add_name(symbols, *name ? name : "*", *name ? strlen(name) : 1);
    }
    if (!named)
        *columns = '\0';
}

enum { MOST_FAMILIES = 32 };

/* The families that a column can have: name [n], texts in room.  A choice has its words in a list, which is
 * the one that the library makes public; what is no family, as COL:NAME, has no parameters. */
static int list_families(const char *name[MOST_FAMILIES], char *room, size_t size)
{
    int n = 0;
    snprintf(room, size, "%s", cli_field(VHEM_FIT_OPTIONS, "emission").argument);
    for (char *p = strtok(room, "|"); p && n < MOST_FAMILIES; p = strtok(NULL, "|"))
        if (vhem_emission_param(p, 0) && strcmp(p, "product") != 0 && strcmp(p, "gaussian-tied") != 0)
            name[n++] = p;
    return n;
}

static int no_family(cli *c, const char *family)
{
    const char *name[MOST_FAMILIES];
    char room[512], list[512] = "";
    int n = list_families(name, room, sizeof room);
    const char *near = cli_nearest(family, name, n);
    for (int k = 0; k < n; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "", name[k]);
    if (near)
        return cli_misuse(c, "--emission: there is no family '%s' for a column; did you mean %s?", family,
                          near);
    return cli_misuse(c, "--emission: there is no family '%s' for a column; the families are %s", family,
                      list);
}

static bool is_by_column(const char *emission)
{
    return emission && strchr(emission, ':') && strncmp(emission, of_background, strlen(of_background)) != 0;
}

/* Does every part of "x:gamma,y:poisson" name a family, and none a column again?  list has room for all. */
static int check_parts(cli *c, const char *emission, char *list)
{
    part of;
    const char *name;
    size_t n;
    while (next_part(&emission, &of)) {
        if (of.n_names == 0 || !*of.family)
            return cli_misuse(
                c,
                "--emission by column is COL:NAME,COL+COL:NAME, as in step:gamma,x+y:gaussian-full; "
                "'%.*s' is not",
                (int)(of.n_text < 80 ? of.n_text : 80), of.text);
        if (!vhem_emission_param(of.family, 0) || strcmp(of.family, "product") == 0
            || strcmp(of.family, "gaussian-tied") == 0)
            return no_family(c, of.family);
        while (next_name(&of, &name, &n)) {
            if (has_name(list, name, n))
                return cli_misuse(c, "--emission names column '%.*s' twice", (int)(n < 80 ? n : 80), name);
            add_name(list, name, n);
        }
    }
    return CLI_GO;
}

/* Column name [n] of models; false when they have none of this name. */
static bool find_column(const vhem_models *models, const char *name, size_t n, vhem_column_view *column)
{
    for (int k = 0; vhem_models_column(models, k, column) == VHEM_OK; k++)
        if (strncmp(column->name, name, n) == 0 && column->name[n] == '\0')
            return true;
    return false;
}

/* How many columns a channel has; of all channels for -1. */
static int count_columns(const vhem_models *models, int channel)
{
    vhem_column_view column;
    int n = 0;
    for (int k = 0; vhem_models_column(models, k, &column) == VHEM_OK; k++)
        n += channel < 0 || column.channel == channel;
    return n;
}

bool cli_emission_is(const vhem_models *models, const char *emission)
{
    vhem_column_view column;
    part of;
    const char *name;
    size_t n;
    int all = 0;

    const vhem_models_facts facts = cli_models_facts(models);
    if (strcmp(facts.emission, emission) == 0)
        return true;
    if (!is_by_column(emission) || strcmp(facts.emission, "product") != 0)
        return false;
    while (next_part(&emission, &of)) {
        int first = -1, together = 0;
        while (next_name(&of, &name, &n)) {
            if (!find_column(models, name, n, &column) || strcmp(column.emission, of.family) != 0)
                return false;
            first = together++ == 0 ? column.channel : first;
            if (column.channel != first)
                return false;
        }
        if (together != count_columns(models, first))
            return false;
        all += together;
    }
    return all == count_columns(models, -1);
}

int cli_read_for(cli *c, const char *path, const vhem_models *models, const char *emission,
                 vhem_data_options *opt)
{
    size_t size = (models ? names_size(models) + 2 : 0) + (emission ? strlen(emission) : 0) + 4;
    bool by_column = !models && is_by_column(emission);
    free(c->columns);
    free(c->symbols);
    c->columns = calloc(size, 1);
    c->symbols = calloc(size, 1);
    CLI_CHECK(c->columns && c->symbols, "out of memory");
    if (by_column)
        CLI_TRY(check_parts(c, emission, c->columns));
    *c->columns = '\0';
    if (models)
        list_columns(models, c->columns, c->symbols);
    else if (by_column)
        split(emission, c->columns, c->symbols);
    else if (emission && strcmp(emission, of_symbols) == 0)
        strcpy(c->symbols, "*");
    if (*c->symbols)
        opt->symbols = c->symbols;
    if (*c->columns && !opt->columns && (!models || cli_holds_text(path)))
        opt->columns = c->columns;
    return CLI_GO;
}

int cli_load_data(cli *c, const char *path, const vhem_data_options *asked, const vhem_models *models,
                  const char *emission, vhem_data **out)
{
    vhem_data_options opt = *asked;
    CLI_TRY(cli_read_for(c, path, models, emission, &opt));
    return cli_status(c, vhem_data_load(c->ctx, path, &opt, out));
}

/* ---- texts in files that hold numbers alone ------------------------------------------------------------ */

bool cli_holds_text(const char *path)
{
    return strcmp(path, "-") == 0 || cli_ends_with(path, cli_table_endings);
}

void cli_tell_symbols(cli *c, const vhem_data *data, const char *output)
{
    enum { ROOM = 400 };
    const vhem_data_facts facts = cli_data_facts(data);
    for (int k = 0; facts.symbols && !cli_holds_text(output) && k < facts.d; k++) {
        const vhem_symbols *of = &facts.symbols[k];
        char list[ROOM + 64] = "";
        size_t at = 0;
        int v = 0;
        for (; v < of->n && at + strlen(of->name[v]) + 16 < ROOM; v++)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%d %s", v ? ", " : "", v, of->name[v]);
        if (v < of->n)
            snprintf(list + at, sizeof list - at, "%s%d more", v ? " and " : "", of->n - v);
        if (of->n > 0)
            cli_say(c, "warning: column '%s' is written as numbers: %s", facts.column[k], list);
    }
}
