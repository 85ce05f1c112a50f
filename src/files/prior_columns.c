/* SPDX-License-Identifier: BSD-3-Clause */
/* prior_columns.c - see prior_columns.h. */
#include "files/prior_columns.h"

#include "os/stream.h"
#include "core/text.h"
#include "files/json.h"

#include <string.h>

/* Appends before the last brace, so that numbers are not rewritten. */
vhem_status vh_prior_add_columns(vhem_ctx *ctx, const char *const *column, int d, char **text)
{
    VH_OWN(json_t) *root = NULL;
    VH_AUTOFREE char *longer = NULL;
    size_t size;

    VH_TRY(vh_json_object(ctx, "the prior", *text, &root));
    if (json_object_get(root, "columns"))
        return VHEM_OK;
    FILE *f = vh_memory_open(&longer, &size);
    VH_CHECK(f, VHEM_ENOMEM, "out of memory: no room for the text of a prior");
    fprintf(f, "%.*s, \"columns\": [", (int)(strrchr(*text, '}') - *text), *text);
    for (int k = 0; k < d; k++) {
        fputs(k > 0 ? ", " : "", f);
        vh_text_json(f, column[k]);
    }
    fputs("]}", f);
    VH_TRY(vh_text_close(ctx, f, &longer, &size));
    free(*text);
    *text = vh_take(longer);
    return VHEM_OK;
}

vhem_status vh_prior_check_columns(vhem_ctx *ctx, const char *text, const char *const *column, int d)
{
    VH_OWN(json_t) *root = NULL;

    VH_TRY(vh_json_object(ctx, "the prior", text, &root));
    const json_t *names = json_object_get(root, "columns");
    VH_CHECK(!names || (int)json_array_size(names) == d, VHEM_EINVAL,
             "the prior is for %zu columns, but the data has %d", json_array_size(names), d);
    for (int k = 0; names && k < d; k++) {
        const char *name = json_string_value(json_array_get(names, (size_t)k));
        VH_CHECK(name && strcmp(name, column[k]) == 0, VHEM_EINVAL,
                 "column %d of the prior is '%.80s', but that of the data is '%.80s'; name the columns in "
                 "the order of the prior, with " VH_OPT("columns") " or " VH_OPT("emission"),
                 k + 1, name ? name : "", column[k]);
    }
    return VHEM_OK;
}
