/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_errors.h - records the errors of the HDF5 library.
 *
 * Between begin and end the library does not print errors; they are recorded.  So an unreadable file is not
 * called damaged when memory ran out or the disk failed. */
#ifndef VH_CORE_HDF5_ERRORS_H
#define VH_CORE_HDF5_ERRORS_H

#include "core/ctx.h"

#include <hdf5.h>

typedef struct {
    H5E_auto2_t print; /* the caller's handler, restored at the end */
    void *arg;
    bool memory; /* an allocation failed */
    int error;   /* errno of a failed system call, or 0 */
} vh_h5_watch;

/* w must not move until vh_h5_watch_end. */
void vh_h5_watch_begin(vh_h5_watch *w);
/* Returns st, or the cause that the library reported: VHEM_ENOMEM, or VHEM_EIO with an error that names the
 * file.  VHEM_OK is unchanged. */
vhem_status vh_h5_watch_end(vhem_ctx *ctx, vh_h5_watch *w, const char *path, vhem_status st);

/* Call after a library error: keeps the library silent at exit. */
void vh_h5_end_quietly(void);

/* Guards against files that link to other files of the reader.  Returns NULL if the link `name` in `at` (-1:
 * skip) and the open dataset `set` (-1: skip) are stored in the file itself, else says where they are. */
const char *vh_h5_elsewhere(hid_t at, const char *name, hid_t set);

#endif
