/* SPDX-License-Identifier: BSD-3-Clause */
/* parsed_file.c - see parsed_file.h. */
#include "models/parsed_file.h"

#include "core/alloc.h"
#include "dtm/dtm_hdf5.h"
#include "files/hdf5.h"
#include "files/hmm_file.h"
#include "files/json.h"
#include "hmm/missing_columns.h"
#include "vhem.h"
#include "os/path.h"

#include <string.h>

/* Leaves a large file on disk until its models are needed; one of several shards stays a shard. */
static vhem_status open_shard(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, vhem_models **out)
{
    vhem_status st = VHEM_OK;
    VH_OWN(vh_shard) *shard = NULL;
    vh_shards *set = NULL;
    vh_h3m *h3m = NULL;

    VH_TRY(vh_shard_describe(ctx, file, limit, path, true, &shard));
    if (limit <= VH_MODELS_EAGER && shard->all == shard->K) {
        VH_TRY(vh_shard_load(ctx, shard, &h3m));
        vh_h3m_settle_family(h3m);
        VH_TRY(vh_models_take_hmms(ctx, h3m, out));
    } else {
        st = vh_shards_of(ctx, shard, &set);
        shard = NULL; /* now owned by set */
        VH_TRY(st);
        VH_TRY(vh_models_take_shards(ctx, set, out));
    }
    return st;
}

static vhem_status open_folder(vhem_ctx *ctx, const char *path, vhem_models **out)
{
    vh_shards *set = NULL;

    VH_TRY(vh_shards_open(ctx, path, &set));
    return vh_models_take_shards(ctx, set, out);
}

/* Reads the models of an HDF5 file, of either kind. */
static vhem_status get_models(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out)
{
    VH_AUTOFREE char *format = NULL;
    vh_h3m *h3m = NULL;
    vh_dtm *dtm = NULL;
    int version = 0;

    VH_TRY(vh_h5_text(ctx, file, "format", limit, &format));
    if (format && strcmp(format, "vhem-dtm") == 0) {
        VH_TRY(vh_dtm_get_hdf5(ctx, file, limit, path, &dtm));
        VH_TRY(vh_models_take_textures(ctx, dtm, out));
        return VHEM_OK;
    }
    VH_TRY(vh_h5_head(ctx, file, limit, "vhem-h3m", VH_SHARD_VERSION, &version));
    if (version == 1) {
        VH_TRY(vh_model_get_hdf5(ctx, file, limit, path, &h3m));
        VH_TRY(vh_models_take_hmms(ctx, h3m, out));
    } else {
        VH_TRY(open_shard(ctx, file, limit, path, out));
    }
    return VHEM_OK;
}

vhem_status vh_parsed_file_parse(vhem_ctx *ctx, const char *text, size_t size, const char *what,
                                 vh_parsed_file *doc)
{
    VH_CHECK(size > 0, VHEM_EFORMAT, "the file is empty, must be %s", what);
    VH_TRY(vh_json_parse_models(ctx, text, size, &doc->hmms, &doc->root));
    VH_CHECK(json_is_object(doc->root), VHEM_EFORMAT, "the file holds %s, must hold an object",
             vh_json_kind(doc->root));
    const char *format = json_string_value(json_object_get(doc->root, "format"));
    doc->format = format ? format : "";
    return VHEM_OK;
}

/* Rejects a folder without a manifest, with advice that depends on its contents. */
static vhem_status refuse_folder(vhem_ctx *ctx, const char *path)
{
    int loose = vh_shards_loose(path);
    static const char lacks[] = "the folder has no manifest.json, which a folder of models needs";
    if (loose == (VH_LOOSE_H5 | VH_LOOSE_JSON))
        return vh_fail(ctx, VHEM_EIO, "%s: %s; 'vhem convert %s/*.h5 %s/*.json -o NEW' merges its files",
                       path, lacks, path, path);
    if (loose)
        return vh_fail(ctx, VHEM_EIO, "%s: %s; 'vhem convert %s/*%s -o NEW' merges its files", path, lacks,
                       path, loose == VH_LOOSE_H5 ? ".h5" : ".json");
    return vh_fail(ctx, VHEM_EIO, "%s: %s; 'vhem fit %s -o models.json' makes models of sequences", path,
                   lacks, path);
}

vhem_status vh_parsed_file_open(vhem_ctx *ctx, const char *path, const char *what, vh_parsed_file *out)
{
    vhem_status st = VHEM_OK;
    VH_CLEANUP(vh_parsed_file_close)
    vh_parsed_file doc = { .name = strcmp(path, "-") == 0 ? "standard input" : path, .format = "" };
    VH_AUTOFREE char *text = NULL;
    size_t size = 0;

    bool folder = vh_shards_is_folder(path);
    if (!folder && vh_path_is_folder(path))
        VH_TRY(refuse_folder(ctx, path));
    if (!folder)
        VH_TRY(vh_model_read(ctx, path, &text, &size));
    if (folder) {
        VH_TRY(open_folder(ctx, path, &doc.models));
        doc.format = "vhem-h3m";
    } else if (!text) {
        VH_TRY(vh_h5_load(ctx, path, get_models, &doc.models));
        doc.format = doc.models->kind == VHEM_HMMS ? "vhem-h3m" : "vhem-dtm";
    } else {
        doc.text = vh_take(text);
        st = vh_parsed_file_parse(ctx, doc.text, size, what, &doc);
        if (st != VHEM_OK)
            vh_error_prefix(ctx, doc.name);
        VH_TRY(st);
    }
    *out = doc;
    doc = (vh_parsed_file){ 0 };
    return st;
}

void vh_parsed_file_close(vh_parsed_file *doc)
{
    json_decref(doc->root);
    free(doc->text);
    vh_object_free(doc->models);
    *doc = (vh_parsed_file){ 0 };
}

vhem_status vh_parsed_file_models(vhem_ctx *ctx, vh_parsed_file *doc, vhem_models **out)
{
    if (doc->models) {
        *out = doc->models;
        doc->models = NULL;
        return VHEM_OK;
    }
    vhem_status st = vh_models_from_json(ctx, doc->root, &doc->hmms, out);
    if (st != VHEM_OK)
        vh_error_prefix(ctx, doc->name);
    return st;
}

vhem_status vhem_models_load(vhem_ctx *ctx, const char *path, vhem_models **out)
{
    VH_ENTER(path, out);
    VH_CLEANUP(vh_parsed_file_close) vh_parsed_file doc = { 0 };

    VH_TRY(vh_parsed_file_open(ctx, path, "a model file", &doc));
    return vh_parsed_file_models(ctx, &doc, out);
}
