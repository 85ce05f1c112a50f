/* SPDX-License-Identifier: BSD-3-Clause */
/* json_scan.c - see json_scan.h.
 *
 *   1. the grammar      2. truncated tokens      3. the objects of an array */
#include "files/json_scan.h"

#include "core/number.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 2048, MAX_NUMBER = 512 };

typedef struct {
    const char *at, *end;
} scan;

/* ---- 1. the grammar ------------------------------------------------------------------------------------ */

static void skip_space(scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool accept(scan *s, char c)
{
    skip_space(s);
    if (s->at >= s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool take_digits(scan *s)
{
    const char *from = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return s->at > from;
}

static bool take_number(scan *s)
{
    if (s->at < s->end && *s->at == '-')
        s->at++;
    if (s->at < s->end && *s->at == '0')
        s->at++;
    else if (!take_digits(s))
        return false;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        if (!take_digits(s))
            return false;
    }
    if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
        s->at++;
        if (s->at < s->end && (*s->at == '+' || *s->at == '-'))
            s->at++;
        return take_digits(s);
    }
    return true;
}

static bool take_escape(scan *s)
{
    if (s->at >= s->end)
        return false;
    char c = *s->at++;
    if (c != 'u')
        return c && strchr("\"\\/bfnrt", c);
    for (int k = 0; k < 4; k++, s->at++)
        if (s->at >= s->end || !*s->at || !strchr("0123456789abcdefABCDEF", *s->at))
            return false;
    return true;
}

/* Accepts any byte: Jansson detects invalid UTF-8 before it allocates. */
static bool take_string(scan *s)
{
    if (!accept(s, '"'))
        return false;
    while (s->at < s->end && *s->at != '"') {
        if ((unsigned char)*s->at < 32)
            return false;
        if (*s->at++ == '\\' && !take_escape(s))
            return false;
    }
    return accept(s, '"');
}

static bool take_word(scan *s)
{
    static const char *const words[] = { "true", "false", "null" };
    for (int k = 0; k < 3; k++) {
        size_t n = strlen(words[k]);
        if ((size_t)(s->end - s->at) >= n && memcmp(s->at, words[k], n) == 0) {
            s->at += n;
            return true;
        }
    }
    return false;
}

static bool take_value(scan *s, int depth);

static bool take_members(scan *s, char close, bool keys, int depth)
{
    if (accept(s, close))
        return true;
    do {
        if (keys && (!take_string(s) || !accept(s, ':')))
            return false;
        if (!take_value(s, depth + 1))
            return false;
    } while (accept(s, ','));
    return accept(s, close);
}

static bool take_value(scan *s, int depth)
{
    if (depth > MAX_DEPTH)
        return false;
    if (accept(s, '{'))
        return take_members(s, '}', true, depth);
    if (accept(s, '['))
        return take_members(s, ']', false, depth);
    if (s->at < s->end && *s->at == '"')
        return take_string(s);
    return take_word(s) || take_number(s);
}

bool vh_json_is_valid(const char *text, size_t size)
{
    scan s = { text, text + size };
    skip_space(&s);
    if (s.at >= s.end || (*s.at != '{' && *s.at != '[') || !take_value(&s, 0))
        return false;
    skip_space(&s);
    return s.at == s.end;
}

/* ---- 2. truncated tokens ------------------------------------------------------------------------------- */

typedef struct {  /* a parsed string or number, by its position in the text */
    int64_t left; /* number of tokens before it */
    const char *text;
    size_t size;
    json_t *number; /* NULL: a string */
} token;

static bool is_here(token *t, const char *text, size_t size, json_t *number)
{
    if (t->left-- > 0)
        return false;
    t->text = text;
    t->size = size;
    t->number = number;
    return true;
}

static bool find_token(json_t *v, token *t)
{
    json_t *child;
    const char *key;
    size_t k;

    if (json_is_number(v))
        return is_here(t, NULL, 0, v);
    if (json_is_string(v))
        return is_here(t, json_string_value(v), json_string_length(v), NULL);
    if (json_is_object(v))
        json_object_foreach(v, key, child) if (is_here(t, key, strlen(key), NULL)
                                               || find_token(child, t)) return true;
    if (json_is_array(v))
        json_array_foreach(v, k, child) if (find_token(child, t)) return true;
    return false;
}

/* UTF-8 bytes of a \uXXXX escape; the second half of a surrogate pair counts 0. */
static size_t utf8_size(const char *hex)
{
    char digits[5] = { hex[0], hex[1], hex[2], hex[3], '\0' };
    long c = strtol(digits, NULL, 16);
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c >= 0xDC00 && c < 0xE000 ? 0 : c >= 0xD800 && c < 0xDC00 ? 4 : 3;
}

/* Length of the string with this text, which includes its quotes. */
static size_t string_size(const char *text, size_t size)
{
    size_t n = 0;
    for (size_t k = 1; k + 1 < size; k++) {
        bool escape = text[k] == '\\';
        bool code = escape && text[k + 1] == 'u';
        n += code ? utf8_size(text + k + 2) : 1;
        k += code ? 5 : escape;
    }
    return n;
}

static bool is_same(const char *text, size_t size, const token *t)
{
    char copy[MAX_NUMBER];
    if (!t->number)
        return t->text && *text == '"' && t->size == string_size(text, size);
    if (size >= sizeof copy) /* such long numbers do not occur; further digits do not affect a double */
        return true;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (json_is_integer(t->number))
        return strtoll(copy, NULL, 10) == json_integer_value(t->number);
    return vh_number_read(copy, NULL) == json_real_value(t->number);
}

/* The buffer starts at 16 bytes and grows with the longest token so far, so few need comparing. */
bool vh_json_is_whole(const char *text, size_t size, json_t *root)
{
    scan s = { text, text + size };
    size_t longest = 15;

    for (int64_t n = 0; s.at < s.end;) {
        const char *from = s.at;
        bool string = *from == '"', number = *from == '-' || (*from >= '0' && *from <= '9');
        if (string)
            take_string(&s);
        else if (number)
            take_number(&s);
        if (!string && !number) {
            s.at++;
            continue;
        }
        size_t length = (size_t)(s.at - from);
        token t = { .left = n++ };
        if (length > longest && !(find_token(root, &t) && is_same(from, length, &t)))
            return false;
        longest = length > longest ? length : longest;
    }
    return true;
}

/* ---- 3. the objects of an array ------------------------------------------------------------------------ */

static bool take_items(scan *s, vh_json_items *out)
{
    if (out->n > 0 || !accept(s, '['))
        return false;
    out->at = s->at;
    do {
        skip_space(s);
        if (s->at >= s->end || *s->at != '{' || !take_value(s, 2))
            return false;
        out->n++;
    } while (accept(s, ','));
    skip_space(s);
    out->end = s->at;
    return accept(s, ']');
}

/* True if the string from .. to, with its quotes, is this name; false if it has an escape. */
static bool is_name(const char *from, const char *to, const char *name)
{
    size_t n = strlen(name);
    return (size_t)(to - from) == n + 2 && *from == '"' && memcmp(from + 1, name, n) == 0;
}

bool vh_json_find_items(const char *text, size_t size, const char *format, const char *key,
                        vh_json_items *out)
{
    scan s = { text, text + size };
    vh_json_items found = { .text = text, .size = size };
    bool right = false;

    if (!accept(&s, '{'))
        return false;
    do {
        skip_space(&s);
        const char *name = s.at;
        if (!take_string(&s))
            return false;
        const char *end = s.at;
        if (!accept(&s, ':'))
            return false;
        skip_space(&s);
        const char *value = s.at;
        if (!(is_name(name, end, key) ? take_items(&s, &found) : take_value(&s, 1)))
            return false;
        right = right || (is_name(name, end, "format") && is_name(value, s.at, format));
    } while (accept(&s, ','));
    if (!accept(&s, '}') || !right || found.n == 0)
        return false;
    skip_space(&s);
    *out = found;
    return s.at == s.end;
}

const char *vh_json_next_item(vh_json_items *items, size_t *size)
{
    scan s = { items->at, items->end };
    skip_space(&s);
    const char *from = s.at;
    take_value(&s, 2);
    *size = (size_t)(s.at - from);
    accept(&s, ',');
    items->at = s.at;
    return from;
}
