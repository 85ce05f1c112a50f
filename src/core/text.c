/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - see text.h. */
#include "core/text.h"

#include "core/alloc.h"
#include "os/stream.h"

#include <stdint.h>
#include <string.h>

int vh_utf8_length(const unsigned char *s)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    int n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    if (n <= 1)
        return n;
    uint32_t code = s[0] & (0xFFu >> (n + 1));
    for (int k = 1; k < n; k++) {
        if (s[k] >> 6 != 2) /* also stops at the final NUL */
            return 0;
        code = code << 6 | (s[k] & 0x3Fu);
    }
    return code < least[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

void vh_text_clean(char *text)
{
    for (unsigned char *s = (unsigned char *)text; *s;) {
        int n = vh_utf8_length(s);
        bool control =
            *s < 0x20 || *s == 0x7F || (*s == 0xC2 && n == 2 && s[1] < 0xA0); /* U+0080 to U+009F */
        if (n == 0 || control)
            memset(s, '?', n == 0 ? 1 : (size_t)n);
        s += n == 0 ? 1 : n;
    }
}

/* Python calls some options by the names that scikit-learn has for them. */
static const char *const in_python[][2] = { { "emission", "covariance_type" },
                                            { "restarts", "n_init" },
                                            { "threads", "n_jobs" },
                                            { "seed", "random_state" } };

static void spell_command(FILE *f, const char *name, int n, const char *value)
{
    bool family = n == 8 && strncmp(name, "emission", 8) == 0;
    if (family && value && strncmp(value, "gaussian-", 9) == 0) {
        fprintf(f, "--cov %s", value + 9);
        return;
    }
    fputs("--", f);
    for (int k = 0; k < n; k++)
        putc(name[k] == '_' ? '-' : name[k], f);
    if (value)
        fprintf(f, "%c%s", n == 7 && strncmp(name, "missing", 7) == 0 && *value != '\'' ? '=' : ' ', value);
}

static void spell_python(FILE *f, const char *name, int n, const char *value)
{
    const char *called = name;
    char *end;
    for (size_t k = 0; k < sizeof in_python / sizeof in_python[0]; k++)
        if ((int)strlen(in_python[k][0]) == n && strncmp(in_python[k][0], name, (size_t)n) == 0)
            called = in_python[k][1];
    fprintf(f, "%.*s=", called == name ? n : (int)strlen(called), called);
    if (!value)
        return;
    if (called == in_python[0][1] && strncmp(value, "gaussian-", 9) == 0)
        value += 9;
    bool text = strncmp(name, "missing", 7) == 0 || strncmp(name, "columns", 7) == 0;
    bool bare = *value == '\'' || (strtod(value, &end), end != value && !*end && !text);
    fprintf(f, bare ? "%s" : "'%s'", value);
}

/* An option with a mark before and behind it: name, or name=value. */
static void spell(FILE *f, vhem_words words, const char *name, int n, const char *value)
{
    bool textures = value && n == 5 && strncmp(name, "model", 5) == 0 && strcmp(value, "dtm") == 0;
    if (words == VHEM_WORDS_COMMAND) {
        fputs(textures ? "vhem fit " : "", f);
        spell_command(f, name, n, value);
    } else if (words == VHEM_WORDS_PYTHON && textures) {
        fputs("vhem.fit_textures", f);
    } else if (words == VHEM_WORDS_PYTHON) {
        spell_python(f, name, n, value);
    } else {
        fprintf(f, value ? "%.*s = %s" : "%.*s", n, name, value);
    }
}

void vh_text_spell(vhem_words words, char *text, size_t size)
{
    char *out = NULL;
    size_t n = 0;
    FILE *f = strchr(text, '\1') ? vh_memory_open(&out, &n) : NULL;

    if (!f)
        return;
    for (const char *p = text; *p; p++) {
        size_t name = *p == '\1' ? strspn(p + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
        const char *end = name > 0 ? strchr(p + 1, '\2') : NULL;
        char *value =
            end && p[1 + name] == '=' ? vh_strndup(NULL, p + name + 2, (size_t)(end - p) - name - 2) : NULL;
        if (end && (value || end == p + 1 + name)) {
            spell(f, words, p + 1, (int)name, value);
            p = end;
        } else {
            putc(*p, f);
        }
        free(value);
    }
    if (vh_memory_close(f, &out, &n))
        snprintf(text, size, "%s", out);
    free(out);
}

void vh_text_json(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    putc('"', f);
    while (*s) {
        int n = vh_utf8_length(s);
        if (n == 0) {
            fputs("\xEF\xBF\xBD", f);
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            putc('\\', f);
            putc(*s, f);
        } else if (*s == '\n') {
            fputs("\\n", f);
        } else if (*s == '\t') {
            fputs("\\t", f);
        } else if (*s < 0x20 || *s == 0x7F) {
            fprintf(f, "\\u%04x", (unsigned)*s);
        } else if (*s == 0xC2 && s[1] < 0xA0) { /* U+0080 to U+009F, control codes of some terminals */
            fprintf(f, "\\u%04x", (unsigned)s[1]);
        } else {
            fwrite(s, 1, (size_t)n, f);
        }
        s += n;
    }
    putc('"', f);
}

bool vh_has_word(const char *list, char separator, const char *word)
{
    size_t n = strlen(word);
    for (const char *w = list; w && n > 0; w = strchr(w, separator), w = w ? w + 1 : NULL)
        if (strncmp(w, word, n) == 0 && (w[n] == separator || w[n] == '\0'))
            return true;
    return false;
}

int vh_compare_versions(const char *a, const char *b)
{
    static const char digits[] = "0123456789";
    size_t at = 0, from;
    while (a[at] && a[at] == b[at])
        at++;
    for (from = at; from > 0 && strchr(digits, a[from - 1]); from--) {
    } /* the number that differs begins there */
    size_t na = strspn(a + from, digits), nb = strspn(b + from, digits);
    bool zero = a[from] == '0' || b[from] == '0';

    if (!zero && na > 0 && nb > 0 && na != nb)
        return na < nb ? -1 : 1;
    /* Leading zeros make a fraction: a number goes on after zeros that both have, and comes first. */
    bool zeros = at > from && strspn(a + from, "0") >= at - from;
    if (zeros && (na > at - from) != (nb > at - from))
        return na > nb ? -1 : 1;
    return (unsigned char)a[at] - (unsigned char)b[at];
}

const char *vh_list_words(const char *words, char *out, size_t size)
{
    size_t n = 0;
    for (; *words && n + 3 < size; words++) {
        out[n++] = *words == '|' ? ',' : *words;
        if (*words == '|')
            out[n++] = ' ';
    }
    out[n] = '\0';
    return out;
}

vhem_status vh_texts_keep(vhem_ctx *ctx, vh_texts *texts, const char *text, const char **slot)
{
    VH_TRY(vh_grow(ctx, &texts->text, &texts->cap, (size_t)texts->n + 1, sizeof *texts->text));
    VH_DUP(texts->text[texts->n], text);
    *slot = texts->text[texts->n++];
    return VHEM_OK;
}

void vh_texts_free(vh_texts *texts)
{
    for (int64_t k = 0; texts->text && k < texts->n; k++)
        free(texts->text[k]);
    free(texts->text);
    *texts = (vh_texts){ 0 };
}

vhem_status vh_text_close(vhem_ctx *ctx, FILE *f, char **text, size_t *size)
{
    VH_CHECK(vh_memory_close(f, text, size), VHEM_ENOMEM, "out of memory: no room for a text");
    return VHEM_OK;
}

enum { BLOCK = 1 << 16 };

struct vh_text_block {
    vh_text_block *before;
    size_t used, size;
    char text[];
};

vhem_status vh_text_block_add(vhem_ctx *ctx, vh_text_block **last, const char *text, char **slot)
{
    size_t n = strlen(text) + 1;
    vh_text_block *block = *last;

    if (!block || block->size - block->used < n) {
        size_t size = n > BLOCK ? n : BLOCK;
        block = malloc(sizeof *block + size);
        VH_CHECK(block, VHEM_ENOMEM, "out of memory: %zu bytes for names", size);
        *block = (vh_text_block){ .before = *last, .size = size };
        *last = block;
    }
    *slot = memcpy(block->text + block->used, text, n);
    block->used += n;
    return VHEM_OK;
}

void vh_text_blocks_free(vh_text_block *last)
{
    for (vh_text_block *before; last; last = before) {
        before = last->before;
        free(last);
    }
}
