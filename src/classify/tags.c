/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.c - reads the tags of items, in either form described in vhem.h. */
#include "classify/members.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/object.h"
#include "core/names.h"
#include "data/formats/table.h"
#include "data/values.h"
#include "vhem/classes.h"

#include <string.h>

typedef struct {
    int64_t item, tag;
} tag_pair;

typedef struct {
    vh_names items, tags;
    tag_pair *pairs;
    size_t n, cap;
} tag_rows;

static void reading_free(tag_rows *r)
{
    vh_names_free(&r->items);
    vh_names_free(&r->tags);
    free(r->pairs);
}

static vhem_status add_pair(vhem_ctx *ctx, tag_rows *r, int64_t item, int64_t tag)
{
    VH_TRY(vh_grow(ctx, &r->pairs, &r->cap, r->n + 1, sizeof *r->pairs));
    r->pairs[r->n++] = (tag_pair){ item, tag };
    return VHEM_OK;
}

static vhem_status put_item(vhem_ctx *ctx, const vh_table *t, tag_rows *r, int64_t *item, bool *is_new)
{
    VH_CHECK(t->field[0].n > 0, VHEM_EFORMAT, "%s: line %lld: there is no name in the first column", t->path,
             (long long)t->line);
    return vh_names_put(ctx, &r->items, t->field[0].at, t->field[0].n, item, is_new);
}

/* Reads a row: item, tag */
static vhem_status read_list_row(vhem_ctx *ctx, const vh_table *t, tag_rows *r)
{
    int64_t item, tag;
    bool is_new;

    VH_TRY(put_item(ctx, t, r, &item, &is_new));
    if (t->field[1].n == 0) /* an item without tags */
        return VHEM_OK;
    VH_TRY(vh_names_put(ctx, &r->tags, t->field[1].at, t->field[1].n, &tag, &is_new));
    return add_pair(ctx, r, item, tag);
}

/* Reads a row: item, 0, 1, 1, 0, ... */
static vhem_status read_table_row(vhem_ctx *ctx, const vh_table *t, tag_rows *r)
{
    int64_t item;
    bool is_new;

    VH_TRY(put_item(ctx, t, r, &item, &is_new));
    VH_CHECK(is_new, VHEM_EFORMAT, "%s: line %lld: '%s' has a line of its own already", t->path,
             (long long)t->line, VH_SHOW(t->field[0].at, t->field[0].n));
    for (int c = 1; c < t->n_columns; c++) {
        const vh_field *f = &t->field[c];
        bool one = vh_field_is(f, "1");
        VH_CHECK(one || vh_field_is(f, "0"), VHEM_EFORMAT,
                 "%s: line %lld, column '%.80s': '%s', must be 0 or 1", t->path, (long long)t->line,
                 t->column[c], VH_SHOW(f->at, f->n));
        if (one)
            VH_TRY(add_pair(ctx, r, item, c - 1));
    }
    return VHEM_OK;
}

static vhem_status read_tag_rows(vhem_ctx *ctx, vh_table *t, tag_rows *r)
{
    bool more, is_new;
    int64_t index;

    VH_TRY(vh_table_header(ctx, t));
    VH_CHECK(t->n_columns >= 2, VHEM_EFORMAT, "%s: there is one column, must be names and at least one tag",
             t->path);
    bool list = t->n_columns == 2 && strcmp(t->column[1], "tag") == 0;
    for (int c = 1; !list && c < t->n_columns; c++) {
        VH_CHECK(t->column[c][0], VHEM_EFORMAT, "%s: column %d has no name", t->path, c + 1);
        VH_TRY(vh_names_put(ctx, &r->tags, t->column[c], strlen(t->column[c]), &index, &is_new));
    }
    for (;;) {
        VH_TRY(vh_table_next(ctx, t, &more));
        if (!more)
            break;
        VH_TRY(list ? read_list_row(ctx, t, r) : read_table_row(ctx, t, r));
    }
    VH_CHECK(r->items.n > 0 && r->tags.n > 0, VHEM_EFORMAT, "%s: there are no tags", t->path);
    return VHEM_OK;
}

static vhem_status tags_from_rows(vhem_ctx *ctx, const tag_rows *r, vhem_tags **out)
{
    VH_OWN(vhem_tags) *tags = NULL;

    VH_NEW_OBJECT(tags, vh_tags_clear);
    VH_NEW(tags->item, r->items.n);
    tags->n = r->items.n;
    VH_NEW(tags->tag, r->tags.n);
    tags->C = (int)r->tags.n;
    VH_NEW(tags->has, vh_cells(tags->n, tags->C));
    for (int64_t i = 0; i < tags->n; i++)
        VH_DUP(tags->item[i], r->items.text[i]);
    for (int c = 0; c < tags->C; c++)
        VH_DUP(tags->tag[c], r->tags.text[c]);
    for (size_t k = 0; k < r->n; k++)
        tags->has[vh_ij(r->pairs[k].item, tags->C, r->pairs[k].tag)] = 1;
    *out = vh_take(tags);
    return VHEM_OK;
}

vhem_status vhem_tags_load(vhem_ctx *ctx, const char *path, vhem_tags **out)
{
    VH_ENTER(path, out);
    VH_CLEANUP(reading_free) tag_rows r = { 0 };
    VH_CLEANUP(vh_table_close) vh_table table = { 0 };

    VH_TRY(vh_table_open(ctx, path, 0, &table));
    VH_TRY(read_tag_rows(ctx, &table, &r));
    vh_encoding_tell(ctx, path, &table.encoding);
    return tags_from_rows(ctx, &r, out);
}
