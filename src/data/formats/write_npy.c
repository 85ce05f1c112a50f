/* SPDX-License-Identifier: BSD-3-Clause */
/* write_npy.c - NAME.npy, all frames as doubles, and NAME_index.csv with seq, start, length and the other
 * attributes of sequences.  The array is committed before the index, so that a new index never meets an old
 * array. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "data/formats/npy.h"
#include "data/values.h"
#include "data/formats/write.h"

#include <string.h>

static vhem_status write_array(vhem_ctx *ctx, const vhem_data *data, vh_atomic_file *out)
{
    char header[128];
    int64_t rows = data->start[data->N];
    fwrite(header, 1, vh_npy_header(header, "<f8", rows, data->d), out->f);
    for (int64_t n = 0; n < data->N; n++) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while writing");
        fwrite(vh_data_frames(data, n), sizeof *data->y, (size_t)(vh_data_length(data, n) * data->d), out->f);
        vh_data_passed(data, n);
    }
    return vh_atomic_file_commit(ctx, out);
}

static vhem_status write_index(vhem_ctx *ctx, const vhem_data *data, vh_atomic_file *out)
{
    FILE *f = out->f;
    fprintf(f, "seq,start,length%s%s%s\n", data->label ? ",label" : "", data->group ? ",group" : "",
            data->weight ? ",weight" : "");
    for (int64_t n = 0; n < data->N; n++) {
        char text[VH_NUMBER_SIZE];
        vh_write_field(f, vh_write_name(data, n, text), ',');
        fprintf(f, ",%lld,%lld", (long long)data->start[n], (long long)vh_data_length(data, n));
        if (data->label) {
            putc(',', f);
            vh_write_field(f, data->label[n], ',');
        }
        if (data->group) {
            putc(',', f);
            vh_write_field(f, data->group[n], ',');
        }
        if (data->weight) {
            vh_number_short(data->weight[n], text);
            fprintf(f, ",%s", text);
        }
        putc('\n', f);
    }
    return vh_atomic_file_commit(ctx, out);
}

vhem_status vh_write_npy(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file array = { 0 }, index = { 0 };
    size_t n = strlen(path) - strlen(".npy");
    VH_AUTOFREE char *index_path = NULL;

    VH_NEW(index_path, n + 16);
    snprintf(index_path, n + 16, "%.*s_index.csv", (int)n, path);
    VH_TRY(vh_atomic_file_open(ctx, path, &array));
    VH_TRY(vh_atomic_file_open(ctx, index_path, &index));
    VH_TRY(write_array(ctx, data, &array));
    return write_index(ctx, data, &index);
}
