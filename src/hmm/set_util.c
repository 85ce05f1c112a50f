/* SPDX-License-Identifier: BSD-3-Clause */
/* set_util.c - see set_util.h. */
#include "hmm/set_util.h"

#include <math.h>
#include <stdio.h>

const char *vh_model_text(const char *text)
{
    return text && *text ? text : NULL;
}

void vh_model_prefix(vhem_ctx *ctx, const char *kind, int64_t i, const char *name)
{
    char who[160];
    if (vh_model_text(name))
        snprintf(who, sizeof who, "%s %lld ('%.120s')", kind, (long long)i, name);
    else
        snprintf(who, sizeof who, "%s %lld", kind, (long long)i);
    vh_error_prefix(ctx, who);
}

double vh_model_difference(const double *a, const double *b, size_t n)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        double scale = fmax(1, fmax(fabs(a[k]), fabs(b[k])));
        double gap = fabs(a[k] / scale - b[k] / scale); /* a - b may overflow */
        if (isnan(a[k]) && isnan(b[k]))                 /* null in both */
            continue;
        if (!(gap <= worst))
            worst = isnan(gap) ? INFINITY : gap;
    }
    return worst;
}
