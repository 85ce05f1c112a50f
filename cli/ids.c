/* SPDX-License-Identifier: BSD-3-Clause */
/* ids.c - the columns that name a sequence, apart.  Where several do, as subject and trial, its name is their values with
 * a separator between them, which none of them has. */
#include "cli.h"

#include <string.h>

const vhem_data *cli_sequences(const vhem_source *from)
{
    return from->by_group ? NULL : from->data;
}

static vhem_data_facts facts_of(const vhem_data *data)
{
    vhem_data_facts facts = { 0 };
    if (data)
        vhem_data_info(data, &facts);
    return facts;
}

/* How long value k is, with which rest begins. */
static size_t value_size(const vhem_data_facts *facts, int k, const char *rest)
{
    const char *end = k + 1 < facts->n_id ? strchr(rest, facts->id_separator) : NULL;
    return end ? (size_t)(end - rest) : strlen(rest);
}

void cli_put_ids(FILE *f, const vhem_data *data, const char *name)
{
    vhem_data_facts facts = facts_of(data);
    for (int k = 0; k < facts.n_id; k++) {
        fputc('\t', f);
        if (!name) {
            cli_put_cell(f, facts.id_column[k]);
            continue;
        }
        size_t n = value_size(&facts, k, name);
        cli_put_cell_of(f, name, n);
        name += n + (name[n] != '\0');
    }
}

void cli_json_ids(json_t *row, const vhem_data *data, const char *name)
{
    vhem_data_facts facts = facts_of(data);
    json_t *id = facts.n_id > 0 ? json_object() : NULL;
    for (int k = 0; k < facts.n_id; k++) {
        size_t n = value_size(&facts, k, name);
        json_t *value = json_stringn(name, n);
        json_object_set_new(id, facts.id_column[k], value ? value : json_null());
        name += n + (name[n] != '\0');
    }
    if (id)
        json_object_set_new(row, "id", id);
}
