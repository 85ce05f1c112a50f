/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - see table.h.  Fields point into the window on the text, so a record needs no memory. */
#include "data/formats/table.h"

#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/names.h"
#include "data/values.h"
#include "math/order.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <math.h>
#include <stdlib.h>

enum {
    WINDOW = 1 << 20,     /* bytes per read, or the size of a smaller file */
    LEAST = 64,           /* but at least this many */
    MOST_TITLES = 10,     /* title lines above a header */
    MOST_COLUMNS = 250000 /* each needs about 1 kB */
};

/* Moves the window to the current record and grows it if needed; fields of the record move along. */
static vhem_status move_window(vhem_ctx *ctx, vh_table *t, size_t need)
{
    size_t kept = (size_t)(t->end - t->record), at = (size_t)(t->p - t->record);
    char *to = t->text;

    if (need > t->cap)
        VH_NEW(to, 2 * need);
    memmove(to, t->record, kept);
    for (size_t k = 0; k < t->n_fields; k++)
        t->field[k].at = to + (t->field[k].at - t->record);
    t->before += t->record - t->text;
    if (need > t->cap) {
        free(t->text);
        t->text = to;
        t->cap = 2 * need;
    }
    t->record = t->text;
    t->p = t->text + at;
    t->end = t->text + kept;
    return VHEM_OK;
}

/* Converts the bytes just read, *got after the window, to UTF-8. */
static vhem_status recode(vhem_ctx *ctx, vh_table *t, size_t *got)
{
    VH_AUTOFREE char *raw = NULL;

    VH_TRY(vh_encoding_look(ctx, t->path, t->f, t->end, *got, &t->encoding));
    if (t->encoding.is != VH_WINDOWS_1252)
        return VHEM_OK;
    raw = vh_strndup(ctx, t->end, *got);
    VH_CHECK(raw, VHEM_ENOMEM, "out of memory");
    size_t size = vh_windows_1252_decode(raw, *got, NULL);
    VH_TRY(move_window(ctx, t, (size_t)(t->end - t->record) + size + 1));
    vh_windows_1252_decode(raw, *got, t->end);
    *got = size;
    return VHEM_OK;
}

/* Reads more text after the current record. */
static vhem_status read_on(vhem_ctx *ctx, vh_table *t)
{
    size_t kept = (size_t)(t->end - t->record);
    bool broken = false;

    VH_TRY(move_window(ctx, t, kept + t->window + 1));
    char *to = t->end + t->marked;
    size_t room = t->cap - kept - t->marked - 1, got;
    got = t->utf16 ? vh_utf16_read(t->utf16, t->f, to, room, &broken) : fread(to, 1, room, t->f) + t->marked;
    t->marked = 0;
    VH_CHECK(!ferror(t->f), VHEM_EIO, "%s: cannot read: %s", t->path, strerror(errno));
    VH_CHECK(!broken, VHEM_EFORMAT, "%s: the UTF-16 text ends in the middle of a character", t->path);
    const char *zero = memchr(t->text, 0, kept + got);
    VH_CHECK(!zero, VHEM_EFORMAT, "%s: a zero byte at offset %lld: this is not a text file", t->path,
             (long long)(t->before + (zero - t->text)));
    if (!t->utf16)
        VH_TRY(recode(ctx, t, &got));
    t->end = t->text + kept + got;
    *t->end = '\0';
    if (got == 0) {
        vh_in_close(t->f);
        t->f = NULL;
    }
    return VHEM_OK;
}

/* Ensures two bytes at p, unless the file ends first. */
static vhem_status look_ahead(vhem_ctx *ctx, vh_table *t)
{
    vhem_status st = VHEM_OK;
    while (t->f && t->end - t->p < 2 && st == VHEM_OK)
        st = read_on(ctx, t);
    return st;
}

/* Skips one line end; false if there is none. */
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

/* Finds the delimiter that the record at p has most of outside quotes; comma if there is none. */
static vhem_status find_delimiter(vhem_ctx *ctx, vh_table *t, char *out)
{
    int n_comma = 0, n_tab = 0, n_semicolon = 0;
    bool quoted = false;
    for (ptrdiff_t at = 0;; at++) {
        while (t->f && t->p + at == t->end) /* the record may be longer than the window */
            VH_TRY(read_on(ctx, t));
        const char *p = t->p + at;
        if (p == t->end || (!quoted && (*p == '\n' || *p == '\r')))
            break;
        quoted ^= *p == '"';
        n_comma += !quoted && *p == ',';
        n_tab += !quoted && *p == '\t';
        n_semicolon += !quoted && *p == ';';
    }
    *out = n_tab > n_comma && n_tab >= n_semicolon ? '\t' : n_semicolon > n_comma ? ';' : ',';
    return VHEM_OK;
}

static vhem_status skip_comments(vhem_ctx *ctx, vh_table *t)
{
    bool comment = false;
    for (;;) {
        t->record = t->p; /* nothing before p is needed */
        VH_TRY(look_ahead(ctx, t));
        if (eat_newline(t)) {
            comment = false;
            continue;
        }
        comment |= t->p < t->end && *t->p == '#';
        if (t->p == t->end || !comment)
            return VHEM_OK;
        while (t->p < t->end && *t->p != '\n' && *t->p != '\r')
            t->p++;
    }
    return VHEM_OK;
}

/* Skips a "sep=;" line, quoted or not, that spreadsheets write before the header; returns its delimiter, or
 * 0. */
static char separator_line(vh_table *t)
{
    bool quoted = t->p < t->end && *t->p == '"';
    const char *p = t->p + quoted;
    if (t->end - p < 6 || strncasecmp(p, "sep=", 4) != 0 || !strchr(",;\t|:", p[4]))
        return 0;
    size_t size = 5 + 2 * (size_t)quoted;
    if (t->p[size] != '\n' && t->p[size] != '\r')
        return 0;
    t->p += size;
    return p[4];
}

/* Number of non-empty fields of the line from s to end; -1 if one is a number, which headers do not have, or
 * continues on the next line. */
static int count_texts(const char *s, const char *end, char delim)
{
    int n = 0;
    while (s < end) {
        const char *from = s;
        bool quoted = false;
        double v;
        for (; s < end && (quoted || *s != delim); s++)
            quoted ^= *s == '"';
        size_t size = (size_t)(s - from);
        vh_trim(&from, &size);
        vh_value is = vh_cell_parse(from, size, NULL, &v);
        if (quoted || is == VH_NUMBER || is == VH_INFINITE)
            return -1;
        n += size > 0;
        s += s < end;
    }
    return n;
}

/* Number of fields of the line at s; 0 at the end. */
static int count_fields(const char *s, const char *end, char delim)
{
    int n = s < end;
    bool quoted = false;
    for (; s < end && (quoted || (*s != '\n' && *s != '\r')); s++) {
        quoted ^= *s == '"';
        n += !quoted && *s == delim;
    }
    return n;
}

static const char *end_of_line(const char *p, const char *end)
{
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

/* Number of texts in a line with the delimiter that gives the most, stored in *between; negative if the line
 * has a number. */
static int most_texts(const char *line, const char *end, const char *delims, char *between)
{
    int texts = 0;
    for (const char *d = delims; *d && texts >= 0; d++) {
        int n = count_texts(line, end, *d);
        *between = n > texts ? *d : *between;
        texts = n < 0 || n > texts ? n : texts;
    }
    return texts;
}

/* Finds a header below lines with a single text, if it is near and the line below has as many fields; else
 * NULL.  delim 0: any. */
static const char *header_below_titles(const vh_table *t, char delim)
{
    const char given[] = { delim, '\0' }, *line = t->p, *end;
    int titles = 0, texts = 0;
    char between = delim;

    for (; titles <= MOST_TITLES && line < t->end; line = end + 1) {
        end = end_of_line(line, t->end);
        texts = most_texts(line, end, delim ? given : ",;\t", &between);
        if (texts < 0 || texts > 1 || end == t->end)
            break;
        titles += texts;
    }
    if (titles == 0 || titles > MOST_TITLES || texts < 2)
        return NULL;
    end = end_of_line(line, t->end);
    end += end + 1 < t->end && end[0] == '\r' && end[1] == '\n';
    bool same = end < t->end && count_fields(end + 1, t->end, between) == count_fields(line, t->end, between);
    return same ? line : NULL;
}

/* Skips titles above a header, with a warning. */
static void skip_titles(vhem_ctx *ctx, vh_table *t, char delim)
{
    const char *line = header_below_titles(t, delim);
    while (line && t->p < line) {
        const char *end = end_of_line(t->p, line);
        if (end > t->p)
            vh_log(ctx, VHEM_LOG_WARN, "%s: line %lld looks like a title and is left out: %s", t->path,
                   (long long)t->next_line, VH_SHOW(t->p, (size_t)(end - t->p)));
        t->p += end - t->p;
        eat_newline(t);
    }
}

/* Checks that s [n] is digits, `sign`, digits, with an optional minus and exponent.  Returns the position of
 * the sign, or 0. */
static size_t decimal_sign(const char *s, size_t n, char sign)
{
    size_t i = 0, at;
    double v;
    i += n >= VH_MINUS_SIZE && memcmp(s, VH_MINUS, VH_MINUS_SIZE) == 0 ? VH_MINUS_SIZE
         : n > 0 && (s[0] == '-' || s[0] == '+')                       ? 1
                                                                       : 0;
    at = i;
    while (at < n && s[at] >= '0' && s[at] <= '9')
        at++;
    if (at >= n || s[at] != sign || n - at < 2 || n > 60 || s[at + 1] < '0' || s[at + 1] > '9')
        return 0;
    char plain[64];
    memcpy(plain, s, n);
    plain[n] = '\0';
    plain[at] = '.';
    return vh_number_parse(plain, n, &v) == VH_NUMBER ? at : 0;
}

/* True if the numbers in the window have decimal commas and none has a point. */
static bool has_decimal_commas(const vh_table *t)
{
    int64_t n_comma = 0, n_point = 0;
    for (const char *p = t->p; p < t->end && t->delim != ',' && n_point == 0;) {
        const char *from = p;
        while (p < t->end && *p != t->delim && *p != '\n' && *p != '\r')
            p++;
        const char *to = p;
        while (from < to && (*from == ' ' || *from == '"'))
            from++;
        while (from < to && (to[-1] == ' ' || to[-1] == '"'))
            to--;
        n_comma += decimal_sign(from, (size_t)(to - from), ',') > 0;
        n_point += decimal_sign(from, (size_t)(to - from), '.') > 0;
        p += p < t->end;
    }
    return n_comma > 0 && n_point == 0;
}

/* Replaces decimal commas of the current record by points. */
static vhem_status mend_decimals(vhem_ctx *ctx, vh_table *t)
{
    for (size_t k = 0; k < t->n_fields; k++) {
        const vh_field *f = &t->field[k];
        size_t at = decimal_sign(f->at, f->n, ',');
        if (at > 0)
            t->text[f->at - t->text + (ptrdiff_t)at] = '.';
        VH_CHECK(at > 0 || decimal_sign(f->at, f->n, '.') == 0, VHEM_EFORMAT,
                 "%s: line %lld: found '%s', but the lines before have decimal commas", t->path,
                 (long long)t->line, VH_SHOW(f->at, f->n));
    }
    return VHEM_OK;
}

/* Reads the first two bytes to detect UTF-16; otherwise they belong to the next read. */
static vhem_status read_mark(vhem_ctx *ctx, vh_table *t)
{
    size_t got = fread(t->text, 1, 2, t->f);
    VH_CHECK(!ferror(t->f), VHEM_EIO, "%s: cannot read: %s", t->path, strerror(errno));
    t->utf16 = vh_utf16_mark(t->text, got);
    t->marked = t->utf16 ? 0 : got;
    return VHEM_OK;
}

vhem_status vh_table_open(vhem_ctx *ctx, const char *path, char delim, vh_table *t)
{
    FILE *f;
    int64_t size;

    *t = (vh_table){ 0 };
    VH_TRY(vh_in_open(ctx, path, &f, &size));
    return vh_table_open_file(ctx, strcmp(path, "-") == 0 ? "standard input" : path, f, size, delim, t);
}

/* Reads up to the first record. */
static vhem_status read_start(vhem_ctx *ctx, char delim, vh_table *t)
{
    t->window = t->size > LEAST && t->size < WINDOW ? (size_t)t->size
                : t->size > 0 && t->size <= LEAST   ? LEAST
                                                    : WINDOW;
    t->cap = t->window + 3;
    VH_NEW(t->text, t->cap);
    t->record = t->p = t->end = t->text;
    VH_TRY(read_mark(ctx, t));
    VH_TRY(read_on(ctx, t));
    bool empty = t->p == t->end;
    if (t->end - t->p >= 3 && memcmp(t->p, "\xEF\xBB\xBF", 3) == 0)
        t->p += 3;
    VH_TRY(skip_comments(ctx, t));
    VH_CHECK(t->p < t->end, VHEM_EFORMAT, "%s: %s, expected a table", t->path,
             empty ? "the file is empty" : "there are no rows");
    char said = separator_line(t);
    if (said)
        VH_TRY(skip_comments(ctx, t));
    t->delim = said ? said : delim;
    skip_titles(ctx, t, t->delim);
    if (!t->delim)
        VH_TRY(find_delimiter(ctx, t, &t->delim));
    t->decimal_comma = has_decimal_commas(t);
    return VHEM_OK;
}

vhem_status vh_table_open_file(vhem_ctx *ctx, const char *path, FILE *f, int64_t size, char delim,
                               vh_table *t)
{
    *t = (vh_table){ .path = path, .next_line = 1, .f = f, .size = size };
    vhem_status st = read_start(ctx, delim, t);
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
    vh_in_close(t->f);
    *t = (vh_table){ 0 };
}

/* Reads from a quote to the closing one, collapsing doubled quotes in place. */
static vhem_status quoted_field(vhem_ctx *ctx, vh_table *t, vh_field *f)
{
    int64_t opened = t->next_line;

    f->at = ++t->p;
    for (;; t->p++) {
        VH_TRY(look_ahead(ctx, t));
        VH_CHECK(t->p < t->end, VHEM_EFORMAT, "%s: line %lld: a quote opened here is never closed", t->path,
                 (long long)opened);
        if (*t->p == '"') {
            if (t->p + 1 == t->end || t->p[1] != '"')
                break;
            t->p++;
        }
        t->next_line += *t->p == '\n' || (*t->p == '\r' && (t->p + 1 == t->end || t->p[1] != '\n'));
        t->text[f->at - t->text + (ptrdiff_t)f->n++] = *t->p;
    }
    t->p++;
    VH_TRY(look_ahead(ctx, t));
    while (t->p < t->end && *t->p == ' ') {
        t->p++;
        VH_TRY(look_ahead(ctx, t));
    }
    VH_CHECK(t->p == t->end || *t->p == t->delim || *t->p == '\n' || *t->p == '\r', VHEM_EFORMAT,
             "%s: line %lld: found '%c' after a closing quote, expected '%s' or the end of the line", t->path,
             (long long)t->next_line, (unsigned char)*t->p < 32 ? '?' : *t->p,
             t->delim == '\t' ? "tab" : (char[]){ t->delim, 0 });
    return VHEM_OK;
}

static vhem_status plain_field(vhem_ctx *ctx, vh_table *t, vh_field *f)
{
    char delim = t->delim;

    f->at = t->p;
    for (;;) {
        char *p = t->p, *end = t->end;
        while (p < end && *p != delim && *p != '\n' && *p != '\r')
            p++;
        t->p = p;
        if (end - p >= 2 || !t->f)
            break;
        VH_TRY(read_on(ctx, t));
    }
    f->n = (size_t)(t->p - f->at);
    while (f->n > 0 && (f->at[f->n - 1] == ' ' || f->at[f->n - 1] == '\t'))
        f->n--;
    return VHEM_OK;
}

vhem_status vh_table_next(vhem_ctx *ctx, vh_table *t, bool *more)
{
    t->n_fields = 0;
    do {
        t->record = t->p;
        VH_TRY(look_ahead(ctx, t));
    } while (eat_newline(t));
    *more = t->p < t->end;
    t->line = t->next_line;
    for (bool another = *more; another; t->p += another) {
        if (t->n_fields == t->cap_fields)
            VH_TRY(vh_grow(ctx, &t->field, &t->cap_fields, t->n_fields + 1, sizeof *t->field));
        VH_CHECK(t->n_fields < MOST_COLUMNS, VHEM_EFORMAT,
                 "%s: line %lld has more than %d columns, which text may have at most; a .npy or HDF5 "
                 "array may have more",
                 t->path, (long long)t->line, MOST_COLUMNS);
        vh_field *f = &t->field[t->n_fields++];
        *f = (vh_field){ t->p, 0 };
        VH_TRY(look_ahead(ctx, t));
        while (t->p < t->end && *t->p == ' ') {
            t->p++;
            VH_TRY(look_ahead(ctx, t));
        }
        VH_TRY(t->p < t->end && *t->p == '"' ? quoted_field(ctx, t, f) : plain_field(ctx, t, f));
        another = t->p < t->end && *t->p == t->delim;
    }
    eat_newline(t);
    if (t->decimal_comma)
        VH_TRY(mend_decimals(ctx, t));
    VH_CHECK(!*more || t->n_columns == 0 || t->n_fields == (size_t)t->n_columns, VHEM_EFORMAT,
             "%s: line %lld has %zu field%s, expected %d as in the header", t->path, (long long)t->line,
             t->n_fields, t->n_fields == 1 ? "" : "s", t->n_columns);
    return VHEM_OK;
}

bool vh_field_is(const vh_field *f, const char *text)
{
    return strlen(text) == f->n && memcmp(f->at, text, f->n) == 0;
}

bool vh_table_all_numbers(const vh_table *t, const char *missing)
{
    double v;
    for (size_t k = 0; k < t->n_fields; k++)
        if (vh_cell_parse(t->field[k].at, t->field[k].n, missing, &v) == VH_TEXT)
            return false;
    return true;
}

vhem_status vh_table_name_columns(vhem_ctx *ctx, vh_table *t)
{
    VH_CLEANUP(vh_names_free) vh_names seen = { 0 };

    VH_NEW(t->column, t->n_fields);
    for (size_t k = 0; k < t->n_fields; k++) {
        int64_t other;
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
    return VHEM_OK;
}

vhem_status vh_table_header(vhem_ctx *ctx, vh_table *t)
{
    bool more;

    VH_TRY(vh_table_next(ctx, t, &more));
    VH_CHECK(more, VHEM_EFORMAT, "%s: there are no rows, expected a header", t->path);
    VH_CHECK(!vh_table_all_numbers(t, NULL), VHEM_EFORMAT,
             "%s: line %lld: found '%s' and no other text, expected a header that names the columns", t->path,
             (long long)t->line, VH_SHOW(t->field[0].at, t->field[0].n));
    return vh_table_name_columns(ctx, t);
}

int vh_table_find(const vh_table *t, const char *name, bool any_case)
{
    for (int k = 0; k < t->n_columns; k++)
        if (any_case ? strcasecmp(t->column[k], name) == 0 : strcmp(t->column[k], name) == 0)
            return k;
    return -1;
}

/* ---- the order of rows --------------------------------------------------------------------------------- */

/* True for one of these words, perhaps with a unit: time, time_ms, "Time [s]". */
bool vh_says_time(const char *name)
{
    static const char *const word[] = { "time",           "timestamp", "frame", "frames", "fixation",
                                        "fixation_index", "index",     "order", "sample" };
    if (strcasecmp(name, "t") == 0)
        return true;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        size_t n = strlen(word[i]);
        if (strncasecmp(name, word[i], n) != 0)
            continue;
        const char *rest = name + n;
        if (!*rest || strchr(" ([", *rest) || strcasecmp(rest, "_s") == 0 || strcasecmp(rest, "_ms") == 0
            || strcasecmp(rest, "_us") == 0)
            return true;
    }
    return false;
}

void vh_row_order_init(const vh_table *t, int column, vh_row_order *o)
{
    *o = (vh_row_order){ .column = column, .watched = -1 };
    for (int k = 0; k < t->n_columns && column < 0 && o->watched < 0; k++)
        if (vh_says_time(t->column[k]))
            o->watched = k;
}

static vhem_status watch(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t n)
{
    const vh_field *f = &t->field[o->watched];
    double v;

    for (; o->n_last <= n; o->n_last++) {
        VH_TRY(vh_grow(ctx, &o->last, &o->cap_last, (size_t)o->n_last + 1, sizeof *o->last));
        o->last[o->n_last] = -INFINITY;
    }
    if (vh_number_parse(f->at, f->n, &v) != VH_NUMBER)
        return VHEM_OK;
    if (v < o->last[n] && o->fell_line == 0) {
        o->fell_line = t->line;
        o->fell_from = o->last[n];
        o->fell_to = v;
    }
    o->last[n] = v;
    return VHEM_OK;
}

vhem_status vh_row_order_put(vhem_ctx *ctx, vh_row_order *o, const vh_table *t, int64_t row, int64_t n)
{
    if (o->watched >= 0)
        return watch(ctx, o, t, n);
    if (o->column < 0)
        return VHEM_OK;
    VH_TRY(vh_grow(ctx, &o->at, &o->cap_at, (size_t)row + 1, sizeof *o->at));
    VH_TRY(vh_grow(ctx, &o->line, &o->cap_line, (size_t)row + 1, sizeof *o->line));
    const vh_field *f = &t->field[o->column];
    VH_CHECK(vh_number_parse(f->at, f->n, &o->at[row]) == VH_NUMBER, VHEM_EFORMAT,
             "%s: line %lld: " VH_OPT("order") " sorts by column '%s', which has '%s' here, must be a number",
             t->path, (long long)t->line, t->column[o->column], VH_SHOW(f->at, f->n));
    o->line[row] = t->line;
    return VHEM_OK;
}

vhem_status vh_row_order_sort(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t, int64_t *row,
                              int64_t n)
{
    VH_AUTOFREE vh_ranked *p = NULL;

    if (o->column < 0)
        return VHEM_OK;
    VH_NEW(p, n);
    for (int64_t i = 0; i < n; i++)
        p[i] = (vh_ranked){ o->at[row[i]], row[i] };
    vh_rank_ascending((size_t)n, p);
    for (int64_t i = 0; i < n; i++) {
        VH_CHECK(i == 0 || p[i].value > p[i - 1].value, VHEM_EFORMAT,
                 "%s: lines %lld and %lld are of one sequence and both have %g in column '%s', so " VH_OPT(
                     "order") " cannot "
                              "tell which comes first",
                 t->path, (long long)o->line[p[i - 1].i], (long long)o->line[p[i].i], p[i].value,
                 t->column[o->column]);
        row[i] = p[i].i;
    }
    return VHEM_OK;
}

void vh_row_order_judge(vhem_ctx *ctx, const vh_row_order *o, const vh_table *t)
{
    if (o->fell_line > 0)
        vh_log(
            ctx, VHEM_LOG_WARN,
            "%s: line %lld: column '%s' falls from %g to %g within a sequence; if it says the order of the "
            "rows, add " VH_OPT("order='%s'"),
            t->path, (long long)o->fell_line, t->column[o->watched], o->fell_from, o->fell_to,
            t->column[o->watched]);
}

void vh_row_order_free(vh_row_order *o)
{
    free(o->at);
    free(o->line);
    free(o->last);
    *o = (vh_row_order){ .column = -1, .watched = -1 };
}
