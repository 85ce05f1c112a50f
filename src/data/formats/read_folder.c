/* SPDX-License-Identifier: BSD-3-Clause */
/* read_folder.c - a directory of CSV files, one sequence each, named after the file without its extension and
 * labelled with the subfolder.  A first row that is not all numbers is a header; all files have the same
 * columns. */
#include "core/alloc.h"
#include "core/text.h"
#include "core/atomic_file.h"
#include "data/data.h"
#include "data/formats/hints.h"
#include "core/names.h"
#include "data/formats/formats.h"
#include "data/formats/roles.h"
#include "data/values.h"
#include "os/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    char *path, *name, *label; /* label: "" for files outside subfolders */
    char *key;                 /* label/name: the sort key */
} folder_entry;

typedef struct {
    folder_entry *e;
    size_t n, cap;
    char *other; /* first by name of the files that are not tables, or NULL */
} listing;

static void free_listing(listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->e[i].path);
        free(l->e[i].name);
        free(l->e[i].label);
        free(l->e[i].key);
    }
    free(l->e);
    free(l->other);
}

static char *join_path(vhem_ctx *ctx, const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 2;
    char *out = vh_alloc(ctx, n, 1);
    if (out)
        snprintf(out, n, "%s%s%s", a, *a ? "/" : "", b);
    return out;
}

static vhem_status add_file(vhem_ctx *ctx, listing *l, const char *path, const char *label)
{
    char stem[1024];

    VH_TRY(vh_grow(ctx, &l->e, &l->cap, l->n + 1, sizeof *l->e));
    folder_entry *e = &l->e[l->n++];
    *e = (folder_entry){ 0 };
    vh_stem(path, stem, sizeof stem);
    VH_DUP(e->path, path);
    VH_DUP(e->name, stem);
    VH_DUP(e->label, label);
    e->key = join_path(ctx, label, stem);
    return e->key ? VHEM_OK : VHEM_ENOMEM;
}

static bool is_table(const char *name)
{
    return vh_ends_with(name, ".csv") || vh_ends_with(name, ".tsv") || vh_ends_with(name, ".txt");
}

static vhem_status keep_other(vhem_ctx *ctx, listing *l, const char *path)
{
    if (l->other && strcmp(l->other, path) <= 0)
        return VHEM_OK;
    free(l->other);
    VH_DUP(l->other, path);
    return VHEM_OK;
}

static void close_folder(vh_folder *const *dir)
{
    vh_folder_close(*dir);
}

/* Lists the tables of a folder; with label NULL also those of its subfolders, labelled with their names. */
static vhem_status list_folder(vhem_ctx *ctx, const char *folder, const char *label, listing *l)
{
    VH_AUTOFREE char *path = NULL;
    const char *name;
    vh_entry there;
    VH_CLEANUP(close_folder) vh_folder *dir = vh_folder_open(folder);

    VH_CHECK(dir, VHEM_EIO, "%s: cannot read: %s", folder, strerror(errno));
    while ((name = vh_folder_next(dir))) {
        if (name[0] == '.')
            continue;
        free(path);
        path = join_path(ctx, folder, name);
        VH_CHECK(path, VHEM_ENOMEM, "out of memory");
        VH_CHECK(vh_path_look(path, &there), VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
        if (there.kind == VH_IS_FOLDER && !label)
            VH_TRY(list_folder(ctx, path, name, l));
        else if (there.kind == VH_IS_FOLDER)
            vh_log(ctx, VHEM_LOG_WARN, "%s: a folder inside a subfolder is left out", path);
        else if (there.kind == VH_IS_FILE && is_table(name))
            VH_TRY(add_file(ctx, l, path, label ? label : ""));
        else if (there.kind == VH_IS_FILE)
            VH_TRY(keep_other(ctx, l, path));
    }
    return VHEM_OK;
}

static int by_key(const void *a, const void *b)
{
    const folder_entry *x = a, *y = b;
    int c = strcmp(x->key, y->key);
    return c ? c : strcmp(x->path, y->path);
}

/* Names must be unique: if files in different subfolders share a name, all sequences are named by key. */
static vhem_status settle_names(vhem_ctx *ctx, listing *l)
{
    VH_CLEANUP(vh_names_free) vh_names seen = { 0 };
    bool is_new = true;
    int64_t index;

    for (size_t i = 0; i < l->n && is_new; i++)
        VH_TRY(vh_names_put(ctx, &seen, l->e[i].name, strlen(l->e[i].name), &index, &is_new));
    for (size_t i = 0; i < l->n && !is_new; i++) {
        free(l->e[i].name);
        l->e[i].name = NULL;
        VH_DUP(l->e[i].name, l->e[i].key);
    }
    return VHEM_OK;
}

typedef struct {
    const char *first; /* path of the first file, which defines the columns */
    char **column;     /* [n_columns]; NULL without a header */
    int n_columns;
    int *pick, d;         /* columns used as dimensions */
    double *frame;        /* [d] */
    vh_cell_counts *seen; /* [d] */
    bool *symbol;         /* [d]  cells are symbols */
    vh_names *names;      /* [d]  the symbols */
    const char *missing;  /* words for missing values, from the options */
    vh_builder *b;
    vh_text_columns *text; /* NULL: text is an error */
    vh_encoding encoding;  /* Windows-1252 once any file used it */
} layout;

static void free_layout(layout *lay)
{
    vh_builder_free(lay->b);
    vh_list_free(lay->column, lay->n_columns);
    for (int k = 0; lay->names && k < lay->d; k++)
        vh_names_free(&lay->names[k]);
    free(lay->names);
    free(lay->seen);
    free(lay->symbol);
    free(lay->pick);
    free(lay->frame);
}

/* Sets the layout from the first record of the first file. */
static vhem_status set_layout(vhem_ctx *ctx, const vh_table *t, const char *path,
                              const vhem_data_options *opt, layout *lay)
{
    VH_CLEANUP(vh_texts_free) vh_texts name = { .n = (int64_t)t->n_fields };
    VH_AUTOFREE const char **chosen = NULL;
    bool header = t->n_columns > 0;

    lay->first = path;
    lay->n_columns = (int)t->n_fields;
    VH_NEW(name.text, lay->n_columns);
    for (int k = 0; k < lay->n_columns; k++) {
        char made_up[16];
        snprintf(made_up, sizeof made_up, "y%d", k);
        VH_DUP(name.text[k], header ? t->column[k] : made_up);
    }
    if (opt->columns) {
        VH_TRY(vh_columns_pick(ctx, path, opt->columns, name.text, lay->n_columns, &lay->pick, &lay->d));
    } else {
        VH_NEW(lay->pick, lay->n_columns);
        for (int k = 0; k < lay->n_columns; k++)
            lay->pick[lay->d++] = k;
    }
    VH_NEW(lay->frame, lay->d);
    VH_NEW(lay->seen, lay->d);
    VH_NEW(lay->symbol, lay->d);
    VH_NEW(lay->names, lay->d);
    VH_NEW(chosen, lay->d);
    for (int k = 0; k < lay->d; k++) {
        chosen[k] = name.text[lay->pick[k]];
        lay->symbol[k] = vh_is_symbols(opt->symbols, chosen[k])
                         || (lay->text && lay->text->symbol && lay->text->symbol[lay->pick[k]]);
    }
    VH_TRY(vh_builder_open(ctx, path, opt, lay->d, &lay->b));
    VH_TRY(vh_builder_columns(lay->b, chosen));
    if (header)
        lay->column = vh_take(name.text);
    return VHEM_OK;
}

static vhem_status same_layout(vhem_ctx *ctx, const vh_table *t, const layout *lay)
{
    bool header = t->n_columns > 0;

    VH_CHECK((int)t->n_fields == lay->n_columns, VHEM_EFORMAT,
             "%s: line %lld has %zu fields, expected %d as in %s", t->path, (long long)t->line, t->n_fields,
             lay->n_columns, lay->first);
    VH_CHECK(header == (lay->column != NULL), VHEM_EFORMAT, "%s: the file has %s, but %s has %s", t->path,
             header ? "a header" : "no header", lay->first, header ? "none" : "one");
    for (int k = 0; header && k < lay->n_columns; k++)
        VH_CHECK(strcmp(t->column[k], lay->column[k]) == 0, VHEM_EFORMAT,
                 "%s: column %d is named '%s', expected '%s' as in %s", t->path, k + 1,
                 VH_SHOW(t->column[k], strlen(t->column[k])), lay->column[k], lay->first);
    return VHEM_OK;
}

enum { COLUMN_TOLD = 120 };

/* Formats "column 'x'", or "field 2" without a header. */
static const char *column_told(const layout *lay, int k, char told[COLUMN_TOLD])
{
    if (lay->column)
        snprintf(told, COLUMN_TOLD, "column '%s'", VH_SHOW(lay->column[k], strlen(lay->column[k])));
    else
        snprintf(told, COLUMN_TOLD, "field %d", k + 1);
    return told;
}

static vhem_status refuse_text(vhem_ctx *ctx, const layout *lay, int k)
{
    char told[COLUMN_TOLD], made_up[16];
    int at = lay->pick[k];
    snprintf(made_up, sizeof made_up, "y%d", at);
    return vh_refuse_text(ctx, &lay->seen[k], lay->column ? NULL : column_told(lay, at, told),
                          lay->column ? lay->column[at] : made_up, lay->n_columns > 1);
}

static vhem_status read_frame(vhem_ctx *ctx, const vh_table *t, layout *lay)
{
    VH_CHECK((int)t->n_fields == lay->n_columns, VHEM_EFORMAT, "%s: line %lld has %zu fields, expected %d",
             t->path, (long long)t->line, t->n_fields, lay->n_columns);
    for (int k = 0; k < lay->d; k++) {
        const vh_field *f = &t->field[lay->pick[k]];
        if (lay->symbol[k]) {
            VH_TRY(vh_symbol_code(ctx, &lay->names[k], f, lay->missing, &lay->frame[k]));
            continue;
        }
        vh_value kind = vh_cell_parse(f->at, f->n, lay->missing, &lay->frame[k]);
        VH_CHECK(kind != VH_INFINITE, VHEM_EFORMAT,
                 "%s: line %lld, %s: found an infinite value '%s', expected a finite number", t->path,
                 (long long)t->line, column_told(lay, lay->pick[k], (char[COLUMN_TOLD]){ 0 }),
                 VH_SHOW(f->at, f->n));
        if (kind == VH_NUMBER)
            vh_count_number(&lay->seen[k], lay->text ? f : NULL);
        if (kind == VH_TEXT)
            vh_count_text(&lay->seen[k], t, f);
        if (kind == VH_TEXT && !lay->text)
            VH_TRY(refuse_text(ctx, lay, k));
    }
    return vh_builder_frame(lay->b, lay->frame);
}

static vhem_status read_one(vhem_ctx *ctx, const folder_entry *e, const vhem_data_options *opt, layout *lay)
{
    VH_CLEANUP(vh_table_close) vh_table t = { 0 };
    bool more, apart = false;

    VH_TRY(vh_table_open(ctx, e->path, 0, &t));
    VH_TRY(vh_table_next(ctx, &t, &more));
    if (!vh_table_all_numbers(&t, opt->missing))
        VH_TRY(vh_table_name_columns(ctx, &t));
    if (!lay->b)
        VH_TRY(set_layout(ctx, &t, e->path, opt, lay));
    VH_TRY(vh_builder_source(lay->b, e->path));
    VH_TRY(same_layout(ctx, &t, lay));
    if (t.n_columns > 0)
        VH_TRY(vh_table_next(ctx, &t, &more));
    int64_t first = t.line;
    for (int64_t n = 0; more; n++) {
        apart |= t.line != first + n;
        VH_TRY(read_frame(ctx, &t, lay));
        VH_TRY(vh_table_next(ctx, &t, &more));
    }
    VH_TRY(vh_builder_end(lay->b, e->name, e->label, NULL, 1));
    VH_TRY(vh_builder_at(lay->b, e->path, apart ? 0 : first));
    if (lay->encoding.is != VH_WINDOWS_1252) /* warn only about the first such file */
        vh_encoding_tell(ctx, e->path, &t.encoding);
    lay->encoding = t.encoding.is == VH_WINDOWS_1252 ? t.encoding : lay->encoding;
    return VHEM_OK;
}

/* Reports another kind of file in the folder, with the advice given for such a file. */
static vhem_status no_tables(vhem_ctx *ctx, const char *folder, const char *other)
{
    const vh_reader *reader;
    if (other)
        VH_TRY(vh_reader_find(ctx, other, NULL, &reader));
    return vh_fail(ctx, VHEM_EFORMAT, "%s: the folder has no .csv, .tsv or .txt file%s%s", folder,
                   other ? "; it has others, such as " : "", other ? other : "");
}

/* Decides on text columns: symbols in the next reading, or an error if mixed with numbers or, with `alone`,
 * beside numeric columns. */
static vhem_status judge_text(vhem_ctx *ctx, const layout *lay, bool alone)
{
    int n = 0;

    for (int k = 0; k < lay->d; k++)
        n += lay->symbol[k] || lay->seen[k].n_text > 0;
    for (int k = 0; lay->text && k < lay->d; k++) {
        if (lay->seen[k].n_text == 0)
            continue;
        if (!vh_are_symbols(&lay->seen[k]) || (alone && n < lay->d))
            VH_TRY(refuse_text(ctx, lay, k));
        if (!lay->text->symbol)
            VH_NEW(lay->text->symbol, lay->n_columns);
        lay->text->symbol[lay->pick[k]] = lay->text->again = true;
    }
    return VHEM_OK;
}

/* Reads all files of the list; returns no data if text columns were found to be symbols. */
static vhem_status read_all(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, const listing *l,
                            vh_text_columns *text, vhem_data **out)
{
    VH_CLEANUP(free_layout) layout lay = { .missing = opt->missing, .text = text };
    VH_OWN(vhem_data) *data = NULL;

    for (size_t i = 0; i < l->n; i++)
        VH_TRY(read_one(ctx, &l->e[i], opt, &lay));
    ctx->hushed = false; /* the first reading stopped before this point */
    VH_TRY(judge_text(ctx, &lay, vh_finds_symbols_alone(opt->symbols)));
    if (text && text->again)
        return VHEM_OK;
    for (int k = 0; k < lay.d; k++)
        if (lay.symbol[k])
            VH_TRY(vh_symbols_hand_over(&lay.names[k], lay.b, k));
    VH_TRY(vh_builder_finish(lay.b, "dir", &data));
    if (opt->where)
        VH_TRY(vh_data_keep_where(ctx, path, opt->where, data));
    *out = vh_take(data);
    return VHEM_OK;
}

/* Reads all files, and silently a second time if text columns proved to be symbols. */
static vhem_status read_again(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, const listing *l,
                              vh_text_columns *text, vhem_data **out)
{
    do {
        ctx->hushed = text->again;
        text->again = false;
        VH_TRY(read_all(ctx, path, opt, l, vh_finds_symbols(opt->symbols) ? text : NULL, out));
    } while (text->again);
    return VHEM_OK;
}

vhem_status vh_read_dir(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(free_listing) listing l = { 0 };
    VH_CLEANUP(vh_text_columns_free) vh_text_columns text = { 0 };

    VH_TRY(vh_no_columns(ctx, path, "a directory with one file per sequence", opt));
    VH_TRY(list_folder(ctx, path, NULL, &l));
    if (l.n == 0)
        return no_tables(ctx, path, l.other);
    qsort(l.e, l.n, sizeof *l.e, by_key);
    VH_TRY(settle_names(ctx, &l));
    vhem_status st = read_again(ctx, path, opt, &l, &text, out);
    ctx->hushed = false;
    return st;
}
