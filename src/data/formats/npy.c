/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.c - see npy.h.  The format: "\x93NUMPY", version, length of a Python dictionary as text, the text
 * {'descr': '<f4', 'fortran_order': False, 'shape': (8000, 6), }, then the raw elements.
 *
 *   1. header      2. elements      3. reading and writing */
#include "data/formats/npy.h"

#include "core/alloc.h"
#include "data/values.h"

#include <stdio.h>
#include <string.h>

static vhem_status pull_all(vhem_ctx *ctx, vh_stream *s, void *buf, size_t n, const char *what)
{
    size_t got;
    VH_TRY(s->pull(ctx, s, buf, n, &got));
    VH_CHECK(got == n, VHEM_EFORMAT, "%s: ends inside its %s: found %zu bytes, expected %zu", s->name, what,
             got, n);
    return VHEM_OK;
}

/* ---- 1. header ---- */

/* Text after 'key': in the dictionary, or NULL. */
static const char *dict_value(const char *dict, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = strstr(dict, key); p; p = strstr(p + 1, key)) {
        if (p == dict || (p[-1] != '\'' && p[-1] != '"') || p[n] != p[-1])
            continue;
        p += n + 1;
        p += strspn(p, " ");
        if (*p == ':')
            return p + 1 + strspn(p + 1, " ");
    }
    return NULL;
}

static vhem_status parse_shape(vhem_ctx *ctx, const vh_stream *s, const char *p, vh_array *a)
{
    VH_CHECK(p && *p == '(', VHEM_EFORMAT, "%s: the header gives no shape", s->name);
    a->count = 1;
    for (p++, p += strspn(p, " "); *p != ')'; p += strspn(p, " ,")) {
        size_t n = strspn(p, "0123456789");
        int64_t extent;
        VH_CHECK(n > 0 && vh_integer_parse(p, n, &extent), VHEM_EFORMAT,
                 "%s: the header has a shape that is not a list of whole numbers: '%s'", s->name,
                 VH_SHOW(p, strcspn(p, "\n")));
        VH_CHECK(a->ndim < VH_ARRAY_DIMS, VHEM_EFORMAT, "%s: the array has more than %d dimensions", s->name,
                 VH_ARRAY_DIMS);
        VH_CHECK(extent == 0 || a->count <= INT64_MAX / 64 / extent, VHEM_EFORMAT,
                 "%s: the shape in the header is larger than any array", s->name);
        a->shape[a->ndim++] = extent;
        a->count *= extent;
        p += n + (p[n] == 'L'); /* Python 2 wrote long integers this way */
    }
    return VHEM_OK;
}

static bool supported(const vh_array *a)
{
    switch (a->kind) {
    case 'f': return a->item == 4 || a->item == 8;
    case 'i':
    case 'u': return a->item == 1 || a->item == 2 || a->item == 4 || a->item == 8;
    case 'b': return a->item == 1;
    case 'S': return a->item >= 1;
    case 'U': return a->item >= 4;
    default: return false;
    }
}

static vhem_status parse_descr(vhem_ctx *ctx, const vh_stream *s, const char *p, vh_array *a)
{
    int64_t item = 0;
    size_t n = p ? strcspn(p, ",}\n") : 0;

    VH_CHECK(p, VHEM_EFORMAT, "%s: the header gives no type", s->name);
    if ((*p == '\'' || *p == '"') && strchr("<>|=", p[1]) && p[1] && p[2]) {
        size_t digits = strspn(p + 3, "0123456789");
        a->kind = p[2];
        if (digits < 8 && vh_integer_parse(p + 3, digits, &item) && p[3 + digits] == *p)
            a->item = (int)item * (a->kind == 'U' ? 4 : 1);
        a->swap = p[1] == '>' && a->kind != 'S';
    }
    VH_CHECK(supported(a), VHEM_EFORMAT,
             "%s: the type is %s, expected real numbers of 1, 2, 4 or 8 bytes ('<f8', '<f4', '<i2', ...)",
             s->name, VH_SHOW(p, n));
    return VHEM_OK;
}

static vhem_status read_header(vhem_ctx *ctx, vh_stream *s, int64_t *used, vh_array *a)
{
    unsigned char head[12];
    VH_AUTOFREE char *dict = NULL;
    size_t size, prefix;

    VH_TRY(pull_all(ctx, s, head, 8, "header"));
    VH_CHECK(memcmp(head, "\x93NUMPY", 6) == 0, VHEM_EFORMAT, "%s: does not begin as a NumPy array does",
             s->name);
    VH_CHECK(head[6] >= 1 && head[6] <= 3, VHEM_EFORMAT,
             "%s: version %d of the NumPy format, expected 1 to 3", s->name, head[6]);
    prefix = head[6] == 1 ? 2 : 4;
    VH_TRY(pull_all(ctx, s, head + 8, prefix, "header"));
    size = head[8] | (size_t)head[9] << 8;
    if (prefix == 4)
        size |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    VH_CHECK((int64_t)size <= s->size && size < 1 << 20, VHEM_EFORMAT,
             "%s: the header claims to be %zu bytes long, the whole has %lld", s->name, size,
             (long long)s->size);
    VH_NEW(dict, size + 1);
    VH_TRY(pull_all(ctx, s, dict, size, "header"));
    *used = 8 + (int64_t)prefix + (int64_t)size;
    VH_TRY(parse_descr(ctx, s, dict_value(dict, "descr"), a));
    VH_TRY(parse_shape(ctx, s, dict_value(dict, "shape"), a));
    const char *order = dict_value(dict, "fortran_order");
    VH_CHECK(order && (strncmp(order, "True", 4) == 0 || strncmp(order, "False", 5) == 0), VHEM_EFORMAT,
             "%s: the header does not say True or False to fortran_order", s->name);
    a->fortran = *order == 'T';
    return VHEM_OK;
}

/* ---- 2. elements ---- */

static void reverse(unsigned char *p, int n)
{
    for (int i = 0; i < n / 2; i++) {
        unsigned char c = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = c;
    }
}

#define CONVERT(type)                             \
    for (size_t i = 0; i < n; i++) {              \
        type v;                                   \
        memcpy(&v, raw + i * sizeof v, sizeof v); \
        y[i] = (double)v;                         \
    }                                             \
    break

/* Converts n raw elements, already in native byte order. */
static void convert(const vh_array *a, const unsigned char *raw, size_t n, double *y)
{
    switch (a->kind * 16 + a->item) {
    case 'f' * 16 + 4: CONVERT(float);
    case 'f' * 16 + 8: CONVERT(double);
    case 'i' * 16 + 1: CONVERT(int8_t);
    case 'i' * 16 + 2: CONVERT(int16_t);
    case 'i' * 16 + 4: CONVERT(int32_t);
    case 'i' * 16 + 8: CONVERT(int64_t);
    case 'b' * 16 + 1:
    case 'u' * 16 + 1: CONVERT(uint8_t);
    case 'u' * 16 + 2: CONVERT(uint16_t);
    case 'u' * 16 + 4: CONVERT(uint32_t);
    case 'u' * 16 + 8: CONVERT(uint64_t);
    }
}

static char *utf8(char *w, uint32_t c)
{
    if (c < 0x80) {
        *w++ = (char)c;
        return w;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    *w++ = (char)((more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0) | (c >> 6 * more & 0x3F));
    while (more-- > 0)
        *w++ = (char)(0x80 | (c >> 6 * more & 0x3F));
    return w;
}

/* Converts one text element; both kinds are padded with zeros. */
static char *convert_text(vhem_ctx *ctx, const vh_array *a, const unsigned char *raw)
{
    char *text = vh_alloc(ctx, (size_t)a->item + 1, 1), *w = text;
    if (!text)
        return NULL;
    if (a->kind == 'S') {
        memcpy(text, raw, (size_t)a->item);
        return text;
    }
    for (int i = 0; i < a->item / 4; i++) {
        uint32_t c;
        memcpy(&c, raw + 4 * i, 4);
        if (a->swap)
            c = c >> 24 | (c >> 8 & 0xFF00) | (c << 8 & 0xFF0000) | c << 24;
        if (c == 0)
            break;
        w = utf8(w, c < 0x110000 ? c : 0xFFFD);
    }
    return text;
}

enum { BLOCK = 1 << 15 }; /* elements read and converted at a time */

/* Reorders from Fortran to C order: the first index varies fastest in the file, the last in memory. */
static vhem_status reorder(vhem_ctx *ctx, vh_array *a)
{
    VH_CLEANUP(vh_spill_free) vh_spill hold = { .name = a->hold.name, .limit = a->hold.limit };
    int64_t index[VH_ARRAY_DIMS] = { 0 }, stride[VH_ARRAY_DIMS] = { 0 }, from = 0;
    VH_AUTOFREE double *block = NULL;
    const double *y;

    VH_NEW(block, a->count < BLOCK ? a->count : BLOCK);
    VH_TRY(vh_spill_values(ctx, &a->hold, &y));
    for (int k = 0; k < a->ndim; k++)
        stride[k] = k == 0 ? 1 : stride[k - 1] * a->shape[k - 1];
    for (int64_t i = 0, n = 0; i < a->count; i++) {
        block[n++] = y[from];
        for (int k = a->ndim - 1; k >= 0; k--) {
            from += stride[k];
            if (++index[k] < a->shape[k])
                break;
            from -= stride[k] * a->shape[k];
            index[k] = 0;
        }
        if (n < BLOCK && i + 1 < a->count)
            continue;
        VH_TRY(vh_spill_put(ctx, &hold, block, n));
        vh_spill_release(&a->hold, y, a->count);
        n = 0;
    }
    vh_spill_free(&a->hold);
    a->hold = hold;
    hold = (vh_spill){ 0 };
    return VHEM_OK;
}

static vhem_status read_npy_numbers(vhem_ctx *ctx, vh_stream *s, vh_array *a)
{
    VH_AUTOFREE unsigned char *raw = NULL;
    VH_AUTOFREE double *y = NULL;
    size_t item = (size_t)a->item, got = 0, room = a->count < BLOCK ? (size_t)a->count : BLOCK;

    VH_NEW(raw, room * item);
    VH_NEW(y, room);
    for (int64_t done_ = 0; done_ < a->count; done_ += (int64_t)(got / item)) {
        size_t n = a->count - done_ < BLOCK ? (size_t)(a->count - done_) : BLOCK;
        VH_TRY(s->pull(ctx, s, raw, n * item, &got));
        VH_CHECK(got == n * item, VHEM_EFORMAT, "%s: holds %lld values, the header says %lld", s->name,
                 (long long)(done_ + (int64_t)(got / item)), (long long)a->count);
        for (size_t i = 0; a->swap && i < n; i++)
            reverse(raw + i * item, a->item);
        convert(a, raw, n, y);
        VH_TRY(vh_spill_put(ctx, &a->hold, y, (int64_t)n));
    }
    if (a->fortran && a->ndim > 1)
        VH_TRY(reorder(ctx, a));
    return vh_spill_values(ctx, &a->hold, &a->y);
}

static vhem_status read_npy_texts(vhem_ctx *ctx, vh_stream *s, vh_array *a)
{
    VH_AUTOFREE unsigned char *raw = NULL;

    VH_TRY(vh_array_text_limit(ctx, s->name, a->count, a->item, a->hold.limit));
    VH_NEW(raw, a->item);
    VH_NEW(a->text, a->count);
    for (int64_t i = 0; i < a->count; i++) {
        VH_TRY(pull_all(ctx, s, raw, (size_t)a->item, "text"));
        a->text[i] = convert_text(ctx, a, raw);
        VH_CHECK(a->text[i], VHEM_ENOMEM, "out of memory");
    }
    return VHEM_OK;
}

/* ---- 3. reading and writing ---- */

vhem_status vh_npy_read(vhem_ctx *ctx, vh_stream *s, int64_t memory, vh_array *out)
{
    VH_CLEANUP(vh_array_free) vh_array a = { .hold = { .name = s->name, .limit = memory } };
    int64_t used = 0;

    VH_TRY(read_header(ctx, s, &used, &a));
    VH_CHECK(a.count <= (s->size - used) / a.item, VHEM_EFORMAT,
             "%s: %lld bytes follow the header, the shape in it needs %lld values of %d bytes", s->name,
             (long long)(s->size - used), (long long)a.count, a.item);
    if (s->size - used > a.count * a.item)
        vh_log(ctx, VHEM_LOG_WARN, "%s: %lld bytes after the array are left out", s->name,
               (long long)(s->size - used - a.count * a.item));
    VH_TRY(a.kind == 'U' || a.kind == 'S' ? read_npy_texts(ctx, s, &a) : read_npy_numbers(ctx, s, &a));
    a.hold.name = NULL;
    *out = a;
    a = (vh_array){ 0 };
    return VHEM_OK;
}

size_t vh_npy_header(char out[128], const char *descr, int64_t n0, int64_t n1)
{
    static const unsigned char magic[10] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0
    }; /* 118 bytes follow */
    char shape[64];
    if (n1 > 0)
        snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)n0, (long long)n1);
    else
        snprintf(shape, sizeof shape, "(%lld,)", (long long)n0);
    memset(out, ' ', 128); /* pads to align the elements */
    memcpy(out, magic, sizeof magic);
    int n = snprintf(out + 10, 117, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    out[10 + n] = ' ';
    out[127] = '\n';
    return 128;
}
