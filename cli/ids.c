/* SPDX-License-Identifier: BSD-3-Clause */
/* ids.c - the columns that name a sequence, apart.  Where several do, as subject and trial, its name is their
 * values with a separator between them, which none of them has. */
#include "cli.h"
#include "vhem.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

const vhem_data *cli_sequences(const vhem_source *from)
{
    return from->by_group ? NULL : from->data;
}

/* How long value k is, with which rest begins. */
static size_t value_size(const vhem_data_facts *facts, int k, const char *rest)
{
    const char *end = k + 1 < facts->n_id ? strchr(rest, facts->id_separator) : NULL;
    return end ? (size_t)(end - rest) : strlen(rest);
}

/* Columns of the tables that have identifiers: whole words, and stems that a number follows. */
static const char *const words[] = { "name",      "label",   "cluster",     "posterior", "score",
                                     "sequence",  "frame",   "hmm",         "state",     "group",
                                     "frames",    "loglik",  "per_frame",   "best",      "model",
                                     "sequences", "entropy", "uncertainty", "clustered", "share" };
static const char *const stems[] = { "cluster", "posterior", "p", "loglik_", "scale_" };

static bool is_taken(const char *name, const vhem_models *models)
{
    char buf[32];
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(name, words[k]) == 0)
            return true;
    for (size_t k = 0; k < sizeof stems / sizeof *stems; k++) {
        size_t n = strlen(stems[k]);
        if (strncmp(name, stems[k], n) == 0 && name[n] && strspn(name + n, "0123456789") == strlen(name + n))
            return true;
    }
    const vhem_models_facts set = cli_models_facts(models);
    for (int64_t i = 0; i < set.K; i++)
        if (strcmp(name, cli_model_name(models, i, buf, sizeof buf)) == 0)
            return true;
    return false;
}

/* Is the text [n] one of these, the keys of an object? */
static bool is_among(const json_t *known, const char *text, size_t n)
{
    char key[256];
    if (n == 0 || n >= sizeof key)
        return false;
    memcpy(key, text, n);
    key[n] = '\0';
    return json_object_get(known, key) != NULL;
}

/* Which identifier of the sequence is one of these; -1: none. */
static int known_value(const vhem_data_facts *facts, const char *name, const json_t *known)
{
    for (int k = 0; k < facts->n_id; k++) {
        size_t n = value_size(facts, k, name);
        if (is_among(known, name, n))
            return k;
        name += n + (name[n] != '\0');
    }
    return -1;
}

/* Does the name begin with one of these and a sign, as "s1" begins "s1_trial2"? */
static bool begins_with_known(const char *name, const json_t *known)
{
    for (size_t n = 1; name[0] && name[n]; n++)
        if (ispunct((unsigned char)name[n]) && is_among(known, name, n))
            return true;
    return false;
}

bool cli_ids_have(const vhem_data *data, int64_t n, const char *const *name, const char **column)
{
    vhem_data_facts facts = cli_data_facts(data);
    vhem_seq_view seq;
    bool found = false;
    json_t *known = json_object();
    for (int64_t i = 0; name && i < n; i++)
        json_object_set_new(known, name[i] ? name[i] : "", json_true());
    *column = NULL;
    for (int64_t i = 0; i < facts.N && !found; i++) {
        seq = cli_sequence_at(data, i);
        int k = known_value(&facts, seq.name, known);
        *column = k >= 0 ? facts.id_column[k] : NULL;
        found = k >= 0 || begins_with_known(seq.name, known);
    }
    json_decref(known);
    return found;
}

void cli_cell_ids(cli_row *r, const vhem_data *data, const vhem_models *models, const char *name)
{
    vhem_data_facts facts = cli_data_facts(data);
    json_t *id = r->json && facts.n_id > 0 ? json_object() : NULL;
    for (int k = 0; k < facts.n_id; k++) {
        const char *column = facts.id_column[k], *lead = r->head && is_taken(column, models) ? "id_" : "";
        size_t n = value_size(&facts, k, name);
        CLI_AUTOFREE char *text =
            id ? NULL : cli_text("%s%.*s", lead, r->head ? INT_MAX : (int)n, r->head ? column : name);
        if (id) {
            json_t *value = json_stringn(name, n);
            json_object_set_new(id, column, value ? value : json_null());
        } else if (!text) {
            cli_json_lacks(); /* no output that lacks something is kept */
        } else {
            cli_cell_text(r, text, text);
        }
        name += n + (name[n] != '\0');
    }
    if (id)
        json_object_set_new(r->json, "id", id);
}
