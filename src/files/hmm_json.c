/* SPDX-License-Identifier: BSD-3-Clause */
/* hmm_json.c - reads and writes model files as JSON text, the format of docs/formats.md.
 *
 *   1. unknown keys     2. reading a model file     3. writing
 *
 * Reading goes through a Jansson tree, which is ten times as large as its text, so a set of models is parsed
 * one HMM at a time.  Writing streams.  Shapes are checked before anything is allocated: no file can make the
 * reader allocate more than its own length. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/array2.h"
#include "core/text.h"
#include "hmm/hmm_set.h"
#include "files/hmm_file.h"
#include "files/json.h"
#include "files/layout_json.h"
#include "hmm/missing_columns.h"

#include <limits.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define VERSION 1 /* of the format; older files are read too */

/* ---- 1. unknown keys ----------------------------------------------------------------------------------- */

/* Keeps unknown keys of the file if family is NULL, else of an HMM. */
static vhem_status keep_unknown(vhem_ctx *ctx, const vh_emission *family, json_t *object, char **slot)
{
    static const char *const file[] = { "format",  "version",  "emission",   "d",          "omega",
                                        "hmms",    "lengths",  "prior",      "provenance", "columns",
                                        "symbols", "channels", "background", NULL };
    const char *hmm[8 + VH_MAX_PARAM] = { "name", "label", "S", "M", "pi", "A", "c" };
    for (int p = 0; family && p < family->n_param; p++)
        hmm[7 + p] = family->param[p].name;
    return vh_json_unknown(ctx, object, family ? hmm : file, slot);
}

vhem_status vh_model_check_object(vhem_ctx *ctx, const char *what, const char *text)
{
    json_t *root = NULL;
    vhem_status st = vh_json_object(ctx, what, text, &root);
    json_decref(root);
    return st == VHEM_EFORMAT ? VHEM_EINVAL : st;
}

vhem_status vh_model_unknown_keys(vhem_ctx *ctx, const vh_emission *family, const char *what,
                                  const char *text, char **out)
{
    json_t *root = NULL;
    *out = NULL;
    vhem_status st = vh_json_object(ctx, what, text, &root);
    if (st == VHEM_OK)
        st = keep_unknown(ctx, family, root, out);
    json_decref(root);
    return st;
}

/* ---- 2. reading a model file --------------------------------------------------------------------------- */

void vh_lengths_text(const vh_lengths *x, char *text)
{
    int n = snprintf(text, VH_LENGTHS_SIZE, "{\"min\": %lld, \"median\": %lld, \"max\": %lld",
                     (long long)x->min, (long long)x->median, (long long)x->max);
    if (x->frames > 0)
        n += snprintf(text + n, VH_LENGTHS_SIZE - (size_t)n, ", \"frames\": %lld", (long long)x->frames);
    snprintf(text + n, VH_LENGTHS_SIZE - (size_t)n, "}");
}

static vhem_status read_lengths(vhem_ctx *ctx, json_t *object, vh_lengths *out)
{
    static const char *const key[] = { "min", "median", "max" };
    int64_t n[3];

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "lengths is %s, must be an object", vh_json_kind(object));
    for (int k = 0; k < 3; k++) {
        json_t *v = json_object_get(object, key[k]);
        VH_CHECK(json_is_integer(v) && json_integer_value(v) >= (k > 0 ? n[k - 1] : 1), VHEM_EFORMAT,
                 "lengths has no proper %s: they are frames, min <= median <= max, at least 1", key[k]);
        n[k] = json_integer_value(v);
    }
    json_t *frames = json_object_get(object, "frames");
    VH_CHECK(!frames || (json_is_integer(frames) && json_integer_value(frames) >= n[0]), VHEM_EFORMAT,
             "lengths has no proper frames: those of a model, at least min, which is %lld", (long long)n[0]);
    *out = (vh_lengths){ n[0], n[1], n[2], frames ? json_integer_value(frames) : 0 };
    return VHEM_OK;
}

vhem_status vh_lengths_read(vhem_ctx *ctx, const char *text, vh_lengths *out)
{
    json_t *root = NULL;
    vhem_status st = vh_json_object(ctx, "lengths", text, &root);
    if (st == VHEM_OK)
        st = read_lengths(ctx, root, out);
    json_decref(root);
    return st;
}

/* Reads the description of the fit: lengths of the sequences, prior, provenance. */
static vhem_status read_origin(vhem_ctx *ctx, json_t *root, vh_h3m *h3m)
{
    json_t *lengths = json_object_get(root, "lengths");
    const struct {
        const char *key;
        char **slot;
    } object[] = { { "prior", &h3m->prior }, { "provenance", &h3m->provenance } };

    for (int k = 0; k < 2; k++) {
        json_t *v = json_object_get(root, object[k].key);
        if (!v || json_is_null(v))
            continue;
        VH_CHECK(json_is_object(v), VHEM_EFORMAT, "%s is %s, must be an object", object[k].key,
                 vh_json_kind(v));
        VH_TRY(vh_json_keep(ctx, v, object[k].slot));
    }
    if (lengths && !json_is_null(lengths))
        VH_TRY(read_lengths(ctx, lengths, &h3m->lengths));
    return VHEM_OK;
}

/* M is optional: the first row of c gives it. */
static vhem_status read_M(vhem_ctx *ctx, json_t *object, int *M)
{
    json_t *row = json_array_get(json_object_get(object, "c"), 0);
    size_t n = json_array_size(row);
    if (json_object_get(object, "M") || n < 1 || n > INT_MAX)
        return vh_json_count(ctx, object, "M", M);
    *M = (int)n;
    return VHEM_OK;
}

vh_named_array vh_param_array(const vh_param *param, const vh_shape *shape, int S, int M)
{
    vh_named_array a = { .name = param->name, .rank = 2 + param->rank, .dim = { { "S", S }, { "M", M } } };
    for (int k = 0; k < param->rank; k++) {
        a.dim[2 + k].name = vh_param_extent_name(param, k);
        a.dim[2 + k].n = vh_param_extent(param, k, shape);
    }
    return a;
}

/* Reads a parameter, array a, of all components, which are `step` numbers apart; to NULL: only checks its
 * shape. */
static vhem_status read_parameter(vhem_ctx *ctx, json_t *object, const vh_param *param, vh_named_array a,
                                  size_t step, double *to)
{
    size_t n = vh_cells(a.dim[0].n, a.dim[1].n), size = 1;
    VH_AUTOFREE double *together = NULL;

    if (param->optional && !json_object_get(object, a.name))
        return VHEM_OK;
    for (int k = 2; k < a.rank; k++)
        size *= (size_t)a.dim[k].n;
    a.nulls = step != size || vh_param_is_by_column(param);
    if (!to || step == size)
        return vh_json_numbers(ctx, object, &a, to);
    VH_NEW(together, n * size);
    VH_TRY(vh_json_numbers(ctx, object, &a, together));
    for (size_t q = 0; q < n; q++)
        memcpy(to + q * step, together + q * size, sizeof *together * size);
    return VHEM_OK;
}

/* Reads "channels" of an HMM: one object per channel, with the parameters of its family. */
static vhem_status read_channels(vhem_ctx *ctx, json_t *object, const vh_layout *layout, int S, int M,
                                 double *to)
{
    vhem_status st = VHEM_OK;
    json_t *list = json_object_get(object, "channels");

    VH_CHECK(json_is_array(list) && json_array_size(list) == (size_t)layout->n_channel, VHEM_EFORMAT,
             "channels is not an array of %d objects, one for each channel of the file", layout->n_channel);
    for (int c = 0; c < layout->n_channel; c++) {
        const vh_channel *ch = &layout->channel[c];
        json_t *one = json_array_get(list, (size_t)c);
        size_t at = (size_t)ch->at;
        VH_CHECK(json_is_object(one), VHEM_EFORMAT, "channels[%d] is %s, must be an object", c,
                 vh_json_kind(one));
        for (int p = 0; p < ch->family->n_param; p++) {
            const vh_param *param = &ch->family->param[p];
            st = read_parameter(ctx, one, param, vh_param_array(param, &ch->shape, S, M),
                                (size_t)layout->size, to ? to + at : NULL);
            char who[32];
            snprintf(who, sizeof who, "channels[%d]", c);
            if (st != VHEM_OK)
                vh_error_prefix(ctx, who);
            VH_TRY(st);
            at += vh_param_size(ch->family, p, &ch->shape);
        }
    }
    return st;
}

/* Reads all arrays of HMM i; fill false: only checks them. */
static vhem_status read_arrays(vhem_ctx *ctx, json_t *object, const vh_h3m *h3m, int64_t i, int S, int M,
                               bool fill)
{
    const vh_hmm *h = &h3m->hmm[i];
    vh_named_array pi = { .name = "pi", .rank = 1, .dim = { { "S", S } } };
    vh_named_array A = { .name = "A", .rank = 2, .dim = { { "S", S }, { "S", S } } };
    vh_named_array c = { .name = "c", .rank = 2, .dim = { { "S", S }, { "M", M } } };

    VH_TRY(vh_json_numbers(ctx, object, &pi, fill ? h->pi : NULL));
    VH_TRY(vh_json_numbers(ctx, object, &A, fill ? h->A : NULL));
    if (h3m->family->tied) { /* c replaces the parameters */
        vh_named_array weights = { .name = "c", .rank = 2, .dim = { { "S", S }, { "G", h3m->shape.G } } };
        for (int s = 0; fill && s < S; s++)
            vh_hmm_c(h)[s] = 1;
        return vh_json_numbers(ctx, object, &weights, fill ? vh_hmm_param(h3m, h, 0) : NULL);
    }
    VH_TRY(vh_json_numbers(ctx, object, &c, fill ? vh_hmm_c(h) : NULL));
    for (int p = 0; p < h3m->family->n_param; p++) {
        const vh_param *param = &h3m->family->param[p];
        double *to = fill ? vh_hmm_param(h3m, h, p) : NULL;
        size_t size = vh_param_size(h3m->family, p, &h3m->shape);
        if (vh_param_is_channels(param))
            VH_TRY(read_channels(ctx, object, h3m->shape.layout, S, M, to));
        else
            VH_TRY(read_parameter(ctx, object, param, vh_param_array(param, &h3m->shape, S, M), size, to));
    }
    return VHEM_OK;
}

vhem_status vh_hmm_set_fingerprint(vhem_ctx *ctx, vh_hmm *h, uint64_t fingerprint)
{
    char text[64];
    snprintf(text, sizeof text, "{\"fingerprint\": \"%016" PRIx64 "\"}", fingerprint);
    return vh_h3m_set_text(ctx, &h->extra, text);
}

bool vh_fingerprint_read(const char *text, uint64_t *out)
{
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *out = strtoull(text, NULL, 16);
    return true;
}

uint64_t vh_hmm_fingerprint(const vh_hmm *h)
{
    uint64_t found = 0;
    json_t *extra = h->extra ? json_loads(h->extra, 0, NULL) : NULL;
    vh_fingerprint_read(json_string_value(json_object_get(extra, "fingerprint")), &found);
    json_decref(extra);
    return found;
}

static vhem_status read_hmm(vhem_ctx *ctx, json_t *object, vh_h3m *h3m, int64_t i)
{
    vh_hmm *h = &h3m->hmm[i];
    int S, M;

    VH_CHECK(json_is_object(object), VHEM_EFORMAT, "is %s, must be an object", vh_json_kind(object));
    VH_TRY(vh_json_text(ctx, object, "name", &h->name));
    VH_TRY(vh_json_text(ctx, object, "label", &h->label));
    VH_TRY(vh_json_count(ctx, object, "S", &S));
    VH_TRY(read_M(ctx, object, &M));
    VH_CHECK(!h3m->family->tied || M == h3m->shape.G, VHEM_EFORMAT,
             "M is %d, must be the number of Gaussians of the background, %d", M, h3m->shape.G);
    M = h3m->family->tied ? 1 : M;
    VH_TRY(read_arrays(ctx, object, h3m, i, S, M, false));
    VH_TRY(vh_h3m_shape(ctx, h3m, i, S, M));
    VH_TRY(read_arrays(ctx, object, h3m, i, S, M, true));
    return keep_unknown(ctx, h3m->family, object, &h->extra);
}

/* Reads HMM i: the next item, or an element of the array. */
static vhem_status read_next(vhem_ctx *ctx, json_t *hmms, vh_json_items *items, vh_h3m *h3m, int64_t i)
{
    VH_OWN(json_t) *object = NULL;

    if (items->n > 0)
        VH_TRY(vh_json_next(ctx, items, &object));
    else
        object = json_incref(json_array_get(hmms, (size_t)i));
    return vh_h3m_error_in(ctx, read_hmm(ctx, object, h3m, i), h3m, i);
}

/* Reads hmms and omega into a new H3M. */
static vhem_status read_hmms(vhem_ctx *ctx, json_t *root, const vh_json_items *items, vh_shape shape,
                             const vh_emission *family, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    json_t *hmms = json_object_get(root, "hmms");
    vh_json_items left = items ? *items : (vh_json_items){ 0 };
    size_t K = left.n > 0 ? (size_t)left.n : json_array_size(hmms);

    VH_CHECK(hmms, VHEM_EFORMAT, "hmms is missing");
    VH_CHECK(json_is_array(hmms), VHEM_EFORMAT, "hmms is %s, must be an array", vh_json_kind(hmms));
    VH_CHECK(K >= 1, VHEM_EFORMAT, "there are %zu HMMs, must be at least 1", K);
    VH_TRY(vh_h3m_new(ctx, family, shape, (int64_t)K, &h3m));
    if (K > 1 || json_object_get(root, "omega")) { /* optional for a single HMM */
        vh_named_array omega = { .name = "omega", .rank = 1, .dim = { { "K", (int64_t)K } } };
        VH_TRY(vh_json_numbers(ctx, root, &omega, h3m->omega));
    }
    for (int64_t i = 0; i < h3m->K; i++)
        VH_TRY(read_next(ctx, hmms, &left, h3m, i));
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* Reads the object of a vhem-h3m file. */
static vhem_status read_h3m(vhem_ctx *ctx, json_t *root, const vh_json_items *hmms, vh_h3m **out)
{
    VH_OWN(vh_h3m) *h3m = NULL;
    const char *emission = "";
    vh_shape shape = { 0 };
    VH_OWN(vh_layout) *layout = NULL;

    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_TRY(vh_json_required_text(ctx, root, "emission", &emission));
    const vh_emission *family = vh_emission_find(emission);
    VH_CHECK(family, VHEM_EFORMAT, "emission is '%.80s', must be one of: %s", emission, vh_emission_names());
    VH_TRY(vh_json_count(ctx, root, "d", &shape.d));
    VH_TRY(vh_layout_from_json(ctx, root, family, shape.d, &layout));
    VH_TRY(read_hmms(ctx, root, hmms, layout ? vh_layout_shape(layout) : shape, family, &h3m));
    VH_TRY(keep_unknown(ctx, NULL, root, &h3m->extra));
    VH_TRY(read_origin(ctx, root, h3m));
    VH_TRY(vh_h3m_validate(ctx, h3m));
    vh_h3m_settle_family(h3m);
    *out = vh_take(h3m);
    return VHEM_OK;
}

/* Reads the centres of a clustering file as its models. */
static vhem_status read_centers(vhem_ctx *ctx, json_t *root, vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    json_t *centers = json_object_get(root, "centers");
    const char *format = "";

    VH_TRY(vh_json_version(ctx, root, VERSION));
    VH_CHECK(centers && !json_is_null(centers), VHEM_EFORMAT,
             "a clustering without centers: no models in it");
    VH_CHECK(json_is_object(centers), VHEM_EFORMAT, "centers is %s, must be an object",
             vh_json_kind(centers));
    st = vh_json_required_text(ctx, centers, "format", &format);
    if (st == VHEM_OK && strcmp(format, "vhem-h3m") != 0)
        st = vh_fail(ctx, VHEM_EFORMAT, "format is '%.80s', must be 'vhem-h3m'", format);
    if (st == VHEM_OK)
        st = read_h3m(ctx, centers, NULL, out);
    if (st != VHEM_OK)
        vh_error_prefix(ctx, "centers");
    return st;
}

static vhem_status read_root(vhem_ctx *ctx, json_t *root, const vh_json_items *hmms, vh_h3m **out)
{
    const char *format = "";

    VH_CHECK(json_is_object(root), VHEM_EFORMAT, "the file holds %s, must hold an object",
             vh_json_kind(root));
    VH_TRY(vh_json_required_text(ctx, root, "format", &format));
    if (strcmp(format, "vhem-clustering") == 0)
        return read_centers(ctx, root, out);
    VH_CHECK(strcmp(format, "vhem-shards") != 0, VHEM_EFORMAT,
             "this lists the files of a folder of models: name the folder instead");
    VH_CHECK(strcmp(format, "vhem-h3m") == 0, VHEM_EFORMAT,
             "format is '%.80s', must be 'vhem-h3m' or 'vhem-clustering'", format);
    return read_h3m(ctx, root, hmms, out);
}

vhem_status vh_model_from_json(vhem_ctx *ctx, json_t *root, const vh_json_items *hmms, vh_h3m **out)
{
    vhem_status st = read_root(ctx, root, hmms, out);
    return st == VHEM_EINVAL ? VHEM_EFORMAT : st; /* invalid values came from the file */
}

static vhem_status read_hmm_text(vhem_ctx *ctx, const char *text, size_t size, vh_h3m **out)
{
    VH_OWN(json_t) *root = NULL;
    vh_json_items hmms;

    VH_CHECK(size > 0, VHEM_EFORMAT, "the file is empty, must be a model file");
    VH_TRY(vh_json_parse_models(ctx, text, size, &hmms, &root));
    return vh_model_from_json(ctx, root, &hmms, out);
}

vhem_status vh_model_read_json(vhem_ctx *ctx, const char *text, size_t size, const char *name, vh_h3m **out)
{
    return vh_error_in(ctx, read_hmm_text(ctx, text, size, out), name);
}

/* ---- 3. writing ---------------------------------------------------------------------------------------- */

/* Prints "channels" of an HMM with array dimensions n [2]; from: all parameters of its first component. */
static void print_channels(FILE *f, const char *lead, const vh_layout *layout, const int64_t *n,
                           const double *from)
{
    fprintf(f, "%s\"channels\": [", lead);
    for (int c = 0; c < layout->n_channel; c++) {
        const vh_channel *ch = &layout->channel[c];
        const double *at = from + ch->at;
        fputs(c ? ",\n    {" : "\n    {", f);
        for (int p = 0; p < ch->family->n_param; p++) {
            const vh_param *param = &ch->family->param[p];
            int64_t all[4] = { n[0], n[1] };
            for (int k = 0; k < param->rank; k++)
                all[2 + k] = vh_param_extent(param, k, &ch->shape);
            vh_json_print_apart(f, p ? ", " : "", param->name, 2 + param->rank, all, at,
                                (size_t)layout->size);
            at += vh_param_size(ch->family, p, &ch->shape);
        }
        putc('}', f);
    }
    putc(']', f);
}

static void print_hmm(FILE *f, const vh_h3m *h3m, const vh_hmm *h)
{
    static const char *const lead = ",\n   ";
    int64_t states[] = { h->S, h->S }, component[4] = { h->S, h->M };

    fputs("  {", f);
    vh_json_print_text(f, "name", h->name);
    vh_json_print_text(f, "label", h->label);
    bool tied = h3m->family->tied;
    component[1] = tied ? h3m->shape.G : h->M;
    fprintf(f, "\"S\": %d, \"M\": %d", h->S, tied ? h3m->shape.G : h->M);
    vh_json_print_array(f, lead, "pi", 1, states, h->pi);
    vh_json_print_array(f, lead, "A", 2, states, h->A);
    vh_json_print_array(f, lead, "c", 2, component, tied ? vh_hmm_param(h3m, h, 0) : vh_hmm_c(h));
    for (int p = 0; !tied && p < h3m->family->n_param; p++) {
        const vh_param *param = &h3m->family->param[p];
        if (vh_param_is_channels(param)) {
            print_channels(f, lead, h3m->shape.layout, component, vh_hmm_param(h3m, h, p));
            continue;
        }
        for (int k = 0; k < param->rank; k++)
            component[2 + k] = vh_param_extent(param, k, &h3m->shape);
        vh_json_print_array(f, lead, param->name, 2 + param->rank, component, vh_hmm_param(h3m, h, p));
    }
    if (h->extra)
        vh_json_print_members(f, lead, h->extra);
    putc('}', f);
}

vhem_status vh_model_print_json(vhem_ctx *ctx, const vh_h3m *h3m, FILE *f)
{
    char lengths[VH_LENGTHS_SIZE];

    VH_TRY(vh_h3m_require_finite(ctx, h3m));
    vh_lengths_text(&h3m->lengths, lengths);
    fprintf(f, "{\"format\": \"vhem-h3m\", \"version\": %d, \"emission\": \"%s\", \"d\": %d", VERSION,
            h3m->family->name, h3m->d);
    vh_layout_print(f, ", ", h3m->shape.layout);
    vh_json_print_array(f, ",\n ", "omega", 1, &h3m->K, h3m->omega);
    fputs(",\n \"hmms\": [\n", f);
    for (int64_t i = 0; i < h3m->K; i++) {
        print_hmm(f, h3m, &h3m->hmm[i]);
        fputs(i + 1 < h3m->K ? ",\n" : "]", f);
        if (ferror(f)) /* a full disk: reported by the caller */
            break;
    }
    if (h3m->lengths.max > 0)
        fprintf(f, ",\n \"lengths\": %s", lengths);
    if (h3m->prior)
        fprintf(f, ",\n \"prior\": %s", h3m->prior);
    if (h3m->provenance)
        fprintf(f, ",\n \"provenance\": %s", h3m->provenance);
    if (h3m->extra)
        vh_json_print_members(f, ",\n ", h3m->extra);
    putc('}', f);
    return VHEM_OK;
}

vhem_status vh_model_write_json(vhem_ctx *ctx, const vh_h3m *h3m, const char *path)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    return vh_atomic_file_end(ctx, vh_model_print_json(ctx, h3m, out.f), &out);
}
