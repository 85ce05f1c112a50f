/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.c - see symbols.h. */
#include "data/formats/symbols.h"

#include "data/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vh_finds_symbols(const char *list)
{
    return list && (strcmp(list, "?") == 0 || vh_finds_symbols_alone(list));
}

bool vh_finds_symbols_alone(const char *list)
{
    return list && strcmp(list, "??") == 0;
}

bool vh_is_symbols(const char *list, const char *column)
{
    size_t size = strlen(column);
    if (!list || strcmp(list, "*") == 0)
        return list != NULL;
    for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
        if (strncmp(p, column, size) == 0 && (p[size] == ',' || p[size] == '\0'))
            return true;
    return false;
}

/* A number with decimals is not a code: programs write 1 with many zeros. */
bool vh_is_code(const char *s, size_t n)
{
    size_t at = n > 0 && (*s == '-' || *s == '+'), end = at;
    while (end < n && s[end] >= '0' && s[end] <= '9')
        end++;
    return (end - at > 1 && s[at] == '0') || (end == n && end - at > 15);
}

vhem_status vh_symbol_code(vhem_ctx *ctx, vh_names *names, const vh_field *cell, const char *missing,
                           double *out)
{
    char number[VH_NUMBER_SIZE];
    const char *s = cell->at;
    size_t n = cell->n;
    int64_t index = 0;
    bool is_new;
    vh_value kind = vh_cell_parse(s, n, missing, out);

    if (kind == VH_MISSING)
        return VHEM_OK;
    vh_trim(&s, &n);
    if (kind == VH_NUMBER && !vh_is_code(s, n)) {
        n = vh_number_short(*out, number);
        s = number;
    }
    vhem_status st = vh_names_put(ctx, names, s, n, &index, &is_new);
    *out = (double)index;
    return st;
}

vhem_status vh_symbols_hand_over(vh_names *names, vh_builder *b, int k)
{
    vhem_status st = vh_builder_symbols(b, k, names->text, (int)names->n);
    if (st == VHEM_OK) {
        names->text = NULL;
        names->n = 0;
    }
    return st;
}
