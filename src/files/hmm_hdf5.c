/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_hdf5.c - model files as HDF5, docs/formats.md: the head of a file, and version 1, which has the same
 * tree as JSON and is only read.  For version 2 see shard.h. */
#include "core/alloc.h"
#include "files/hmm_file.h"
#include "files/layout_json.h"
#include "hmm/missing_columns.h"
#include "files/shard.h"

/* ---- the head of a file -------------------------------------------------------------------------------- */

bool vh_model_put_head(const vh_h5_writer *w, const vh_h3m *h3m, int version)
{
    char lengths[VH_LENGTHS_SIZE], *layout = NULL;
    vh_lengths_text(&h3m->lengths, lengths);
    if (h3m->shape.layout && !(layout = vh_layout_text(h3m->shape.layout)))
        return false;
    bool ok = vh_h5_put_text(w, w->file, "format", "vhem-h3m")
              && vh_h5_put_int(w, w->file, "version", version)
              && vh_h5_put_text(w, w->file, "emission", h3m->family->name)
              && vh_h5_put_int(w, w->file, "d", h3m->d) && vh_h5_put_long_text(w, w->file, "layout", layout)
              && vh_h5_put_long_text(w, w->file, "lengths", h3m->lengths.max > 0 ? lengths : NULL)
              && vh_h5_put_long_text(w, w->file, "prior", h3m->prior)
              && vh_h5_put_long_text(w, w->file, "provenance", h3m->provenance)
              && vh_h5_put_long_text(w, w->file, "extra", h3m->extra);
    free(layout);
    return ok;
}

/* Reads the text "extra" of the file or of an HMM, without members that are now keys of the format. */
static vhem_status get_extra(vhem_ctx *ctx, hid_t at, const vh_emission *family, size_t limit, char **slot)
{
    VH_AUTOFREE char *text = NULL;
    VH_TRY(vh_h5_long_text(ctx, at, "extra", limit, &text));
    if (text && *text)
        VH_TRY(vh_model_unknown_keys(ctx, family, "extra", text, slot));
    return VHEM_OK;
}

static vhem_status get_family(vhem_ctx *ctx, hid_t file, size_t limit, const vh_emission **family)
{
    VH_AUTOFREE char *emission = NULL;

    VH_TRY(vh_h5_text(ctx, file, "emission", limit, &emission));
    VH_CHECK(emission, VHEM_EFORMAT, "emission is missing");
    *family = vh_emission_find(emission);
    VH_CHECK(*family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    return VHEM_OK;
}

/* Reads the description of the fit: lengths of the sequences, prior, provenance. */
static vhem_status get_origin(vhem_ctx *ctx, hid_t file, size_t limit, vh_h3m *h3m)
{
    VH_AUTOFREE char *lengths = NULL;

    VH_TRY(vh_h5_long_text(ctx, file, "lengths", limit, &lengths));
    if (lengths)
        VH_TRY(vh_lengths_read(ctx, lengths, &h3m->lengths));
    VH_TRY(vh_h5_long_text(ctx, file, "prior", limit, &h3m->prior));
    if (h3m->prior)
        VH_TRY(vh_model_check_object(ctx, "prior", h3m->prior));
    VH_TRY(vh_h5_long_text(ctx, file, "provenance", limit, &h3m->provenance));
    if (h3m->provenance)
        VH_TRY(vh_model_check_object(ctx, "provenance", h3m->provenance));
    return VHEM_OK;
}

vhem_status vh_model_get_head(vhem_ctx *ctx, hid_t file, size_t limit, int64_t K, vh_h3m **out)
{
    const vh_emission *family = NULL;
    VH_OWN(vh_h3m) *h3m = NULL;
    vh_shape shape = { 0 };
    VH_OWN(vh_layout) *layout = NULL;
    VH_AUTOFREE char *text = NULL;

    VH_TRY(get_family(ctx, file, limit, &family));
    VH_TRY(vh_h5_count(ctx, file, "d", &shape.d));
    VH_TRY(vh_h5_long_text(ctx, file, "layout", limit, &text));
    VH_TRY(vh_layout_from_text(ctx, text, family, shape.d, &layout));
    VH_TRY(vh_h3m_new(ctx, family, layout ? vh_layout_shape(layout) : shape, K, &h3m));
    VH_TRY(get_extra(ctx, file, NULL, limit, &h3m->extra));
    VH_TRY(get_origin(ctx, file, limit, h3m));
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* ---- version 1: a group for each HMM ------------------------------------------------------------------- */

/* Reads all arrays of HMM i; fill false: only checks their shapes. */
static vhem_status get_arrays(vhem_ctx *ctx, hid_t g, const vh_h3m *h3m, int64_t i, int S, int M, bool fill)
{
    const vh_hmm *h = &h3m->hmm[i];
    const vh_named_array pi = { .name = "pi", .rank = 1, .dim = { { "S", S } } };
    const vh_named_array A = { .name = "A", .rank = 2, .dim = { { "S", S }, { "S", S } } };
    const vh_named_array c = { .name = "c", .rank = 2, .dim = { { "S", S }, { "M", M } } };

    VH_TRY(vh_h5_numbers(ctx, g, &pi, fill ? h->pi : NULL));
    VH_TRY(vh_h5_numbers(ctx, g, &A, fill ? h->A : NULL));
    VH_TRY(vh_h5_numbers(ctx, g, &c, fill ? vh_hmm_c(h) : NULL));
    for (int p = 0; p < h3m->family->n_param; p++) {
        const vh_named_array a = vh_param_array(&h3m->family->param[p], &h3m->shape, S, M);
        if (h3m->family->param[p].optional && H5Lexists(g, a.name, H5P_DEFAULT) <= 0)
            continue;
        VH_TRY(vh_h5_numbers(ctx, g, &a, fill ? vh_hmm_param(h3m, h, p) : NULL));
    }
    return VHEM_OK;
}

static vhem_status get_hmm(vhem_ctx *ctx, hid_t hmms, vh_h3m *h3m, int64_t i, size_t limit)
{
    vh_hmm *h = &h3m->hmm[i];
    int S, M;
    char name[24];

    snprintf(name, sizeof name, "%lld", (long long)i);
    VH_TRY(vh_h5_inside(ctx, hmms, name, -1));
    VH_CLEANUP(vh_h5_release) hid_t g = H5Gopen2(hmms, name, H5P_DEFAULT);
    VH_CHECK(g >= 0, VHEM_EFORMAT, "hmms/%s is missing or damaged", name);
    VH_TRY(vh_h5_text(ctx, g, "name", limit, &h->name));
    VH_TRY(vh_h5_text(ctx, g, "label", limit, &h->label));
    VH_TRY(vh_h5_count(ctx, g, "S", &S));
    VH_TRY(vh_h5_count(ctx, g, "M", &M));
    VH_TRY(get_arrays(ctx, g, h3m, i, S, M, false));
    /* A small file can claim a huge array of fill values; compression gains at most a factor of about
     * 1000. */
    VH_CHECK(((double)S + (double)M * h3m->d) * S * 8 / 1024 <= (double)limit, VHEM_EFORMAT,
             "S = %d, M = %d, d = %d is more than the file can hold: it is damaged", S, M, h3m->d);
    VH_TRY(vh_h3m_shape(ctx, h3m, i, S, M));
    VH_TRY(get_arrays(ctx, g, h3m, i, S, M, true));
    return get_extra(ctx, g, h3m->family, limit, &h->extra);
}

static vhem_status get_version_1(vhem_ctx *ctx, hid_t file, size_t limit, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_CLEANUP(vh_h5_release) hid_t hmms = -1;
    int64_t K;

    VH_TRY(vh_h5_models(ctx, file, "hmms", "HMMs", limit, &hmms, &K));
    VH_TRY(vh_model_get_head(ctx, file, limit, K, &h3m));
    VH_TRY(vh_h5_omega(ctx, file, K, h3m->omega));
    for (int64_t i = 0; i < h3m->K; i++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while reading");
        VH_TRY(vh_h3m_error_in(ctx, get_hmm(ctx, hmms, h3m, i, limit), h3m, i));
    }
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* ---- files --------------------------------------------------------------------------------------------- */

vhem_status vh_model_get_hdf5(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    VH_OWN(vh_shard) *shard = NULL;
    int version = 0;

    VH_TRY(vh_h5_head(ctx, file, limit, "vhem-h3m", VH_SHARD_VERSION, &version));
    if (version == 1) {
        VH_TRY(get_version_1(ctx, file, limit, &h3m));
        VH_TRY(vh_h3m_validate(ctx, h3m));
    } else {
        VH_TRY(vh_shard_describe(ctx, file, limit, path, true, &shard));
        VH_TRY(vh_shard_load(ctx, shard, &h3m));
    }
    vh_h3m_settle_family(h3m);
    *(vh_h3m **)out = vh_take(h3m);
    return VHEM_OK;
}

vhem_status vh_model_load_hdf5(vhem_ctx *ctx, const char *path, vh_h3m **out)
{
    return vh_h5_load(ctx, path, vh_model_get_hdf5, out);
}

vhem_status vh_model_save_hdf5(vhem_ctx *ctx, const vh_h3m *h3m, const char *path)
{
    return vh_shard_save(ctx, h3m, &(vh_shard_place){ .all = h3m->K }, path);
}
