/* SPDX-License-Identifier: BSD-3-Clause */
/* read_npy.c - NAME.npy with NAME_index.csv beside it; without an index, one sequence [T][d], or N of equal
 * length [N][T][d]. */
#include "core/alloc.h"
#include "os/fd.h"
#include "core/atomic_file.h"
#include "data/formats/array.h"
#include "data/data.h"
#include "data/formats/npy.h"
#include "data/formats/formats.h"
#include "os/stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static vhem_status pull_file(vhem_ctx *ctx, vh_stream *s, void *buf, size_t n, size_t *got)
{
    *got = fread(buf, 1, n, s->arg);
    if (*got < n && ferror((FILE *)s->arg))
        return vh_fail(ctx, VHEM_EIO, "%s: cannot read: %s", s->name, strerror(errno));
    return VHEM_OK;
}

vhem_status vh_read_npy(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    vh_entry is;
    VH_OWN(FILE) *f = NULL;
    VH_CLEANUP(vh_array_free) vh_array a = { 0 };
    VH_AUTOFREE char *index = NULL;
    VH_OWN(vhem_data) *data = NULL;
    char name[256];

    VH_CHECK(strcmp(path, "-") != 0, VHEM_EINVAL,
             "a .npy array cannot be read from standard input; give a file");
    f = vh_file_open(path, "rb");
    VH_CHECK(f && vh_file_look(f, &is), VHEM_EIO, "%s: cannot read: %s", path, strerror(errno));
    vh_stream s = { .name = path, .size = is.size, .pull = pull_file, .arg = f };
    VH_TRY(vh_npy_read(ctx, &s, opt->memory, &a));
    VH_TRY(vh_index_find(ctx, path, &index));
    if (index) {
        VH_TRY(vh_index_build(ctx, path, "npy", index, opt, &a, &data));
    } else {
        VH_TRY(vh_no_columns(ctx, path, "an array without an index", opt));
        vh_stem(path, name, sizeof name);
        VH_TRY(vh_array_build(ctx, path, opt, "npy", name, &a, &data));
        if (opt->where)
            VH_TRY(vh_data_keep_where(ctx, path, opt->where, data));
    }
    *out = vh_take(data);
    return VHEM_OK;
}
