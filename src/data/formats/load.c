/* SPDX-License-Identifier: BSD-3-Clause */
/* load.c - vhem_data_load, which detects the format, and vhem_data_save, which goes by the extension. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "core/options.h"
#include "data/formats/formats.h"
#include "data/formats/roles.h"
#include "data/formats/sentinels.h"
#include "data/values.h"
#include "data/formats/write.h"
#include "vhem.h"
#include "os/stream.h"

#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------- */

/* Keeps the symbols of columns place [d]. */
static vhem_status keep_symbols(vhem_ctx *ctx, vhem_data *data, int old_d, const int *place, int d)
{
    vhem_symbols *kept = NULL;

    if (!data->symbols)
        return VHEM_OK;
    VH_NEW(kept, d);
    for (int k = 0; k < d; k++) {
        kept[k] = data->symbols[place[k]];
        data->symbols[place[k]] = (vhem_symbols){ 0 };
    }
    vh_symbols_free(data->symbols, old_d);
    data->symbols = kept;
    return VHEM_OK;
}

vhem_status vh_data_keep_columns(vhem_ctx *ctx, const char *path, const char *list, vhem_data *data)
{
    VH_AUTOFREE int *place = NULL;
    int d = 0, old_d = data->d;
    VH_AUTOFREE char **column = NULL;

    VH_TRY(vh_columns_pick(ctx, path, list, data->column, old_d, &place, &d));
    VH_NEW(column, d);
    data->hold.name = path;
    VH_TRY(vh_spill_pick(ctx, &data->hold, old_d, place, d));
    VH_TRY(vh_spill_values(ctx, &data->hold, &data->y));
    data->hold.name = NULL;
    data->n_missing = data->hold.n_missing;
    for (int k = 0; k < d; k++) {
        column[k] = data->column[place[k]];
        data->column[place[k]] = NULL;
    }
    VH_TRY(keep_symbols(ctx, data, old_d, place, d));
    vh_list_free(data->column, old_d);
    data->column = vh_take(column);
    data->d = d;
    return VHEM_OK;
}

/* Requires the C locale (decimal point). */
static vhem_status load_data(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_OWN(vhem_data) *data = NULL;
    vhem_data_options o;
    const vh_reader *reader;

    VH_TRY(vh_options_take(ctx, VHEM_DATA_OPTIONS, opt, &o));
    o.memory = o.memory < 0 ? (int64_t)1 << 30 : o.memory;
    VH_TRY(vh_reader_find(ctx, path, o.format, &reader));
    VH_CHECK(!o.missing || reader->text, VHEM_EINVAL,
             "%s: " VH_OPT("missing") " names words of a text; in an array a missing value is NaN", path);
    VH_CHECK(!o.sheet || reader->sheets, VHEM_EINVAL,
             "%s: " VH_OPT("sheet") " names a sheet of an .xlsx workbook; this file has none", path);
    VH_TRY(reader->read(ctx, path, &o, &data));
    VH_DUP(data->origin.path, path);
    if (o.columns && !reader->picks_columns)
        VH_TRY(vh_data_keep_columns(ctx, path, o.columns, data));
    VH_TRY(vh_data_scan(ctx, data));
    VH_TRY(vh_warn_of_counters(ctx, path, &o, data));
    VH_TRY(vh_warn_of_sentinels(ctx, path, reader->text, data));
    *out = vh_take(data);
    return VHEM_OK;
}

vhem_status vhem_data_load(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    VH_ENTER(path, out);
    void *locale = vh_locale_enter();
    vhem_status st = load_data(ctx, path, opt, out);
    vh_locale_leave(locale);
    return st;
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static const struct {
    const char *ending;
    vh_write_fn *write;
} table[] = {
    { ".csv", vh_write_csv }, { ".tsv", vh_write_tsv }, { ".npy", vh_write_npy },   { ".npz", vh_write_npz },
    { ".ts", vh_write_ts },   { ".h5", vh_write_hdf5 }, { ".hdf5", vh_write_hdf5 },
};
enum { N_ENDINGS = sizeof table / sizeof *table };

/* Wrapped memory may hold infinity, which no reader accepts. */
static vhem_status check_finite(vhem_ctx *ctx, const vhem_data *data)
{
    vhem_data copy = *data;
    vhem_status st = vh_data_scan(ctx, &copy);
    return st == VHEM_OK ? VHEM_OK : VHEM_EINVAL;
}

/* Requires the C locale (decimal point). */
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
    void *locale = vh_locale_enter();
    vhem_status st = save_data(ctx, data, path);
    vh_locale_leave(locale);
    return st;
}
