/* SPDX-License-Identifier: BSD-3-Clause */
/* write_hdf5.c - the stacked layout of array.h as HDF5: X, lengths, names, labels and the rest. */
#include "core/alloc.h"
#include "os/fd.h"
#include "core/atomic_file.h"
#include "core/hdf5_errors.h"
#include "data/formats/write.h"

#include <errno.h>
#include <string.h>

enum { CELLS = 1 << 21 }; /* numbers written between checks for a stop request */

typedef struct { /* an array in memory and its type in the file */
    const void *at;
    hid_t type, stored;
    int ndim;
    hsize_t shape[2];
} array;

/* Writes a two-dimensional array a block of rows at a time; false on error or stop. */
static bool write_rows(vhem_ctx *ctx, hid_t set, hid_t space, const array *x)
{
    hsize_t rows = x->shape[0], d = x->shape[1] > 0 ? x->shape[1] : 1, most = CELLS / d + 1;
    bool ok = true;
    for (hsize_t at = 0; ok && at < rows; at += most) {
        const hsize_t from[2] = { at, 0 }, n[2] = { rows - at < most ? rows - at : most, d };
        hid_t here = vh_stopped(ctx) ? -1 : H5Screate_simple(2, n, NULL);
        ok = here >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, n, NULL) >= 0
             && H5Dwrite(set, x->type, here, space, H5P_DEFAULT, (const double *)x->at + at * d) >= 0;
        if (here >= 0)
            H5Sclose(here);
    }
    return ok;
}

static bool write_set(vhem_ctx *ctx, hid_t file, const char *key, const array *x)
{
    hid_t space = H5Screate_simple(x->ndim, x->shape, NULL);
    hid_t how = H5Pcreate(H5P_DATASET_CREATE), set = -1;
    if (space >= 0 && how >= 0 && H5Pset_obj_track_times(how, false) >= 0) /* reproducible bytes */
        set = H5Dcreate2(file, key, x->stored, space, H5P_DEFAULT, how, H5P_DEFAULT);
    bool ok = set >= 0
              && (x->ndim == 2 ? write_rows(ctx, set, space, x)
                               : !vh_stopped(ctx)
                                     && H5Dwrite(set, x->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, x->at) >= 0);
    if (set >= 0)
        ok &= H5Dclose(set) >= 0;
    if (how >= 0)
        H5Pclose(how);
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

static bool write_texts(vhem_ctx *ctx, hid_t file, const char *key, int64_t n, char *const *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    bool ok = type >= 0 && H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0
              && write_set(ctx, file, key, &(array){ text, type, type, 1, { (hsize_t)n } });
    if (type >= 0)
        H5Tclose(type);
    return ok;
}

static bool write_all(vhem_ctx *ctx, hid_t file, const vhem_data *data, const int64_t *length)
{
    hsize_t N = (hsize_t)data->N, d = (hsize_t)data->d;
    hid_t real = H5T_NATIVE_DOUBLE, stored = H5T_IEEE_F64LE;
    const array X = { data->y, real, stored, 2, { (hsize_t)data->start[data->N], d } };
    const array lengths = { length, H5T_NATIVE_INT64, H5T_STD_I64LE, 1, { N } };
    bool ok = write_set(ctx, file, "X", &X) && write_set(ctx, file, "lengths", &lengths)
              && write_texts(ctx, file, "columns", data->d, data->column);
    if (ok && data->name)
        ok = write_texts(ctx, file, "names", data->N, data->name);
    if (ok && data->label)
        ok = write_texts(ctx, file, "labels", data->N, data->label);
    if (ok && data->group)
        ok = write_texts(ctx, file, "groups", data->N, data->group);
    if (ok && data->weight)
        ok = write_set(ctx, file, "weights", &(array){ data->weight, real, stored, 1, { N } });
    return ok;
}

/* Uses the 1.8 layout or later: its metadata has checksums, so damage is detected. */
static hid_t create(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE), file = -1;
    if (access >= 0 && how >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST) >= 0
        && H5Pset_file_locking(access, false, true) >= 0 /* the file is already locked */
        && H5Pset_obj_track_times(how, false) >= 0)      /* root group */
        file = H5Fcreate(path, H5F_ACC_TRUNC, how, access);
    if (how >= 0)
        H5Pclose(how);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

static uint64_t text_bytes(int64_t n, char *const *text)
{
    uint64_t bytes = 0;
    for (int64_t i = 0; text && i < n; i++)
        bytes += strlen(text[i]) + 64;
    return bytes;
}

/* Checks that the disk has room.  HDF5 crashes on a full disk: at exit it retries the failed writes.  So the
 * space is allocated first; H5Fcreate, which truncates, gives it back. */
static vhem_status reserve(vhem_ctx *ctx, const vhem_data *data, const char *path, int fd)
{
    uint64_t bytes = 65536 + 8 * (uint64_t)(data->start[data->N] * data->d) + 32 * (uint64_t)data->N
                     + text_bytes(data->N, data->name) + text_bytes(data->N, data->label)
                     + text_bytes(data->N, data->group) + text_bytes(data->d, data->column);
    bool full = !vh_fd_reserve(fd, (int64_t)(bytes + bytes / 64)) && vh_is_disk_full(errno);
    VH_CHECK(!full, VHEM_EIO, "%s: writing failed: %s", path, strerror(errno));
    return VHEM_OK;
}

static vhem_status write_file(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    VH_AUTOFREE int64_t *length = NULL;
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };

    VH_NEW(length, data->N);
    for (int64_t n = 0; n < data->N; n++)
        length[n] = vh_data_length(data, n);
    VH_TRY(vh_atomic_file_path(ctx, path, &out));
    VH_CHECK(out.tmp, VHEM_EIO, "%s: cannot write HDF5: it is not a regular file", path);
    VH_TRY(reserve(ctx, data, path, out.fd));
    vh_fd_std low;
    vh_fd_reserve_std(low); /* the library may use any descriptor */
    hid_t file = create(out.tmp);
    vh_fd_release_std(low);
    VH_CHECK(file >= 0, VHEM_EIO, "%s: cannot write HDF5 there", path);
    bool ok = write_all(ctx, file, data, length), stopped = !ok && vh_stopped(ctx);
    ok &= H5Fclose(file) >= 0;
    VH_CHECK(!stopped, VHEM_ESTOPPED, "stopped while writing");
    VH_CHECK(ok, VHEM_EIO, "%s: writing failed; HDF5 does not say why, as when memory runs out", path);
    return vh_atomic_file_commit(ctx, &out);
}

vhem_status vh_write_hdf5(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    vh_h5_watch watch;

    vh_h5_watch_begin(&watch);
    return vh_h5_watch_end(ctx, &watch, path, write_file(ctx, data, path));
}
