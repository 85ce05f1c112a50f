/* SPDX-License-Identifier: BSD-3-Clause */
/* json_scan.c - see json_scan.h.
 *
 *   1. the grammar      2. numbers that were cut */
#include "model/json_scan.h"

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

static bool take(scan *s, char c)
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

/* Jansson finds wrong UTF-8 before it asks for memory: every byte will do here. */
static bool take_string(scan *s)
{
    if (!take(s, '"'))
        return false;
    while (s->at < s->end && *s->at != '"') {
        if ((unsigned char)*s->at < 32)
            return false;
        if (*s->at++ == '\\' && !take_escape(s))
            return false;
    }
    return take(s, '"');
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
    if (take(s, close))
        return true;
    do {
        if (keys && (!take_string(s) || !take(s, ':')))
            return false;
        if (!take_value(s, depth + 1))
            return false;
    } while (take(s, ','));
    return take(s, close);
}

static bool take_value(scan *s, int depth)
{
    if (depth > MAX_DEPTH)
        return false;
    if (take(s, '{'))
        return take_members(s, '}', true, depth);
    if (take(s, '['))
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

/* ---- 2. numbers that were cut -------------------------------------------------------------------------- */

/* The n-th number in the order of the text; NULL: there are fewer, and n is less by those. */
static json_t *find_number(json_t *v, int64_t *n)
{
    json_t *child, *found = NULL;
    const char *key;
    size_t k;

    if (json_is_number(v))
        return (*n)-- == 0 ? v : NULL;
    if (json_is_object(v))
        json_object_foreach(v, key, child)
        {
            found = found ? found : find_number(child, n);
            if (found)
                break;
        }
    if (json_is_array(v))
        json_array_foreach(v, k, child)
        {
            found = found ? found : find_number(child, n);
            if (found)
                break;
        }
    return found;
}

static bool is_same(const char *text, size_t size, const json_t *v)
{
    char copy[MAX_NUMBER];
    if (size >= sizeof copy) /* nothing writes so many digits; those past these do not matter to a double */
        return v != NULL;
    memcpy(copy, text, size);
    copy[size] = '\0';
    if (json_is_integer(v))
        return strtoll(copy, NULL, 10) == json_integer_value(v);
    return v && vh_number_read(copy, NULL) == json_real_value(v);
}

/* The buffer begins with 16 bytes and grows with the longest token so far: few numbers have to be compared. */
bool vh_json_is_whole(const char *text, size_t size, json_t *root)
{
    scan s = { text, text + size };
    size_t longest = 15;

    for (int64_t n = 0; s.at < s.end;) {
        const char *from = s.at;
        if (*from == '"') {
            if (!take_string(&s))
                return false;
        } else if (*from == '-' || (*from >= '0' && *from <= '9')) {
            take_number(&s);
            size_t length = (size_t)(s.at - from);
            int64_t number = n++;
            if (length > longest && !is_same(from, length, find_number(root, &number)))
                return false;
            longest = length > longest ? length : longest;
        } else {
            s.at++;
        }
    }
    return true;
}
