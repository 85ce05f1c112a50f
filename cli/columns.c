/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.c - how DATA is to be read for an emission or for models: which columns, and which of them hold
 * symbols, whose cells may be text. */
#include "cli.h"

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

/* "x+y:gaussian-full,place:categorical" as columns, "x,y,place", and symbols, "place". */
static void split(const char *emission, char *columns, char *symbols)
{
    for (const char *p = emission; *p;) {
        size_t all = strcspn(p, ","), names = all;
        while (names > 0 && p[names - 1] != ':')
            names--;
        bool symbol = names > 0 && all - names == strlen(of_symbols)
                      && strncmp(p + names, of_symbols, all - names) == 0;
        for (size_t at = 0; at + 1 < names;) {
            size_t n = 0;
            while (at + n < names - 1 && p[at + n] != '+')
                n++;
            add_name(columns, p + at, n);
            if (symbol)
                add_name(symbols, p + at, n);
            at += n + 1;
        }
        p += all + (p[all] == ',');
    }
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

/* Is it a table with names in its first line? */
static bool is_table(const char *path)
{
    static const char *const endings[] = { ".csv", ".tsv", ".txt", NULL };
    return strcmp(path, "-") == 0 || cli_ends_with(path, endings);
}

enum { MOST_FAMILIES = 32 };

/* The families that a column can have, in the list of the option: name [n], texts in room. */
static int list_families(const char *name[MOST_FAMILIES], char *room, size_t size)
{
    vhem_option o;
    int n = 0;
    *room = '\0';
    for (int i = 0; vhem_option_info(VHEM_FIT_OPTIONS, i, &o) == VHEM_OK; i++)
        if (strcmp(o.name, "emission") == 0)
            snprintf(room, size, "%s", o.argument);
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
        return cli_misuse(c, "--emission: a column cannot be '%s'; did you mean %s?", family, near);
    return cli_misuse(c, "--emission: a column cannot be '%s', it can be %s", family, list);
}

/* Does every part of "x:gamma,y:poisson" name a family? */
static int check_families(cli *c, const char *emission)
{
    for (const char *p = emission; *p;) {
        size_t all = strcspn(p, ","), names = all;
        char family[64];
        while (names > 0 && p[names - 1] != ':')
            names--;
        snprintf(family, sizeof family, "%.*s", (int)(all - names < 63 ? all - names : 63), p + names);
        if (names >= 2 && *family
            && (!vhem_emission_param(family, 0) || strcmp(family, "product") == 0
                || strcmp(family, "gaussian-tied") == 0))
            return no_family(c, family);
        if (names < 2 || !*family)
            return cli_misuse(
                c,
                "--emission by column is COL:NAME,COL+COL:NAME, as in step:gamma,x+y:gaussian-full; "
                "'%.*s' is not",
                (int)(all < 80 ? all : 80), p);
        p += all + (p[all] == ',');
    }
    return CLI_GO;
}

int cli_read_for(cli *c, const char *path, const vhem_models *models, const char *emission,
                 vhem_data_options *opt)
{
    size_t size = (models ? names_size(models) + 2 : 0) + (emission ? strlen(emission) : 0) + 4;
    bool tied = emission && strncmp(emission, of_background, strlen(of_background)) == 0;
    if (!models && emission && strchr(emission, ':') && !tied) {
        int status = check_families(c, emission);
        if (status != CLI_GO)
            return status;
    }
    free(c->columns);
    free(c->symbols);
    c->columns = calloc(size, 1);
    c->symbols = calloc(size, 1);
    if (!c->columns || !c->symbols)
        return cli_fail(c, "out of memory");
    if (models)
        list_columns(models, c->columns, c->symbols);
    else if (emission && strchr(emission, ':') && !tied)
        split(emission, c->columns, c->symbols);
    else if (emission && strcmp(emission, of_symbols) == 0)
        strcpy(c->symbols, "*");
    if (*c->symbols)
        opt->symbols = c->symbols;
    if (*c->columns && !opt->columns && (!models || is_table(path)))
        opt->columns = c->columns;
    return CLI_GO;
}

int cli_load_data(cli *c, const char *path, const vhem_data_options *asked, const vhem_models *models,
                  const char *emission, vhem_data **out)
{
    vhem_data_options opt = *asked;
    int status = cli_read_for(c, path, models, emission, &opt);
    return status == CLI_GO ? cli_status(c, vhem_data_load(c->ctx, path, &opt, out)) : status;
}
