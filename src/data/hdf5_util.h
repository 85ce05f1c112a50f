/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_util.h - the few HDF5 calls that reading and writing data share. */
#ifndef VH_DATA_HDF5_UTIL_H
#define VH_DATA_HDF5_UTIL_H

#include <hdf5.h>

/* HDF5 prints its errors by itself; quiet keeps it from doing so until loud restores the user's setting. */
typedef struct {
    H5E_auto2_t func;
    void *arg;
} vh_h5_quiet;
static inline vh_h5_quiet vh_h5_be_quiet(void)
{
    vh_h5_quiet q = { 0 };
    H5Eget_auto2(H5E_DEFAULT, &q.func, &q.arg);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return q;
}
static inline void vh_h5_be_loud(vh_h5_quiet q)
{
    H5Eclear2(H5E_DEFAULT); /* what a thread leaves there the library cannot close at exit */
    H5Eset_auto2(H5E_DEFAULT, q.func, q.arg);
}

#endif
