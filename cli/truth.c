/* SPDX-License-Identifier: BSD-3-Clause */
/* truth.c - the classes that clusters are compared with: a table of names and classes, or sequences that
 * carry them. */
#include "csv.h"

#include <stdlib.h>
#include <string.h>

/* Which class each name of the table has.  Without a header the columns are the first two. */
static int read_table(cli *c, const char *path, const csv *t, json_t *class_of)
{
    int name_at = csv_column(t, (const char *const[]){ "name", "id", "seq", NULL });
    int class_at = csv_column(t, (const char *const[]){ "label", "class", "truth", NULL });
    bool header = name_at >= 0 && class_at >= 0;
    if (t->columns < 2)
        return cli_fail(c, "%s: line %d has no class; each line must have a name and a class", path,
                        t->line[0]);
    for (int r = header; r < t->rows; r++) {
        const char *name = csv_cell(t, r, header ? name_at : 0);
        const char *text = csv_cell(t, r, header ? class_at : 1);
        const json_t *known = json_object_get(class_of, name);
        if (known && strcmp(json_string_value(known), text) != 0)
            return cli_fail(c, "%s: line %d: '%s' is of class '%s', but '%s' before", path, t->line[r], name,
                            text, json_string_value(known));
        if (!known)
            json_object_set_new_nocheck(class_of, name, json_string_nocheck(text));
    }
    return CLI_GO;
}

/* Array and texts in one block. */
static const char **collect(int n, char *const *name, const json_t *known, int *found)
{
    size_t size = ((size_t)n + 1) * sizeof(char *);
    for (int i = 0; i < n; i++) {
        const json_t *text = json_object_get(known, name[i]);
        size += text ? strlen(json_string_value(text)) + 1 : 1;
    }
    const char **all = malloc(size);
    char *next = all ? (char *)(all + n + 1) : NULL;
    *found = 0;
    for (int i = 0; all && i < n; i++) {
        const json_t *text = json_object_get(known, name[i]);
        *found += text != NULL;
        all[i] = strcpy(next, text ? json_string_value(text) : "");
        next += strlen(next) + 1;
    }
    return all;
}

int cli_truth_load(cli *c, const char *path, int n, char *const *name, const char ***class_of)
{
    csv t;
    int found = 0, status = csv_load(c, path, 1, &t);
    if (status != CLI_GO)
        return status;
    json_t *known = json_object();
    status = read_table(c, path, &t, known);
    csv_free(&t);
    if (status == CLI_GO && !(*class_of = collect(n, name, known, &found)))
        status = cli_fail(c, "out of memory");
    if (status == CLI_GO && found == 0)
        status = cli_fail(c, "%s: none of its %zu names is that of a model, '%s' for instance", path,
                          json_object_size(known), n > 0 ? name[0] : "");
    else if (status == CLI_GO && found < n)
        cli_say(c, "%d of %d models have no class in %s and are left out of comparisons", n - found, n, path);
    json_decref(known);
    return status;
}

int cli_truth_of_data(cli *c, const vhem_data *data, int n, char *const *name, const char ***class_of)
{
    json_t *known = json_object();
    vhem_seq_view seq;
    int found = 0, status = CLI_GO;
    for (int k = 0; k < vhem_data_size(data); k++) {
        vhem_data_view(data, k, &seq);
        if (seq.label[0] && seq.group[0])
            json_object_set_new_nocheck(known, seq.group, json_string_nocheck(seq.label));
        if (seq.label[0])
            json_object_set_new_nocheck(known, seq.name, json_string_nocheck(seq.label));
    }
    *class_of = collect(n, name, known, &found);
    if (!*class_of)
        status = cli_fail(c, "out of memory");
    else if (found == 0 && json_object_size(known) > 0)
        cli_say(c, "no sequence has the name of a model, '%s' for instance: no classes to compare with",
                n > 0 ? name[0] : "");
    json_decref(known);
    return status;
}
