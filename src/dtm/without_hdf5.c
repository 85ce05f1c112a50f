/* SPDX-License-Identifier: BSD-3-Clause */
/* without_hdf5.c - replaces dtm_hdf5.c if vhem is built without HDF5 (files/without_hdf5.c). */
#include "dtm/dtm.h"
#include "dtm/dtm_hdf5.h"

vhem_status vh_dtm_load_hdf5(vhem_ctx *ctx, const char *path, vh_dtm **out)
{
    return vh_h5_load(ctx, path, vh_dtm_get_hdf5, out);
}

vhem_status vh_dtm_save_hdf5(vhem_ctx *ctx, const vh_dtm *dtm, const char *path)
{
    (void)dtm;
    return vh_fail(ctx, VHEM_EFORMAT, "%s: this vhem was built without HDF5; it writes models as .json",
                   path);
}

vhem_status vh_dtm_get_hdf5(vhem_ctx *ctx, hid_t file, size_t limit, const char *path, void *out)
{
    (void)file, (void)limit;
    return vh_h5_load(ctx, path, NULL, out);
}
