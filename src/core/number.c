/* SPDX-License-Identifier: BSD-3-Clause */
/* number.c - see number.h.
 *
 * One %.16e gives 17 digits, which always read back exactly.  Shorter candidates are rounded from these
 * digits with integers and tested for reading back: much faster than printing each candidate, which matters
 * in files with millions of numbers. */
#include "core/number.h"

#include "os/stream.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10^k is exact in a double up to k = 22. */
static const double power10[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/* True if the text "w e e10" reads as x > 0. */
static bool reads_as(uint64_t w, int e10, double x)
{
    /* Both factors are exact, so the product or quotient is rounded once, like the decimal. */
    if (w <= UINT64_C(1) << 53 && e10 >= -22 && e10 <= 22)
        return (e10 < 0 ? (double)w / power10[-e10] : (double)w * power10[e10]) == x;
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)w, e10); /* no decimal point, so no locale */
    return strtod(text, NULL) == x;
}

/* Writes the digits of x > 0 without trailing zeros; returns their number; x = d.ddd 10^*exponent. */
static int shortest_digits(double x, char digit[24], int *exponent)
{
    char text[48];
    uint64_t w = 0;
    const char *p = text;

    snprintf(text, sizeof text, "%.16e", x);
    for (; *p != 'e'; p++) /* skips the decimal point of the locale */
        if (*p >= '0' && *p <= '9')
            w = 10 * w + (uint64_t)(*p - '0');
    *exponent = atoi(p + 1);

    int n = 17;
    uint64_t w15 = (w + 50) / 100, w16 = (w + 5) / 10;
    if (reads_as(w15, *exponent - 14, x)) {
        w = w15;
        n = 15;
    } else if (reads_as(w16, *exponent - 15, x)) {
        w = w16;
        n = 16;
    }
    int length = snprintf(digit, 24, "%llu", (unsigned long long)w);
    *exponent += length - n; /* 9.99... was rounded up to 10 */
    while (length > 1 && digit[length - 1] == '0')
        length--;
    return length;
}

size_t vh_number_text(double x, char text[VH_NUMBER_SIZE])
{
    if (!isfinite(x))
        return (size_t)snprintf(text, VH_NUMBER_SIZE, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");

    char digit[24] = "0", *p = text;
    int e = 0, n = 1;
    if (x != 0)
        n = shortest_digits(fabs(x), digit, &e);
    if (signbit(x))
        *p++ = '-';
    if (e < -4 || e >= 16) {
        *p++ = digit[0];
        *p++ = '.';
        p += sprintf(p, "%.*se%+03d", n > 1 ? n - 1 : 1, n > 1 ? digit + 1 : "0", e);
        return (size_t)(p - text);
    }
    if (e < 0) {
        memcpy(p, "0.0000", 6);
        p += 1 - e;
    }
    for (int k = 0; k < n || k <= e; k++) {
        *p++ = k < n ? digit[k] : '0';
        if (k == e)
            *p++ = '.';
    }
    if (p[-1] == '.')
        *p++ = '0';
    *p = '\0';
    return (size_t)(p - text);
}

double vh_number_read(const char *text, char **end)
{
    void *locale = vh_locale_enter();
    double x = strtod(text, end);
    vh_locale_leave(locale);
    return x;
}
