/* SPDX-License-Identifier: BSD-3-Clause */
/* dtm_json.c - JSON files of dynamic textures, in the format of docs/formats.md.  Checks shapes before
 * allocating: no file can request more memory than its length. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/text.h"
#include "dtm/dtm.h"
#include "files/json.h"

#include <limits.h>
#include <string.h>

#define VERSION 1 /* of the format; newer files are rejected */

static vhem_status keep_unknown(vhem_ctx *ctx, bool file, json_t *object, char **slot)
{
    static const char *const file_keys[] = {
        "format", "version", "d", "omega", "textures", "provenance", NULL
    };
    static const char *const keys[] = {
        "name", "label", "n", "A", "Q", "mu", "Sigma", "C", "ybar", "R", NULL
    };
    return vh_json_unknown(ctx, object, file ? file_keys : keys, slot);
}

vhem_status vh_dtm_unknown_keys(vhem_ctx *ctx, bool file, const char *what, const char *text, char **out)
{
    json_t *root = NULL;
    *out = NULL;
    vhem_status st = vh_json_object(ctx, what, text, &root);
    if (st == VHEM_OK)
        st = keep_unknown(ctx, file, root, out);
    json_decref(root);
    return st;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Reads all arrays of a texture; with fill false, only checks them. */
static vhem_status read_arrays(vhem_ctx *ctx, json_t *object, const vh_dt *dt, int n, int d, bool fill)
{
    vh_named_array array[VH_DT_ARRAYS];

    vh_dt_arrays(dt, n, d, array);
    for (int k = 0; k < VH_DT_ARRAYS; k++)
        VH_TRY(vh_json_numbers(ctx, object, &array[k], fill ? array[k].at : NULL));
    return VHEM_OK;
}

static vhem_status read_dt(vhem_ctx *ctx, json_t *object, vh_dtm *dtm, int64_t i)
{
    vh_dt *dt = &dtm->dt[i];
    int n;

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(vh_json_text(ctx, object, "name", &dt->name));
    VH_TRY(vh_json_text(ctx, object, "label", &dt->label));
    VH_TRY(vh_json_count(ctx, object, "n", &n));
    VH_TRY(read_arrays(ctx, object, dt, n, dtm->d, false));
    VH_TRY(vh_dt_shape(ctx, dtm->d, n, dt));
    VH_TRY(read_arrays(ctx, object, dt, n, dtm->d, true));
    return keep_unknown(ctx, false, object, &dt->extra);
}

static vhem_status read_dtm(vhem_ctx *ctx, json_t *root, vh_dtm **out)
{
    VH_OWN(vh_dtm) *dtm = NULL;
    json_t *all = json_object_get(root, "textures"), *provenance = json_object_get(root, "provenance");
    size_t K = json_array_size(all);
    int d;

    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_count(ctx, root, "d", &d));
    VH_CHECK(all, VHEM_EFORMAT, "textures is missing");
    VH_CHECK(json_is_array(all), VHEM_EFORMAT, "textures is %s, must be an array", vh_json_kind(all));
    VH_CHECK(K >= 1, VHEM_EFORMAT, "there are %zu textures, must be at least 1", K);
    VH_TRY(vh_dtm_new(ctx, d, (int64_t)K, &dtm));
    if (K > 1 || json_object_get(root, "omega")) { /* optional for a single texture */
        vh_named_array omega = { .name = "omega", .rank = 1, .dim = { { "K", (int64_t)K } } };
        VH_TRY(vh_json_numbers(ctx, root, &omega, dtm->omega));
    }
    for (int64_t i = 0; i < dtm->K; i++)
        VH_TRY(vh_dtm_error_in(ctx, read_dt(ctx, json_array_get(all, (size_t)i), dtm, i), dtm, i));
    VH_TRY(keep_unknown(ctx, true, root, &dtm->extra));
    if (provenance && !json_is_null(provenance)) {
        VH_CHECK(json_is_object(provenance), VHEM_EFORMAT, "provenance is %s, must be an object",
                 vh_json_kind(provenance));
        VH_TRY(vh_json_keep(ctx, provenance, &dtm->provenance));
    }
    VH_TRY(vh_dtm_validate(ctx, dtm));
    *out = vh_take(dtm);
    return VHEM_OK;
}

static vhem_status read_root(vhem_ctx *ctx, json_t *root, vh_dtm **out)
{
    const char *format = "";

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "the file holds %s, must hold an object",
             vh_json_kind(root));
    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    if (strcmp(format, "vhem-clustering") == 0) { /* the textures of a clustering are its centres */
        json_t *centers = json_object_get(root, "centers");
        VH_CHECK(json_is_object(centers), VHEM_EFORMAT, "a clustering without centers: no textures in it");
        VH_TRY(vh_json_required_text(ctx, centers, "format", &format));
        root = centers;
    }
    VH_CHECK(strcmp(format, "vhem-dtm") == 0, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-dtm'", format);
    return read_dtm(ctx, root, out);
}

vhem_status vh_dtm_from_json(vhem_ctx *ctx, json_t *root, vh_dtm **out)
{
    vhem_status st = read_root(ctx, root, out);
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st; /* invalid input came from a file */
}

static vhem_status read_dtm_text(vhem_ctx *ctx, const char *text, size_t size, vh_dtm **out)
{
    VH_OWN(json_t) *root = NULL;

    VH_CHECK(size > 0, VHEM_EFORMAT, "the file is empty, must be a file of textures");
    VH_TRY(vh_json_parse(ctx, text, size, &root));
    return vh_dtm_from_json(ctx, root, out);
}

vhem_status vh_dtm_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vh_dtm **out)
{
    return vh_error_in(ctx, read_dtm_text(ctx, text, size, out), name);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void print_dt(FILE *f, const vh_dt *dt, int d)
{
    static const char *const lead = ",\n   ";
    vh_named_array array[VH_DT_ARRAYS];

    vh_dt_arrays(dt, dt->n, d, array);
    fputs("  {", f);
    vh_json_print_text(f, "name", dt->name);
    vh_json_print_text(f, "label", dt->label);
    fprintf(f, "\"n\": %d", dt->n);
    for (int k = 0; k < VH_DT_ARRAYS; k++) {
        int64_t size[] = { array[k].dim[0].n, array[k].dim[1].n };
        vh_json_print_array(f, lead, array[k].name, array[k].rank, size, array[k].at);
    }
    if (dt->extra)
        vh_json_print_members(f, lead, dt->extra);
    putc('}', f);
}

vhem_status vh_dtm_print_json(vhem_ctx *ctx, const vh_dtm *dtm, FILE *f)
{
    VH_TRY(vh_dtm_require_finite(ctx, dtm));
    fprintf(f, "{\"format\": \"vhem-dtm\", \"version\": %d, \"d\": %d", VERSION, dtm->d);
    vh_json_print_array(f, ",\n ", "omega", 1, &dtm->K, dtm->omega);
    fputs(",\n \"textures\": [\n", f);
    for (int64_t i = 0; i < dtm->K; i++) {
        print_dt(f, &dtm->dt[i], dtm->d);
        fputs(i + 1 < dtm->K ? ",\n" : "]", f);
        if (ferror(f)) /* full disk: the caller reports it */
            break;
    }
    if (dtm->provenance)
        fprintf(f, ",\n \"provenance\": %s", dtm->provenance);
    if (dtm->extra)
        vh_json_print_members(f, ",\n ", dtm->extra);
    putc('}', f);
    return VHEM_OK;
}

vhem_status vh_dtm_write_json(vhem_ctx *ctx, const vh_dtm *dtm, const char *path)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    return vh_atomic_file_end(ctx, vh_dtm_print_json(ctx, dtm, out.f), &out);
}
