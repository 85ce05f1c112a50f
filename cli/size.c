/* SPDX-License-Identifier: BSD-3-Clause */
/* size.c - amounts of memory as people type them. */
#include "cli.h"

#include <string.h>

static const char unit[] = "KMGT";

bool cli_read_size(const char *text, int64_t *size)
{
    int64_t x = 0;
    size_t n = strspn(text, "0123456789");
    const char *letter = text[n] ? strchr(unit, text[n] >= 'a' ? text[n] - 'a' + 'A' : text[n]) : NULL;
    if (n == 0 || (text[n] && (!letter || text[n + 1])))
        return false;
    for (size_t k = 0; k < n; k++) {
        if (x > (INT64_MAX - 9) / 10)
            return false;
        x = 10 * x + (text[k] - '0');
    }
    int shift = letter ? 10 * (int)(letter - unit + 1) : 0;
    if (x > INT64_MAX >> shift)
        return false;
    *size = x << shift;
    return true;
}

const char *cli_put_size(int64_t size, char *buf, size_t room)
{
    int k = 0;
    while (k < 4 && size > 0 && size % 1024 == 0) {
        size /= 1024;
        k++;
    }
    char letter[2] = { k > 0 ? unit[k - 1] : '\0', '\0' };
    snprintf(buf, room, "%lld%s", (long long)size, letter);
    return buf;
}
