/* SPDX-License-Identifier: BSD-3-Clause */
/* dtm_hdf5.c - HDF5 files of dynamic textures, with the same tree as in JSON: docs/formats.md. */
#include "dtm/dtm_hdf5.h"

#include "core/alloc.h"
#include "dtm/dtm.h"
#include "hmm/hmm_set.h"
#include "files/hdf5.h"
#include "files/hmm_file.h"

#include <limits.h>

#define VERSION 1

/* ---- writing ------------------------------------------------------------------------------------------- */

static bool put_dt(const vh_h5_writer *w, hid_t all, const vh_dtm *dtm, int64_t i)
{
    const vh_dt *dt = &dtm->dt[i];
    vh_named_array array[VH_DT_ARRAYS];
    char name[24];

    vh_dt_arrays(dt, dt->n, dtm->d, array);
    snprintf(name, sizeof name, "%lld", (long long)i);
    hid_t g = vh_h5_put_group(w, all, name);
    bool ok = g >= 0 && vh_h5_put_text(w, g, "name", dt->name) && vh_h5_put_text(w, g, "label", dt->label)
              && vh_h5_put_int(w, g, "n", dt->n) && vh_h5_put_long_text(w, g, "extra", dt->extra);
    for (int k = 0; ok && k < VH_DT_ARRAYS; k++) {
        int64_t size[] = { array[k].dim[0].n, array[k].dim[1].n };
        ok = vh_h5_put_numbers(w, g, array[k].name, array[k].rank, size, array[k].at);
    }
    vh_h5_drop(g);
    return ok;
}

static bool put_dtm(const vh_h5_writer *w, const void *what)
{
    const vh_dtm *dtm = what;
    hid_t all = -1;
    bool ok = vh_h5_put_text(w, w->file, "format", "vhem-dtm")
              && vh_h5_put_int(w, w->file, "version", VERSION) && vh_h5_put_int(w, w->file, "d", dtm->d)
              && vh_h5_put_numbers(w, w->file, "omega", 1, &dtm->K, dtm->omega)
              && vh_h5_put_long_text(w, w->file, "provenance", dtm->provenance)
              && vh_h5_put_long_text(w, w->file, "extra", dtm->extra);
    if (ok)
        all = vh_h5_put_group(w, w->file, "textures");
    ok = ok && all >= 0;
    for (int64_t i = 0; ok && i < dtm->K; i++)
        ok = put_dt(w, all, dtm, i);
    vh_h5_drop(all);
    return ok;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* Reads the text "extra" of the file or of a texture, without keys that now belong to the format. */
static vhem_status get_extra(vhem_ctx *ctx, hid_t at, bool file, size_t limit, char **slot)
{
    VH_AUTOFREE char *text = NULL;
    VH_TRY(vh_h5_long_text(ctx, at, "extra", limit, &text));
    if (text && *text)
        VH_TRY(vh_dtm_unknown_keys(ctx, file, "extra", text, slot));
    return VHEM_OK;
}

/* Reads all arrays of a texture; with fill false, only checks their shapes. */
static vhem_status get_arrays(vhem_ctx *ctx, hid_t g, const vh_dt *dt, int n, int d, bool fill)
{
    vh_named_array array[VH_DT_ARRAYS];

    vh_dt_arrays(dt, n, d, array);
    for (int k = 0; k < VH_DT_ARRAYS; k++)
        VH_TRY(vh_h5_numbers(ctx, g, &array[k], fill ? array[k].at : NULL));
    return VHEM_OK;
}

static vhem_status get_dt(vhem_ctx *ctx, hid_t all, vh_dtm *dtm, int64_t i, size_t limit)
{
    vh_dt *dt = &dtm->dt[i];
    char name[24];
    int n;

    snprintf(name, sizeof name, "%lld", (long long)i);
    VH_TRY(vh_h5_inside(ctx, all, name, -1));
    VH_CLEANUP(vh_h5_release) hid_t g = H5Gopen2(all, name, H5P_DEFAULT);
    VH_CHECK(g >= 0, VHEM_EFORMAT, "textures/%s is missing or damaged", name);
    VH_TRY(vh_h5_text(ctx, g, "name", limit, &dt->name));
    VH_TRY(vh_h5_text(ctx, g, "label", limit, &dt->label));
    VH_TRY(vh_h5_count(ctx, g, "n", &n));
    VH_TRY(get_arrays(ctx, g, dt, n, dtm->d, false));
    /* A small file can claim a huge array of fill values; no real one compresses a thousandfold. */
    VH_CHECK((3.0 * n + dtm->d) * n * 8 / 1024 <= (double)limit, VHEM_EFORMAT,
             "n = %d, d = %d is more than the file can hold: it is damaged", n, dtm->d);
    VH_TRY(vh_dt_shape(ctx, dtm->d, n, dt));
    VH_TRY(get_arrays(ctx, g, dt, n, dtm->d, true));
    return get_extra(ctx, g, false, limit, &dt->extra);
}

vhem_status vh_dtm_get_hdf5(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out)
{
    VH_OWN(vh_dtm) *dtm = NULL;
    VH_CLEANUP(vh_h5_release) hid_t all = -1;
    int d;
    int64_t K;

    (void)path;
    VH_TRY(vh_h5_head(ctx, file, limit, "vhem-dtm", VERSION, NULL));
    VH_TRY(vh_h5_count(ctx, file, "d", &d));
    VH_TRY(vh_h5_models(ctx, file, "textures", "textures", limit, &all, &K));
    VH_TRY(vh_dtm_new(ctx, d, K, &dtm));
    VH_TRY(vh_h5_omega(ctx, file, K, dtm->omega));
    for (int64_t i = 0; i < dtm->K; i++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while reading");
        VH_TRY(vh_dtm_error_in(ctx, get_dt(ctx, all, dtm, i, limit), dtm, i));
    }
    VH_TRY(get_extra(ctx, file, true, limit, &dtm->extra));
    VH_TRY(vh_h5_long_text(ctx, file, "provenance", limit, &dtm->provenance));
    if (dtm->provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", dtm->provenance));
    VH_TRY(vh_dtm_validate(ctx, dtm));
    *(vh_dtm **)out = vh_take(dtm);
    return VHEM_OK;
}

/* ---- files --------------------------------------------------------------------------------------------- */

vhem_status vh_dtm_load_hdf5(vhem_ctx *ctx, const char *path, vh_dtm **out)
{
    return vh_h5_load(ctx, path, vh_dtm_get_hdf5, out);
}

vhem_status vh_dtm_save_hdf5(vhem_ctx *ctx, const vh_dtm *dtm, const char *path)
{
    vhem_status st = vh_dtm_require_finite(ctx, dtm);
    if (st == VHEM_OK)
        return vh_h5_save(ctx, path, put_dtm, dtm);
    vh_error_prefix(ctx, path);
    return st;
}
