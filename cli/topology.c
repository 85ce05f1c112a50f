/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - {"pi": [...], "A": [[...]]}: null is free, a number stays as it is, 0 is forbidden. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

/* One row of n entries; the sentence names the place. */
static int read_row(cli *c, const char *path, const char *what, const json_t *row, int n, double *out)
{
    CLI_CHECK(json_is_array(row) && (int)json_array_size(row) == n,
              "%s: %s must be a list of %d entries, as many as there are states", path, what, n);
    double sum = 0;
    int n_free = 0;
    for (int k = 0; k < n; k++) {
        const json_t *entry = json_array_get(row, (size_t)k);
        CLI_CHECK(json_is_null(entry) || json_is_number(entry),
                  "%s: entry %d of %s must be null (free) or a number", path, k, what);
        out[k] = json_is_null(entry) ? NAN : json_number_value(entry);
        CLI_CHECK(!(out[k] < 0 || out[k] > 1), "%s: entry %d of %s is %g, a probability lies between 0 and 1",
                  path, k, what, out[k]);
        n_free += isnan(out[k]);
        sum += isnan(out[k]) ? 0 : out[k];
    }
    CLI_CHECK(sum <= 1 + 1e-9 && (n_free > 0 || fabs(sum - 1) <= 1e-9),
              "%s: the fixed entries of %s sum to %g, must be %s1", path, what, sum,
              n_free ? "at most " : "");
    return CLI_GO;
}

static int read_topology(cli *c, const char *path, const json_t *root, int *S, double **pi, double **A)
{
    const json_t *jpi = json_object_get(root, "pi"), *jA = json_object_get(root, "A");
    CLI_CHECK(jpi || jA, "%s: not a topology: needs an object with \"pi\", \"A\" or both", path);
    int n = (int)json_array_size(jA ? jA : jpi);
    CLI_CHECK(n >= 1, "%s: %s must be a list with one entry per state", path, jA ? "A" : "pi");
    *pi = jpi ? malloc((size_t)n * sizeof **pi) : NULL;
    *A = jA ? malloc((size_t)n * (size_t)n * sizeof **A) : NULL;
    CLI_CHECK((!jpi || *pi) && (!jA || *A), "out of memory");
    if (jpi)
        CLI_TRY(read_row(c, path, "pi", jpi, n, *pi));
    for (int s = 0; jA && s < n; s++) {
        char what[32];
        snprintf(what, sizeof what, "row %d of A", s);
        CLI_TRY(read_row(c, path, what, json_array_get(jA, (size_t)s), n, *A + (size_t)s * (size_t)n));
    }
    *S = n;
    return CLI_GO;
}

int cli_topology_load(cli *c, const char *path, int *S, double **pi, double **A)
{
    json_error_t error;
    json_auto_t *root = cli_json_load(path, JSON_REJECT_DUPLICATES, &error);
    CLI_CHECK(!cli_json_short(), "%s: out of memory", path);
    CLI_CHECK(root || error.line > 0, "%s", error.text); /* it names the file */
    CLI_CHECK(root, "%s: line %d, column %d: %s", path, error.line, error.column, error.text);
    return read_topology(c, path, root, S, pi, A);
}
