/* SPDX-License-Identifier: BSD-3-Clause */
/* json.c - see json.h. */
#include "files/json.h"

#include "os/stream.h"
#include "core/alloc.h"
#include "core/number.h"
#include "core/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *vh_json_kind(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "text";
    case JSON_INTEGER:
    case JSON_REAL: return "a number";
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "null";
    }
    return "unknown";
}

static bool has_nul(const char *text, size_t size)
{
    static const char nul[] = "\\u0000";
    for (size_t i = 0; i + sizeof nul - 1 <= size; i++)
        if (memcmp(text + i, nul, sizeof nul - 1) == 0)
            return true;
    return false;
}

/* True if memory ran out.  Jansson has an error code for this, but does not always set it (json_scan.h). */
static bool ran_short(const json_error_t *err, const char *text, size_t size, json_t *root)
{
    if (root)
        return !vh_json_is_whole(text, size, root);
    int code = json_error_code(err);
    bool vague = code == json_error_unknown || (code == json_error_null_character && !has_nul(text, size))
                 || (code == json_error_invalid_syntax /* an unpaired surrogate is valid grammar */
                     && strncmp(err->text, "invalid Unicode", 15) != 0);
    return code == json_error_out_of_memory || (vague && vh_json_is_valid(text, size));
}

enum { SHORT = 1 << 20 }; /* shorter texts are read even after a stop: saving parses some */

typedef struct {
    vhem_ctx *ctx;
    const char *text;
    size_t size, at;
} json_source;

/* Returns the next piece of the text; ends the input after a stop. */
static size_t next_piece(void *buffer, size_t room, void *arg)
{
    json_source *r = arg;
    size_t n = r->size - r->at < room ? r->size - r->at : room;
    if (r->at >= SHORT && vh_stopped(r->ctx))
        return (size_t)-1;
    memcpy(buffer, r->text + r->at, n);
    r->at += n;
    return n;
}

static json_t *parse(vhem_ctx *ctx, const char *text, size_t size, size_t flags, json_error_t *err)
{
    json_source r = { ctx, text, size, 0 };
    return json_load_callback(next_piece, &r, JSON_REJECT_DUPLICATES | flags, err);
}

vhem_status vh_json_parse(vhem_ctx *ctx, const char *text, size_t size, json_t **out)
{
    json_error_t err = { 0 }; /* Jansson may leave its code unset */

    VH_OWN(json_t) *root = parse(ctx, text, size, 0, &err);
    /* An integer beyond 64 bits, such as a seed: better inexact than unreadable. */
    if (!root && json_error_code(&err) == json_error_numeric_overflow)
        root = parse(ctx, text, size, JSON_DECODE_INT_AS_REAL, &err);
    VH_CHECK(root || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while reading");
    VH_CHECK(!ran_short(&err, text, size, root), VHEM_ENOMEM, "out of memory: the JSON text has %zu bytes",
             size);
    VH_CHECK(root, VHEM_EFORMAT, "line %d, column %d: not valid JSON: %s", err.line, err.column, err.text);
    *out = vh_take(root);
    return VHEM_OK;
}

vhem_status vh_json_parse_models(vhem_ctx *ctx, const char *text, size_t size, vh_json_items *hmms,
                                 json_t **out)
{
    vhem_status st = VHEM_OK;
    vh_json_items found;
    VH_AUTOFREE char *rest = NULL;

    *hmms = (vh_json_items){ 0 };
    if (!vh_json_find_items(text, size, "vhem-h3m", "hmms", &found))
        return vh_json_parse(ctx, text, size, out);
    size_t before = (size_t)(found.at - text), after = size - (size_t)(found.end - text);
    VH_NEW(rest, before + after);
    memcpy(rest, text, before);
    memcpy(rest + before, found.end, after);
    st = vh_json_parse(ctx, rest, before + after, out);
    if (st == VHEM_OK)
        *hmms = found;
    if (st == VHEM_EFORMAT) /* reparse, so that the error names a line of the whole text */
        st = vh_json_parse(ctx, text, size, out);
    return st;
}

vhem_status vh_json_next(vhem_ctx *ctx, vh_json_items *items, json_t **out)
{
    vhem_status st = VHEM_OK;
    size_t size;
    const char *text = vh_json_next_item(items, &size);

    VH_CHECK(text - items->text < SHORT || !vh_stopped(ctx), VHEM_ESTOPPED, "stopped while reading");
    st = vh_json_parse(ctx, text, size, out);
    if (st == VHEM_EFORMAT) { /* see above */
        json_t *whole = NULL;
        VH_TRY(vh_json_parse(ctx, items->text, items->size, &whole));
        json_decref(whole);
        st = vh_fail(ctx, VHEM_EFORMAT, "not valid JSON");
    }
    return st;
}

/* Prints any value as compact JSON.  The parser has limited its depth. */
static void print_value(FILE *f, json_t *v)
{
    char number[VH_NUMBER_SIZE];
    const char *key, *comma = "";
    json_t *child;
    size_t k;

    switch (json_typeof(v)) {
    case JSON_OBJECT:
        putc('{', f);
        json_object_foreach(v, key, child)
        {
            fputs(comma, f);
            vh_text_json(f, key);
            fputs(": ", f);
            print_value(f, child);
            comma = ", ";
        }
        putc('}', f);
        break;
    case JSON_ARRAY:
        putc('[', f);
        json_array_foreach(v, k, child)
        {
            fputs(comma, f);
            print_value(f, child);
            comma = ", ";
        }
        putc(']', f);
        break;
    case JSON_STRING: vh_text_json(f, json_string_value(v)); break;
    case JSON_INTEGER: fprintf(f, "%" JSON_INTEGER_FORMAT, json_integer_value(v)); break;
    case JSON_REAL: fwrite(number, 1, vh_number_text(json_real_value(v), number), f); break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL: fputs(vh_json_kind(v), f); break;
    }
}

vhem_status vh_json_keep(vhem_ctx *ctx, json_t *v, char **slot)
{
    VH_AUTOFREE char *text = NULL;
    size_t size;
    FILE *f = vh_memory_open(&text, &size);

    VH_CHECK(f, VHEM_ENOMEM, "out of memory: could not open a text in memory");
    print_value(f, v);
    VH_TRY(vh_text_close(ctx, f, &text, &size));
    free(*slot);
    *slot = vh_take(text);
    return VHEM_OK;
}

/* ---- unknown keys -------------------------------------------------------------------------------------- */

static bool is_one_of(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

vhem_status vh_json_unknown(vhem_ctx *ctx, json_t *object, const char *const *known, char **slot)
{
    VH_OWN(json_t) *rest = json_object();
    json_t *v;
    const char *key;

    VH_CHECK(rest, VHEM_ENOMEM, "out of memory: could not keep unknown keys");
    json_object_foreach(object, key, v) if (!is_one_of(key, known)) VH_CHECK(
        json_object_set(rest, key, v) == 0, VHEM_ENOMEM, "out of memory: could not keep unknown keys");
    if (json_object_size(rest) > 0)
        VH_TRY(vh_json_keep(ctx, rest, slot));
    return VHEM_OK;
}

vhem_status vh_json_object(vhem_ctx *ctx, const char *what, const char *text, json_t **out)
{
    json_t *root = NULL;
    vhem_status st = vh_json_parse(ctx, text, strlen(text), &root);
    if (st != VHEM_OK) {
        vh_error_prefix(ctx, what);
    } else if (!json_is_object(root)) {
        st = vh_fail(ctx, VHEM_EFORMAT, "%s is %s, must be an object", what, vh_json_kind(root));
        json_decref(root);
        root = NULL;
    }
    *out = root;
    return st;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Formats the current entry down to `level`: "mu[2][0]". */
static const char *place(const vh_named_array *a, const int64_t *at, int level, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "%s", a->name);
    for (int k = 0; k < level && n < size; k++)
        n += (size_t)snprintf(text + n, size - n, "[%lld]", (long long)at[k]);
    return text;
}

/* Reads v, a part of the array at this level, to *out and advances it; out NULL: only checks.  at: the
 * current index. */
static vhem_status read_level(vhem_ctx *ctx, const vh_named_array *a, json_t *v, int level, int64_t *at,
                              double **out)
{
    char where[96];
    const char *dim = a->dim[level].name;
    int64_t n = a->dim[level].n;
    bool last = level == a->rank - 1;

    VH_CHECK(json_is_array(v), VHEM_EFORMAT, "%s is %s, must be an array of %s = %lld %s",
             place(a, at, level, where, sizeof where), vh_json_kind(v), dim, (long long)n,
             last ? "numbers" : "arrays");
    size_t size = json_array_size(v);
    VH_CHECK(size == (size_t)n, VHEM_EFORMAT, "%s has %zu %s%s, must have %s = %lld",
             place(a, at, level, where, sizeof where), size, last ? "number" : "row", size == 1 ? "" : "s",
             dim, (long long)n);
    for (int64_t k = 0; k < n; k++) {
        json_t *child = json_array_get(v, (size_t)k);
        at[level] = k;
        if (!last) {
            VH_TRY(read_level(ctx, a, child, level + 1, at, out));
            continue;
        }
        VH_CHECK(json_is_number(child) || (a->nulls && json_is_null(child)), VHEM_EFORMAT,
                 "%s is %s, must be a number", place(a, at, level + 1, where, sizeof where),
                 vh_json_kind(child));
        if (out)
            *(*out)++ = json_is_null(child) ? NAN : json_number_value(child);
    }
    return VHEM_OK;
}

vhem_status vh_json_numbers(vhem_ctx *ctx, json_t *object, const vh_named_array *a, double *out)
{
    json_t *v = json_object_get(object, a->name);
    int64_t at[VH_MAX_RANK] = { 0 };
    if (!v)
        return vh_fail(ctx, VHEM_EFORMAT, "%s is missing", a->name);
    return read_level(ctx, a, v, 0, at, out ? &out : NULL);
}

vhem_status vh_json_count(vhem_ctx *ctx, json_t *object, const char *key, int *out)
{
    json_t *v = json_object_get(object, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_number(v), VHEM_EFORMAT, "%s is %s, must be a whole number", key, vh_json_kind(v));
    double x = json_number_value(v);
    VH_CHECK(x == floor(x) && x >= 1 && x <= INT_MAX, VHEM_EFORMAT,
             "%s is %.12g, must be a whole number from 1 to %d", key, x, INT_MAX);
    *out = (int)x;
    return VHEM_OK;
}

vhem_status vh_json_text(vhem_ctx *ctx, json_t *object, const char *key, char **slot)
{
    char *copy = NULL;
    json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v))
        return VHEM_OK;
    VH_CHECK(json_is_string(v), VHEM_EFORMAT, "%s is %s, must be text", key, vh_json_kind(v));
    VH_DUP(copy, json_string_value(v));
    free(*slot);
    *slot = copy;
    return VHEM_OK;
}

vhem_status vh_json_required_text(vhem_ctx *ctx, json_t *root, const char *key, const char **out)
{
    json_t *v = json_object_get(root, key);
    VH_CHECK(v, VHEM_EFORMAT, "%s is missing", key);
    VH_CHECK(json_is_string(v), VHEM_EFORMAT, "%s is %s, must be text", key, vh_json_kind(v));
    *out = json_string_value(v);
    return VHEM_OK;
}

vhem_status vh_json_version(vhem_ctx *ctx, json_t *root, int newest)
{
    int version = 0;
    VH_TRY(vh_json_count(ctx, root, "version", &version));
    VH_CHECK(version <= newest, VHEM_EFORMAT, "version %d of the format, this program reads up to %d",
             version, newest);
    return VHEM_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

/* Prints an array of the given rank and sizes n; returns the address after its last number. */
static const double *print_numbers(FILE *f, int rank, const int64_t *n, const double *x)
{
    char text[VH_NUMBER_SIZE];
    putc('[', f);
    for (int k = 0; k < n[0]; k++) {
        if (k > 0)
            fputs(", ", f);
        if (rank > 1)
            x = print_numbers(f, rank - 1, n + 1, x);
        else if (isnan(*x)) {
            fputs("null", f);
            x++;
        } else
            fwrite(text, 1, vh_number_text(*x++, text), f);
    }
    putc(']', f);
    return x;
}

void vh_json_print_text(FILE *f, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(f, "\"%s\": ", key);
    vh_text_json(f, text);
    fputs(", ", f);
}

void vh_json_print_array(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x)
{
    fprintf(f, "%s\"%s\": ", lead, key);
    print_numbers(f, rank, n, x);
}

void vh_json_print_apart(FILE *f, const char *lead, const char *key, int rank, const int64_t *n,
                         const double *x, size_t step)
{
    fprintf(f, "%s\"%s\": [", lead, key);
    for (int64_t i = 0; i < n[0]; i++) {
        fputs(i ? ", [" : "[", f);
        for (int64_t j = 0; j < n[1]; j++, x += step) {
            fputs(j ? ", " : "", f);
            print_numbers(f, rank - 2, n + 2, x);
        }
        putc(']', f);
    }
    putc(']', f);
}

void vh_json_print_members(FILE *f, const char *lead, const char *object)
{
    const char *first = strchr(object, '{'), *last = strrchr(object, '}');
    if (!first || !last || last <= first)
        return;
    first++;
    first += strspn(first, " \t\r\n");
    if (first < last) {
        fputs(lead, f);
        fwrite(first, 1, (size_t)(last - first), f);
    }
}
