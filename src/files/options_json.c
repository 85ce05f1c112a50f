/* SPDX-License-Identifier: BSD-3-Clause */
/* options_json.c - see options_json.h. */
#include "files/options_json.h"

#include "files/json.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static vhem_status read_option_text(vhem_ctx *ctx, const vh_option *row, json_t *v, vh_texts *texts,
                                    void *record)
{
    const char **slot = vh_option_text(row, record);

    VH_CHECK(json_is_string(v) || json_is_null(v), VHEM_EFORMAT, "%s is %s, must be text", row->shown.name,
             vh_json_kind(v));
    *slot = NULL;
    if (json_is_string(v))
        VH_TRY(vh_texts_keep(ctx, texts, json_string_value(v), slot));
    return VHEM_OK;
}

static vhem_status read_number(vhem_ctx *ctx, const vh_option *row, json_t *v, void *record)
{
    const vhem_option *o = &row->shown;
    bool flag = o->type == VHEM_OPTION_FLAG;
    double x = json_is_boolean(v) ? json_is_true(v) : json_number_value(v);

    VH_CHECK(json_is_number(v) || (flag && json_is_boolean(v)), VHEM_EFORMAT, "%s is %s, must be %s", o->name,
             vh_json_kind(v),
             flag                          ? "true or false"
             : o->type == VHEM_OPTION_REAL ? "a number"
                                           : "a whole number");
    VH_CHECK(o->type == VHEM_OPTION_REAL || (x == floor(x) && fabs(x) <= INT_MAX), VHEM_EFORMAT,
             "%s is %.12g, must be a whole number", o->name, x);
    vh_option_set_number(row, o->type == VHEM_OPTION_INT && x < o->least ? -1 : x, record);
    return VHEM_OK;
}

vhem_status vh_options_read(vhem_ctx *ctx, json_t *object, vhem_option_set set, vh_texts *texts, void *record)
{
    for (const vh_option *row = vh_options(set); row->shown.name; row++) {
        json_t *v = json_object_get(object, row->shown.name);
        if (!v && strcmp(row->shown.name, "min_items") == 0)
            v = json_object_get(object, "min_things"); /* its name in files */
        if (!v || !(row->use & VH_IN_FILES))
            continue;
        if (row->shown.type == VHEM_OPTION_TEXT || row->shown.type == VHEM_OPTION_CHOICE)
            VH_TRY(read_option_text(ctx, row, v, texts, record));
        else
            VH_TRY(read_number(ctx, row, v, record));
    }
    return VHEM_OK;
}
