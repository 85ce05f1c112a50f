/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_file.c - see hmm_file.h: detects the format of a file. */
#include "files/hmm_file.h"

#include "core/atomic_file.h"

#include <stdlib.h>
#include <string.h>

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

vhem_status vh_h3m_load(vhem_ctx *ctx, const char *path, vh_h3m **out)
{
    char *text;
    size_t size;
    vhem_status st = vh_model_read(ctx, path, &text, &size);
    if (st == VHEM_OK)
        st = text ? vh_model_read_json(ctx, text, size, strcmp(path, "-") == 0 ? "standard input" : path, out)
                  : vh_model_load_hdf5(ctx, path, out);
    free(text);
    return st;
}

vhem_status vh_h3m_save(vhem_ctx *ctx, const vh_h3m *h3m, const char *path)
{
    return vh_model_is_hdf5(path) ? vh_model_save_hdf5(ctx, h3m, path) : vh_model_write_json(ctx, h3m, path);
}
