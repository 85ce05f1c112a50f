/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_dir.h - a folder that is either complete or absent: written under a temporary name beside its target
 * and renamed when complete.  A writer removes what a killed process left under the same name. */
#ifndef VH_CORE_ATOMIC_DIR_H
#define VH_CORE_ATOMIC_DIR_H

#include "core/ctx.h"
#include "os/slot.h"

typedef struct {
    char *path; /* the target */
    char *tmp;  /* the temporary folder; NULL: committed or never begun */
    int fd;     /* of the temporary folder, locked */
    vh_slot_owns *owns;
} vh_atomic_dir; /* zero it before use */

vhem_status vh_atomic_dir_begin(vhem_ctx *ctx, const char *path, vh_slot_owns *owns, vh_atomic_dir *out);
/* Renames the folder to its target, where nothing may exist yet. */
vhem_status vh_atomic_dir_commit(vhem_ctx *ctx, vh_atomic_dir *f);
/* Frees f; removes a folder that was not committed. */
void vh_atomic_dir_end(vh_atomic_dir *f);

#endif
