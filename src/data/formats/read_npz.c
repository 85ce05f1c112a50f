/* SPDX-License-Identifier: BSD-3-Clause */
/* read_npz.c - NumPy archives.  By their keys:
 *   X and lengths            the stacked layout of array.h, with optional names, labels, ...
 *   one array and an index   as a .npy file with NAME_index.csv beside it
 *   one array                one sequence [T][d], or N of equal length [N][T][d]
 *   several arrays           one sequence each, named by its key */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "data/formats/array.h"
#include "data/data.h"
#include "data/formats/npy.h"
#include "data/formats/formats.h"
#include "data/values.h"
#include "data/formats/zip.h"

#include <stdio.h>
#include <string.h>

/* Name of a member without .npy. */
static void member_name(const vh_zip *z, int i, char *out, size_t size)
{
    const char *name = z->member[i].name;
    size_t n = strlen(name) - (vh_ends_with(name, ".npy") ? 4 : 0);
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), name);
}

static int find_member(const vh_zip *z, const char *key)
{
    char name[256];
    for (int i = 0; i < z->n; i++) {
        member_name(z, i, name, sizeof name);
        if (strcmp(name, key) == 0)
            return i;
    }
    return -1;
}

static vhem_status read_member(vhem_ctx *ctx, const vh_zip *z, const vhem_data_options *opt, int i,
                               vh_array *out)
{
    VH_OWN(vh_unzip) *u = NULL;
    vh_stream s;
    char key[256], name[512];

    member_name(z, i, key, sizeof key);
    snprintf(name, sizeof name, "%.400s: array '%s'", z->path, VH_SHOW(key, strlen(key)));
    VH_TRY(vh_unzip_open(ctx, z, i, name, &s, &u));
    return vh_npy_read(ctx, &s, opt->memory, out);
}

static vhem_status read_stacked(vhem_ctx *ctx, const vh_zip *z, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(vh_stacked_free) vh_array a[VH_N_STACKED] = { { 0 } };

    for (int k = 0; k < VH_N_STACKED; k++) {
        int i = find_member(z, vh_stacked_key[k]);
        if (i >= 0)
            VH_TRY(read_member(ctx, z, opt, i, &a[k]));
    }
    return vh_stacked_build(ctx, z->path, opt, "npz", a, out);
}

static vhem_status read_single(vhem_ctx *ctx, const vh_zip *z, int i, const char *index,
                               const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(vh_array_free) vh_array a = { 0 };
    char name[256];

    VH_TRY(read_member(ctx, z, opt, i, &a));
    member_name(z, i, name, sizeof name);
    if (index) {
        VH_TRY(vh_index_build(ctx, z->path, "npz", index, opt, &a, out));
    } else {
        if (strcmp(name, "X") == 0 || strcmp(name, "arr_0") == 0)
            vh_stem(z->path, name, sizeof name);
        VH_TRY(vh_array_build(ctx, z->path, opt, "npz", name, &a, out));
    }
    return VHEM_OK;
}

static vhem_status read_each(vhem_ctx *ctx, const vh_zip *z, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(vh_array_free) vh_array a = { 0 };
    VH_OWN(vh_builder) *b = NULL;
    int d = 0, first_d = 0;
    char key[256], first[256];

    member_name(z, 0, first, sizeof first);
    for (int i = 0; i < z->n; i++) {
        VH_TRY(read_member(ctx, z, opt, i, &a));
        member_name(z, i, key, sizeof key);
        VH_TRY(vh_array_frames(ctx, z->path, key, &a, &d));
        if (!b) {
            VH_TRY(vh_builder_open(ctx, z->path, opt, d, &b));
            first_d = d;
        }
        VH_CHECK(d == first_d, VHEM_EFORMAT, "%s: array '%s' has %d columns, expected %d as in '%s'", z->path,
                 VH_SHOW(key, strlen(key)), d, first_d, VH_SHOW(first, strlen(first)));
        VH_TRY(vh_builder_copy(b, &a.hold, 0, a.shape[0]));
        VH_TRY(vh_builder_end(b, key, NULL, NULL, 1));
        vh_array_free(&a);
    }
    return vh_builder_finish(b, "npz", out);
}

vhem_status vh_read_npz(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_CLEANUP(vh_zip_close) vh_zip z = { 0 };
    VH_AUTOFREE char *index = NULL;
    VH_OWN(vhem_data) *data = NULL;

    VH_CHECK(strcmp(path, "-") != 0, VHEM_EINVAL,
             "an .npz archive cannot be read from standard input; give a file");
    VH_TRY(vh_zip_open(ctx, path, &z));
    VH_CHECK(z.n > 0, VHEM_EFORMAT, "%s: the archive is empty, expected arrays", path);
    int X = find_member(&z, "X");
    bool stacked = X >= 0 && find_member(&z, "lengths") >= 0;
    if (!stacked && (z.n == 1 || X >= 0))
        VH_TRY(vh_index_find(ctx, path, &index));
    if (!index)
        VH_TRY(vh_no_columns(ctx, path, "an .npz archive without an index", opt));
    if (stacked)
        VH_TRY(read_stacked(ctx, &z, opt, &data));
    else if (z.n == 1 || index)
        VH_TRY(read_single(ctx, &z, X >= 0 ? X : 0, index, opt, &data));
    else
        VH_TRY(read_each(ctx, &z, opt, &data));
    if (opt->where && !index)
        VH_TRY(vh_data_keep_where(ctx, path, opt->where, data));
    *out = vh_take(data);
    return VHEM_OK;
}
