/* SPDX-License-Identifier: BSD-3-Clause */
/* read_ts.c - the text format of aeon and sktime: '#' comments, '@' header lines, then after @data one case
 * per line: channels separated by ':', values by ',', and the class last.  The file stores channel after
 * channel, a sequence frame after frame: cases are transposed. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "data/data.h"
#include "data/formats/encoding.h"
#include "core/names.h"
#include "data/formats/formats.h"
#include "data/values.h"
#include "os/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct {
    vhem_ctx *ctx;
    const vhem_data_options *opt;
    const char *path;
    int64_t line;
    bool has_class; /* a case ends with its class or target value */
    bool univariate;
    int64_t dimensions, length; /* from the header; 0: not given */
    vh_names classes;           /* from the header; empty: not given */
    int64_t class_line;
    int d; /* of the first case; 0 before it */
    int64_t n_cases;
    double *y; /* [T][d] of one case */
    size_t cap_y;
    char *utf8; /* the line converted to UTF-8, if needed */
    size_t cap_utf8;
    vh_builder *b;
} ts;

static void close_ts(ts *r)
{
    vh_builder_free(r->b);
    vh_names_free(&r->classes);
    free(r->y);
    free(r->utf8);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **p, const char **end)
{
    while (*p < *end && is_blank(**p))
        (*p)++;
    while (*p < *end && is_blank((*end)[-1]))
        (*end)--;
}

/* Reads the next word of a line into *word; false at the end. */
static bool next_word(const char **p, const char *end, const char **word, size_t *n)
{
    while (*p < end && is_blank(**p))
        (*p)++;
    *word = *p;
    while (*p < end && !is_blank(**p))
        (*p)++;
    *n = (size_t)(*p - *word);
    return *n > 0;
}

static bool is_word(const char *word, size_t n, const char *text)
{
    return strlen(text) == n && strncasecmp(word, text, n) == 0;
}

static vhem_status parse_bool(ts *r, const char *key, const char *word, size_t n, bool *out)
{
    *out = is_word(word, n, "true");
    if (*out || is_word(word, n, "false"))
        return VHEM_OK;
    return vh_fail(r->ctx, VHEM_EFORMAT, "%s: line %lld: %s is '%s', expected true or false", r->path,
                   (long long)r->line, key, VH_SHOW(word, n));
}

static vhem_status parse_count(ts *r, const char *key, const char *word, size_t n, int64_t *out)
{
    if (vh_integer_parse(word, n, out) && *out >= 1)
        return VHEM_OK;
    return vh_fail(r->ctx, VHEM_EFORMAT, "%s: line %lld: %s is '%s', expected a whole number from 1", r->path,
                   (long long)r->line, key, VH_SHOW(word, n));
}

static vhem_status parse_classes(ts *r, const char *p, const char *end)
{
    vhem_ctx *ctx = r->ctx;
    const char *word;
    size_t n;
    int64_t index;
    bool is_new;

    r->class_line = r->line;
    while (next_word(&p, end, &word, &n))
        VH_TRY(vh_names_put(ctx, &r->classes, word, n, &index, &is_new));
    return VHEM_OK;
}

/* Parses an '@' line; *data becomes true at @data. */
static vhem_status parse_header(ts *r, const char *p, const char *end, bool *data)
{
    vhem_ctx *ctx = r->ctx;
    const char *key, *word;
    size_t n_key, n;
    bool value;

    next_word(&p, end, &key, &n_key);
    next_word(&p, end, &word, &n);
    if (is_word(key, n_key, "@data")) {
        *data = true;
    } else if (is_word(key, n_key, "@timeStamps")) {
        VH_TRY(parse_bool(r, "@timeStamps", word, n, &value));
        VH_CHECK(!value, VHEM_EFORMAT,
                 "%s: line %lld: @timeStamps is true; series with time stamps cannot be read, "
                 "sample them at equal steps first",
                 r->path, (long long)r->line);
    } else if (is_word(key, n_key, "@univariate")) {
        VH_TRY(parse_bool(r, "@univariate", word, n, &r->univariate));
    } else if (is_word(key, n_key, "@classLabel") || is_word(key, n_key, "@targetLabel")) {
        VH_TRY(parse_bool(r, "@classLabel", word, n, &value));
        r->has_class |= value;
        VH_TRY(parse_classes(r, p, end));
    } else if (is_word(key, n_key, "@dimensions") || is_word(key, n_key, "@dimension")) {
        VH_TRY(parse_count(r, "@dimensions", word, n, &r->dimensions));
    } else if (is_word(key, n_key, "@seriesLength")) {
        VH_TRY(parse_count(r, "@seriesLength", word, n, &r->length));
    }
    return VHEM_OK;
}

/* Number of values in a channel. */
static int64_t count_values(const char *p, const char *end)
{
    int64_t n = 1;
    for (; p < end; p++)
        n += *p == ',';
    return n;
}

static vhem_status parse_channel(ts *r, const char *p, const char *end, int c, int d, int64_t T)
{
    vhem_ctx *ctx = r->ctx;

    for (int64_t t = 0; t < T; t++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma ? comma : end;
        vh_value kind = vh_cell_parse(p, (size_t)(stop - p), r->opt->missing, &r->y[t * d + c]);
        VH_CHECK(kind == VH_NUMBER || kind == VH_MISSING, VHEM_EFORMAT,
                 "%s: line %lld, channel %d, value %lld: found '%s', expected a finite number or ?", r->path,
                 (long long)r->line, c, (long long)t, VH_SHOW(p, (size_t)(stop - p)));
        p = stop + 1;
    }
    return VHEM_OK;
}

static vhem_status check_class(ts *r, const char *label, size_t n)
{
    vhem_ctx *ctx = r->ctx;
    int64_t index, listed = r->classes.n;
    bool is_new;

    if (listed == 0 || (n == 1 && *label == '?'))
        return VHEM_OK;
    VH_TRY(vh_names_put(ctx, &r->classes, label, n, &index, &is_new));
    VH_CHECK(!is_new, VHEM_EFORMAT, "%s: line %lld: the class is '%s', which is not among those of line %lld",
             r->path, (long long)r->line, VH_SHOW(label, n), (long long)r->class_line);
    return VHEM_OK;
}

/* Creates the builder at the first case, which sets the number of channels. */
static vhem_status first_case(ts *r, int d)
{
    vhem_ctx *ctx = r->ctx;

    VH_CHECK(!r->univariate || d == 1, VHEM_EFORMAT, "%s: line %lld has %d channels, but @univariate is true",
             r->path, (long long)r->line, d);
    VH_CHECK(r->dimensions == 0 || r->dimensions == d, VHEM_EFORMAT,
             "%s: line %lld has %d channels, expected %lld as @dimensions says", r->path, (long long)r->line,
             d, (long long)r->dimensions);
    r->d = d;
    return vh_builder_open(ctx, r->path, r->opt, d, &r->b);
}

static vhem_status parse_case(ts *r, const char *p, const char *end)
{
    vhem_ctx *ctx = r->ctx;
    const char *label = NULL;
    char name[32];
    VH_AUTOFREE char *copy = NULL;
    int64_t d = 1, T = 0;

    for (const char *q = p; q < end; q++)
        d += *q == ':';
    if (r->has_class) {
        const char *label_end = end;
        VH_CHECK(d > 1, VHEM_EFORMAT, "%s: line %lld: found no ':', expected a class at the end", r->path,
                 (long long)r->line);
        for (label = end; label[-1] != ':'; label--)
            ;
        end = label - 1;
        d--;
        trim(&label, &label_end);
        VH_TRY(check_class(r, label, (size_t)(label_end - label)));
        copy = vh_strndup(ctx, label, (size_t)(label_end - label));
        VH_CHECK(copy, VHEM_ENOMEM, "out of memory");
        if (strcmp(copy, "?") == 0)
            *copy = '\0';
    }
    if (!r->b && d <= INT_MAX)
        VH_TRY(first_case(r, (int)d));
    VH_CHECK(d == r->d, VHEM_EFORMAT, "%s: line %lld has %lld channels, expected %d as in the first case",
             r->path, (long long)r->line, (long long)d, r->d);
    for (int c = 0; c < r->d; c++) {
        const char *colon = memchr(p, ':', (size_t)(end - p)), *stop = colon ? colon : end;
        int64_t n = count_values(p, stop);
        T = c == 0 ? n : T;
        VH_CHECK(n == T, VHEM_EFORMAT, "%s: line %lld: channel %d has %lld values, but channel 0 has %lld",
                 r->path, (long long)r->line, c, (long long)n, (long long)T);
        VH_TRY(vh_grow(ctx, &r->y, &r->cap_y, (size_t)(T * d), sizeof *r->y));
        VH_TRY(parse_channel(r, p, stop, c, r->d, T));
        p = stop + 1;
    }
    VH_CHECK(r->length == 0 || T == r->length, VHEM_EFORMAT,
             "%s: line %lld has %lld values per channel, expected %lld as @seriesLength says", r->path,
             (long long)r->line, (long long)T, (long long)r->length);
    snprintf(name, sizeof name, "case%lld", (long long)r->n_cases++);
    VH_TRY(vh_builder_frames(r->b, r->y, T));
    return vh_builder_end(r->b, name, copy, NULL, 1);
}

/* Converts the line from a to b to UTF-8. */
static vhem_status recode(ts *r, const char **a, const char **b)
{
    vhem_ctx *ctx = r->ctx;
    size_t n = (size_t)(*b - *a), size = vh_windows_1252_decode(*a, n, NULL);

    VH_TRY(vh_grow(ctx, &r->utf8, &r->cap_utf8, size + 1, 1));
    vh_windows_1252_decode(*a, n, r->utf8);
    *a = r->utf8;
    *b = r->utf8 + size;
    return VHEM_OK;
}

static vhem_status parse_lines(ts *r, FILE *f)
{
    vhem_ctx *ctx = r->ctx;
    bool data = false;
    VH_AUTOFREE char *line = NULL;
    size_t cap = 0;
    int64_t before = 0; /* bytes before this line */
    vh_encoding encoding = { 0 };

    for (int64_t n; (n = vh_file_line(f, &line, &cap)) >= 0; before += n) {
        VH_TRY(vh_encoding_look(ctx, r->path, f, line, (size_t)n, &encoding));
        const char *a = line, *b = line + n, *zero = memchr(line, 0, (size_t)n);
        VH_CHECK(!zero, VHEM_EFORMAT, "%s: a zero byte at offset %lld: this is not a text file", r->path,
                 (long long)(before + (zero - line)));
        if (encoding.is == VH_WINDOWS_1252)
            VH_TRY(recode(r, &a, &b));
        if (before == 0 && b - a >= 3 && memcmp(a, "\xEF\xBB\xBF", 3) == 0)
            a += 3;
        r->line++;
        b -= b > a && b[-1] == '\n';
        trim(&a, &b);
        if (a == b || *a == '#')
            continue;
        if (data)
            VH_TRY(parse_case(r, a, b));
        else if (*a == '@')
            VH_TRY(parse_header(r, a, b, &data));
        else
            VH_CHECK(0, VHEM_EFORMAT,
                     "%s: line %lld: found '%s', expected a line that begins with @ or #; the cases "
                     "come after @data",
                     r->path, (long long)r->line, VH_SHOW(a, (size_t)(b - a)));
    }
    vh_encoding_tell(ctx, r->path, &encoding);
    VH_CHECK(feof(f), ferror(f) ? VHEM_EIO : VHEM_ENOMEM, "%s: cannot read: %s", r->path, strerror(errno));
    VH_CHECK(data, VHEM_EFORMAT, "%s: there is no @data line, expected cases after one", r->path);
    VH_CHECK(r->b, VHEM_EFORMAT, "%s: there is no case after @data", r->path);
    return VHEM_OK;
}

vhem_status vh_read_ts(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_OWN(FILE) *f = NULL;
    VH_CLEANUP(close_ts)
    ts r = { .ctx = ctx, .opt = opt, .path = strcmp(path, "-") == 0 ? "standard input" : path };
    VH_OWN(vhem_data) *data = NULL;
    int64_t size;

    VH_TRY(vh_no_columns(ctx, r.path, "a .ts file", opt));
    VH_TRY(vh_in_open(ctx, path, &f, &size));
    VH_TRY(parse_lines(&r, f));
    VH_TRY(vh_builder_finish(r.b, "ts", &data));
    if (opt->where)
        VH_TRY(vh_data_keep_where(ctx, r.path, opt->where, data));
    *out = vh_take(data);
    return VHEM_OK;
}
