/* SPDX-License-Identifier: BSD-3-Clause */
/* report_input.c - see report_input.h. */
#include "report_input.h"

#include "choose.h"
#include "csv.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------------------- */

/* Row of the table whose first column is each name; [n], -1 for none.  NULL without memory. */
static int *find_rows(const csv *t, int column, int n, const char *const *name, int *found)
{
    size_t rows = (size_t)t->rows - 1;
    CLI_AUTOFREE cli_entry *names = malloc(rows * sizeof *names);
    int *row = malloc((size_t)n * sizeof *row);
    *found = 0;
    for (size_t r = 0; names && r < rows; r++)
        names[r] = (cli_entry){ csv_cell(t, (int)r + 1, column), (int)r + 1 };
    if (names)
        cli_sort_names(names, rows);
    for (int i = 0; names && row && i < n; i++) {
        row[i] = (int)cli_find_name(names, rows, name[i]);
        *found += row[i] >= 0;
    }
    return row;
}

/* ---- distances ----------------------------------------------------------------------------------------- */

/* Rows by name where all are found, else by their order. */
static int fill_matrix(cli *c, const char *path, const csv *t, const int *row, int n, double *D)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            int r = row ? row[i] : i + 1, col = row ? row[k] : k + 1;
            double *x = &D[(size_t)i * (size_t)n + (size_t)k];
            if (!csv_number(t, r, col, x) || !isfinite(*x))
                return cli_fail(c, "%s: row %d, column %d is '%s', must be a number", path, r + 1, col + 1,
                                csv_cell(t, r, col));
        }
    return CLI_GO;
}

int report_distances(cli *c, const char *path, const vhem_clustering *cl, double **D)
{
    CLI_CLEANUP(csv_free) csv t = { 0 };
    int found = 0, n = (int)cl->Kb;
    CLI_TRY(csv_load(c, path, 2, &t));
    CLI_AUTOFREE int *row = find_rows(&t, 0, n, cl->name, &found);
    *D = calloc((size_t)n * (size_t)n, sizeof **D);
    CLI_CHECK(row && *D, "out of memory");
    CLI_CHECK(
        t.rows == n + 1 && t.columns == n + 1,
        "%s: has %d rows and %d columns of distances, must have %d of each; vhem compare MODELS --kind kl "
        "writes them",
        path, t.rows - 1, t.columns - 1, n);
    return fill_matrix(c, path, &t, found == n ? row : NULL, n, *D);
}

/* ---- choices ------------------------------------------------------------------------------------------- */

static void set_number(vhem_choice *row, int k, double x)
{
    memcpy((char *)row + choose_columns[k].at, &x, sizeof x);
}

static int choice_json(cli *c, const char *path, json_t *root, vhem_choice **rows, int *n)
{
    json_t *list = json_object_get(root, "choices"), *e;
    size_t i;
    CLI_CHECK(json_array_size(list) > 0, "%s: has no choices; vhem choose --json writes them", path);
    *rows = calloc(json_array_size(list), sizeof **rows);
    CLI_CHECK(*rows, "out of memory");
    json_array_foreach(list, i, e)
    {
        vhem_choice *row = &(*rows)[(*n)++];
        row->K = json_integer_value(json_object_get(e, "K"));
        row->S = (int)json_integer_value(json_object_get(e, "S"));
        for (int k = 0; k < N_CHOOSE_COLUMNS; k++) {
            json_t *v = json_object_get(e, choose_columns[k].name);
            set_number(row, k, json_is_number(v) ? json_number_value(v) : NAN);
        }
    }
    return CLI_GO;
}

static int choice_table(cli *c, const char *path, const csv *t, vhem_choice **rows, int *n)
{
    int K = csv_column(t, (const char *const[]){ "K", NULL }),
        S = csv_column(t, (const char *const[]){ "S", NULL });
    CLI_CHECK(K >= 0 && S >= 0, "%s: has no columns K and S; vhem choose writes such a table", path);
    *rows = calloc((size_t)t->rows, sizeof **rows);
    CLI_CHECK(*rows, "out of memory");
    for (int r = 1; r < t->rows; r++) {
        vhem_choice *row = &(*rows)[(*n)++];
        double k_value, s_value, x;
        if (!csv_number(t, r, K, &k_value) || !csv_number(t, r, S, &s_value) || !(fabs(k_value) < INT_MAX)
            || !(fabs(s_value) < INT_MAX))
            return cli_fail(c, "%s: row %d has no numbers in K and S", path, r + 1);
        row->K = (int64_t)k_value;
        row->S = (int)s_value;
        for (int k = 0; k < N_CHOOSE_COLUMNS; k++) {
            int at = csv_column(t, (const char *const[]){ choose_columns[k].name, NULL });
            set_number(row, k, at >= 0 && csv_number(t, r, at, &x) ? x : NAN);
        }
        row->path = isnan(row->bic) && isfinite(row->frames);
    }
    return CLI_GO;
}

int report_choice(cli *c, const char *path, vhem_choice **rows, int *n)
{
    json_auto_t *root = cli_ends_with(path, cli_json_endings) ? json_load_file(path, 0, NULL) : NULL;
    CLI_CLEANUP(csv_free) csv t = { 0 };
    *n = 0;
    if (root)
        return choice_json(c, path, root, rows, n);
    CLI_TRY(csv_load(c, path, 2, &t));
    return choice_table(c, path, &t, rows, n);
}
