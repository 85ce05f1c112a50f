/* SPDX-License-Identifier: BSD-3-Clause */
/* values.c - see values.h. */
#include "data/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The powers of ten that a double represents exactly. */
static const double ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
enum { MAX_TEN = 22 };
static const double two53 = 9007199254740992.0;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void vh_trim(const char **s, size_t *n)
{
    while (*n > 0 && is_blank(**s))
        ++*s, --*n;
    while (*n > 0 && is_blank((*s)[*n - 1]))
        --*n;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Classifies a cell that is not a number. */
static vh_value parse_word(const char *s, size_t n, double *out)
{
    static const char *const missing[] = { "?", ".", "na", "n/a", "null" };
    *out = NAN;
    if (n == 0)
        return VH_MISSING;
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++)
        if (n == strlen(missing[k]) && strncasecmp(s, missing[k], n) == 0)
            return VH_MISSING;
    bool sign = *s == '-' || *s == '+';
    s += sign;
    n -= sign;
    if (n == 3 && strncasecmp(s, "nan", 3) == 0)
        return VH_MISSING;
    if ((n == 3 && strncasecmp(s, "inf", 3) == 0) || (n == 8 && strncasecmp(s, "infinity", 8) == 0))
        return VH_INFINITE;
    return VH_TEXT;
}

/* Appends the digits from p on to the mantissa; *n_digits counts them without leading zeros. */
static const char *scan_digits(const char *p, const char *end, uint64_t *m, int *n_digits)
{
    for (; p < end && is_digit(*p); p++) {
        *m = *m * 10 + (uint64_t)(*p - '0');
        *n_digits += *n_digits > 0 || *p != '0';
    }
    return p;
}

/* [sign] digits, clamped to about 10^5; NULL if there are no digits. */
static const char *scan_exponent(const char *p, const char *end, int *e)
{
    bool minus = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end || !is_digit(*p))
        return NULL;
    for (; p < end && is_digit(*p); p++)
        *e = *e < 10000 ? *e * 10 + (*p - '0') : *e;
    *e = minus ? -*e : *e;
    return p;
}

/* digits [. digits] [e [sign] digits]: mantissa m below 10^19 and exponent; *exact is false if there are more
 * digits.  Returns the end of the number, or NULL if there is none. */
static const char *scan_decimal(const char *p, const char *end, uint64_t *m, int *exp10, bool *exact)
{
    const char *first = p;
    int n_digits = 0, point = 0, e = 0;
    uint64_t value = 0;

    p = scan_digits(p, end, &value, &n_digits);
    bool any = p > first;
    if (p < end && *p == '.') {
        const char *after = ++p;
        p = scan_digits(p, end, &value, &n_digits);
        point = p - after > 10000 ? 10000 : (int)(p - after);
        any |= p > after;
    }
    if (!any)
        return NULL;
    if (p < end && (*p == 'e' || *p == 'E'))
        p = scan_exponent(p + 1, end, &e);
    *m = value;
    *exp10 = e - point;
    *exact = n_digits <= 19; /* 10^19 < 2^64: the mantissa did not wrap */
    return p;
}

/* Retries with U+2212, the typographic minus, as '-'. */
static vh_value parse_minus(const char *s, size_t n, double *out)
{
    char plain[64];
    size_t k = 0;
    if (n == 0 || n >= sizeof plain || !memchr(s, 0xE2, n))
        return parse_word(s, n, out);
    for (size_t i = 0; i < n; i++)
        if (n - i >= VH_MINUS_SIZE && memcmp(s + i, VH_MINUS, VH_MINUS_SIZE) == 0) {
            plain[k++] = '-';
            i += VH_MINUS_SIZE - 1;
        } else {
            plain[k++] = s[i];
        }
    plain[k] = '\0';
    return k < n ? vh_number_parse(plain, k, out) : parse_word(s, n, out);
}

vh_value vh_number_parse(const char *s, size_t n, double *out)
{
    vh_trim(&s, &n);
    const char *p = s, *end = s + n;
    bool minus = n > 0 && *p == '-', exact = false;
    uint64_t m = 0;
    int e = 0;
    p += n > 0 && (*p == '-' || *p == '+');
    p = scan_decimal(p, end, &m, &e, &exact);
    if (p != end || n == 0)
        return parse_minus(s, n, out);
    double v;
    if (exact && m <= (uint64_t)two53 && e >= -MAX_TEN && e <= MAX_TEN) {
        /* m and 10^|e| are exact, so this rounds once: the result is the nearest double. */
        v = e < 0 ? (double)m / ten[-e] : (double)m * ten[e];
        v = minus ? -v : v;
    } else {
        v = strtod(s, NULL);
    }
    *out = v;
    return isfinite(v) ? VH_NUMBER : VH_INFINITE;
}

/* True if word [n] matches the cell: its text s [n_s] or its value v (NaN: not a number). */
static bool is_word(const char *word, size_t n, const char *s, size_t n_s, double v)
{
    double number;
    vh_trim(&word, &n);
    if (n == n_s && memcmp(word, s, n) == 0)
        return true;
    return !isnan(v) && vh_number_parse(word, n, &number) == VH_NUMBER && number == v;
}

vh_value vh_cell_parse(const char *s, size_t n, const char *missing, double *out)
{
    vh_value kind = vh_number_parse(s, n, out);
    if (!missing || kind == VH_MISSING)
        return kind;
    vh_trim(&s, &n);
    for (const char *word = missing, *comma = word; comma; word = comma + 1) {
        comma = strchr(word, ',');
        size_t size = comma ? (size_t)(comma - word) : strlen(word);
        if (is_word(word, size, s, n, kind == VH_NUMBER ? *out : NAN)) {
            *out = NAN;
            return VH_MISSING;
        }
    }
    return kind;
}

bool vh_integer_parse(const char *s, size_t n, int64_t *out)
{
    bool minus = n > 0 && *s == '-';
    size_t i = minus;
    int64_t v = 0;
    if (i == n)
        return false;
    for (; i < n; i++) {
        if (!is_digit(s[i]) || v > (INT64_MAX - 9) / 10)
            return false;
        v = v * 10 + (s[i] - '0');
    }
    *out = minus ? -v : v;
    return true;
}

/* Prints m with its last k digits after the point. */
static size_t put_decimal(bool minus, uint64_t m, int k, char *out)
{
    char digit[24];
    int n = 0;
    size_t len = 0;
    for (; m > 0 || n <= k; m /= 10)
        digit[n++] = (char)('0' + m % 10);
    if (minus)
        out[len++] = '-';
    while (n > 0) {
        out[len++] = digit[--n];
        if (n == k && k > 0)
            out[len++] = '.';
    }
    out[len] = '\0';
    return len;
}

size_t vh_number_short(double v, char out[VH_NUMBER_SIZE])
{
    double a = fabs(v);
    if (a == 0 || (a >= 1e-4 && a < 1e15)) {
        /* v = m / 10^k with the fewest decimals.  m < 2^53 and 10^k are exact, so reading rounds once and
         * gives v again.  Most measured values are of this kind; this is ten times as fast as the general
         * method. */
        for (int k = 0; k <= MAX_TEN; k++) {
            double scaled = a * ten[k], m = rint(scaled);
            if (scaled >= two53)
                break;
            if (fabs(scaled - m) <= m * DBL_EPSILON && m / ten[k] == a)
                return put_decimal(signbit(v), (uint64_t)m, k, out);
        }
    }
    return vh_number_text(v, out);
}

const char *vh_show_into(char out[VH_SHOW_SIZE], const char *s, size_t n)
{
    size_t room = 48, cut = n > room ? room : n;
    for (size_t i = 0; i < cut; i++)
        out[i] = (unsigned char)s[i] < 32 || s[i] == 127 ? '?' : s[i];
    if (cut < n) {
        while (cut > 0 && ((unsigned char)s[cut] & 0xC0) == 0x80)
            cut--; /* do not split a UTF-8 character */
        memcpy(out + cut, "...", 3);
        cut += 3;
    }
    out[cut] = '\0';
    return out;
}

void vh_show_list(char *const *names, int n, const char *between, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        char shown[VH_SHOW_SIZE];
        char rest[32] = ""; /* must still fit after this name */
        const char *name = vh_show_into(shown, names[i], strlen(names[i]));
        if (i + 1 < n)
            snprintf(rest, sizeof rest, " and %d more", n - i - 1);
        if (used + strlen(name) + strlen(between) + strlen(rest) >= size) {
            snprintf(out + used, size - used, "%s%d more", i ? " and " : "", n - i);
            return;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? between : "", name);
    }
}

bool vh_join(char *const *names, int n, const char *between, char *out, size_t size)
{
    size_t used = 0, gap = strlen(between);
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (used + strlen(names[i]) + gap >= size || strpbrk(names[i], ",'"))
            return false;
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? between : "", names[i]);
    }
    return true;
}

void vh_list_free(char **names, int64_t n)
{
    for (int k = 0; names && k < n; k++)
        free(names[k]);
    free(names);
}
