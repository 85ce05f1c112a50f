/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_dir.c - see atomic_dir.h.
 *
 * Temporary names are slots beside the target, as for files (atomic_file.c).  A writer holds a lock on its
 * folder.  A folder that can be locked, belongs to the same user and holds only files the caller writes was
 * left by a killed process.  If folders cannot be locked, as on some network file systems, none is
 * removed. */
#define _GNU_SOURCE
#include "core/atomic_dir.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "core/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLOTS = 1000 };

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool holds_only(const char *folder, vh_atomic_dir_owns *owns)
{
    bool all = true;
    DIR *d = opendir(folder);
    if (!d)
        return false;
    for (const struct dirent *e; all && (e = readdir(d));)
        all = is_dot(e->d_name) || owns(e->d_name);
    closedir(d);
    return all;
}

static void remove_all(const char *folder, vh_atomic_dir_owns *owns)
{
    DIR *d = holds_only(folder, owns) ? opendir(folder) : NULL;
    if (!d)
        return;
    for (const struct dirent *e; (e = readdir(d));)
        if (!is_dot(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(folder);
}

/* True if the name still refers to the open folder. */
static bool is_named(int fd, const char *name)
{
    struct stat open_, named;
    return fstat(fd, &open_) == 0 && lstat(name, &named) == 0 && open_.st_dev == named.st_dev
           && open_.st_ino == named.st_ino;
}

/* Removes a folder left by a killed process. */
static void reclaim(const char *folder, vh_atomic_dir_owns *owns)
{
    struct stat sb;
    int fd = vh_fd_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd >= 0 && fstat(fd, &sb) == 0 && sb.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0
        && is_named(fd, folder))
        remove_all(folder, owns);
    if (fd >= 0)
        close(fd);
}

/* Creates and locks a new folder of that name; -1 with errno EEXIST if another process has it. */
static int make(const char *folder)
{
    if (mkdir(folder, 0777) != 0)
        return -1;
    int fd = vh_fd_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    bool locked = fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
    if (locked && is_named(fd, folder))
        return fd;
    int why = fd >= 0 || errno == ENOENT ? EEXIST : errno; /* another process took it for a leftover */
    if (fd >= 0)
        close(fd);
    errno = why;
    return -1;
}

static void forget(vh_atomic_dir *f)
{
    free(f->tmp);
    free(f->path);
}

vhem_status vh_atomic_dir_begin(vhem_ctx *ctx, const char *path, vh_atomic_dir_owns *owns, vh_atomic_dir *out)
{
    VH_CLEANUP(forget) vh_atomic_dir f = { .fd = -1, .owns = owns };
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    VH_DUP(f.path, path);
    errno = 0;
    for (int k = 0; f.fd < 0 && k < SLOTS; k++) {
        free(f.tmp);
        f.tmp = NULL; /* asprintf leaves it unchanged on failure */
        VH_CHECK(asprintf(&f.tmp, "%.*s.vhem-tmp-%d", (int)n, path, k) >= 0, VHEM_ENOMEM, "out of memory");
        f.fd = make(f.tmp);
        if (f.fd < 0 && errno == EEXIST) {
            reclaim(f.tmp, owns);
            f.fd = make(f.tmp);
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
        remove_all(f->tmp, f->owns);
    close(f->fd);
    free(f->tmp);
    free(f->path);
    *f = (vh_atomic_dir){ 0 };
}
