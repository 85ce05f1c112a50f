/* SPDX-License-Identifier: BSD-3-Clause */
/* zip.c - see zip.h.  The central directory, the list of members, is near the end of the file.  The end
 * record locates it and is found by searching backwards for its signature. */
#include "data/formats/zip.h"

#include "core/alloc.h"
#include "os/fd.h"
#include "data/values.h"
#include "os/stream.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t v = 0;
    while (n-- > 0)
        v = v << 8 | p[n];
    return v;
}

static vhem_status read_at(vhem_ctx *ctx, const vh_zip *z, int64_t at, void *buf, size_t n, const char *what)
{
    if (at < 0 || at > z->size || (int64_t)n > z->size - at)
        return vh_fail(ctx, VHEM_EFORMAT, "%s: the %s should be at offset %lld, but the file has %lld bytes",
                       z->path, what, (long long)at, (long long)z->size);
    if (!vh_file_seek(z->f, at, SEEK_SET) || fread(buf, 1, n, z->f) != n)
        return vh_fail(ctx, VHEM_EIO, "%s: cannot read: %s", z->path, strerror(errno));
    return VHEM_OK;
}

enum { END = 22, END64 = 56, LOCATOR = 20, ENTRY = 46, LOCAL = 30 };

/* Finds the central directory and its number of members. */
static vhem_status find_directory(vhem_ctx *ctx, const vh_zip *z, int64_t *at, int64_t *size, int64_t *n)
{
    int64_t tail = z->size < 65535 + END ? z->size : 65535 + END, i;
    VH_AUTOFREE unsigned char *buf = NULL;
    unsigned char rec[END64] = { 0 };

    VH_NEW(buf, tail + 1);
    VH_TRY(read_at(ctx, z, z->size - tail, buf, (size_t)tail, "end of the archive"));
    for (i = tail - END; i >= 0; i--)
        if (memcmp(buf + i, "PK\x05\x06", 4) == 0)
            break;
    VH_CHECK(i >= 0, VHEM_EFORMAT,
             "%s: the list of members at the end is not there: the archive is cut short or "
             "not a zip file",
             z->path);
    *n = (int64_t)little(buf + i + 10, 2);
    *size = (int64_t)little(buf + i + 12, 4);
    *at = (int64_t)little(buf + i + 16, 4);
    int64_t locator = z->size - tail + i - LOCATOR;
    if (locator >= 0 && (*n == 0xFFFF || *size == 0xFFFFFFFF || *at == 0xFFFFFFFF)) {
        VH_TRY(read_at(ctx, z, locator, rec, LOCATOR, "zip64 locator"));
        VH_CHECK(memcmp(rec, "PK\x06\x07", 4) == 0, VHEM_EFORMAT,
                 "%s: the zip64 locator is not at offset %lld", z->path, (long long)locator);
        int64_t end64 = (int64_t)little(rec + 8, 8);
        VH_TRY(read_at(ctx, z, end64, rec, END64, "zip64 end record"));
        VH_CHECK(memcmp(rec, "PK\x06\x06", 4) == 0, VHEM_EFORMAT,
                 "%s: the zip64 end record is not at offset %lld", z->path, (long long)end64);
        *n = (int64_t)little(rec + 32, 8);
        *size = (int64_t)little(rec + 40, 8);
        *at = (int64_t)little(rec + 48, 8);
    }
    VH_CHECK(*n >= 0 && *size >= 0 && *at >= 0 && *size <= z->size && *n <= *size / ENTRY, VHEM_EFORMAT,
             "%s: the archive claims %lld members listed in %lld bytes, but has %lld bytes in all", z->path,
             (long long)*n, (long long)*size, (long long)z->size);
    return VHEM_OK;
}

/* Reads sizes that do not fit in 32 bits from extra field 1, in this order. */
static void read_zip64(const unsigned char *extra, size_t n, vh_zip_member *m)
{
    int64_t *wide[] = { &m->size, &m->packed, &m->at };
    while (n >= 4) {
        size_t id = little(extra, 2), len = little(extra + 2, 2);
        extra += 4;
        n -= 4;
        if (len > n)
            return;
        if (id == 1) {
            const unsigned char *p = extra;
            for (int k = 0; k < 3; k++)
                if (*wide[k] == 0xFFFFFFFF && p + 8 <= extra + len) {
                    *wide[k] = (int64_t)little(p, 8);
                    p += 8;
                }
            return;
        }
        extra += len;
        n -= len;
    }
}

static vhem_status read_entry(vhem_ctx *ctx, vh_zip *z, const unsigned char *dir, int64_t size, int64_t *used)
{
    const unsigned char *e = dir + *used;

    VH_CHECK(size - *used >= ENTRY && memcmp(e, "PK\x01\x02", 4) == 0, VHEM_EFORMAT,
             "%s: entry %d of the list of members is broken", z->path, z->n);
    size_t name = little(e + 28, 2), extra = little(e + 30, 2), comment = little(e + 32, 2);
    VH_CHECK((int64_t)(name + extra + comment) <= size - *used - ENTRY, VHEM_EFORMAT,
             "%s: entry %d of the list of members is cut short", z->path, z->n);
    vh_zip_member *m = &z->member[z->n];
    *m = (vh_zip_member){ .flags = (int)little(e + 8, 2),
                          .method = (int)little(e + 10, 2),
                          .crc = (uint32_t)little(e + 16, 4),
                          .packed = (int64_t)little(e + 20, 4),
                          .size = (int64_t)little(e + 24, 4),
                          .at = (int64_t)little(e + 42, 4) };
    m->name = vh_strndup(ctx, (const char *)e + ENTRY, name);
    VH_CHECK(m->name, VHEM_ENOMEM, "out of memory");
    z->n++;
    read_zip64(e + ENTRY + name, extra, m);
    /* Deflate compresses at most 1032-fold; a larger claim is false and must not cause a large allocation. */
    VH_CHECK(m->packed >= 0 && m->packed <= z->size && m->size >= 0 && m->size <= 1032 * m->packed + 64,
             VHEM_EFORMAT, "%s: member '%s' claims %lld bytes packed into %lld, the file has %lld", z->path,
             VH_SHOW(m->name, strlen(m->name)), (long long)m->size, (long long)m->packed, (long long)z->size);
    *used += ENTRY + (int64_t)(name + extra + comment);
    return VHEM_OK;
}

static int by_place(const void *a, const void *b)
{
    const vh_zip_member *const *x = a, *const *y = b;
    return ((*x)->at > (*y)->at) - ((*x)->at < (*y)->at);
}

/* Rejects members that share bytes: a few kilobytes could unpack into any size. */
static vhem_status refuse_overlaps(vhem_ctx *ctx, const vh_zip *z)
{
    VH_AUTOFREE const vh_zip_member **order = NULL;

    VH_NEW(order, z->n + 1);
    for (int i = 0; i < z->n; i++)
        order[i] = &z->member[i];
    qsort(order, (size_t)z->n, sizeof *order, by_place);
    for (int i = 0; i + 1 < z->n; i++) {
        const vh_zip_member *m = order[i];
        VH_CHECK(m->at >= 0 && m->packed + LOCAL <= order[i + 1]->at - m->at, VHEM_EFORMAT,
                 "%s: members '%s' and '%s' overlap: the archive is damaged or malicious", z->path,
                 VH_SHOW(m->name, strlen(m->name)), VH_SHOW(order[i + 1]->name, strlen(order[i + 1]->name)));
    }
    return VHEM_OK;
}

static vhem_status read_directory(vhem_ctx *ctx, vh_zip *z)
{
    int64_t at = 0, size = 0, n = 0, used = 0;
    VH_AUTOFREE unsigned char *dir = NULL;

    VH_CHECK(z->f && vh_file_seek(z->f, 0, SEEK_END) && (z->size = vh_file_tell(z->f)) >= 0, VHEM_EIO,
             "%s: cannot read: %s", z->path, strerror(errno));
    VH_TRY(find_directory(ctx, z, &at, &size, &n));
    VH_NEW(dir, size + 1);
    VH_TRY(read_at(ctx, z, at, dir, (size_t)size, "list of members"));
    VH_NEW(z->member, n + 1);
    while (z->n < n)
        VH_TRY(read_entry(ctx, z, dir, size, &used));
    return refuse_overlaps(ctx, z);
}

vhem_status vh_zip_open(vhem_ctx *ctx, const char *path, vh_zip *z)
{
    *z = (vh_zip){ .path = path, .f = vh_file_open(path, "rb") };
    vhem_status st = read_directory(ctx, z);
    if (st != VHEM_OK)
        vh_zip_close(z);
    return st;
}

void vh_zip_close(vh_zip *z)
{
    for (int i = 0; i < z->n; i++)
        free(z->member[i].name);
    free(z->member);
    if (z->f)
        fclose(z->f);
    *z = (vh_zip){ 0 };
}

enum { CHUNK = 1 << 16 };
struct vh_unzip {
    const vh_zip *z;
    const vh_zip_member *m;
    int64_t at, left; /* offset of the next compressed byte, number left */
    int64_t out_left; /* uncompressed bytes left */
    uint32_t crc;
    bool inflating;
    z_stream zs;
    unsigned char in[CHUNK];
};

/* Reads the next compressed bytes into u->in. */
static vhem_status refill(vhem_ctx *ctx, vh_unzip *u)
{
    size_t n = u->left < CHUNK ? (size_t)u->left : CHUNK;
    VH_TRY(read_at(ctx, u->z, u->at, u->in, n, "next part of a member"));
    u->zs.next_in = u->in;
    u->zs.avail_in = (uInt)n;
    u->at += (int64_t)n;
    u->left -= (int64_t)n;
    return VHEM_OK;
}

static vhem_status inflate_some(vhem_ctx *ctx, vh_unzip *u, const char *name, unsigned char *buf, size_t n,
                                size_t *got)
{
    int code = Z_OK;

    u->zs.next_out = buf;
    u->zs.avail_out = (uInt)n;
    while (u->zs.avail_out > 0 && code == Z_OK) {
        if (u->zs.avail_in == 0 && u->left > 0)
            VH_TRY(refill(ctx, u));
        code = inflate(&u->zs, Z_NO_FLUSH);
    }
    VH_CHECK(code != Z_MEM_ERROR, VHEM_ENOMEM, "%s: out of memory", name);
    VH_CHECK(code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR, VHEM_EFORMAT,
             "%s: the packed data is broken near offset %lld (%s)", name, (long long)(u->at - u->zs.avail_in),
             u->zs.msg ? u->zs.msg : "zlib");
    *got = n - u->zs.avail_out;
    return VHEM_OK;
}

static vhem_status copy_some(vhem_ctx *ctx, vh_unzip *u, unsigned char *buf, size_t n, size_t *got)
{
    *got = 0;
    if ((int64_t)n > u->left)
        n = (size_t)u->left;
    VH_TRY(read_at(ctx, u->z, u->at, buf, n, "next part of a member"));
    u->at += (int64_t)n;
    u->left -= (int64_t)n;
    *got = n;
    return VHEM_OK;
}

static vhem_status pull_member(vhem_ctx *ctx, vh_stream *s, void *buf, size_t n, size_t *got)
{
    vh_unzip *u = s->arg;

    if ((int64_t)n > u->out_left)
        n = (size_t)u->out_left;
    *got = 0;
    while (*got < n) {
        size_t part = 0, want = n - *got < 1 << 30 ? n - *got : 1 << 30;
        unsigned char *to = (unsigned char *)buf + *got;
        VH_TRY(u->inflating ? inflate_some(ctx, u, s->name, to, want, &part)
                            : copy_some(ctx, u, to, want, &part));
        if (part == 0)
            break;
        u->crc = (uint32_t)crc32(u->crc, to, (uInt)part);
        u->out_left -= (int64_t)part;
        *got += part;
    }
    VH_CHECK(u->out_left > 0 || n == 0 || u->crc == u->m->crc, VHEM_EFORMAT,
             "%s: the checksum is %08x, expected %08x: the data is damaged", s->name, u->crc, u->m->crc);
    return VHEM_OK;
}

vhem_status vh_unzip_open(vhem_ctx *ctx, const vh_zip *z, int i, const char *name, vh_stream *s,
                          vh_unzip **out)
{
    const vh_zip_member *m = &z->member[i];
    unsigned char local[LOCAL] = { 0 };
    VH_OWN(vh_unzip) *u = NULL;

    VH_CHECK(!(m->flags & 1), VHEM_EFORMAT, "%s: is encrypted", name);
    VH_CHECK(m->method == 0 || m->method == 8, VHEM_EFORMAT,
             "%s: is packed by method %d, expected 0 (stored) or 8 (deflate)", name, m->method);
    VH_TRY(read_at(ctx, z, m->at, local, LOCAL, "member"));
    VH_CHECK(memcmp(local, "PK\x03\x04", 4) == 0, VHEM_EFORMAT,
             "%s: is not at offset %lld, where it should be", name, (long long)m->at);
    VH_NEW(u, 1);
    u->z = z;
    u->m = m;
    u->at = m->at + LOCAL + (int64_t)little(local + 26, 2) + (int64_t)little(local + 28, 2);
    u->left = m->packed;
    u->out_left = m->size;
    if (m->method == 8) {
        VH_CHECK(inflateInit2(&u->zs, -15) == Z_OK, VHEM_ENOMEM, "%s: zlib has no memory", name);
        u->inflating = true;
    }
    *s = (vh_stream){ .name = name, .size = m->size, .pull = pull_member, .arg = u };
    *out = vh_take(u);
    return VHEM_OK;
}

void vh_unzip_close(vh_unzip *u)
{
    if (u && u->inflating)
        inflateEnd(&u->zs);
    free(u);
}
