/* SPDX-License-Identifier: BSD-3-Clause */
/* save.c - vhem_data_save: the table of endings. */
#include "core/atomic_file.h"
#include "data/values.h"
#include "data/write.h"

#include <string.h>

static const struct {
    const char *ending;
    vh_write_fn *write;
} table[] = {
    { ".csv", vh_write_csv }, { ".tsv", vh_write_tsv }, { ".npy", vh_write_npy },   { ".npz", vh_write_npz },
    { ".ts", vh_write_ts },   { ".h5", vh_write_hdf5 }, { ".hdf5", vh_write_hdf5 },
};
enum { N_ENDINGS = sizeof table / sizeof *table };

/* Only wrapped memory can hold infinity: what is written must be readable again. */
static vhem_status check_finite(vhem_ctx *ctx, const vhem_data *data)
{
    vhem_data copy = *data;
    vhem_status st = vh_data_scan(ctx, &copy);
    return st == VHEM_OK ? VHEM_OK : VHEM_EINVAL;
}

/* In the C locale, whose decimal point is a point. */
static vhem_status save_data(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    vh_write_fn *write = NULL;

    for (int i = 0; i < N_ENDINGS && !write; i++)
        if (vh_ends_with(path, table[i].ending))
            write = table[i].write;
    if (!write && vh_is_stream(path))
        write = vh_write_csv;
    VH_CHECK(write, VHEM_EINVAL,
             "%s: the ending says how data is written: .csv, .tsv, .npy, .npz, .ts or .h5", path);
    VH_TRY(check_finite(ctx, data));
    return write(ctx, data, path);
}

vhem_status vhem_data_save(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    VH_ENTER(data, path);
    vh_locale locale = vh_locale_enter();
    vhem_status st = save_data(ctx, data, path);
    vh_locale_leave(locale);
    return st;
}
