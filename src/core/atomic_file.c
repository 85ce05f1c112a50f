/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_file.c - see atomic_file.h. */
#define _GNU_SOURCE
#include "core/atomic_file.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "core/object.h"
#include "vhem/analysis.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- output -----------------------------------------------------------------------------------------------
 *
 * A file is written without a name (O_TMPFILE) and linked when complete, so a killed process leaves nothing
 * behind.  linkat() cannot replace a file: to overwrite, the new file is linked to a slot beside the target
 * and renamed at once.  Where O_TMPFILE is unsupported, and for libraries that must open by name, the file is
 * written to a slot from the start.  A writer holds a lock on its slot; a slot that can be locked is the
 * leftover of a killed process and is removed. */

enum { SLOTS = 1000, SWEPT = 4 };

/* A device, pipe or socket cannot be replaced by a rename; it is written in place. */
static bool in_place(const char *path, struct stat *sb, bool *exists)
{
    *exists = stat(path, sb) == 0;
    return *exists && !S_ISREG(sb->st_mode);
}

/* Resolves the path to write to: symbolic links stay links, even if their target does not exist yet.  The
 * caller frees the result; NULL and errno on failure. */
static char *target_of(const char *path, bool exists)
{
    enum { MOST_LINKS = 40 };
    char *at = exists ? realpath(path, NULL) : strdup(path), to[PATH_MAX];

    for (int k = 0; at && !exists; k++) {
        ssize_t n = readlink(at, to, sizeof to - 1);
        char *next = NULL;
        if (n < 0)
            return at; /* not a link, or nothing exists */
        to[n] = '\0';
        const char *slash = to[0] == '/' ? NULL : strrchr(at, '/'); /* relative to the folder of the link */
        int folder = slash ? (int)(slash - at) + 1 : 0;
        bool found = k < MOST_LINKS && asprintf(&next, "%.*s%s", folder, at, to) >= 0;
        free(at);
        at = found ? next : NULL;
        if (k >= MOST_LINKS)
            errno = ELOOP;
    }
    return at;
}

static char *slot_name(const char *path, int k)
{
    char *name = NULL;
    return asprintf(&name, "%s.vhem-tmp-%d", path, k) < 0 ? NULL : name;
}

/* Locks the open file, not the process (as other fcntl locks do), and leaves flock() to the HDF5 library. */
static bool lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* True if the name still refers to the open file. */
static bool is_named(int fd, const char *name)
{
    struct stat open_, named;
    return fstat(fd, &open_) == 0 && lstat(name, &named) == 0 && open_.st_dev == named.st_dev
           && open_.st_ino == named.st_ino;
}

static void sweep(const char *path)
{
    for (int k = 0; k < SWEPT; k++) {
        char *name = slot_name(path, k);
        struct stat sb;
        int fd = name ? vh_fd_open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0) : -1;
        if (fd >= 0 && fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_uid == geteuid() && lock(fd)
            && is_named(fd, name))
            unlink(name);
        if (fd >= 0)
            close(fd);
        free(name);
    }
}

/* Not mkstemp: its files are private, and restoring the usual permissions would mean changing the umask of
 * the whole process for a moment. */
static vhem_status make_named(vhem_ctx *ctx, vh_atomic_file *o)
{
    for (int k = 0; k < SLOTS; k++) {
        VH_AUTOFREE char *tmp = slot_name(o->path, k);
        VH_CHECK(tmp, VHEM_ENOMEM, "out of memory");
        int fd = vh_fd_open(tmp, O_RDWR | O_CREAT | O_EXCL, 0666);
        bool taken = fd < 0 && errno == EEXIST;
        VH_CHECK(fd >= 0 || taken, VHEM_EIO, "%s: cannot write: %s", o->path, strerror(errno));
        bool ours = fd >= 0 && (lock(fd) || errno != EAGAIN) && is_named(fd, tmp); /* else: swept away */
        if (ours) {
            o->tmp = vh_take(tmp);
            o->fd = fd;
            o->named = true;
            return VHEM_OK;
        }
        if (fd >= 0)
            close(fd);
    }
    return vh_fail(ctx, VHEM_EIO, "%s: cannot write: all names for a temporary file are taken", o->path);
}

/* Opens a nameless file in the folder of the target; o->tmp becomes its path under /proc. */
static vhem_status make_nameless(vhem_ctx *ctx, vh_atomic_file *o)
{
    const char *slash = strrchr(o->path, '/');
    VH_AUTOFREE char *folder = NULL;

    folder = slash ? vh_strndup(ctx, o->path, (size_t)(slash - o->path) + 1) : vh_strdup(ctx, ".");
    VH_CHECK(folder, VHEM_ENOMEM, "out of memory");
    o->fd = vh_fd_open(folder, O_TMPFILE | O_RDWR, 0666);
    if (o->fd < 0) {
        o->fd = 0;
        return VHEM_OK;
    }
    VH_CHECK(asprintf(&o->tmp, "/proc/self/fd/%d", o->fd) >= 0, VHEM_ENOMEM, "out of memory");
    if (access(o->tmp, F_OK) != 0) { /* without /proc the file could not be named later */
        close(o->fd);
        o->fd = 0;
        free(o->tmp);
        o->tmp = NULL;
    }
    return VHEM_OK;
}

static vhem_status prepare(vhem_ctx *ctx, const char *path, bool nameless, vh_atomic_file *out)
{
    struct stat sb;
    bool exists;
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file o = { 0 };

    if (in_place(path, &sb, &exists)) {
        VH_CHECK(!S_ISDIR(sb.st_mode), VHEM_EIO, "%s: cannot write: it is a directory", path);
        VH_DUP(o.path, path);
    } else {
        o.path = target_of(path, exists);
        VH_CHECK(o.path, errno == ENOMEM ? VHEM_ENOMEM : VHEM_EIO, "%s: cannot write: %s", path,
                 strerror(errno));
        VH_CHECK(!exists || access(o.path, W_OK) == 0, VHEM_EIO, "%s: cannot write: %s", path,
                 strerror(errno));
        sweep(o.path);
        if (nameless)
            VH_TRY(make_nameless(ctx, &o));
        if (!o.tmp)
            VH_TRY(make_named(ctx, &o));
        if (exists)
            (void)!fchmod(o.fd, sb.st_mode & 07777);
    }
    *out = o;
    o = (vh_atomic_file){ 0 };
    return VHEM_OK;
}

vhem_status vh_atomic_file_path(vhem_ctx *ctx, const char *path, vh_atomic_file *out)
{
    return prepare(ctx, path, false, out);
}

/* A stream on a duplicate descriptor: closing it reports write errors, and the file stays open. */
static FILE *stream_on(int fd)
{
    int copy = vh_fd_copy(fd);
    FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
    if (!f && copy >= 0)
        close(copy);
    return f;
}

vhem_status vh_atomic_file_open(vhem_ctx *ctx, const char *path, vh_atomic_file *out)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file o = { 0 };

    if (strcmp(path, "-") == 0) {
        VH_DUP(o.path, "standard output");
        o.f = stdout;
    } else {
        VH_TRY(prepare(ctx, path, true, &o));
        o.f = o.tmp ? stream_on(o.fd) : vh_file_open(o.path, "w");
        VH_CHECK(o.f, errno == ENOMEM ? VHEM_ENOMEM : VHEM_EIO, "%s: cannot write: %s", path,
                 strerror(errno));
    }
    *out = o;
    o = (vh_atomic_file){ 0 };
    return VHEM_OK;
}

/* Cause of an earlier write error.  errno may have lost it, but on a full disk one more write fails too. */
static int reason(const vh_atomic_file *out)
{
    int error = errno;
    if (out->tmp && write(out->fd, "", 1) < 0)
        error = errno;
    return error == ENOSPC || error == EFBIG || error == EDQUOT || error == EPIPE ? error : EIO;
}

/* Replaces the existing file by way of a slot; returns 0 or errno. */
static int replace(const vh_atomic_file *out)
{
    int why = EEXIST;
    lock(out->fd);
    for (int k = 0; why == EEXIST && k < SLOTS; k++) {
        char *name = slot_name(out->path, k);
        if (!name)
            return ENOMEM;
        why = linkat(AT_FDCWD, out->tmp, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
        if (!why && rename(name, out->path) != 0) {
            why = errno == EEXIST ? EIO : errno;
            unlink(name);
        }
        free(name);
    }
    return why;
}

/* Moves the complete file to its target; returns 0 or errno. */
static int put_in_place(const vh_atomic_file *out)
{
    if (out->named)
        return rename(out->tmp, out->path) == 0 ? 0 : errno;
    if (linkat(AT_FDCWD, out->tmp, AT_FDCWD, out->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == EEXIST ? replace(out) : errno;
}

/* Flushes the new name to disk.  Unchecked: after a crash the old or the new file is there, complete. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
    int fd = slash && !folder ? -1 : vh_fd_open(folder ? folder : ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

vhem_status vh_atomic_file_commit(vhem_ctx *ctx, vh_atomic_file *out)
{
    int why = 0;
    if (out->f) {
        why = ferror(out->f) ? reason(out) : 0; /* an earlier write failed */
        if (!why && fflush(out->f) != 0)
            why = errno;
        if (out->f != stdout && fclose(out->f) != 0 && !why)
            why = errno;
        out->f = NULL;
    }
    if (!why && out->tmp && fsync(out->fd) != 0 && errno != EINVAL)
        why = errno;
    VH_CHECK(!why, VHEM_EIO, "%s: writing failed: %s", out->path, strerror(why));
    if (out->tmp) {
        why = put_in_place(out);
        VH_CHECK(!why, why == ENOMEM ? VHEM_ENOMEM : VHEM_EIO, "%s: cannot write: %s", out->path,
                 strerror(why));
        sync_folder(out->path);
        out->named = false; /* nothing to remove */
    }
    return VHEM_OK;
}

vhem_status vh_atomic_file_end(vhem_ctx *ctx, vhem_status printed, vh_atomic_file *out)
{
    if (printed != VHEM_OK) {
        vh_error_prefix(ctx, out->path);
        return printed;
    }
    putc('\n', out->f);
    return vh_atomic_file_commit(ctx, out);
}

void vh_atomic_file_close(vh_atomic_file *out)
{
    if (out->f && out->f != stdout)
        fclose(out->f);
    if (out->named && out->tmp)
        unlink(out->tmp);
    if (out->fd > 0)
        close(out->fd);
    free(out->tmp);
    free(out->path);
    *out = (vh_atomic_file){ 0 };
}

struct vhem_output {
    vh_atomic_file out;
};

static void clear_output(void *object)
{
    vhem_output *o = object;
    vh_atomic_file_close(&o->out);
}

vhem_status vhem_output_open(vhem_ctx *ctx, const char *path, int *fd, vhem_output **out)
{
    VH_ENTER(path, fd, out);
    VH_OWN(vhem_output) *o = NULL;

    VH_NEW_OBJECT(o, clear_output);
    VH_TRY(prepare(ctx, path, true, &o->out));
    if (!o->out.tmp) {
        o->out.fd = vh_fd_open(path, O_WRONLY | O_TRUNC, 0);
        if (o->out.fd < 0) {
            o->out.fd = 0;
            VH_CHECK(false, VHEM_EIO, "%s: cannot write: %s", path, strerror(errno));
        }
    }
    *fd = o->out.fd;
    *out = vh_take(o);
    return VHEM_OK;
}

vhem_status vhem_output_close(vhem_ctx *ctx, vhem_output *o, int keep)
{
    vhem_status st = VHEM_OK;
    if (!o)
        return VHEM_OK;
    if (keep)
        st = vh_atomic_file_commit(ctx, &o->out);
    vh_object_free(o);
    return st;
}

static const char *in_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

bool vh_is_stream(const char *path)
{
    struct stat sb;
    return strcmp(path, "-") == 0 || (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode) && !S_ISDIR(sb.st_mode));
}

static FILE *open_input(const char *path)
{
    return strcmp(path, "-") == 0 ? stdin : vh_file_open(path, "r");
}

/* ungetc guarantees only one byte of pushback. */
int vh_in_peek(vhem_ctx *ctx, const char *path)
{
    vh_in_forget(ctx);
    ctx->held = open_input(path);
    int c = ctx->held ? getc(ctx->held) : EOF;
    if (c != EOF)
        ungetc(c, ctx->held);
    return c;
}

void vh_in_forget(vhem_ctx *ctx)
{
    vh_in_close(ctx->held);
    ctx->held = NULL;
}

vhem_status vh_in_open(vhem_ctx *ctx, const char *path, FILE **out, int64_t *size)
{
    VH_OWN(FILE) *f = ctx->held ? ctx->held : open_input(path);
    struct stat sb = { 0 };

    ctx->held = NULL;
    VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", in_name(path), strerror(errno));
    bool known = fstat(fileno(f), &sb) == 0;
    VH_CHECK(!known || !S_ISDIR(sb.st_mode), VHEM_EIO, "%s: cannot read: it is a directory", in_name(path));
    *size = known && S_ISREG(sb.st_mode) ? (int64_t)sb.st_size : 0;
    *out = vh_take(f);
    return VHEM_OK;
}

void vh_in_close(FILE *f)
{
    if (f && f != stdin)
        fclose(f);
}

vhem_status vh_read_all(vhem_ctx *ctx, const char *path, char **text, size_t *size)
{
    VH_OWN(FILE) *f = NULL;
    VH_AUTOFREE char *buf = NULL;
    size_t cap = 0, n = 0, got;
    int64_t promised;

    VH_TRY(vh_in_open(ctx, path, &f, &promised));
    do {
        VH_TRY(vh_grow(ctx, &buf, &cap, n + (n < 65536 ? 65536 : n) + 1, 1));
        got = fread(buf + n, 1, cap - n - 1, f);
        n += got;
    } while (got > 0);
    VH_CHECK(!ferror(f), VHEM_EIO, "%s: cannot read: %s", in_name(path), strerror(errno));
    buf[n] = '\0';
    *text = buf;
    *size = n;
    buf = NULL;
    return VHEM_OK;
}

bool vh_ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

vhem_status vh_take_place(vhem_ctx *ctx, const char *tmp, const char *path)
{
    if (rename(tmp, path) == 0)
        return VHEM_OK;
    bool there = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
    return vh_fail(ctx, VHEM_EIO, "%s: cannot write: %s", path,
                   there ? "somebody else has written it meanwhile" : strerror(errno));
}
