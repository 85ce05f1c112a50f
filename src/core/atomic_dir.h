/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_dir.h - a folder that is either complete or not there: it is written under another name beside its
 * place, and renamed when it is whole.  What a killed program left under such a name is removed by the next
 * that wants it. */
#ifndef VH_CORE_ATOMIC_DIR_H
#define VH_CORE_ATOMIC_DIR_H

#include "core/ctx.h"

typedef bool vh_atomic_dir_owns(const char *name); /* Can this be a file that the caller has written? */

typedef struct {
    char *path; /* where it is to be */
    char *tmp;  /* where it is written; NULL: it is in its place, or was never begun */
    int fd;     /* that folder, locked */
    vh_atomic_dir_owns *owns;
} vh_atomic_dir; /* zero it before use */

vhem_status vh_atomic_dir_begin(vhem_ctx *ctx, const char *path, vh_atomic_dir_owns *owns,
                                vh_atomic_dir *out);
/* Into its place, where nothing must be by now. */
vhem_status vh_atomic_dir_commit(vhem_ctx *ctx, vh_atomic_dir *f);
/* Removes what is not in its place. */
void vh_atomic_dir_end(vh_atomic_dir *f);

#endif
