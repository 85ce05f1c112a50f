/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_dir.c - see atomic_dir.h.
 *
 * Temporary names are slots beside the target, as for files (atomic_file.c).  A writer holds a lock on its
 * folder.  A folder that can be locked, belongs to the same user and holds only files the caller writes was
 * left by a killed process.  If folders cannot be locked, as on some network file systems, none is
 * removed. */
#include "core/atomic_dir.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "os/slot.h"
#include "core/atomic_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1000 };

static void forget(vh_atomic_dir *f)
{
    free(f->tmp);
    free(f->path);
}

vhem_status vh_atomic_dir_begin(vhem_ctx *ctx, const char *path, vh_slot_owns *owns, vh_atomic_dir *out)
{
    VH_CLEANUP(forget) vh_atomic_dir f = { .fd = -1, .owns = owns };
    size_t n = strlen(path), size = n + sizeof ".vhem-tmp-1000";

    while (n > 1 && path[n - 1] == '/')
        n--;
    VH_DUP(f.path, path);
    VH_NEW(f.tmp, size);
    errno = 0;
    for (int k = 0; f.fd < 0 && k < SLOTS; k++) {
        snprintf(f.tmp, size, "%.*s.vhem-tmp-%d", (int)n, path, k);
        f.fd = vh_slot_folder(f.tmp);
        if (f.fd < 0 && errno == EEXIST) {
            vh_slot_sweep_folder(f.tmp, owns);
            f.fd = vh_slot_folder(f.tmp);
        }
        if (f.fd < 0 && errno != EEXIST)
            break;
    }
    VH_CHECK(f.fd >= 0, VHEM_EIO, "%s: cannot write: %s", path,
             errno == EEXIST ? "all names for a temporary folder are taken" : strerror(errno));
    *out = f;
    f = (vh_atomic_dir){ 0 };
    return VHEM_OK;
}

vhem_status vh_atomic_dir_commit(vhem_ctx *ctx, vh_atomic_dir *f)
{
    vhem_status st = vh_take_place(ctx, f->tmp, f->path);
    if (st == VHEM_OK) {
        free(f->tmp);
        f->tmp = NULL;
    }
    return st;
}

void vh_atomic_dir_end(vh_atomic_dir *f)
{
    if (!f->path)
        return;
    if (f->tmp)
        vh_slot_remove_folder(f->tmp, f->owns);
    vh_fd_close(&f->fd);
    free(f->tmp);
    free(f->path);
    *f = (vh_atomic_dir){ 0 };
}
