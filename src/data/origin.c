/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.c - see origin.h. */
#include "data/origin.h"

#include "core/alloc.h"

#include <stdio.h>
#include <string.h>

void vh_origin_free(vh_origin *origin, int64_t N)
{
    for (int64_t n = 0; origin->file && n < N; n++)
        free(origin->file[n]);
    free(origin->file);
    free(origin->line);
    free(origin->path);
    *origin = (vh_origin){ 0 };
}

vhem_status vh_origin_some(vhem_ctx *ctx, const vh_origin *from, const int64_t *seq, int64_t n,
                           vh_origin *out)
{
    vhem_status st = VHEM_OK;
    vh_origin copy = { 0 };

    if (from->path)
        VH_DUP_DONE(copy.path, from->path);
    if (from->file)
        VH_NEW_DONE(copy.file, n);
    if (from->line)
        VH_NEW_DONE(copy.line, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = seq ? seq[k] : k;
        if (from->file)
            VH_DUP_DONE(copy.file[k], from->file[i]);
        if (from->line)
            copy.line[k] = from->line[i];
    }
    *out = copy;
    copy = (vh_origin){ 0 };
done:
    vh_origin_free(&copy, n);
    return st;
}

const char *vh_origin_tell(const vh_origin *origin, int64_t n, int64_t t, vh_told *told)
{
    const char *file = origin->file ? origin->file[n] : origin->path;
    int64_t line = origin->line ? origin->line[n] : 0;
    told->s[0] = '\0';
    if (file && line > 0)
        snprintf(told->s, sizeof told->s, "%.400s: line %lld: ", file, (long long)(line + t));
    else if (file)
        snprintf(told->s, sizeof told->s, "%.400s: ", file);
    return told->s;
}
