/* SPDX-License-Identifier: BSD-3-Clause */
/* encoding.c - see encoding.h.  iconv would do the same, but only where its character tables are
 * installed. */
#include "data/formats/encoding.h"
#include "os/stream.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

vh_utf16 vh_utf16_mark(const char *head, size_t n)
{
    if (n >= 2 && memcmp(head, "\xff\xfe", 2) == 0)
        return VH_UTF16_LITTLE;
    return n >= 2 && memcmp(head, "\xfe\xff", 2) == 0 ? VH_UTF16_BIG : VH_NO_UTF16;
}

static uint32_t unit_at(vh_utf16 kind, const char *p)
{
    uint32_t a = (unsigned char)p[0], b = (unsigned char)p[1];
    return kind == VH_UTF16_LITTLE ? b << 8 | a : a << 8 | b;
}

static size_t put_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)(lead[n] | code);
    return n;
}

size_t vh_utf16_decode(vh_utf16 kind, const char *from, size_t n, char *to, size_t *used)
{
    enum { HIGH = 0xD800, LOW = 0xDC00, NOT_A_PAIR = 0xFFFD };
    size_t at = 0, out = 0;
    while (at + 2 <= n) {
        uint32_t code = unit_at(kind, from + at);
        size_t size = 2;
        if (code >= HIGH && code < LOW) {
            if (at + 4 > n)
                break;
            uint32_t low = unit_at(kind, from + at + 2);
            bool pair = low >= LOW && low < LOW + 0x400;
            code = pair ? 0x10000 + ((code - HIGH) << 10) + (low - LOW) : NOT_A_PAIR;
            size = pair ? 4 : 2;
        } else if (code >= LOW && code < LOW + 0x400) {
            code = NOT_A_PAIR;
        }
        out += put_utf8(code, to + out);
        at += size;
    }
    *used = at;
    return out;
}

size_t vh_utf16_read(vh_utf16 kind, FILE *f, char *to, size_t room, bool *broken)
{
    char raw[4096];
    size_t out = 0, got;
    *broken = false;
    while (room - out >= 8) { /* room for the longest character and for completing a pair */
        size_t want = (room - out) / 3 * 2 - 2, used;
        want = want < sizeof raw - 2 ? want & ~(size_t)1 : sizeof raw - 2;
        got = fread(raw, 1, want, f);
        if (got == want && got >= 2 && (unit_at(kind, raw + got - 2) & 0xFC00) == 0xD800)
            got += fread(raw + got, 1, 2, f); /* the low surrogate */
        out += vh_utf16_decode(kind, raw, got, to + out, &used);
        if (got < want || used < got) {
            *broken = used < got;
            break;
        }
    }
    return out;
}

/* True if s [n] is valid UTF-8 so far. */
static bool check_utf8(vh_encoding *e, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < n; i++) {
        unsigned a = s[i];
        if (e->left > 0) {
            if (a < e->least || a > e->most)
                return false;
            e->left--;
            e->least = 0x80;
            e->most = 0xBF;
        } else if (a >= 0x80) {
            if (a < 0xC2 || a > 0xF4)
                return false;
            e->is = VH_UTF8;
            e->left = a < 0xE0 ? 1 : a < 0xF0 ? 2 : 3;
            e->least = a == 0xE0 ? 0xA0 : a == 0xF0 ? 0x90 : 0x80; /* no overlong forms */
            e->most = a == 0xED ? 0x9F : a == 0xF4 ? 0x8F : 0xBF;  /* no surrogates */
        }
    }
    return true;
}

/* Checks the rest of a file; *seen: the file is seekable. */
static vhem_status check_rest(vhem_ctx *ctx, const char *path, FILE *f, vh_encoding *e, bool *valid,
                              bool *seen)
{
    char piece[1 << 14];
    int64_t at = vh_file_tell(f);
    size_t got;

    *seen = at >= 0 && vh_file_seek(f, at, SEEK_SET);
    if (!*seen)
        return VHEM_OK;
    while (*valid && (got = fread(piece, 1, sizeof piece, f)) > 0)
        *valid = check_utf8(e, piece, got);
    VH_CHECK(!ferror(f) && vh_file_seek(f, at, SEEK_SET), VHEM_EIO, "%s: cannot read: %s", path,
             strerror(errno));
    *valid &= e->left == 0;
    return VHEM_OK;
}

vhem_status vh_encoding_look(vhem_ctx *ctx, const char *path, FILE *f, const char *s, size_t n,
                             vh_encoding *e)
{
    bool first = e->is == VH_ASCII, seen = false, valid;

    if (e->is == VH_WINDOWS_1252)
        return VHEM_OK;
    valid = check_utf8(e, s, n);
    if (first && valid && e->is == VH_UTF8) {
        vh_encoding rest = *e;
        VH_TRY(check_rest(ctx, path, f, &rest, &valid, &seen));
        valid &= seen || !feof(f) || e->left == 0;
    }
    VH_CHECK(
        valid || first, VHEM_EFORMAT,
        "%s: the text begins as UTF-8 and does not go on so; save it in a file, which can be looked through "
        "before it is read",
        path);
    if (!valid)
        *e = (vh_encoding){ .is = VH_WINDOWS_1252 };
    return VHEM_OK;
}

size_t vh_windows_1252_decode(const char *s, size_t n, char *to)
{
    static const uint16_t high[32] = { /* 80 to 9f; undefined bytes as in Latin-1 */
                                       0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                       0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                       0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                       0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178
    };
    char room[4];
    size_t out = 0, mark = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char a = (unsigned char)s[i];
        if (i < mark) {
            if (to)
                to[out] = s[i];
            out++;
        } else {
            out += put_utf8(a >= 0x80 && a < 0xA0 ? high[a - 0x80] : a, to ? to + out : room);
        }
    }
    return out;
}

void vh_encoding_tell(vhem_ctx *ctx, const char *path, const vh_encoding *e)
{
    if (e->is == VH_WINDOWS_1252)
        vh_log(
            ctx, VHEM_LOG_WARN,
            "%s: the text is not UTF-8 and was read as Windows-1252; if letters are wrong, save it as UTF-8",
            path);
}
