/* SPDX-License-Identifier: BSD-3-Clause */
/* tables.c - small things that reports are made of: JSON values, names, endings; the record of what made a
 * file. */
#include "cli.h"
#include "vhem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const cli_model_endings[] = { ".json", ".h5", ".hdf5", NULL };
const char *const cli_json_endings[] = { ".json", NULL };
const char *const cli_table_endings[] = { ".csv", ".tsv", ".txt", ".xlsx", NULL };
const char *const cli_data_endings[] = { ".csv", ".tsv", ".npy", ".npz", ".ts", ".h5", ".hdf5", NULL };

bool cli_ends_with(const char *path, const char *const *endings)
{
    size_t n = strlen(path);
    for (; *endings; endings++) {
        size_t m = strlen(*endings);
        if (n > m && strcasecmp(path + n - m, *endings) == 0)
            return true;
    }
    return false;
}

json_t *cli_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *cli_json_reals(const double *x, int64_t n)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++)
        json_array_append_new(list, cli_json_real(x[k]));
    return list;
}

json_t *cli_json_matrix(const double *x, int64_t rows, int64_t columns)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < rows; i++)
        json_array_append_new(list, cli_json_reals(x + i * columns, columns));
    return list;
}

json_t *cli_json_text(const char *text)
{
    json_t *value = text && *text ? json_string(text) : NULL;
    return value ? value : json_null();
}

void cli_json_put(FILE *f, json_t *value)
{
    json_dumpf(value, f, JSON_INDENT(1) | JSON_ENSURE_ASCII);
    fputc('\n', f);
    json_decref(value);
}

const char *cli_name(const char *const *names, int64_t i, char *buf, size_t size)
{
    if (names && names[i] && names[i][0])
        return names[i];
    snprintf(buf, size, "%lld", (long long)i);
    return buf;
}

const char *cli_where(const char *output)
{
    return strcmp(output, "-") == 0 ? "standard output" : output;
}

const char *cli_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* 15 digits say what was typed, 1e-06 and not 9.9999999999999995e-07; 17 when that would lose something. */
static char *dump_short(const json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_t *again = text ? json_loads(text, 0, NULL) : NULL;
    if (!json_equal(value, again)) {
        free(text);
        text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    }
    json_decref(again);
    return text;
}

char *cli_provenance(const cli *c, json_t *options, bool stopped)
{
    json_t *made =
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:I, s:s}", "program", "vhem", "version", vhem_version(),
                  "command", c->command, "input", cli_json_text(c->arg[0]), "options", options, "seed",
                  (json_int_t)c->seed, "backend", vhem_ctx_backend(c->ctx));
    if (stopped)
        json_object_set_new(made, "interrupted", json_true());
    char *text = dump_short(made);
    json_decref(made);
    if (!cli_json_short())
        return text;
    free(text);
    return NULL;
}
