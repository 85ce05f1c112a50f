/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - see file.h. */
#define _GNU_SOURCE
#include "core/file.h"

#include "core/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device, pipe or socket cannot be replaced by a rename; it is written in place. */
static bool in_place(const char *path, struct stat *sb, bool *exists)
{
    *exists = stat(path, sb) == 0;
    return *exists && !S_ISREG(sb->st_mode);
}

/* An empty file beside the target, under a name nobody else has.  Not mkstemp: its files are private, and
 * the way back to the usual permissions would have to change the umask of the whole process for a moment. */
static vhem_status make_tmp(vhem_ctx *ctx, const char *path, const char *real, const struct stat *old,
                            char **out)
{
    vhem_status st = VHEM_OK;
    char *tmp = NULL;
    int fd = -1;

    for (int k = 0; fd < 0 && k < 1000; k++) {
        free(tmp);
        tmp = NULL;
        VH_CHECK(asprintf(&tmp, "%s.%ld-%d", real, (long)getpid(), k) >= 0, VHEM_ENOMEM, "out of memory");
        fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    VH_CHECK(fd >= 0, VHEM_EIO, "%s: cannot write: %s", path, strerror(errno));
    if (old)
        (void)!fchmod(fd, old->st_mode & 07777);
    close(fd);
    *out = tmp;
    tmp = NULL;
done:
    free(tmp);
    return st;
}

vhem_status vh_out_path(vhem_ctx *ctx, const char *path, vh_out *out)
{
    vhem_status st = VHEM_OK;
    struct stat sb;
    bool exists;
    char *real = NULL, *tmp = NULL;

    if (in_place(path, &sb, &exists)) {
        VH_CHECK(!S_ISDIR(sb.st_mode), VHEM_EIO, "%s: cannot write: it is a directory", path);
        VH_DUP(real, path);
    } else {
        real = exists ? realpath(path, NULL) : vh_strdup(ctx, path); /* keep a symbolic link a link */
        VH_CHECK(real, VHEM_EIO, "%s: cannot write: %s", path, strerror(errno));
        VH_CHECK(!exists || access(real, W_OK) == 0, VHEM_EIO, "%s: cannot write: %s", path, strerror(errno));
        VH_TRY(make_tmp(ctx, path, real, exists ? &sb : NULL, &tmp));
    }
    *out = (vh_out){ .path = real, .tmp = tmp };
    real = NULL;
done:
    free(real);
    return st;
}

vhem_status vh_out_open(vhem_ctx *ctx, const char *path, vh_out *out)
{
    vhem_status st = VHEM_OK;
    vh_out o = { 0 };

    if (strcmp(path, "-") == 0) {
        VH_DUP(o.path, "standard output");
        o.f = stdout;
    } else {
        VH_TRY(vh_out_path(ctx, path, &o));
        o.f = fopen(o.tmp ? o.tmp : o.path, "w");
        VH_CHECK(o.f, VHEM_EIO, "%s: cannot write: %s", path, strerror(errno));
    }
    *out = o;
    o = (vh_out){ 0 };
done:
    vh_out_close(&o);
    return st;
}

/* What another library wrote must reach the disk before the rename does. */
static vhem_status sync_path(vhem_ctx *ctx, const vh_out *out)
{
    int fd = open(out->tmp, O_WRONLY | O_CLOEXEC);
    bool bad = fd < 0 || (fsync(fd) != 0 && errno != EINVAL);
    int why = errno;
    if (fd >= 0)
        close(fd);
    return bad ? vh_fail(ctx, VHEM_EIO, "%s: writing failed: %s", out->path, strerror(why)) : VHEM_OK;
}

/* errno, if it can be what an earlier write left there. */
static int reason(int error)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT || error == EPIPE ? error : EIO;
}

vhem_status vh_out_commit(vhem_ctx *ctx, vh_out *out)
{
    vhem_status st = VHEM_OK;
    if (out->f) {
        int why = ferror(out->f) ? reason(errno) : 0; /* a write failed some time ago */
        if (!why && fflush(out->f) != 0)
            why = errno;
        if (!why && out->tmp && fsync(fileno(out->f)) != 0 && errno != EINVAL)
            why = errno;
        if (out->f != stdout && fclose(out->f) != 0 && !why)
            why = errno;
        out->f = NULL;
        VH_CHECK(!why, VHEM_EIO, "%s: writing failed: %s", out->path, strerror(why));
    } else if (out->tmp) {
        VH_TRY(sync_path(ctx, out));
    }
    if (out->tmp) {
        VH_CHECK(rename(out->tmp, out->path) == 0, VHEM_EIO, "%s: cannot write: %s", out->path,
                 strerror(errno));
        free(out->tmp);
        out->tmp = NULL;
    }
done:
    return st;
}

vhem_status vh_out_end(vhem_ctx *ctx, vhem_status printed, vh_out *out)
{
    if (printed != VHEM_OK) {
        vh_error_prefix(ctx, out->path);
        return printed;
    }
    putc('\n', out->f);
    return vh_out_commit(ctx, out);
}

void vh_out_close(vh_out *out)
{
    if (out->f && out->f != stdout)
        fclose(out->f);
    if (out->tmp)
        unlink(out->tmp);
    free(out->tmp);
    free(out->path);
    *out = (vh_out){ 0 };
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
    return strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
}

/* One byte can always be put back, more may not. */
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
    vhem_status st = VHEM_OK;
    FILE *f = ctx->held ? ctx->held : open_input(path);
    struct stat sb = { 0 };

    ctx->held = NULL;
    VH_CHECK(f, VHEM_EIO, "%s: cannot read: %s", in_name(path), strerror(errno));
    bool known = fstat(fileno(f), &sb) == 0;
    VH_CHECK(!known || !S_ISDIR(sb.st_mode), VHEM_EIO, "%s: cannot read: it is a directory", in_name(path));
    *size = known && S_ISREG(sb.st_mode) ? (int64_t)sb.st_size : 0;
    *out = f;
    f = NULL;
done:
    vh_in_close(f);
    return st;
}

void vh_in_close(FILE *f)
{
    if (f && f != stdin)
        fclose(f);
}

vhem_status vh_read_all(vhem_ctx *ctx, const char *path, char **text, size_t *size)
{
    vhem_status st = VHEM_OK;
    FILE *f = NULL;
    char *buf = NULL;
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
done:
    free(buf);
    vh_in_close(f);
    return st;
}

bool vh_ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}
