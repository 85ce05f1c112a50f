/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - vhem_load: loads a file of any kind.  It is in the top layer because class models are. */
#include "classify/classes_json.h"
#include "cluster/tree_file.h"
#include "os/fd.h"
#include "core/atomic_file.h"
#include "files/shards.h"
#include "vhem.h"
#include "os/path.h"
#include "os/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef enum { OURS, HDF5, OTHER } content;

/* Detects the content by the first bytes: JSON is a vhem file, HDF5 may hold models or sequences, anything
 * else is sequences.  A folder of model files or with a manifest holds models. */
static content content_of_head(const char *path, const unsigned char *head, size_t n)
{
    size_t k = 0;
    while (k < n && strchr(" \t\r\n", head[k]) && head[k])
        k++;
    if (n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
        return HDF5;
    return (k < n && head[k] == '{') || vh_ends_with(path, ".json") ? OURS : OTHER;
}

static vhem_status detect_content(vhem_ctx *ctx, const char *path, content *out)
{
    unsigned char head[64];
    vh_entry there;

    if (vh_is_stream(path)) {
        *out = vh_in_peek(ctx, path) == '{' ? OURS : OTHER;
    } else if (!vh_path_look(path, &there)) {
        *out = vh_ends_with(path, ".json") ? OURS : OTHER;
    } else if (there.kind == VH_IS_FOLDER) {
        *out = vh_shards_is_folder(path) || vh_shards_loose(path) ? OURS : OTHER;
    } else {
        FILE *f = vh_file_open(path, "rb"); /* NULL: the reader will say why */
        errno = 0;
        size_t n = f ? fread(head, 1, sizeof head, f) : 0;
        int bad = f && ferror(f) ? errno : 0;
        if (f)
            fclose(f);
        VH_CHECK(!bad, VHEM_EIO, "%s: cannot read: %s", path, strerror(bad));
        *out = content_of_head(path, head, n);
    }
    return VHEM_OK;
}

static vhem_status load_document(vhem_ctx *ctx, const char *path, vhem_contents *out)
{
    VH_CLEANUP(vh_parsed_file_close) vh_parsed_file doc = { 0 };

    VH_TRY(vh_parsed_file_open(ctx, path, "models, clusters or sequences", &doc));
    if (strcmp(doc.format, "vhem-classes") == 0)
        VH_TRY(vh_classes_from_parsed(ctx, &doc, &out->classes));
    else if (strcmp(doc.format, "vhem-clustering") == 0 || strcmp(doc.format, "vhem-tree") == 0)
        VH_TRY(vh_tree_from_parsed(ctx, &doc, &out->tree));
    else
        VH_TRY(vh_parsed_file_models(ctx, &doc, &out->models));
    return VHEM_OK;
}

vhem_status vhem_load(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_contents *out)
{
    VH_ENTER(path, out);
    vhem_status st = VHEM_OK;
    vhem_contents found = { 0 };
    char why[sizeof ctx->error];
    content c = OTHER;

    VH_TRY(detect_content(ctx, path, &c));
    if (c != OTHER)
        st = load_document(ctx, path, &found);
    if (c == OTHER) {
        st = vhem_data_load(ctx, path, opt, &found.data);
    } else if (c == HDF5 && st == VHEM_EFORMAT) {
        memcpy(why, ctx->error, sizeof why);
        st = vhem_data_load(ctx, path, opt, &found.data);
        if (st != VHEM_OK && !vh_stopped(ctx))
            st = vh_fail(ctx, st, "neither models (%.900s) nor sequences (%.900s)", why, vhem_ctx_error(ctx));
    }
    vh_in_forget(ctx);
    if (st == VHEM_OK)
        *out = found;
    return st;
}
