/* table.c - see table.h.  Fields point into the text that was read, so a record costs no memory. */
#include "data/table.h"

#include "core/alloc.h"
#include "core/file.h"
#include "data/names.h"
#include "data/values.h"

#include <string.h>
#include <strings.h>

/* Steps over one line end, if there is one. */
static bool eat_newline(vh_table *t)
{
    if (t->p < t->end && *t->p == '\r') {
        t->p += t->p + 1 < t->end && t->p[1] == '\n' ? 2 : 1;
    } else if (t->p < t->end && *t->p == '\n') {
        t->p++;
    } else {
        return false;
    }
    t->next_line++;
    return true;
}

/* The delimiter that the first record has most of outside quotes; comma when it has none. */
static char find_delimiter(const vh_table *t)
{
    int n_comma = 0, n_tab = 0, n_semicolon = 0;
    bool quoted = false;
    for (const char *p = t->p; p < t->end && (quoted || (*p != '\n' && *p != '\r')); p++) {
        quoted ^= *p == '"';
        n_comma += !quoted && *p == ',';
        n_tab += !quoted && *p == '\t';
        n_semicolon += !quoted && *p == ';';
    }
    if (n_tab > n_comma && n_tab >= n_semicolon)
        return '\t';
    return n_semicolon > n_comma ? ';' : ',';
}

static void skip_comments(vh_table *t)
{
    for (;;) {
        if (eat_newline(t))
            continue;
        if (t->p == t->end || *t->p != '#')
            return;
        while (t->p < t->end && *t->p != '\n' && *t->p != '\r')
            t->p++;
    }
}

vhem_status vh_table_open(vhem_ctx *ctx, const char *path, char delim, vh_table *t)
{
    vhem_status st = VHEM_OK;
    size_t size;

    *t = (vh_table){ .path = strcmp(path, "-") == 0 ? "standard input" : path, .next_line = 1 };
    VH_TRY(vh_read_all(ctx, path, &t->text, &size));
    t->p = t->text;
    t->end = t->text + size;
    const char *zero = memchr(t->text, 0, size);
    VH_CHECK(!zero, VHEM_EFORMAT, "%s: a zero byte at offset %lld: this is not a text file", t->path,
             (long long)(zero - t->text));
    if (size >= 3 && memcmp(t->p, "\xEF\xBB\xBF", 3) == 0)
        t->p += 3;
    skip_comments(t);
    VH_CHECK(t->p < t->end, VHEM_EFORMAT, "%s: %s, expected a table", t->path,
             size == 0 ? "the file is empty" : "there is not a single row");
    t->delim = delim ? delim : find_delimiter(t);
done:
    if (st != VHEM_OK)
        vh_table_close(t);
    return st;
}

void vh_table_close(vh_table *t)
{
    for (int k = 0; k < t->n_columns; k++)
        free(t->column[k]);
    free(t->column);
    free(t->field);
    free(t->text);
    *t = (vh_table){ 0 };
}

/* At a quote: the field up to the closing one, moved together over doubled quotes. */
static vhem_status quoted_field(vhem_ctx *ctx, vh_table *t, vh_field *f)
{
    int64_t opened = t->next_line;
    char *w = ++t->p;
    f->at = w;
    for (;; t->p++) {
        if (t->p == t->end)
            return vh_fail(ctx, VHEM_EFORMAT, "%s: line %lld: a quote opened here is never closed", t->path,
                           (long long)opened);
        if (*t->p == '"') {
            if (t->p + 1 == t->end || t->p[1] != '"')
                break;
            t->p++;
        }
        t->next_line += *t->p == '\n' || (*t->p == '\r' && (t->p + 1 == t->end || t->p[1] != '\n'));
        *w++ = *t->p;
    }
    f->n = (size_t)(w - f->at);
    t->p++;
    while (t->p < t->end && *t->p == ' ')
        t->p++;
    if (t->p < t->end && *t->p != t->delim && *t->p != '\n' && *t->p != '\r')
        return vh_fail(ctx, VHEM_EFORMAT,
                       "%s: line %lld: found '%c' after a closing quote, expected '%s' or the "
                       "end of the line",
                       t->path, (long long)t->next_line, (unsigned char)*t->p < 32 ? '?' : *t->p,
                       t->delim == '\t' ? "tab" : (char[]){ t->delim, 0 });
    return VHEM_OK;
}

static void plain_field(vh_table *t, vh_field *f)
{
    char delim = t->delim, *p = t->p, *end = t->end;
    f->at = p;
    while (p < end && *p != delim && *p != '\n' && *p != '\r')
        p++;
    t->p = p;
    while (p > f->at && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    f->n = (size_t)(p - f->at);
}

vhem_status vh_table_next(vhem_ctx *ctx, vh_table *t, bool *more)
{
    vhem_status st = VHEM_OK;

    while (eat_newline(t))
        ;
    *more = t->p < t->end;
    t->line = t->next_line;
    t->n_fields = 0;
    for (bool another = *more; another; t->p += another) {
        if (t->n_fields == t->cap_fields)
            VH_TRY(vh_grow(ctx, &t->field, &t->cap_fields, t->n_fields + 1, sizeof *t->field));
        vh_field *f = &t->field[t->n_fields++];
        while (t->p < t->end && *t->p == ' ')
            t->p++;
        if (t->p < t->end && *t->p == '"')
            VH_TRY(quoted_field(ctx, t, f));
        else
            plain_field(t, f);
        another = t->p < t->end && *t->p == t->delim;
    }
    eat_newline(t);
    VH_CHECK(!*more || t->n_columns == 0 || t->n_fields == (size_t)t->n_columns, VHEM_EFORMAT,
             "%s: line %lld has %zu field%s, expected %d as in the header", t->path, (long long)t->line,
             t->n_fields, t->n_fields == 1 ? "" : "s", t->n_columns);
done:
    return st;
}

bool vh_field_is(const vh_field *f, const char *text)
{
    return strlen(text) == f->n && memcmp(f->at, text, f->n) == 0;
}

bool vh_table_all_numbers(const vh_table *t)
{
    double v;
    for (size_t k = 0; k < t->n_fields; k++)
        if (vh_number_parse(t->field[k].at, t->field[k].n, &v) == VH_TEXT)
            return false;
    return true;
}

vhem_status vh_table_name_columns(vhem_ctx *ctx, vh_table *t)
{
    vhem_status st = VHEM_OK;
    vh_names seen = { 0 };

    VH_NEW(t->column, t->n_fields);
    for (size_t k = 0; k < t->n_fields; k++) {
        int other;
        bool is_new = true;
        const vh_field *f = &t->field[k];
        t->column[k] = vh_strndup(ctx, f->at, f->n);
        VH_CHECK(t->column[k], VHEM_ENOMEM, "out of memory");
        t->n_columns++;
        if (f->n > 0)
            VH_TRY(vh_names_put(ctx, &seen, f->at, f->n, &other, &is_new));
        VH_CHECK(is_new, VHEM_EFORMAT, "%s: line %lld: two columns are named '%s'", t->path,
                 (long long)t->line, VH_SHOW(f->at, f->n));
    }
done:
    vh_names_free(&seen);
    return st;
}

vhem_status vh_table_header(vhem_ctx *ctx, vh_table *t)
{
    vhem_status st = VHEM_OK;
    bool more;

    VH_TRY(vh_table_next(ctx, t, &more));
    VH_CHECK(more, VHEM_EFORMAT, "%s: there is not a single row, expected a header", t->path);
    VH_CHECK(!vh_table_all_numbers(t), VHEM_EFORMAT,
             "%s: line %lld: found '%s' and no other text, expected a header that names the columns", t->path,
             (long long)t->line, VH_SHOW(t->field[0].at, t->field[0].n));
    VH_TRY(vh_table_name_columns(ctx, t));
done:
    return st;
}

int vh_table_find(const vh_table *t, const char *name, bool any_case)
{
    for (int k = 0; k < t->n_columns; k++)
        if (any_case ? strcasecmp(t->column[k], name) == 0 : strcmp(t->column[k], name) == 0)
            return k;
    return -1;
}
