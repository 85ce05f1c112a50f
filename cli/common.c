/* SPDX-License-Identifier: BSD-3-Clause */
/* common.c - what is said of HMMs that lack columns, and how many values of DATA models look at. */
#include "cli.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int columns_of(const vhem_models *models)
{
    vhem_column_view column;
    int d = 0;
    while (vhem_models_column(models, d, &column) == VHEM_OK)
        d++;
    return d;
}

/* ---- columns that some HMMs lack ----------------------------------------------------------------------- */

/* Adds to a text of `size` bytes, which ends early rather than run over. */
static void add_text(char *text, size_t size, const char *more)
{
    size_t at = strlen(text);
    if (at + strlen(more) < size)
        strcpy(text + at, more);
}

/* "x, y and z": the columns that all HMMs have. */
static void list_shared(const vhem_models *models, int d, const int64_t *lacking, char *text, size_t size)
{
    int left = 0;
    bool first = true;
    for (int k = 0; k < d; k++)
        left += lacking[k] == 0;
    for (int k = 0; k < d; k++) {
        vhem_column_view column;
        char number[32];
        if (lacking[k] > 0 || vhem_models_column(models, k, &column) != VHEM_OK)
            continue;
        left--;
        snprintf(number, sizeof number, "column %d", k);
        add_text(text, size, first ? "" : left > 0 ? ", " : " and ");
        add_text(text, size, *column.name ? column.name : number);
        first = false;
    }
}

/* "3 of 7 HMMs lack z, 1 lacks w". */
static void list_lacking(const vhem_models *models, int d, int64_t K, const int64_t *lacking, char *text,
                         size_t size)
{
    bool first = true;
    for (int k = 0; k < d; k++) {
        vhem_column_view column;
        char one[160], number[32];
        if (lacking[k] == 0 || vhem_models_column(models, k, &column) != VHEM_OK)
            continue;
        snprintf(number, sizeof number, "column %d", k);
        snprintf(one, sizeof one, "%s%lld ", first ? "" : ", ", (long long)lacking[k]);
        add_text(text, size, one);
        snprintf(one, sizeof one, "of %lld HMMs ", (long long)K);
        add_text(text, size, first ? one : "");
        snprintf(one, sizeof one, "lack%s %.100s", lacking[k] == 1 ? "s" : "",
                 *column.name ? column.name : number);
        add_text(text, size, one);
        first = false;
    }
}

void cli_tell_common(cli *c, int n, const vhem_models *const *sets, bool pairs)
{
    int d = n > 0 && sets[0] ? columns_of(sets[0]) : 0, found = 0;
    int64_t *lacking = calloc((size_t)d + 1, sizeof *lacking), K = 0;
    char shared[512] = "", which[512] = "";
    for (int s = 0; lacking && d > 0 && s < n; s++) {
        vhem_column_view column;
        K += cli_models_facts(sets[s]).K;
        for (int k = 0; k < d && vhem_models_column(sets[s], k, &column) == VHEM_OK; k++)
            lacking[k] += column.lacking;
    }
    for (int k = 0; lacking && k < d; k++)
        found += lacking[k] > 0;
    if (found > 0) {
        list_shared(sets[0], d, lacking, shared, sizeof shared);
        list_lacking(sets[0], d, K, lacking, which, sizeof which);
        if (pairs)
            cli_say(c, "a pair is compared over the columns that both have: %s", which);
        else
            cli_say(c, "compared over %s, which all HMMs have: %s", shared, which);
    }
    free(lacking);
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* Which column of the data column k of the models is: that of its name, or the k-th. */
static int place_of(const vhem_data_facts *facts, const vhem_models *models, int k)
{
    vhem_column_view column;
    if (vhem_models_column(models, k, &column) == VHEM_OK && *column.name)
        for (int q = 0; q < facts->d; q++)
            if (strcmp(facts->column[q], column.name) == 0)
                return q;
    return k < facts->d ? k : -1;
}

/* [d] of the data: does it hold what the models look at?  free() it; NULL without memory. */
static bool *used_columns(const vhem_models *models, const vhem_data_facts *facts, bool shared)
{
    int d = columns_of(models);
    bool *used = calloc((size_t)facts->d + 1, sizeof *used);
    for (int k = 0; used && k < d; k++) {
        vhem_column_view column = { 0 };
        int at = place_of(facts, models, k);
        bool known = vhem_models_column(models, k, &column) == VHEM_OK;
        if (at >= 0 && !(shared && known && column.lacking > 0))
            used[at] = true;
    }
    for (int k = 0; used && d == 0 && k < facts->d; k++) /* dynamic textures see every column */
        used[k] = true;
    return used;
}

static cli_values count_in(const vhem_data *data, int64_t n, int d, const bool *used)
{
    cli_values v = { 0 };
    vhem_seq_view seq = cli_sequence_at(data, n);
    for (int64_t i = 0; i < seq.T * d; i++) {
        v.all += used[i % d];
        v.missing += used[i % d] && isnan(seq.y[i]);
    }
    return v;
}

cli_values cli_count_values(const vhem_models *models, const vhem_data *data, bool shared)
{
    cli_values v = { 0 };
    const vhem_data_facts facts = cli_data_facts(data);
    bool *used = used_columns(models, &facts, shared);
    for (int64_t n = 0; used && n < facts.N; n++) {
        const cli_values one = count_in(data, n, facts.d, used);
        v.all += one.all;
        v.missing += one.missing;
    }
    free(used);
    return v;
}

int64_t *cli_observed(const vhem_models *models, const vhem_data *data, const vhem_items *items)
{
    const vhem_data_facts facts = cli_data_facts(data);
    bool *used = used_columns(models, &facts, true);
    int64_t *observed = used ? calloc((size_t)items->n + 1, sizeof *observed) : NULL;
    for (int64_t n = 0; observed && n < facts.N; n++) {
        const cli_values one = count_in(data, n, facts.d, used);
        observed[items->item[n]] += one.all - one.missing;
    }
    free(used);
    return observed;
}
