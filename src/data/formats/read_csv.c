/* SPDX-License-Identifier: BSD-3-Clause */
/* read_csv.c - long CSV and TSV: one row per frame; id columns name its sequence, the other columns hold
 * numbers.
 *
 * 1. Columns: candidates for dimensions; text columns are dropped while reading.
 * 2. Sequences: id fields select a row's sequence; label, group and weight must agree within it.
 * 3. Rows: parsed into frames [rows][n_dim] in one pass; the text is not kept.
 * 4. Finish: checks columns, groups rows by sequence, joins names. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "data/data.h"
#include "data/formats/hints.h"
#include "core/names.h"
#include "data/formats/formats.h"
#include "data/formats/roles.h"
#include "data/formats/table.h"
#include "data/values.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct {
    bool unused;    /* has no other role */
    bool symbol;    /* its cells are symbols */
    vh_names names; /* of the symbols */
    vh_cell_counts seen;
    int64_t infinite_line; /* first infinite value, 0 for none */
} csv_column;

typedef struct {
    int64_t T, label_line, group_line, line;
    char *label, *group; /* NULL: not seen yet */
    double weight;
    int64_t start;
    bool apart; /* some of its rows are not on consecutive lines */
} csv_sequence;

typedef struct {
    vhem_ctx *ctx;
    const vhem_data_options *opt;
    vh_table t;
    const char *format; /* as in --format */
    vh_roles roles;
    vh_row_order order;
    csv_column *col; /* [n_columns] */
    int *dim, n_dim; /* columns still taken as dimensions, in order */
    vh_spill hold;   /* [rows][n_dim] */
    double *frame;   /* [n_dim] of the current row */
    int64_t *of;     /* [rows] sequence of each row */
    size_t cap_of, cap_seq, cap_key;
    int64_t rows;
    vh_names keys;     /* id fields joined by zero bytes, which text cannot hold */
    csv_sequence *seq; /* [n_seq], n_seq = keys.n */
    int n_seq;
    char *key;
    int64_t last;                       /* sequence of the previous row, -1 at first */
    bool any_text;                      /* some column was dropped as text */
    int64_t n_resumed;                  /* times a sequence resumes after rows of others */
    int64_t resumed_line, resumed_from; /* line of the first time, and where that sequence began */
    vh_text_columns *text;              /* NULL: text columns are left out */
    char **left_out;                    /* [n_left_out] names of the columns left out, owned by the table */
    int n_left_out;
} csv;

static void close_csv(csv *r)
{
    for (int n = 0; n < r->n_seq; n++) {
        free(r->seq[n].label);
        free(r->seq[n].group);
    }
    free(r->seq);
    vh_names_free(&r->keys);
    free(r->key);
    free(r->of);
    free(r->frame);
    free(r->left_out);
    vh_spill_free(&r->hold);
    free(r->dim);
    for (int k = 0; r->col && k < r->t.n_columns; k++)
        vh_names_free(&r->col[k].names);
    free(r->col);
    vh_roles_free(&r->roles);
    vh_row_order_free(&r->order);
    vh_table_close(&r->t);
}

/* ---- 1. columns ---- */

static vhem_status choose_columns(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    const vh_table *t = &r->t;

    VH_NEW(r->col, t->n_columns);
    for (int k = 0; k < t->n_columns; k++)
        r->col[k].unused = t->column[k][0] != '\0';
    const vh_roles *o = &r->roles;
    const int taken[] = { o->label, o->group, o->weight, o->where, o->order };
    for (int i = 0; i < 5; i++)
        if (taken[i] >= 0)
            r->col[taken[i]].unused = false;
    for (int i = 0; i < o->n_id; i++)
        r->col[o->id[i]].unused = false;
    if (r->opt->columns) {
        VH_TRY(vh_columns_pick(ctx, t->path, r->opt->columns, t->column, t->n_columns, &r->dim, &r->n_dim));
        VH_NEW(r->frame, r->n_dim);
    } else {
        VH_NEW(r->frame, t->n_columns);
        VH_NEW(r->dim, t->n_columns);
    }
    for (int k = 0; !r->opt->columns && k < t->n_columns; k++) {
        if (r->col[k].unused)
            r->dim[r->n_dim++] = k;
        if (t->column[k][0] == '\0')
            vh_log(ctx, VHEM_LOG_WARN, "%s: column %d has no name and is left out", t->path, k + 1);
    }
    for (int i = 0; i < r->n_dim; i++)
        r->col[r->dim[i]].symbol = vh_is_symbols(r->opt->symbols, t->column[r->dim[i]])
                                   || (r->text && r->text->symbol && r->text->symbol[r->dim[i]]);
    return VHEM_OK;
}

/* Removes dimensions that the current row showed to be text, from this and all previous rows. */
static vhem_status drop_text_columns(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    VH_AUTOFREE int *place = NULL;
    int n = 0;

    VH_NEW(place, r->n_dim);
    for (int k = 0; k < r->n_dim; k++)
        if (r->col[r->dim[k]].seen.n_text == 0)
            place[n++] = k;
    VH_TRY(vh_spill_pick(ctx, &r->hold, r->n_dim, place, n));
    for (int k = 0; k < n; k++) {
        r->dim[k] = r->dim[place[k]];
        r->frame[k] = r->frame[place[k]];
    }
    r->n_dim = n;
    return VHEM_OK;
}

/* ---- 2. sequences ---- */

/* Joins the id fields of the current record into one key. */
static vhem_status make_key(csv *r, size_t *size)
{
    vhem_ctx *ctx = r->ctx;
    size_t n = 0;

    for (int i = 0; i < r->roles.n_id; i++)
        n += r->t.field[r->roles.id[i]].n + 1;
    VH_TRY(vh_grow(ctx, &r->key, &r->cap_key, n, 1));
    *size = n - 1;
    n = 0;
    for (int i = 0; i < r->roles.n_id; i++) {
        const vh_field *f = &r->t.field[r->roles.id[i]];
        VH_CHECK(
            f->n > 0, VHEM_EFORMAT,
            "%s: line %lld: column '%.80s' is empty; every row must name its sequence (unmerge cells, use a "
            "single header row)",
            r->t.path, (long long)r->t.line, r->t.column[r->roles.id[i]]);
        memcpy(r->key + n, f->at, f->n);
        n += f->n;
        r->key[n++] = '\0';
    }
    return VHEM_OK;
}

/* Checks a text that must be the same in all rows of a sequence; empty fields are ignored. */
static vhem_status agree(csv *r, int col, const csv_sequence *s, char **text, int64_t *line)
{
    if (col < 0 || r->t.field[col].n == 0)
        return VHEM_OK;
    const vh_field *f = &r->t.field[col];
    if (!*text) {
        *text = vh_strndup(r->ctx, f->at, f->n);
        *line = r->t.line;
        return *text ? VHEM_OK : VHEM_ENOMEM;
    }
    if (vh_field_is(f, *text))
        return VHEM_OK;
    return vh_fail(r->ctx, VHEM_EFORMAT,
                   "%s: line %lld: column '%.80s' is '%s', but '%s' in line %lld of the same "
                   "sequence, which begins in line %lld",
                   r->t.path, (long long)r->t.line, r->t.column[col], VH_SHOW(f->at, f->n),
                   VH_SHOW(*text, strlen(*text)), (long long)*line, (long long)s->line);
}

/* Finds or creates the sequence of the current record and adds the row to it. */
static vhem_status find_sequence(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    size_t size;
    int64_t n = r->last;
    double weight;
    bool is_new = false;

    VH_TRY(make_key(r, &size));
    VH_TRY(vh_roles_weight(ctx, &r->roles, &r->t, &weight));
    if (n < 0 || r->keys.size[n] != size || memcmp(r->keys.text[n], r->key, size) != 0)
        VH_TRY(vh_names_put(ctx, &r->keys, r->key, size, &n, &is_new));
    if (is_new) {
        VH_TRY(vh_grow(ctx, &r->seq, &r->cap_seq, (size_t)r->n_seq + 1, sizeof *r->seq));
        r->seq[r->n_seq++] = (csv_sequence){ .line = r->t.line, .weight = weight };
    }
    csv_sequence *s = &r->seq[n];
    VH_TRY(agree(r, r->roles.label, s, &s->label, &s->label_line));
    VH_TRY(agree(r, r->roles.group, s, &s->group, &s->group_line));
    VH_CHECK(weight == s->weight, VHEM_EFORMAT,
             "%s: line %lld: the weight is %g, but %g in line %lld of the same sequence", r->t.path,
             (long long)r->t.line, weight, s->weight, (long long)s->line);
    if (!is_new && n != r->last && r->n_resumed++ == 0) {
        r->resumed_line = r->t.line;
        r->resumed_from = s->line;
    }
    s->apart |= r->t.line != s->line + s->T;
    r->last = n;
    s->T++;
    return VHEM_OK;
}

/* ---- 3. rows ---- */

static vhem_status refuse_text(const csv *r, int col)
{
    return vh_refuse_text(r->ctx, &r->col[col].seen, NULL, r->t.column[col], !r->opt->columns);
}

/* Handles a value that is not a plain number: missing, infinite or text. */
static vhem_status odd_value(csv *r, int col, vh_value kind, bool *text)
{
    csv_column *c = &r->col[col];
    if (kind == VH_INFINITE && c->infinite_line == 0)
        c->infinite_line = r->t.line;
    if (kind != VH_TEXT)
        return VHEM_OK;
    vh_count_text(&c->seen, &r->t, &r->t.field[col]);
    *text = true;
    return r->opt->columns && !r->text ? refuse_text(r, col) : VHEM_OK;
}

static vhem_status read_row(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    size_t n_dim = (size_t)r->n_dim, before = (size_t)r->rows;
    bool text = false, ignored;

    VH_TRY(find_sequence(r));
    if (before == r->cap_of)
        VH_TRY(vh_grow(ctx, &r->of, &r->cap_of, before + 1, sizeof *r->of));
    r->of[before] = r->last;
    VH_TRY(vh_row_order_put(ctx, &r->order, &r->t, r->rows, r->last));
    double *y = r->frame;
    for (size_t k = 0; k < n_dim; k++) {
        const vh_field *f = &r->t.field[r->dim[k]];
        csv_column *c = &r->col[r->dim[k]];
        if (c->symbol) {
            VH_TRY(vh_symbol_code(ctx, &c->names, f, r->opt->missing, &y[k]));
            c->seen.n_number += c->names.n > 0;
            continue;
        }
        vh_value kind = vh_cell_parse(f->at, f->n, r->opt->missing, &y[k]);
        if (kind == VH_NUMBER)
            vh_count_number(&c->seen, r->text ? f : NULL);
        else
            VH_TRY(odd_value(r, r->dim[k], kind, &text));
    }
    /* Keep counting in text columns: text among numbers is an error, not a text column. */
    for (int k = 0; r->any_text && k < r->t.n_columns; k++) {
        csv_column *c = &r->col[k];
        double v;
        if (c->seen.n_text == 0 || c->seen.line == r->t.line)
            continue;
        vh_value kind = vh_cell_parse(r->t.field[k].at, r->t.field[k].n, r->opt->missing, &v);
        if (kind == VH_NUMBER)
            vh_count_number(&c->seen, r->text ? &r->t.field[k] : NULL);
        VH_TRY(odd_value(r, k, kind, &ignored));
    }
    if (text)
        VH_TRY(drop_text_columns(r));
    VH_TRY(vh_spill_put(ctx, &r->hold, r->frame, r->n_dim));
    r->any_text |= text;
    r->rows++;
    return VHEM_OK;
}

static vhem_status read_csv_rows(csv *r)
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
        if (r->t.line % 65536 == 0) {
            if (r->t.size > 0)
                vh_progress(ctx, "reading", r->t.before + (r->t.p - r->t.text), r->t.size);
            VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "%s: stopped while reading", r->t.path);
        }
    }
    if (r->rows == 0)
        VH_TRY(vh_roles_none_kept(ctx, &r->roles, &r->t));
    return VHEM_OK;
}

/* ---- 4. finish ---- */

/* Decides on each text column: symbols to be read in a second pass; an error if mixed with numbers or
 * requested by --columns; else left out.  *text: index of one that is left out. */
static vhem_status judge_text(csv *r, int *text)
{
    vhem_ctx *ctx = r->ctx;
    bool find = r->text && (r->n_dim == 0 || !vh_finds_symbols_alone(r->opt->symbols));

    for (int k = 0; k < r->t.n_columns; k++) {
        const vh_cell_counts *c = &r->col[k].seen;
        if (c->n_text == 0)
            continue;
        if (!find || !vh_are_symbols(c)) {
            if (c->n_text < c->n_number || r->opt->columns)
                VH_TRY(refuse_text(r, k));
            *text = k;
            continue;
        }
        if (!r->text->symbol)
            VH_NEW(r->text->symbol, r->t.n_columns);
        r->text->symbol[k] = r->text->again = true;
    }
    return VHEM_OK;
}

/* Warns of text columns left out beside the dimensions. */
static vhem_status tell_left_out(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    const vh_table *t = &r->t;
    char list[512];

    VH_NEW(r->left_out, t->n_columns);
    for (int k = 0; r->n_dim > 0 && k < t->n_columns; k++) {
        const vh_cell_counts *c = &r->col[k].seen;
        if (c->n_text == 0)
            continue;
        const char *hint = vh_number_hint(c->example);
        if (hint)
            vh_log(ctx, VHEM_LOG_WARN, "%s: column '%.80s' is left out, it has '%s' in line %lld%s", t->path,
                   t->column[k], c->example, (long long)c->line, hint);
        else
            r->left_out[r->n_left_out++] = t->column[k];
        vh_log(ctx, VHEM_LOG_INFO, "%s: column '%.80s' is text ('%s' in line %lld) and is left out", t->path,
               t->column[k], c->example, (long long)c->line);
    }
    vh_show_list(r->left_out, r->n_left_out, ", ", list, sizeof list);
    bool groups = false;
    for (int k = 0; k < r->n_left_out; k++)
        groups |= strcasecmp(r->left_out[k], "group") == 0;
    if (r->n_left_out > groups) /* a set that was saved with groups has this column alone */
        vh_log(ctx, VHEM_LOG_WARN, "%s: text column%s left out: %s%s", t->path, r->n_left_out == 1 ? "" : "s",
               list, groups ? "; " VH_OPT("group") " names the column with the group" : "");
    return VHEM_OK;
}

static vhem_status judge_columns(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    const vh_table *t = &r->t;
    int text = -1;

    VH_TRY(judge_text(r, &text));
    if (r->text && r->text->again)
        return VHEM_OK;
    VH_TRY(tell_left_out(r));
    const vh_cell_counts *lost = text >= 0 ? &r->col[text].seen : NULL;
    const char *hint = lost ? vh_number_hint(lost->example) : NULL;
    VH_CHECK(r->n_dim > 0 || !lost, VHEM_EFORMAT,
             "%s: no column holds numbers: column '%.80s' has '%s' in line %lld%s", t->path, t->column[text],
             lost->example, (long long)lost->line,
             hint ? hint : "; are they symbols? " VH_OPT("emission=categorical") " takes them");
    VH_CHECK(r->n_dim > 0, VHEM_EFORMAT,
             "%s: every column has another role; none is left for the measurements", t->path);
    for (int k = 0; k < r->n_dim; k++) {
        const csv_column *c = &r->col[r->dim[k]];
        const char *name = t->column[r->dim[k]];
        VH_CHECK(c->infinite_line == 0, VHEM_EFORMAT,
                 "%s: line %lld, column '%.80s': found an infinite value, expected a finite one", t->path,
                 (long long)c->infinite_line, name);
        if (c->seen.n_number == 0)
            vh_log(ctx, VHEM_LOG_WARN, "%s: column '%.80s' is a dimension but has no values", t->path, name);
        if (!r->opt->columns && (strcasecmp(name, "weight") == 0 || strcasecmp(name, "group") == 0))
            vh_log(ctx, VHEM_LOG_WARN,
                   "%s: column '%.80s' is taken as a dimension; use " VH_OPT("%s=%s") " if it describes the "
                                                                                      "sequence",
                   t->path, name, strcasecmp(name, "group") ? "weight" : "group", name);
    }
    return VHEM_OK;
}

/* Interleaved rows are in time order.  But a sequence that resumes after long runs of others may be two with
 * one name: two recordings, or trials that --id does not distinguish. */
static void warn_of_pieces(const csv *r)
{
    enum { RUN = 3 }; /* average rows per run */
    if (r->n_resumed > 0 && r->roles.order < 0 && r->rows >= RUN * (r->n_seq + r->n_resumed))
        vh_log(r->ctx, VHEM_LOG_WARN,
               "%s: line %lld: the sequence of line %lld resumes here after rows of other sequences; if "
               "these are two sequences, tell them apart: " VH_OPT("id") " takes several columns",
               r->t.path, (long long)r->resumed_line, (long long)r->resumed_from);
}

/* Groups rows by sequence, sorted by --order if given; sequences in order of first appearance. */
static vhem_status gather_sequences(csv *r)
{
    vhem_ctx *ctx = r->ctx;
    int64_t start = 0;
    VH_AUTOFREE int64_t *next = NULL, *row = NULL;
    VH_CLEANUP(vh_spill_free) vh_spill hold = { .name = r->hold.name, .limit = r->hold.limit };
    const double *y;

    for (int n = 0; n < r->n_seq; n++) {
        r->seq[n].start = start;
        start += r->seq[n].T;
    }
    if (r->n_resumed == 0 && r->roles.order < 0)
        return VHEM_OK;
    warn_of_pieces(r);
    VH_NEW(next, r->n_seq);
    VH_NEW(row, r->rows);
    for (int n = 0; n < r->n_seq; n++)
        next[n] = r->seq[n].start;
    for (int64_t i = 0; i < r->rows; i++)
        row[next[r->of[i]]++] = i;
    for (int n = 0; n < r->n_seq; n++)
        VH_TRY(vh_row_order_sort(ctx, &r->order, &r->t, row + r->seq[n].start, r->seq[n].T));
    VH_TRY(vh_spill_values(ctx, &r->hold, &y));
    for (int64_t i = 0; i < r->rows; i++) {
        VH_TRY(vh_spill_put(ctx, &hold, y + row[i] * r->n_dim, r->n_dim));
        if (i % 1024 == 0) /* access is scattered: release everything */
            vh_spill_release(&r->hold, y, r->hold.n);
    }
    vh_spill_free(&r->hold);
    r->hold = hold;
    hold = (vh_spill){ 0 };
    return VHEM_OK;
}

/* Separator for joined names: a byte that no id field contains, so that names stay distinct. */
static char find_separator(const csv *r)
{
    for (const char *sep = "/|:+;,\x1f"; *sep; sep++) {
        bool found = false;
        for (int n = 0; n < r->n_seq && !found; n++)
            found = memchr(r->keys.text[n], *sep, r->keys.size[n]) != NULL;
        if (!found)
            return *sep;
    }
    return 0;
}

/* Records the columns left out, and the id columns so that tables can split names again. */
static vhem_status keep_names(const csv *r, char separator, vhem_data *data)
{
    vhem_ctx *ctx = r->ctx;

    if (r->n_left_out > 0)
        VH_NEW(data->text_column, r->n_left_out);
    for (; data->n_text < r->n_left_out; data->n_text++)
        VH_DUP(data->text_column[data->n_text], r->left_out[data->n_text]);
    if (r->roles.n_id < 2)
        return VHEM_OK;
    VH_NEW(data->id_column, r->roles.n_id);
    for (; data->n_id < r->roles.n_id; data->n_id++)
        VH_DUP(data->id_column[data->n_id], r->t.column[r->roles.id[data->n_id]]);
    data->id_separator = separator;
    return VHEM_OK;
}

static vhem_status build(csv *r, vhem_data **out)
{
    vhem_ctx *ctx = r->ctx;
    VH_OWN(vh_builder) *b = NULL;
    VH_AUTOFREE const char **names = NULL;
    VH_OWN(vhem_data) *data = NULL;
    char sep = r->roles.n_id > 1 ? find_separator(r) : '/';

    VH_CHECK(sep, VHEM_EFORMAT,
             "%s: the id columns contain all of / | : + ; and comma, so that none is left to join "
             "them with; use one id column",
             r->t.path);
    VH_TRY(vh_builder_open(ctx, r->t.path, r->opt, r->n_dim, &b));
    VH_NEW(names, r->n_dim);
    for (int k = 0; k < r->n_dim; k++)
        names[k] = r->t.column[r->dim[k]];
    VH_TRY(vh_builder_columns(b, names));
    for (int k = 0; k < r->n_dim; k++)
        if (r->col[r->dim[k]].symbol)
            VH_TRY(vh_symbols_hand_over(&r->col[r->dim[k]].names, b, k));
    vh_builder_take(b, &r->hold);
    for (int n = 0; n < r->n_seq; n++) {
        const csv_sequence *s = &r->seq[n];
        for (size_t i = 0; i < r->keys.size[n]; i++)
            if (r->keys.text[n][i] == '\0')
                r->keys.text[n][i] = sep;
        VH_TRY(vh_builder_cut(b, s->T, r->keys.text[n], s->label, s->group, s->weight));
        VH_TRY(vh_builder_at(b, NULL, s->apart || r->roles.order >= 0 ? 0 : s->line));
    }
    VH_TRY(vh_builder_finish(b, r->format, &data));
    VH_TRY(keep_names(r, sep, data));
    *out = vh_take(data);
    return VHEM_OK;
}

vhem_status vh_read_rows(vhem_ctx *ctx, const vh_table *table, const char *format,
                         const vhem_data_options *opt, vh_text_columns *text, vhem_data **out)
{
    VH_CLEANUP(close_csv)
    csv r = { .ctx = ctx, .opt = opt, .t = *table, .format = format, .last = -1, .text = text };

    r.hold = (vh_spill){ .name = r.t.path, .limit = opt->memory };
    vh_encoding_tell(ctx, r.t.path, &r.t.encoding); /* decided at the first non-ASCII character */
    VH_TRY(vh_table_header(ctx, &r.t));
    VH_TRY(vh_roles_find(ctx, &r.t, opt, false, &r.roles));
    vh_row_order_init(&r.t, r.roles.order, &r.order);
    VH_TRY(choose_columns(&r));
    VH_TRY(read_csv_rows(&r));
    if (table->encoding.is == VH_ASCII)
        vh_encoding_tell(ctx, r.t.path, &r.t.encoding);
    ctx->hushed = false; /* the first reading stopped before this point */
    if (text)
        text->again = false;
    VH_TRY(judge_columns(&r));
    if (text && text->again)
        return VHEM_OK;
    VH_TRY(gather_sequences(&r));
    vh_row_order_judge(ctx, &r.order, &r.t);
    return build(&r, out);
}

/* Reads the file, and silently a second time if text columns proved to be symbols; text NULL: once. */
static vhem_status read_again(vhem_ctx *ctx, const char *path, char delim, const vhem_data_options *opt,
                              vh_text_columns *text, vhem_data **out)
{
    vh_table t;

    do {
        ctx->hushed = text && text->again;
        VH_TRY(vh_table_open(ctx, path, delim, &t));
        VH_TRY(vh_read_rows(ctx, &t, t.delim == '\t' ? "tsv" : "csv", opt, text, out));
    } while (text && text->again);
    return VHEM_OK;
}

static vhem_status read_csv_text(vhem_ctx *ctx, const char *path, char delim, const vhem_data_options *opt,
                                 vhem_data **out)
{
    VH_CLEANUP(vh_text_columns_free) vh_text_columns text = { 0 };
    bool find = vh_finds_symbols(opt->symbols) && !vh_is_stream(path);
    vhem_status st = read_again(ctx, path, delim, opt, find ? &text : NULL, out);
    ctx->hushed = false;
    return st;
}

vhem_status vh_read_csv(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    return read_csv_text(ctx, path, 0, opt, out);
}

vhem_status vh_read_tsv(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    return read_csv_text(ctx, path, '\t', opt, out);
}
