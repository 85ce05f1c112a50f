/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic_file.c - see atomic_file.h. */
#include "core/atomic_file.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "os/slot.h"
#include "os/stream.h"
#include "core/object.h"
#include "vhem/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- output -----------------------------------------------------------------------------------------------
 *
 * Where the system can, a file is written without a name and linked when complete, so a killed process leaves
 * nothing behind.  A link cannot replace a file: to overwrite, the new file is linked to a slot (os/slot.h)
 * beside the target and renamed at once.  Elsewhere, and for libraries that must open by name, the file is
 * written to a slot from the start. */

enum { SLOTS = 1000, SWEPT = 4 };

/* A device, pipe or socket cannot be replaced by a rename; it is written in place. */
static bool in_place(const char *path, vh_entry *there, bool *exists)
{
    *exists = vh_path_look(path, there);
    return *exists && there->kind != VH_IS_FILE;
}

static char *slot_name(const char *path, int k)
{
    size_t n = strlen(path) + sizeof ".vhem-tmp-1000";
    char *name = malloc(n);
    if (name)
        snprintf(name, n, "%s.vhem-tmp-%d", path, k);
    return name;
}

static void sweep(const char *path)
{
    for (int k = 0; k < SWEPT; k++) {
        char *name = slot_name(path, k);
        if (name)
            vh_slot_sweep(name);
        free(name);
    }
}

static vhem_status make_named(vhem_ctx *ctx, vh_atomic_file *o)
{
    for (int k = 0; k < SLOTS; k++) {
        char *tmp = slot_name(o->path, k);
        VH_CHECK(tmp, VHEM_ENOMEM, "out of memory");
        int fd = vh_slot_file(tmp), error = errno;
        if (fd >= 0) {
            o->tmp = tmp;
            o->fd = fd;
            o->named = true;
            return VHEM_OK;
        }
        free(tmp);
        VH_CHECK(error == EEXIST, VHEM_EIO, "%s: cannot write: %s", o->path, strerror(error));
    }
    return vh_fail(ctx, VHEM_EIO, "%s: cannot write: all names for a temporary file are taken", o->path);
}

static vhem_status prepare(vhem_ctx *ctx, const char *path, bool nameless, vh_atomic_file *out)
{
    vh_entry there;
    bool exists;
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file o = { 0 };

    if (in_place(path, &there, &exists)) {
        VH_CHECK(there.kind != VH_IS_FOLDER, VHEM_EIO, "%s: cannot write: it is a directory", path);
        VH_DUP(o.path, path);
    } else {
        o.path = vh_path_target(path);
        VH_CHECK(o.path, errno == ENOMEM ? VHEM_ENOMEM : VHEM_EIO, "%s: cannot write: %s", path,
                 strerror(errno));
        VH_CHECK(!exists || vh_path_writable(o.path), VHEM_EIO, "%s: cannot write: %s", path,
                 strerror(errno));
        sweep(o.path);
        int fd = nameless ? vh_slot_nameless(o.path, &o.tmp) : -1;
        if (fd >= 0)
            o.fd = fd;
        else
            VH_TRY(make_named(ctx, &o));
        if (exists)
            vh_slot_take_mode(o.fd, o.path);
    }
    *out = o;
    o = (vh_atomic_file){ 0 };
    return VHEM_OK;
}

vhem_status vh_atomic_file_path(vhem_ctx *ctx, const char *path, vh_atomic_file *out)
{
    return prepare(ctx, path, false, out);
}

vhem_status vh_atomic_file_open(vhem_ctx *ctx, const char *path, vh_atomic_file *out)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file o = { 0 };

    if (strcmp(path, "-") == 0) {
        VH_DUP(o.path, "standard output");
        o.f = stdout;
    } else {
        VH_TRY(prepare(ctx, path, true, &o));
        o.f = o.tmp ? vh_fd_stream(o.fd, "w") : vh_file_open(o.path, "w");
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
    if (out->tmp && !vh_fd_write(out->fd, "", 1, VH_FD_HERE))
        error = errno;
    return vh_is_disk_full(error) || error == EPIPE ? error : EIO;
}

/* Replaces the existing file by way of a slot; returns 0 or errno. */
static int replace(const vh_atomic_file *out)
{
    int why = EEXIST;
    vh_slot_hold(out->fd);
    for (int k = 0; why == EEXIST && k < SLOTS; k++) {
        char *name = slot_name(out->path, k);
        if (!name)
            return ENOMEM;
        why = vh_slot_link(out->tmp, name);
        if (!why && !vh_path_rename(name, out->path)) {
            why = errno == EEXIST ? EIO : errno;
            vh_path_remove(name);
        }
        free(name);
    }
    return why;
}

/* Moves the complete file to its target; returns 0 or errno. */
static int put_in_place(const vh_atomic_file *out)
{
    if (out->named)
        return vh_path_rename(out->tmp, out->path) ? 0 : errno;
    int why = vh_slot_link(out->tmp, out->path);
    return why == EEXIST ? replace(out) : why;
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
    if (!why && out->tmp && !vh_fd_sync(out->fd))
        why = errno;
    VH_CHECK(!why, VHEM_EIO, "%s: writing failed: %s", out->path, strerror(why));
    if (out->tmp) {
        why = put_in_place(out);
        VH_CHECK(!why, why == ENOMEM ? VHEM_ENOMEM : VHEM_EIO, "%s: cannot write: %s", out->path,
                 strerror(why));
        vh_path_sync(out->path); /* unchecked: after a crash the old or the new file is there, complete */
        out->named = false;      /* nothing to remove */
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
        vh_path_remove(out->tmp);
    if (out->fd > 0)
        vh_fd_close(&out->fd);
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
        o->out.fd = vh_fd_open(path, VH_FD_OVER);
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
    vh_entry there;
    return strcmp(path, "-") == 0 || (vh_path_look(path, &there) && there.kind == VH_IS_OTHER);
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
    vh_entry is;

    ctx->held = NULL;
    VH_CHECK(f || errno != EISDIR, VHEM_EIO, "%s: cannot read: it is a directory", in_name(path));
    VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", in_name(path), strerror(errno));
    bool known = vh_file_look(f, &is);
    VH_CHECK(!known || is.kind != VH_IS_FOLDER, VHEM_EIO, "%s: cannot read: it is a directory",
             in_name(path));
    *size = known && is.kind == VH_IS_FILE ? is.size : 0;
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
    if (vh_path_rename(tmp, path))
        return VHEM_OK;
    bool there = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR;
    return vh_fail(ctx, VHEM_EIO, "%s: cannot write: %s", path,
                   there ? "somebody else has written it meanwhile" : strerror(errno));
}
