/* SPDX-License-Identifier: BSD-3-Clause */
/* spill.c - see spill.h. */
#include "data/spill.h"

#include "core/alloc.h"
#include "os/fd.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    BUFFER = 1 << 17, /* values per write or copy */
    WINDOW = 1 << 21, /* most bytes of the file that are mapped together */
};

static void count(vh_spill *s, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(y[i]) <= DBL_MAX)) {
            s->n_missing += isnan(y[i]) != 0;
            s->n_infinite += !isnan(y[i]);
        }
}

/* ---- the file ------------------------------------------------------------------------------------------ */

const char *vh_spill_folder(void)
{
    return vh_scratch_folder("/var/tmp");
}

static vhem_status cannot(vhem_ctx *ctx, const vh_spill *s, int why)
{
    return vh_fail(ctx, VHEM_EIO,
                   "%s%sthe frames need more memory than is allowed, and %s cannot hold them: %s; name "
                   "another folder in TMPDIR, or allow more memory",
                   s->name ? s->name : "", s->name ? ": " : "", vh_spill_folder(), strerror(why));
}

static vhem_status open_file(vhem_ctx *ctx, vh_spill *s)
{
    int fd = vh_fd_scratch(vh_spill_folder());
    if (fd < 0)
        return cannot(ctx, s, errno);
    s->fd = fd;
    s->in_file = true;
    return VHEM_OK;
}

static vhem_status write_out(vhem_ctx *ctx, const vh_spill *s, const double *y, size_t n)
{
    if (!vh_fd_write(s->fd, y, n * sizeof *y, VH_FD_HERE))
        return cannot(ctx, s, errno);
    return VHEM_OK;
}

/* Writes the buffered values to the file. */
static vhem_status flush(vhem_ctx *ctx, vh_spill *s)
{
    vhem_status st = vh_stopped(ctx) ? vh_fail(ctx, VHEM_ESTOPPED, "stopped while reading")
                                     : write_out(ctx, s, s->y, s->held);
    s->held = 0;
    if (s->cap > BUFFER) { /* the buffer held everything up to the limit */
        free(s->y);
        s->y = NULL;
        s->cap = 0;
    }
    return st;
}

/* ---- growing ------------------------------------------------------------------------------------------- */

vhem_status vh_spill_put(vhem_ctx *ctx, vh_spill *s, const double *y, int64_t n)
{
    size_t size = (size_t)n;

    assert(!s->map);
    if (!s->in_file && s->limit > 0 && s->n + n > s->limit / (int64_t)sizeof *y) {
        VH_TRY(open_file(ctx, s));
        VH_TRY(flush(ctx, s));
    }
    if (s->in_file && s->held + size > BUFFER)
        VH_TRY(flush(ctx, s));
    if (s->in_file && size > BUFFER) {
        VH_TRY(write_out(ctx, s, y, size));
    } else if (size > 0) {
        VH_TRY(vh_grow(ctx, &s->y, &s->cap, s->held + size, sizeof *y));
        memcpy(s->y + s->held, y, size * sizeof *y);
        s->held += size;
    }
    s->n += n;
    count(s, y, n);
    return VHEM_OK;
}

vhem_status vh_spill_values(vhem_ctx *ctx, vh_spill *s, const double **y)
{
    if (!s->in_file && (!s->y || s->cap > s->held)) {
        double *trimmed = realloc(s->y, (s->held ? s->held : 1) * sizeof *s->y);
        VH_CHECK(trimmed || s->y, VHEM_ENOMEM, "out of memory");
        s->cap = trimmed ? s->held : s->cap;
        s->y = trimmed ? trimmed : s->y;
    }
    if (s->in_file && !s->map) {
        VH_TRY(flush(ctx, s));
        free(s->y);
        s->y = NULL;
        s->cap = 0;
        s->map = vh_fd_map(s->fd, (size_t)s->n * sizeof *s->map, false);
        if (!s->map)
            VH_TRY(cannot(ctx, s, errno));
        if (!vh_fd_finish(s->fd))
            VH_TRY(cannot(ctx, s, errno));
    }
    *y = s->map ? s->map : s->y;
    return VHEM_OK;
}

/* ---- the array ----------------------------------------------------------------------------------------- */

/* Releases whole windows: touching a byte maps its folio, up to 2 MiB and aligned to its size in the file,
 * and nothing else would release the rest.  Reading a released page again takes about 10 microseconds,
 * without disk access while it is in the page cache. */
void vh_spill_release(const vh_spill *s, const double *y, int64_t n)
{
    if (!s->map || n <= 0)
        return;
    size_t size = (size_t)s->n * sizeof *y, at = (size_t)(y - s->map) * sizeof *y;
    size_t lo = at / WINDOW * WINDOW, hi = (at + (size_t)n * sizeof *y + WINDOW - 1) / WINDOW * WINDOW;
    vh_map_release((char *)s->map + lo, (hi < size ? hi : size) - lo);
}

bool vh_spill_together(const vh_spill *s, const double *a, const double *b)
{
    return (size_t)(a - s->map) * sizeof *a / WINDOW == (size_t)(b - s->map) * sizeof *b / WINDOW;
}

vhem_status vh_spill_copy(vhem_ctx *ctx, vh_spill *s, vh_spill *from, int64_t first, int64_t n)
{
    const double *y;

    VH_TRY(vh_spill_values(ctx, from, &y));
    assert(y || n == 0);
    y += first;
    for (int64_t part; n > 0; n -= part, y += part) {
        part = n < BUFFER ? n : BUFFER;
        VH_TRY(vh_spill_put(ctx, s, y, part));
        vh_spill_release(from, y, part);
    }
    return VHEM_OK;
}

static void pick_rows(const double *y, int64_t rows, int d, const int *place, int n, double *frame,
                      double *to)
{
    for (int64_t t = 0; t < rows; t++, y += d, to += n) {
        for (int k = 0; k < n; k++)
            frame[k] = y[place[k]];
        memcpy(to, frame, (size_t)n * sizeof *to);
    }
}

vhem_status vh_spill_pick(vhem_ctx *ctx, vh_spill *s, int d, const int *place, int n)
{
    int64_t rows = s->n / d, at_a_time = 1 + BUFFER / d;
    VH_CLEANUP(vh_spill_free) vh_spill kept = { .name = s->name, .limit = s->limit };
    VH_AUTOFREE double *frame = NULL, *block = NULL;
    const double *y;

    assert(n <= d && (s->in_file || s->y || rows == 0));
    VH_NEW(frame, n);
    if (!s->in_file) { /* writing never overtakes reading, so this works in place */
        pick_rows(s->y, rows, d, place, n, frame, s->y);
        s->n_missing = s->n_infinite = 0;
        s->n = rows * n;
        s->held = (size_t)s->n;
        count(s, s->y, s->n);
        return VHEM_OK;
    }
    VH_NEW(block, at_a_time * n);
    VH_TRY(vh_spill_values(ctx, s, &y));
    for (int64_t part; rows > 0; rows -= part, y += part * d) {
        part = rows < at_a_time ? rows : at_a_time;
        pick_rows(y, part, d, place, n, frame, block);
        VH_TRY(vh_spill_put(ctx, &kept, block, part * n));
        vh_spill_release(s, y, part * d);
    }
    vh_spill_free(s);
    *s = kept;
    kept = (vh_spill){ 0 };
    return VHEM_OK;
}

void vh_spill_free(vh_spill *s)
{
    if (s->map)
        vh_unmap(s->map, (size_t)s->n * sizeof *s->map);
    else if (s->in_file)
        vh_fd_close(&s->fd);
    free(s->y);
    *s = (vh_spill){ 0 };
}
