/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - see settings.h. */
#include "core/settings.h"

#include "core/alloc.h"
#include "core/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Beyond these, the log-gammas of a posterior lose their digits and a bound may decrease. */
#define LEAST 1e-12
#define MOST  1e9

/* True if the key is also set in the first n bytes of the text. */
static bool is_before(const char *text, const char *key, ptrdiff_t n)
{
    size_t length = strlen(key);
    for (const char *at = text; at - text < n; at = strchr(at, ',') + 1)
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return true;
    return false;
}

vhem_status vh_settings_read(vhem_ctx *ctx, const char *what, const char *example, const char *text,
                             vh_setting *take, void *arg)
{
    VH_AUTOFREE char *copy = NULL;
    char *rest;

    VH_DUP(copy, text);
    rest = copy;
    while (rest && *rest) {
        char *key = rest, *value;
        rest = strchr(rest, ',');
        if (rest)
            *rest++ = 0;
        value = strchr(key, '=');
        VH_CHECK(value, VHEM_EINVAL, "%s: '%.80s' is not a setting; write it as %s", what, key, example);
        *value++ = 0;
        VH_CHECK(!is_before(text, key, key - copy), VHEM_EINVAL, "%s: %.80s is set twice", what, key);
        VH_TRY(take(ctx, arg, key, value));
    }
    return VHEM_OK;
}

vhem_status vh_setting_positive(vhem_ctx *ctx, const char *what, const char *key, const char *value,
                                double *out)
{
    char *end;
    double x = vh_number_read(value, &end);

    VH_CHECK(*value && !*end && x > 0 && isfinite(x), VHEM_EINVAL,
             "%s: %s is '%.80s', must be a finite number above 0", what, key, value);
    VH_CHECK(x >= LEAST && x <= MOST, VHEM_EINVAL, "%s: %s is '%.80s', must be from %g to %g", what, key,
             value, LEAST, MOST);
    *out = x;
    return VHEM_OK;
}
