/* SPDX-License-Identifier: BSD-3-Clause */
/* symbol_index.c - see symbol_index.h. */
#include "fit/symbol_index.h"

#include "core/alloc.h"
#include "data/values.h"

#include <math.h>
#include <string.h>

/* A name as a number, and whether it has so few digits that no other whole number is written like it. */
static bool number_of(const char *name, char number[VH_NUMBER_SIZE], bool *exact)
{
    double y;
    if (vh_number_parse(name, strlen(name), &y) != VH_NUMBER)
        return false;
    number[vh_number_short(y, number)] = '\0';
    *exact = fabs(y) < 1e15;
    return true;
}

static bool exact_number(const char *name, char number[VH_NUMBER_SIZE])
{
    bool exact;
    return number_of(name, number, &exact) && exact;
}

/* Is a number of many digits written as what it was rounded to, 1.2345678901234567e+19, as earlier versions
 * did, or with zeros at its end?  Else it is a code, of which each digit counts. */
static bool is_rounded(const char *name)
{
    enum { MOST_DIGITS = 17 };
    size_t n = strspn(name, "+-0123456789");
    if (name[n] != '\0')
        return true;
    while (n > 0 && name[n - 1] == '0')
        n--;
    return name[n] == '0' && n <= MOST_DIGITS;
}

vhem_status vh_symbol_index_make(vhem_ctx *ctx, const vh_channel *c, vh_symbol_index *index)
{
    VH_NEW(index->of, c->shape.V + 1);
    for (int v = 0; v < c->shape.V; v++) {
        char number[VH_NUMBER_SIZE];
        const char *name = c->symbol[v];
        int64_t at;
        bool is_new, exact;
        VH_TRY(vh_names_put(ctx, &index->text, name, strlen(name), &at, &is_new));
        if (!number_of(name, number, &exact))
            continue;
        VH_TRY(vh_names_put(ctx, &index->number, number, strlen(number), &at, &is_new));
        index->of[at] = is_new && (exact || is_rounded(name)) ? v : -1;
    }
    for (int64_t i = 0; i < index->number.n; i++) {
        char number[VH_NUMBER_SIZE];
        int64_t v = vh_names_find(&index->text, index->number.text[i], index->number.size[i]);
        if (v >= 0 && exact_number(index->number.text[i], number))
            index->of[i] = (int)v;
    }
    return VHEM_OK;
}

int vh_symbol_find(const vh_symbol_index *index, const char *name)
{
    char number[VH_NUMBER_SIZE];
    bool exact;
    int64_t v = vh_names_find(&index->text, name, strlen(name));
    if (v >= 0 || !number_of(name, number, &exact))
        return (int)v;
    v = vh_names_find(&index->number, number, strlen(number));
    return v >= 0 ? index->of[v] : -1;
}

void vh_symbol_index_free(vh_symbol_index *index)
{
    vh_names_free(&index->text);
    vh_names_free(&index->number);
    free(index->of);
    *index = (vh_symbol_index){ 0 };
}

/* A table has the cells of a column as they are written, though all of them were numbers. */
static bool is_table(const vhem_data *data)
{
    static const char *const format[] = { "csv", "tsv", "xlsx", "dir" };
    for (size_t i = 0; i < sizeof format / sizeof *format; i++)
        if (strcmp(data->format, format[i]) == 0)
            return true;
    return false;
}

bool vh_symbol_is_plain(const char *name, char number[VH_NUMBER_SIZE])
{
    return exact_number(name, number) && strcmp(number, name) == 0;
}

/* Files without texts have the place of a symbol in a list where some symbol is text, and that may be the
 * value of another one. */
vhem_status vh_symbol_check_texts(vhem_ctx *ctx, const vhem_data *data, int k, const vh_channel *ch)
{
    char number[VH_NUMBER_SIZE];
    int v = 0;
    if (is_table(data) || (data->symbols && data->symbols[k].n > 0))
        return VHEM_OK;
    while (v < ch->shape.V && vh_symbol_is_plain(ch->symbol[v], number))
        v++;
    if (v == ch->shape.V)
        return VHEM_OK;
    return vh_fail(
        ctx, VHEM_EINVAL,
        "%s%scolumn '%.80s' has numbers without texts, which do not say which symbols they are: the "
        "models have '%s'; give a table, such as .csv, with the symbols as they are",
        data->origin.path ? data->origin.path : "", data->origin.path ? ": " : "", data->column[k],
        VH_SHOW(ch->symbol[v], strlen(ch->symbol[v])));
}
