/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.c - see roles.h. */
#include "data/formats/roles.h"

#include "core/alloc.h"
#include "core/text.h"
#include "data/formats/symbols.h"
#include "data/values.h"

#include <string.h>
#include <strings.h>

/* Splits "x, y" into names; *names must be empty. */
static vhem_status split_list(vhem_ctx *ctx, const char *list, vh_texts *names)
{
    VH_CLEANUP(vh_texts_free) vh_texts out = { .n = 1 };
    for (const char *p = list; *p; p++)
        out.n += *p == ',';

    VH_NEW(out.text, out.n);
    const char *p = list;
    for (int64_t k = 0; k < out.n; k++) {
        size_t size = strcspn(p, ",");
        const char *next = p + size + 1;
        while (size > 0 && *p == ' ')
            p++, size--;
        while (size > 0 && p[size - 1] == ' ')
            size--;
        VH_CHECK(size > 0, VHEM_EINVAL,
                 "'%s' is not a list of columns, expected names with commas between them",
                 VH_SHOW(list, strlen(list)));
        out.text[k] = vh_strndup(ctx, p, size);
        VH_CHECK(out.text[k], VHEM_ENOMEM, "out of memory");
        p = next;
    }
    *names = out;
    out = (vh_texts){ 0 };
    return VHEM_OK;
}

static vhem_status no_column(vhem_ctx *ctx, const char *path, const char *option, const char *name,
                             char *const *column, int n)
{
    char list[512];
    vh_show_list(column, n, ", ", list, sizeof list);
    if (strcmp(option, "columns") == 0) /* or --emission, which also names columns */
        return vh_fail(ctx, VHEM_EINVAL, "%s: there is no column '%s' to read; the columns are %s", path,
                       VH_SHOW(name, strlen(name)), list);
    return vh_fail(ctx, VHEM_EINVAL, "%s: " VH_OPT("%s") " asks for column '%s'; the columns are %s", path,
                   option, VH_SHOW(name, strlen(name)), list);
}

vhem_status vh_columns_pick(vhem_ctx *ctx, const char *path, const char *list, char *const *column, int d,
                            int **place, int *n)
{
    VH_CLEANUP(vh_texts_free) vh_texts names = { 0 };
    VH_AUTOFREE int *out = NULL;

    VH_TRY(split_list(ctx, list, &names));
    VH_NEW(out, names.n);
    for (int64_t k = 0; k < names.n; k++) {
        const char *name = names.text[k];
        int64_t number;
        int at = 0;
        while (at < d && strcmp(column[at], name) != 0)
            at++;
        if (at == d && vh_integer_parse(name, strlen(name), &number) && number >= 0 && number < d)
            at = (int)number;
        if (at == d)
            VH_TRY(no_column(ctx, path, "columns", name, column, d));
        for (int64_t i = 0; i < k; i++)
            VH_CHECK(out[i] != at, VHEM_EINVAL, "%s: " VH_OPT("columns") " names column '%s' twice", path,
                     VH_SHOW(name, strlen(name)));
        out[k] = at;
    }
    *place = vh_take(out);
    *n = (int)names.n;
    return VHEM_OK;
}

static vhem_status option_column(vhem_ctx *ctx, const vh_table *t, const char *option, const char *name,
                                 int *out)
{
    *out = vh_table_find(t, name, false);
    return *out >= 0 ? VHEM_OK : no_column(ctx, t->path, option, name, t->column, t->n_columns);
}

static vhem_status find_id(vhem_ctx *ctx, const vh_table *t, const char *option, bool index, vh_roles *roles)
{
    if (option) {
        VH_CLEANUP(vh_texts_free) vh_texts names = { 0 };
        VH_TRY(split_list(ctx, option, &names));
        VH_NEW(roles->id, names.n);
        for (int64_t k = 0; k < names.n; k++)
            VH_TRY(option_column(ctx, t, "id", names.text[k], &roles->id[roles->n_id++]));
        return VHEM_OK;
    }
    VH_NEW(roles->id, t->n_columns + 1);
    int seq = vh_table_find(t, "seq", true);
    if (index && seq >= 0) {
        roles->id[roles->n_id++] = seq;
        return VHEM_OK;
    }
    for (int k = 0; k < t->n_columns; k++)
        if (strcasecmp(t->column[k], "id") == 0 || strcasecmp(t->column[k], "seq") == 0)
            roles->id[roles->n_id++] = k;
    if (roles->n_id == 0 && !index) {
        char list[160];
        vh_show_list(t->column, t->n_columns, ", ", list, sizeof list);
        VH_CHECK(t->n_columns >= 2, VHEM_EFORMAT,
                 "%s: not a table of sequences: line 1 has no columns, it is '%.40s%s'", t->path, list,
                 strlen(list) > 40 ? "..." : "");
        return vh_fail(
            ctx, VHEM_EFORMAT,
            "%s: no column is named id or seq; say with " VH_OPT("id") " which columns name a "
                                                                       "sequence; the columns are %s",
            t->path, list);
    }
    return VHEM_OK;
}

static vhem_status find_where(vhem_ctx *ctx, const vh_table *t, const char *option, vh_roles *roles)
{
    const char *equals = strchr(option, '=');
    VH_AUTOFREE char *name = NULL;

    VH_CHECK(equals && equals > option, VHEM_EINVAL, VH_OPT("where='%s'") ": expected COLUMN=VALUE",
             VH_SHOW(option, strlen(option)));
    name = vh_strndup(ctx, option, (size_t)(equals - option));
    VH_CHECK(name, VHEM_ENOMEM, "out of memory");
    VH_TRY(option_column(ctx, t, "where", name, &roles->where));
    VH_DUP(roles->where_value, equals + 1);
    return VHEM_OK;
}

static vhem_status find_all(vhem_ctx *ctx, const vh_table *t, const vhem_data_options *opt, bool index,
                            vh_roles *roles)
{
    VH_TRY(find_id(ctx, t, opt->id, index, roles));
    if (opt->label)
        VH_TRY(option_column(ctx, t, "label", opt->label, &roles->label));
    else
        roles->label = vh_table_find(t, "label", true);
    if (opt->group)
        VH_TRY(option_column(ctx, t, "group", opt->group, &roles->group));
    if (opt->weight)
        VH_TRY(option_column(ctx, t, "weight", opt->weight, &roles->weight));
    VH_CHECK(!index || !opt->order, VHEM_EINVAL,
             "%s: " VH_OPT("order") " sorts the rows of a table; frames in an array have "
                                    "their order",
             t->path);
    if (opt->order)
        VH_TRY(option_column(ctx, t, "order", opt->order, &roles->order));
    if (opt->where)
        VH_TRY(find_where(ctx, t, opt->where, roles));
    return VHEM_OK;
}

vhem_status vh_roles_find(vhem_ctx *ctx, const vh_table *t, const vhem_data_options *opt, bool index,
                          vh_roles *roles)
{
    *roles = (vh_roles){ .label = -1, .group = -1, .weight = -1, .where = -1, .order = -1 };
    vhem_status st = find_all(ctx, t, opt, index, roles);
    if (st != VHEM_OK)
        vh_roles_free(roles);
    return st;
}

void vh_roles_free(vh_roles *roles)
{
    free(roles->id);
    free(roles->where_value);
    for (int k = 0; k < roles->n_seen; k++)
        free(roles->seen[k]);
    *roles = (vh_roles){ .label = -1, .group = -1, .weight = -1, .where = -1, .order = -1 };
}

vhem_status vh_roles_keep(vhem_ctx *ctx, vh_roles *roles, const vh_table *t, bool *keep)
{
    *keep = true;
    if (roles->where < 0)
        return VHEM_OK;
    const vh_field *f = &t->field[roles->where];
    const char *value = roles->where_value, *cell = f->at;
    size_t n = strlen(value), n_cell = f->n;
    double a, b;
    vh_trim(&cell, &n_cell);
    *keep = vh_field_is(f, value)
            || (!vh_is_code(value, n) && !vh_is_code(cell, n_cell)
                && vh_number_parse(f->at, f->n, &a) == VH_NUMBER && vh_number_parse(value, n, &b) == VH_NUMBER
                && a == b);
    if (*keep || roles->n_seen == 6)
        return VHEM_OK;
    for (int k = 0; k < roles->n_seen; k++)
        if (vh_field_is(f, roles->seen[k]))
            return VHEM_OK;
    char *copy = vh_strndup(ctx, f->at, f->n);
    if (!copy)
        return VHEM_ENOMEM;
    roles->seen[roles->n_seen++] = copy;
    return VHEM_OK;
}

vhem_status vh_roles_none_kept(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t)
{
    if (roles->where < 0 || roles->n_seen == 0)
        return vh_fail(ctx, VHEM_EFORMAT, "%s: there is a header, but no row below it", t->path);
    char list[256];
    vh_show_list(roles->seen, roles->n_seen, ", ", list, sizeof list);
    return vh_fail(ctx, VHEM_EINVAL, "%s: no row has '%s' in column '%s'; found there: %s%s", t->path,
                   VH_SHOW(roles->where_value, strlen(roles->where_value)), t->column[roles->where], list,
                   roles->n_seen == 6 ? ", ..." : "");
}

vhem_status vh_roles_weight(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t, double *weight)
{
    *weight = 1;
    if (roles->weight < 0)
        return VHEM_OK;
    const vh_field *f = &t->field[roles->weight];
    if (vh_number_parse(f->at, f->n, weight) == VH_NUMBER && *weight > 0)
        return VHEM_OK;
    return vh_fail(ctx, VHEM_EFORMAT, "%s: line %lld: the weight is '%s', must be a positive number", t->path,
                   (long long)t->line, VH_SHOW(f->at, f->n));
}
