/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - see model.h. */
#include "model/model.h"

#include "core/atomic_file.h"
#include "model/h3m.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        double gap = fabs(a[k] / scale - b[k] / scale); /* a - b itself might overflow */
        if (isnan(a[k]) && isnan(b[k]))                 /* null in both */
            continue;
        if (!(gap <= worst))
            worst = isnan(gap) ? INFINITY : gap;
    }
    return worst;
}

vhem_status vh_model_set_provenance(vhem_ctx *ctx, char **slot, const char *json)
{
    if (json)
        VH_TRY(vh_model_check_object(ctx, "provenance", json));
    return vh_h3m_set_text(ctx, slot, json);
}

bool vh_model_is_hdf5(const char *path)
{
    return vh_ends_with(path, ".h5") || vh_ends_with(path, ".hdf5");
}

vhem_status vh_model_read(vhem_ctx *ctx, const char *path, char **text, size_t *size)
{
    bool piped = vh_is_stream(path);

    *text = NULL;
    if (!piped && vh_model_is_hdf5(path))
        return VHEM_OK;
    VH_TRY(vh_read_all(ctx, path, text, size));
    if (*size >= 8 && memcmp(*text, "\x89HDF\r\n\x1a\n", 8) == 0) { /* under another name */
        free(*text);
        *text = NULL;
        VH_CHECK(!piped, VHEM_EFORMAT, "%s: an HDF5 file, must be read from a path",
                 strcmp(path, "-") == 0 ? "standard input" : path);
    }
    return VHEM_OK;
}
