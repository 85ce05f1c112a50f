/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - see text.h. */
#include "report/text.h"

#include "core/text.h"

#include <stdint.h>
#include <string.h>

/* Returns the next character and advances; 0 at the end.  Invalid bytes become U+FFFD. */
static uint32_t next_char(const char **text, int *bytes)
{
    const unsigned char *s = (const unsigned char *)*text;
    int n = vh_utf8_length(s);
    uint32_t code = n <= 1 ? s[0] : s[0] & (0xFFu >> (n + 1));
    for (int k = 1; k < n; k++)
        code = code << 6 | (s[k] & 0x3Fu);
    *bytes = n > 0 ? n : 1;
    *text += *s ? *bytes : 0;
    return n > 0 ? code : 0xFFFD;
}

static int left_out(uint32_t code)
{
    return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0)
           || (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E)
           || (code >= 0x2066 && code <= 0x2069) || (code & 0xFFFE) == 0xFFFE;
}

int vh_text_longer(const char *text, int max)
{
    int bytes;
    for (int n = 0; next_char(&text, &bytes); n++)
        if (n >= max)
            return 1;
    return 0;
}

typedef void put_char(FILE *f, uint32_t code, const char *at, int bytes);

static void put_html(FILE *f, uint32_t code, const char *at, int bytes)
{
    switch (code) {
    case '&': fputs("&amp;", f); break;
    case '<': fputs("&lt;", f); break;
    case '>': fputs("&gt;", f); break;
    case '"': fputs("&quot;", f); break;
    case '\'': fputs("&#39;", f); break;
    default: fwrite(at, 1, (size_t)bytes, f);
    }
}

static void put_json(FILE *f, uint32_t code, const char *at, int bytes)
{
    if (code < 0x80 && strchr("\"\\<>&'\n\t", (int)code))
        fprintf(f, "\\u%04x", (unsigned)code);
    else
        fwrite(at, 1, (size_t)bytes, f);
}

static void put_all(FILE *f, const char *text, int max, put_char *put)
{
    int n = 0, bytes;
    for (const char *at = text; n <= max; at = text) {
        uint32_t code = next_char(&text, &bytes);
        if (code == 0)
            break;
        if (left_out(code))
            continue;
        if (n++ == max)
            fputs("\xE2\x80\xA6", f);
        else if (code == 0xFFFD)
            fputs("\xEF\xBF\xBD", f);
        else
            put(f, code, at, bytes);
    }
}

void vh_html_text(FILE *f, const char *text, int max)
{
    put_all(f, text, max, put_html);
}

void vh_html_name(FILE *f, const char *thing, const char *name, int64_t i)
{
    if (!*name) {
        fprintf(f, "%s %lld", thing, (long long)i);
    } else if (vh_text_longer(name, VH_NAME_MAX)) {
        fputs("<span title=\"", f);
        vh_html_text(f, name, VH_TIP_MAX);
        fputs("\">", f);
        vh_html_text(f, name, VH_NAME_MAX);
        fputs("</span>", f);
    } else {
        vh_html_text(f, name, VH_NAME_MAX);
    }
}

void vh_script_text(FILE *f, const char *text, int max)
{
    putc('"', f);
    put_all(f, text, max, put_json);
    putc('"', f);
}

void vh_tsv_text_of(FILE *f, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++)
        putc(strchr("\t\n\r", text[k]) ? ' ' : text[k], f);
}

void vh_tsv_text(FILE *f, const char *text)
{
    vh_tsv_text_of(f, text, strlen(text));
}

void vh_short_number(double x, char *text, size_t size)
{
    snprintf(text, size, "%.4g", x);
    char *e = strchr(text, 'e'), *p = e ? e + 1 : NULL;
    if (!p)
        return;
    char *digits = p + strspn(p, "+-0");
    if (*p == '-')
        p++;
    memmove(p, digits, strlen(digits) + 1);
}
