/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_errors.c - see hdf5_errors.h.  The library keeps its errors only until the next call, so they are
 * inspected as it reports them. */
#include "core/hdf5_errors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* True if memory ran out.  The library's own file driver is missing only when its allocation failed. */
static bool of_memory(const H5E_error2_t *error)
{
    return error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC
           || (error->desc && (strstr(error->desc, "memory") || strstr(error->desc, "VFL class")));
}

static herr_t note_error(unsigned n, const H5E_error2_t *error, void *arg)
{
    vh_h5_watch *w = arg;
    const char *number = error->desc ? strstr(error->desc, "errno = ") : NULL;
    (void)n;
    w->memory |= of_memory(error);
    if (number && !w->error)
        w->error = atoi(number + strlen("errno = "));
    return 0;
}

/* An empty error stack means that the library had no memory to describe the error. */
static herr_t on_error(hid_t stack, void *arg)
{
    ((vh_h5_watch *)arg)->memory |= H5Eget_num(stack) <= 0;
    return H5Ewalk2(stack, H5E_WALK_DOWNWARD, note_error, arg);
}

static void say_nothing(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* On a damaged file the library leaks memory.  At exit it waits for that memory in vain and prints "infinite
 * loop closing library", unless error printing is off in the exiting thread.  The library registered its exit
 * handler first, so ours runs before it.  H5dont_atexit would also help, but files the program left open
 * would lose unwritten data. */
void vh_h5_end_quietly(void)
{
    static atomic_flag asked = ATOMIC_FLAG_INIT; /* per process, like the library */
    if (!atomic_flag_test_and_set(&asked))
        atexit(say_nothing);
}

void vh_h5_watch_begin(vh_h5_watch *w)
{
    *w = (vh_h5_watch){ 0 };
    w->memory =
        H5Eget_auto2(H5E_DEFAULT, &w->print, &w->arg) < 0 || H5Eset_auto2(H5E_DEFAULT, on_error, w) < 0;
}

vhem_status vh_h5_watch_end(vhem_ctx *ctx, vh_h5_watch *w, const char *path, vhem_status st)
{
    H5Eclear2(H5E_DEFAULT); /* the library cannot free a thread's error stack at exit */
    H5Eset_auto2(H5E_DEFAULT, w->print, w->arg);
    if (st != VHEM_OK)
        vh_h5_end_quietly();
    if (st == VHEM_OK || st == VHEM_ESTOPPED || (!w->memory && !w->error))
        return st;
    if (w->memory)
        return vh_fail(ctx, VHEM_ENOMEM, "%s: out of memory", path);
    return vh_fail(ctx, VHEM_EIO, "%s: cannot be read or written: %s", path, strerror(w->error));
}

const char *vh_h5_elsewhere(hid_t at, const char *name, hid_t set)
{
    const char *where = NULL;
    H5L_info_t link;
    if (at >= 0 && H5Lget_info(at, name, &link, H5P_DEFAULT) >= 0 && link.type != H5L_TYPE_HARD)
        where = "it is a link, perhaps to another file";
    hid_t how = set >= 0 ? H5Dget_create_plist(set) : -1;
    if (set >= 0 && how < 0)
        return "how it is stored cannot be found out";
    if (how >= 0 && (H5Pget_layout(how) == H5D_VIRTUAL || H5Pget_external_count(how) != 0))
        where = "its values are stored in other files";
    if (how >= 0)
        H5Pclose(how);
    return where;
}
