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
    VH_CLEANUP(vh_origin_drop) vh_origin copy = { .n = n };

    if (from->path)
        VH_DUP(copy.path, from->path);
    if (from->file)
        VH_NEW(copy.file, n);
    if (from->line)
        VH_NEW(copy.line, n);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = seq ? seq[k] : k;
        if (from->file)
            VH_DUP(copy.file[k], from->file[i]);
        if (from->line)
            copy.line[k] = from->line[i];
    }
    *out = copy;
    copy = (vh_origin){ 0 };
    return VHEM_OK;
}

const char *vh_origin_tell(const vh_origin *origin, int64_t n, int64_t t, char out[VH_PLACE_SIZE])
{
    const char *file = origin->file ? origin->file[n] : origin->path;
    int64_t line = origin->line ? origin->line[n] : 0;
    out[0] = '\0';
    if (file && line > 0)
        snprintf(out, VH_PLACE_SIZE, "%.400s: line %lld: ", file, (long long)(line + t));
    else if (file)
        snprintf(out, VH_PLACE_SIZE, "%.400s: ", file);
    return out;
}
