/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.h - a folder that is either complete or not there: it is written under another name beside its
 * place, and renamed when it is whole.  What a killed program left under such a name is removed by the next
 * that wants it. */
#ifndef VH_CORE_FOLDER_H
#define VH_CORE_FOLDER_H

#include "core/ctx.h"

typedef bool vh_folder_owns(const char *name); /* Can this be a file that the caller has written? */

typedef struct {
    char *path; /* where it is to be */
    char *tmp;  /* where it is written; NULL: it is in its place, or was never begun */
    int fd;     /* that folder, locked */
    vh_folder_owns *owns;
} vh_folder; /* zero it before use */

vhem_status vh_folder_begin(vhem_ctx *ctx, const char *path, vh_folder_owns *owns, vh_folder *out);
/* Into its place, where nothing must be by now. */
vhem_status vh_folder_commit(vhem_ctx *ctx, vh_folder *f);
/* Removes what is not in its place. */
void vh_folder_end(vh_folder *f);

#endif
