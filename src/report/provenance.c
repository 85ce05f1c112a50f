/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - how to reproduce the result: commands, options, seed and version recorded in the files. */
#include "report/provenance.h"

#include "core/own.h"
#include "report/text.h"

#include <jansson.h>
#include <string.h>

enum { LONG = 2000 };

/* Writes a shell word, quoted if necessary. */
static void put_word(FILE *f, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
    if (*text && strspn(text, plain) == strlen(text)) {
        vh_html_text(f, text, LONG);
        return;
    }
    fputs("&#39;", f);
    for (const char *p = text; *p && p - text < LONG;) {
        size_t n = strcspn(p, "'");
        char part[LONG + 1];
        n = n < LONG ? n : LONG;
        memcpy(part, p, n);
        part[n] = '\0';
        vh_html_text(f, part, LONG);
        p += n;
        if (*p == '\'') {
            fputs("&#39;\\&#39;&#39;", f);
            p++;
        }
    }
    fputs("&#39;", f);
}

static void put_value(FILE *f, json_t *v)
{
    if (json_is_string(v))
        put_word(f, json_string_value(v));
    else if (json_is_integer(v))
        fprintf(f, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        fprintf(f, "%.15g", json_real_value(v));
    else if (json_is_boolean(v))
        fputs(json_is_true(v) ? "yes" : "no", f);
    else
        putc('-', f);
}

static void put_command(FILE *f, json_t *made)
{
    const char *command = json_string_value(json_object_get(made, "command")), *key;
    const char *input = json_string_value(json_object_get(made, "input"));
    json_t *v;
    if (!command)
        return;
    fputs("<pre class=\"command\"><code>vhem ", f);
    put_word(f, command);
    putc(' ', f);
    put_word(f, input ? input : "INPUT");
    json_object_foreach(json_object_get(made, "options"), key, v)
    {
        if (json_is_null(v) || json_is_false(v))
            continue;
        fputs(" <span>--", f);
        put_word(f, key); /* quoted: files are untrusted, and readers copy this */
        if (!json_is_true(v)) {
            putc(' ', f);
            put_value(f, v);
        }
        fputs("</span>", f);
    }
    v = json_object_get(made, "seed");
    if (v) {
        fputs(" <span>--seed ", f);
        put_value(f, v);
        fputs("</span>", f);
    }
    fputs(" -o OUT</code></pre>\n", f);
}

static void put_fact(FILE *f, const char *name, json_t *v)
{
    if (!v || json_is_null(v))
        return;
    fputs("<li><span>", f);
    vh_html_text(f, name, VH_NAME_MAX);
    fputs("</span> <b>", f);
    put_value(f, v);
    fputs("</b></li>\n", f);
}

static json_t *read_once(const char *text)
{
    json_error_t err = { 0 };
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &err);
    if (!root && json_error_code(&err) == json_error_numeric_overflow) /* a seed past 64 bits */
        root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &err);
    return root;
}

/* The text was validated when read, so only memory can run out.  Jansson may then silently lose a character,
 * but not the same one twice. */
static vhem_status read_object(vhem_ctx *ctx, const char *text, json_t **out)
{
    json_t *root = read_once(text), *again = read_once(text);
    bool whole = json_is_object(root) && again && json_equal(root, again);
    json_decref(again);
    if (!whole)
        json_decref(root);
    VH_CHECK(whole, VHEM_ENOMEM, "out of memory: the provenance has %zu bytes", strlen(text));
    *out = root;
    return VHEM_OK;
}

vhem_status vh_provenance_put(vhem_ctx *ctx, FILE *f, const char *what, const char *json)
{
    json_t *made = NULL, *v;
    const char *key;
    if (json)
        VH_TRY(read_object(ctx, json, &made));
    fprintf(f, "<h3>%s</h3>\n", what);
    if (!made) {
        fputs("<p class=\"note\">The file does not say how it was made.</p>\n", f);
        return VHEM_OK;
    }
    put_command(f, made);
    fputs("<details><summary>Every option</summary><ul class=\"facts\">\n", f);
    put_fact(f, "program", json_object_get(made, "program"));
    put_fact(f, "version", json_object_get(made, "version"));
    put_fact(f, "data", json_object_get(made, "input"));
    put_fact(f, "seed", json_object_get(made, "seed"));
    put_fact(f, "backend", json_object_get(made, "backend"));
    put_fact(f, "interrupted", json_object_get(made, "interrupted"));
    json_object_foreach(json_object_get(made, "options"), key, v) put_fact(f, key, v);
    fputs("</ul></details>\n", f);
    json_decref(made);
    return VHEM_OK;
}
