/* SPDX-License-Identifier: BSD-3-Clause */
/* index.c - NAME_index.csv: one row per sequence.  Columns start and length give its rows in the array; any
 * other columns name and label it. */
#include "core/alloc.h"
#include "data/formats/array.h"
#include "data/data.h"
#include "core/names.h"
#include "data/formats/roles.h"
#include "data/values.h"
#include "os/path.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

vhem_status vh_index_find(vhem_ctx *ctx, const char *path, char **index)
{
    const char *name = vh_path_name(path);
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path), n = stem;
    VH_AUTOFREE char *try = NULL;

    *index = NULL;
    VH_NEW(try, stem + 16);
    for (; n > (size_t)(name - path); n--) {
        /* The shared prefix must end with a word: x_index.csv does not belong to xyz.npy. */
        if (n < stem && isalnum((unsigned char)path[n]))
            continue;
        snprintf(try, stem + 16, "%.*s_index.csv", (int)n, path);
        if (vh_path_exists(try))
            break;
    }
    if (n > (size_t)(name - path)) {
        if (n < stem)
            vh_log(ctx, VHEM_LOG_INFO, "%s: using the index %s", path, try);
        *index = vh_take(try);
    }
    return VHEM_OK;
}

typedef struct {
    vhem_ctx *ctx;
    const char *path; /* path of the array */
    vh_table t;
    vh_roles roles;
    int start, length; /* column indices */
    int64_t rows;
    bool in_order; /* sequences so far are consecutive rows */
    int64_t next;
    int64_t *range; /* [n][2]: start, length */
    char **text;    /* [n][3]: name, label, group */
    double *weight; /* [n] */
    size_t n, cap_range, cap_text, cap_weight;
} index_file;

static void close_index(index_file *r)
{
    vh_list_free(r->text, 3 * (int64_t)r->n);
    free(r->range);
    free(r->weight);
    vh_roles_free(&r->roles);
    vh_table_close(&r->t);
}

static vhem_status find_columns(index_file *r)
{
    vhem_ctx *ctx = r->ctx;
    char list[256];

    r->start = vh_table_find(&r->t, "start", true);
    r->length = vh_table_find(&r->t, "length", true);
    vh_show_list(r->t.column, r->t.n_columns, ", ", list, sizeof list);
    VH_CHECK(r->start >= 0 && r->length >= 0, VHEM_EFORMAT,
             "%s: an index needs the columns start and length, found %s", r->t.path, list);
    return VHEM_OK;
}

static vhem_status read_range(index_file *r, int64_t *start, int64_t *length)
{
    vhem_ctx *ctx = r->ctx;
    const vh_table *t = &r->t;
    const vh_field *s = &t->field[r->start], *l = &t->field[r->length];

    VH_CHECK(vh_integer_parse(s->at, s->n, start) && *start >= 0, VHEM_EFORMAT,
             "%s: line %lld: start is '%s', expected a whole number from 0", t->path, (long long)t->line,
             VH_SHOW(s->at, s->n));
    VH_CHECK(vh_integer_parse(l->at, l->n, length) && *length >= 1, VHEM_EFORMAT,
             "%s: line %lld: length is '%s', expected a whole number from 1", t->path, (long long)t->line,
             VH_SHOW(l->at, l->n));
    VH_CHECK(*start <= r->rows && *length <= r->rows - *start, VHEM_EFORMAT,
             "%s: line %lld: rows %lld to %lld are asked for, but %s has only %lld", t->path,
             (long long)t->line, (long long)*start, (long long)(*start + *length - 1), r->path,
             (long long)r->rows);
    return VHEM_OK;
}

/* Joins the id fields with '/'; without an id, the row number. */
static char *row_name(const index_file *r)
{
    size_t n = 24;
    for (int i = 0; i < r->roles.n_id; i++)
        n += r->t.field[r->roles.id[i]].n + 1;
    char *name = vh_alloc(r->ctx, n, 1), *w = name;
    if (!name)
        return NULL;
    for (int i = 0; i < r->roles.n_id; i++) {
        const vh_field *f = &r->t.field[r->roles.id[i]];
        if (i > 0)
            *w++ = '/';
        memcpy(w, f->at, f->n);
        w += f->n;
    }
    if (r->roles.n_id == 0)
        snprintf(name, n, "%zu", r->n);
    return name;
}

static char *row_text(const index_file *r, int col)
{
    if (col < 0)
        return vh_strdup(r->ctx, "");
    return vh_strndup(r->ctx, r->t.field[col].at, r->t.field[col].n);
}

static vhem_status read_row(index_file *r)
{
    vhem_ctx *ctx = r->ctx;
    int64_t start, length;
    double weight;

    VH_TRY(read_range(r, &start, &length));
    VH_TRY(vh_roles_weight(ctx, &r->roles, &r->t, &weight));
    VH_TRY(vh_grow(ctx, &r->range, &r->cap_range, 2 * r->n + 2, sizeof *r->range));
    VH_TRY(vh_grow(ctx, &r->text, &r->cap_text, 3 * r->n + 3, sizeof *r->text));
    VH_TRY(vh_grow(ctx, &r->weight, &r->cap_weight, r->n + 1, sizeof *r->weight));
    char **text = r->text + 3 * r->n;
    text[0] = row_name(r);
    text[1] = row_text(r, r->roles.label);
    text[2] = row_text(r, r->roles.group);
    r->range[2 * r->n] = start;
    r->range[2 * r->n + 1] = length;
    r->weight[r->n] = weight;
    r->n++;
    r->in_order &= start == r->next;
    r->next = start + length;
    return text[0] && text[1] && text[2] ? VHEM_OK : VHEM_ENOMEM;
}

static vhem_status read_index_rows(index_file *r)
{
    vhem_ctx *ctx = r->ctx;
    bool more, keep;

    for (;;) {
        VH_TRY(vh_table_next(ctx, &r->t, &more));
        if (!more)
            break;
        VH_TRY(vh_roles_keep(ctx, &r->roles, &r->t, &keep));
        if (keep)
            VH_TRY(read_row(r));
    }
    if (r->n == 0)
        VH_TRY(vh_roles_none_kept(ctx, &r->roles, &r->t));
    return VHEM_OK;
}

/* Uses frames in place if the index covers the array from top to bottom; else copies them. */
static vhem_status cut_frames(index_file *r, const vhem_data_options *opt, int d, const char *format,
                              vh_array *a, vhem_data **out)
{
    vhem_ctx *ctx = r->ctx;
    VH_OWN(vh_builder) *b = NULL;
    VH_CLEANUP(vh_names_free) vh_names seen = { 0 };
    bool taken = r->in_order && r->next == r->rows, is_new, unique = true;

    VH_TRY(vh_builder_open(ctx, r->path, opt, d, &b));
    if (taken)
        vh_builder_take(b, &a->hold);
    for (size_t n = 0; n < r->n; n++) {
        char **text = r->text + 3 * n;
        int64_t index;
        if (!taken)
            VH_TRY(vh_builder_copy(b, &a->hold, r->range[2 * n], r->range[2 * n + 1]));
        VH_TRY(vh_builder_cut(b, r->range[2 * n + 1], text[0], text[1], text[2], r->weight[n]));
        VH_TRY(vh_names_put(ctx, &seen, text[0], strlen(text[0]), &index, &is_new));
        if (!is_new && unique)
            vh_log(ctx, VHEM_LOG_WARN, "%s: more than one sequence is named '%s'", r->t.path,
                   VH_SHOW(text[0], strlen(text[0])));
        unique &= is_new;
    }
    return vh_builder_finish(b, format, out);
}

vhem_status vh_index_build(vhem_ctx *ctx, const char *path, const char *format, const char *index,
                           const vhem_data_options *opt, vh_array *a, vhem_data **out)
{
    VH_CLEANUP(close_index) index_file r = { .ctx = ctx, .path = path, .in_order = true };
    int d;

    VH_TRY(vh_array_frames(ctx, path, "X", a, &d));
    r.rows = a->shape[0];
    VH_TRY(vh_table_open(ctx, index, 0, &r.t));
    VH_TRY(vh_table_header(ctx, &r.t));
    VH_TRY(vh_roles_find(ctx, &r.t, opt, true, &r.roles));
    VH_TRY(find_columns(&r));
    VH_TRY(read_index_rows(&r));
    vh_encoding_tell(ctx, index, &r.t.encoding);
    return cut_frames(&r, opt, d, format, a, out);
}
