/* SPDX-License-Identifier: BSD-3-Clause */
/* without_hdf5.c - replaces read_hdf5.c and write_hdf5.c in builds without HDF5 (VHEM_HDF5=OFF). */
#include "data/formats/formats.h"
#include "data/formats/write.h"

vhem_status vh_read_hdf5(vhem_ctx *ctx, const char *path, const vhem_data_options *opt, vhem_data **out)
{
    (void)opt, (void)out;
    return vh_fail(ctx, VHEM_EFORMAT,
                   "%s: an HDF5 file, and this vhem was built without HDF5; "
                   "read it with h5py in Python, or save it as .npz or .csv",
                   path);
}

vhem_status vh_write_hdf5(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    (void)data;
    return vh_fail(ctx, VHEM_EFORMAT,
                   "%s: this vhem was built without HDF5; it writes .npz, .csv, .tsv, .npy and .ts", path);
}
