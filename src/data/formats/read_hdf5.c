/* SPDX-License-Identifier: BSD-3-Clause */
/* read_hdf5.c - HDF5: X and lengths in the root (the stacked layout of array.h), or one dataset [T][d] or [T]
 * per sequence, anywhere in the tree.  The sequence is named by the dataset's path and described by its
 * attributes label, group and weight; without a label attribute the folder it is in is the label.
 *
 *   1. arrays          3. one dataset per sequence
 *   2. attributes      4. the stacked layout */
#include "core/alloc.h"
#include "core/hdf5_errors.h"
#include "data/formats/array.h"
#include "data/data.h"
#include "data/formats/formats.h"
#include "data/values.h"
#include "os/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    vhem_ctx *ctx;
    const char *path;
    const vhem_data_options *opt;
    int64_t size; /* file size in bytes */
    hid_t file;
    vh_builder *b;
    int d;
    char first[256];     /* dataset that set d */
    vhem_status visited; /* how the visit of the datasets went */
} h5;

static void close_h5(h5 *r)
{
    vh_builder_free(r->b);
    if (r->file >= 0)
        H5Fclose(r->file);
}

/* ---- 1. arrays ---- */

/* Closes a type, a space or an attribute; for VH_CLEANUP. */
static void drop(const hid_t *id)
{
    if (*id >= 0)
        H5Idec_ref(*id);
}

static vhem_status read_shape(h5 *r, hid_t set, const char *name, vh_array *a)
{
    vhem_ctx *ctx = r->ctx;
    hsize_t shape[H5S_MAX_RANK];
    VH_CLEANUP(drop) hid_t space = H5Dget_space(set);
    int ndim = space < 0 ? -1 : H5Sget_simple_extent_dims(space, shape, NULL);

    VH_CHECK(ndim >= 0, VHEM_EFORMAT, "%s: dataset '%s' has no readable shape", r->path, name);
    VH_CHECK(ndim >= 1 && ndim <= 2, VHEM_EFORMAT,
             "%s: dataset '%s' has %d dimensions, expected 2: time and channels", r->path, name, ndim);
    a->ndim = ndim;
    a->count = 1;
    for (int k = 0; k < ndim; k++) {
        /* A dataset without storage may claim any size; compression gains at most a factor of about 1000. */
        VH_CHECK(shape[k] < INT64_MAX
                     && (shape[k] == 0 || a->count <= (1100 * r->size + 65536) / (int64_t)shape[k]),
                 VHEM_EFORMAT, "%s: dataset '%s' claims more values than a file of %lld bytes can hold",
                 r->path, name, (long long)r->size);
        a->shape[k] = (int64_t)shape[k];
        a->count *= a->shape[k];
    }
    return VHEM_OK;
}

static vhem_status read_hdf5_texts(h5 *r, hid_t set, hid_t type, const char *name, vh_array *a)
{
    vhem_ctx *ctx = r->ctx;
    bool variable = H5Tis_variable_str(type) > 0, whole = true;
    size_t item = variable ? sizeof(char *) : H5Tget_size(type);
    VH_AUTOFREE char *raw = NULL;

    VH_CHECK(item >= 1 && item < 1 << 20, VHEM_EFORMAT, "%s: dataset '%s' has text of %zu bytes", r->path,
             name, item);
    VH_TRY(vh_array_text_limit(ctx, r->path, a->count, (int64_t)item, r->opt->memory));
    VH_NEW(raw, (size_t)a->count * item);
    VH_CLEANUP(drop) hid_t space = H5Dget_space(set);
    VH_CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw) >= 0, VHEM_EFORMAT,
             "%s: the text in dataset '%s' cannot be read", r->path, name);
    VH_NEW(a->text, a->count);
    for (int64_t i = 0; i < a->count; i++) {
        const char *at = raw + (size_t)i * item;
        if (variable)
            memcpy(&at, raw + (size_t)i * item, sizeof at);
        size_t n = !at ? 0 : variable ? strlen(at) : strnlen(at, item);
        a->text[i] = vh_strndup(ctx, at ? at : "", n);
        whole = whole && a->text[i];
    }
    if (variable)
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, raw);
    return whole ? VHEM_OK : VHEM_ENOMEM;
}

/* Rows per read: about BLOCK numbers, in whole chunks so that each is decompressed once. */
static int64_t rows_at_a_time(hid_t set, const vh_array *a)
{
    enum { BLOCK = 1 << 17 };
    int64_t rows = 1 + BLOCK / (a->ndim == 2 && a->shape[1] > 0 ? a->shape[1] : 1), per_chunk = 1;
    hsize_t chunk[H5S_MAX_RANK];
    hid_t plist = H5Dget_create_plist(set);
    if (plist >= 0 && H5Pget_layout(plist) == H5D_CHUNKED && H5Pget_chunk(plist, a->ndim, chunk) == a->ndim)
        per_chunk = (int64_t)chunk[0];
    if (plist >= 0)
        H5Pclose(plist);
    rows = (rows + per_chunk - 1) / per_chunk * per_chunk;
    return rows < a->shape[0] ? rows : a->shape[0];
}

static bool read_hdf5_rows(hid_t set, const vh_array *a, int64_t first, int64_t n, double *y)
{
    hsize_t start[2] = { (hsize_t)first, 0 }, count[2] = { (hsize_t)n, (hsize_t)a->shape[1] };
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(a->ndim, count, NULL);
    bool ok = space >= 0 && memory >= 0
              && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0
              && H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, y) >= 0;
    if (space >= 0)
        H5Sclose(space);
    if (memory >= 0)
        H5Sclose(memory);
    return ok;
}

static vhem_status read_hdf5_numbers(h5 *r, hid_t set, const char *name, vh_array *a)
{
    vhem_ctx *ctx = r->ctx;
    int64_t rows = rows_at_a_time(set, a), width = a->ndim == 2 ? a->shape[1] : 1;
    VH_AUTOFREE double *y = vh_alloc(ctx, (size_t)(rows * width) + 1, sizeof *y);

    a->hold = (vh_spill){ .name = r->path, .limit = r->opt->memory };
    VH_CHECK(y, VHEM_ENOMEM, "%s: dataset '%s': no memory for %lld values", r->path, name,
             (long long)(rows * width));
    for (int64_t t = 0; t < a->shape[0] && width > 0; t += rows) {
        rows = rows < a->shape[0] - t ? rows : a->shape[0] - t;
        VH_CHECK(
            read_hdf5_rows(set, a, t, rows, y), VHEM_EFORMAT,
            "%s: the numbers in dataset '%s' cannot be read: the file is damaged or uses an unknown filter",
            r->path, name);
        VH_TRY(vh_spill_put(ctx, &a->hold, y, rows * width));
    }
    VH_TRY(vh_spill_values(ctx, &a->hold, &a->y));
    a->hold.name = NULL;
    return VHEM_OK;
}

static vhem_status read_set(h5 *r, hid_t set, const char *name, vh_array *out)
{
    vhem_ctx *ctx = r->ctx;
    VH_CLEANUP(vh_array_free) vh_array a = { 0 };
    VH_CLEANUP(drop) hid_t type = H5Dget_type(set);
    H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);

    const char *elsewhere = vh_h5_elsewhere(-1, NULL, set);
    VH_CHECK(!elsewhere, VHEM_EFORMAT, "%s: dataset '%s' is not read: %s", r->path, name, elsewhere);
    VH_CHECK(class == H5T_INTEGER || class == H5T_FLOAT || class == H5T_STRING, VHEM_EFORMAT,
             "%s: dataset '%s' holds neither numbers nor text", r->path, name);
    VH_TRY(read_shape(r, set, name, &a));
    if (class == H5T_STRING)
        VH_TRY(read_hdf5_texts(r, set, type, name, &a));
    else
        VH_TRY(read_hdf5_numbers(r, set, name, &a));
    *out = a;
    a = (vh_array){ 0 };
    return VHEM_OK;
}

/* ---- 2. attributes ---- */

/* Reads an attribute of a dataset as text, numbers in their shortest form; *out is NULL if it is absent. */
static vhem_status read_attribute(h5 *r, hid_t set, const char *name, const char *key, char **out)
{
    vhem_ctx *ctx = r->ctx;
    char number[32];
    double value;

    *out = NULL;
    htri_t there = H5Aexists(set, key);
    VH_CHECK(there >= 0, VHEM_EFORMAT,
             "%s: attribute '%s' of '%s' cannot be looked up: the file is damaged, or "
             "memory is short",
             r->path, key, name);
    if (there == 0)
        return VHEM_OK;
    VH_CLEANUP(drop) hid_t attr = H5Aopen(set, key, H5P_DEFAULT);
    VH_CLEANUP(drop) hid_t type = attr < 0 ? -1 : H5Aget_type(attr);
    VH_CLEANUP(drop) hid_t space = attr < 0 ? -1 : H5Aget_space(attr);
    VH_CHECK(type >= 0 && space >= 0 && H5Sget_simple_extent_npoints(space) == 1, VHEM_EFORMAT,
             "%s: attribute '%s' of '%s' is not a single value", r->path, key, name);
    if (H5Tget_class(type) != H5T_STRING) {
        VH_CHECK(H5Aread(attr, H5T_NATIVE_DOUBLE, &value) >= 0, VHEM_EFORMAT,
                 "%s: attribute '%s' of '%s' is neither text nor a number", r->path, key, name);
        vh_number_short(value, number);
        VH_DUP(*out, number);
    } else if (H5Tis_variable_str(type) > 0) {
        char *text = NULL;
        VH_CHECK(H5Aread(attr, type, &text) >= 0, VHEM_EFORMAT, "%s: attribute '%s' of '%s' cannot be read",
                 r->path, key, name);
        *out = vh_strdup(ctx, text ? text : "");
        H5free_memory(text);
        if (!*out)
            return VHEM_ENOMEM;
    } else {
        VH_AUTOFREE char *raw = NULL;
        size_t size = H5Tget_size(type);
        VH_CHECK(size < 1 << 20, VHEM_EFORMAT, "%s: attribute '%s' of '%s' has %zu bytes", r->path, key, name,
                 size);
        VH_NEW(raw, size + 1);
        VH_CHECK(H5Aread(attr, type, raw) >= 0, VHEM_EFORMAT, "%s: attribute '%s' of '%s' cannot be read",
                 r->path, key, name);
        VH_DUP(*out, raw);
    }
    return VHEM_OK;
}

/* ---- 3. one dataset per sequence ---- */

static vhem_status begin_sequences(h5 *r, const char *name, int d)
{
    vhem_ctx *ctx = r->ctx;

    if (!r->b) {
        VH_TRY(vh_builder_open(ctx, r->path, r->opt, d, &r->b));
        r->d = d;
        snprintf(r->first, sizeof r->first, "%s", name);
    }
    VH_CHECK(d == r->d, VHEM_EFORMAT, "%s: dataset '%s' has %d columns, expected %d as in '%s'", r->path,
             name, d, r->d, r->first);
    return VHEM_OK;
}

static vhem_status read_sequence(h5 *r, hid_t set, const char *name)
{
    vhem_ctx *ctx = r->ctx;
    VH_CLEANUP(vh_array_free) vh_array a = { 0 };
    VH_AUTOFREE char *label = NULL, *group = NULL, *weight = NULL;
    const char *slash = strrchr(name, '/');
    double w = 1;
    int d;

    VH_TRY(read_set(r, set, name, &a));
    VH_TRY(vh_array_frames(ctx, r->path, name, &a, &d));
    VH_TRY(begin_sequences(r, name, d));
    VH_TRY(read_attribute(r, set, name, "label", &label));
    VH_TRY(read_attribute(r, set, name, "group", &group));
    VH_TRY(read_attribute(r, set, name, "weight", &weight));
    VH_CHECK(!weight || (vh_number_parse(weight, strlen(weight), &w) == VH_NUMBER && w > 0), VHEM_EFORMAT,
             "%s: the weight of '%s' is '%s', must be a positive number", r->path, name, weight);
    if (!label && slash) {
        label = vh_strndup(ctx, name, (size_t)(slash - name));
        VH_CHECK(label, VHEM_ENOMEM, "out of memory");
    }
    VH_TRY(vh_builder_copy(r->b, &a.hold, 0, a.shape[0]));
    return vh_builder_end(r->b, name, label, group, w);
}

/* Argument of H5Ovisit, which visits objects in order of names; returning 1 stops it. */
static herr_t visit_object(hid_t file, const char *name, const H5O_info_t *info, void *arg)
{
    h5 *r = arg;
    if (info->type != H5O_TYPE_DATASET)
        return 0;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) {
        r->visited = vh_fail(r->ctx, VHEM_EFORMAT, "%s: dataset '%s' cannot be opened", r->path,
                             VH_SHOW(name, strlen(name)));
        return 1;
    }
    r->visited = read_sequence(r, set, name);
    H5Dclose(set);
    return r->visited != VHEM_OK;
}

static vhem_status read_each(h5 *r, vhem_data **out)
{
    vhem_ctx *ctx = r->ctx;

    herr_t code = H5Ovisit2(r->file, H5_INDEX_NAME, H5_ITER_INC, visit_object, r, H5O_INFO_BASIC);
    VH_TRY(r->visited);
    VH_CHECK(code >= 0, VHEM_EFORMAT, "%s: the tree of datasets is damaged", r->path);
    VH_CHECK(r->b, VHEM_EFORMAT, "%s: there is no dataset in the file", r->path);
    return vh_builder_finish(r->b, "hdf5", out);
}

/* ---- 4. the stacked layout ---- */

/* An error must not pass for absence: an existing dataset would be dropped silently. */
static vhem_status has(h5 *r, const char *key, bool *out)
{
    vhem_ctx *ctx = r->ctx;
    htri_t there = H5Lexists(r->file, key, H5P_DEFAULT);

    VH_CHECK(there >= 0, VHEM_EFORMAT,
             "%s: '%s' cannot be looked up: the file is damaged, or memory is short", r->path, key);
    *out = there > 0;
    return VHEM_OK;
}

/* True if the attribute's text, of fixed or variable length, begins with "vhem-". */
static bool is_ours(hid_t a, hid_t type, hid_t space)
{
    char text[16] = "", *heap = NULL; /* "vhem-h3m", "vhem-dtm" */
    bool ours = false;

    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
        return false;
    if (H5Tis_variable_str(type) > 0) {
        ours = H5Aread(a, type, &heap) >= 0 && heap && strncmp(heap, "vhem-", 5) == 0;
        H5free_memory(heap);
    } else {
        ours =
            H5Tget_size(type) <= sizeof text && H5Aread(a, type, text) >= 0 && strncmp(text, "vhem-", 5) == 0;
    }
    return ours;
}

static vhem_status refuse_models(h5 *r)
{
    vhem_ctx *ctx = r->ctx;
    htri_t there = H5Aexists(r->file, "format");

    VH_CHECK(there >= 0, VHEM_EFORMAT,
             "%s: attribute 'format' cannot be looked up: the file is damaged, or memory is short", r->path);
    if (there > 0) {
        hid_t a = H5Aopen(r->file, "format", H5P_DEFAULT), type = H5Aget_type(a), space = H5Aget_space(a);
        bool ours = is_ours(a, type, space);
        H5Sclose(space);
        H5Tclose(type);
        H5Aclose(a);
        VH_CHECK(!ours, VHEM_EFORMAT, "%s: this is a model file, expected sequences", r->path);
    }
    return VHEM_OK;
}

static vhem_status read_stacked(h5 *r, vhem_data **out)
{
    vhem_ctx *ctx = r->ctx;
    VH_CLEANUP(vh_stacked_free) vh_array a[VH_N_STACKED] = { { 0 } };

    for (int k = 0; k < VH_N_STACKED; k++) {
        bool there = false;
        VH_TRY(has(r, vh_stacked_key[k], &there));
        if (!there)
            continue;
        const char *elsewhere = vh_h5_elsewhere(r->file, vh_stacked_key[k], -1);
        VH_CHECK(!elsewhere, VHEM_EFORMAT, "%s: dataset '%s' is not read: %s", r->path, vh_stacked_key[k],
                 elsewhere);
        hid_t set = H5Dopen2(r->file, vh_stacked_key[k], H5P_DEFAULT);
        VH_CHECK(set >= 0, VHEM_EFORMAT, "%s: '%s' is not a dataset that can be opened", r->path,
                 vh_stacked_key[k]);
        vhem_status st = read_set(r, set, vh_stacked_key[k], &a[k]);
        H5Dclose(set);
        VH_TRY(st);
    }
    return vh_stacked_build(ctx, r->path, r->opt, "hdf5", a, out);
}

static vhem_status read_file(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(close_h5) h5 r = { .ctx = ctx, .path = path, .opt = opt, .file = -1 };
    VH_OWN(vhem_data) *data = NULL;
    vh_entry there;
    bool X = false, lengths = false;

    VH_CHECK(strcmp(path, "-") != 0, VHEM_EINVAL, "HDF5 cannot be read from standard input; give a file");
    VH_CHECK(vh_path_look(path, &there), VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
    r.size = there.size;
    VH_TRY(vh_no_columns(ctx, path, "an HDF5 file", opt));
    r.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    VH_CHECK(r.file >= 0, VHEM_EFORMAT,
             "%s: cannot be opened as HDF5: the file is damaged or of another kind", path);
    VH_TRY(refuse_models(&r));
    VH_TRY(has(&r, "X", &X));
    VH_TRY(has(&r, "lengths", &lengths));
    VH_TRY(X && lengths ? read_stacked(&r, &data) : read_each(&r, &data));
    if (opt->where)
        VH_TRY(vh_data_keep_where(ctx, path, opt->where, data));
    *out = vh_take(data);
    return VHEM_OK;
}

vhem_status vh_read_hdf5(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    vh_h5_watch watch;

    vh_h5_watch_begin(&watch);
    return vh_h5_watch_end(ctx, &watch, path, read_file(ctx, path, opt, out));
}
