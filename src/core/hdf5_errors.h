/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_errors.h - what the HDF5 library says about its errors.
 *
 * It prints them by itself; between begin and end it does not, and what they were is kept: a file that cannot
 * be read because memory ran out, or because the disk failed, is not called damaged. */
#ifndef VH_CORE_HDF5_ERRORS_H
#define VH_CORE_HDF5_ERRORS_H

#include "core/ctx.h"

#include <hdf5.h>

typedef struct {
    H5E_auto2_t print; /* the caller's, to be put back */
    void *arg;
    bool memory; /* some allocation failed */
    int error;   /* errno of a system call that failed, or 0 */
} vh_h5_watch;

/* The watch must stay where it is until the end. */
void vh_h5_watch_begin(vh_h5_watch *w);
/* st as it is, or what the library's errors make of it: VHEM_ENOMEM, VHEM_EIO with a sentence that names the
 * file.  VHEM_OK stays. */
vhem_status vh_h5_watch_end(vhem_ctx *ctx, vh_h5_watch *w, const char *path, vhem_status st);

/* After a call of the library failed, here or elsewhere: the process ends without a word from it. */
void vh_h5_end_quietly(void);

/* A file that comes from somebody else must not bring in other files of the reader's.  NULL when what is
 * called name in at (-1: not asked), and the open dataset (-1: likewise), lies in the file itself; else where
 * it lies. */
const char *vh_h5_elsewhere(hid_t at, const char *name, hid_t set);

#endif
