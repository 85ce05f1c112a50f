/* SPDX-License-Identifier: BSD-3-Clause */
/* utf16.c - see utf16.h.  iconv would do the same, but only where its tables of characters are installed. */
#include "data/utf16.h"

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
    while (room - out >= 8) { /* the longest character, and the pair that one more unit may complete */
        size_t want = (room - out) / 3 * 2 - 2, used;
        want = want < sizeof raw - 2 ? want & ~(size_t)1 : sizeof raw - 2;
        got = fread(raw, 1, want, f);
        if (got == want && got >= 2 && (unit_at(kind, raw + got - 2) & 0xFC00) == 0xD800)
            got += fread(raw + got, 1, 2, f); /* the other half */
        out += vh_utf16_decode(kind, raw, got, to + out, &used);
        if (got < want || used < got) {
            *broken = used < got;
            break;
        }
    }
    return out;
}
