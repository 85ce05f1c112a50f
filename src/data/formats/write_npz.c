/* SPDX-License-Identifier: BSD-3-Clause */
/* write_npz.c - the stacked layout of array.h as a NumPy archive, members uncompressed.  Texts are arrays of
 * Unicode strings, or of bytes if one is not UTF-8.  An archive of 4 GiB or more would need zip64 and is
 * rejected: .npy and .h5 have no such limit. */
#include "core/alloc.h"
#include "core/atomic_file.h"
#include "data/formats/array.h"
#include "data/formats/npy.h"
#include "data/values.h"
#include "data/formats/write.h"

#include <string.h>
#include <zlib.h>

typedef struct {
    const char *key;
    uint32_t crc, size, at;
} zip_member;

typedef struct {
    vhem_ctx *ctx;
    FILE *f;
    zip_member done[VH_N_STACKED];
    int n;
    uint64_t at; /* bytes written so far */
} archive;

static void put(unsigned char **p, uint64_t v, int n)
{
    for (; n > 0; n--, v >>= 8)
        *(*p)++ = (unsigned char)v;
}

/* Writes the fields shared by a local header and its directory entry; time and date are fixed. */
static void put_common(unsigned char **p, const zip_member *m)
{
    put(p, 20, 2); /* version needed */
    put(p, 0, 2);  /* flags */
    put(p, 0, 2);  /* stored */
    put(p, 0, 2);
    put(p, 0x21, 2); /* 1 January 1980 */
    put(p, m->crc, 4);
    put(p, m->size, 4);
    put(p, m->size, 4);
    put(p, strlen(m->key) + 4, 2);
    put(p, 0, 2); /* no extra field */
}

enum { STRETCH = 1 << 24 }; /* bytes between checks for a stop request */

/* Adds data to the checksum, if crc is not NULL, and writes it, if f is not NULL. */
static vhem_status pass(vhem_ctx *ctx, const void *data, uint64_t size, uint32_t *crc, FILE *f)
{
    for (uint64_t at = 0; at < size; at += STRETCH) {
        size_t n = size - at < STRETCH ? (size_t)(size - at) : STRETCH;
        const unsigned char *from = (const unsigned char *)data + at;
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while writing");
        if (crc)
            *crc = (uint32_t)crc32_z(*crc, from, n);
        if (f)
            fwrite(from, 1, n, f);
    }
    return VHEM_OK;
}

static vhem_status add(archive *z, const char *key, const char *descr, int64_t n0, int64_t n1,
                       const void *data, uint64_t size)
{
    vhem_ctx *ctx = z->ctx;
    char header[128];
    unsigned char local[32], *p = local;
    size_t n_header = vh_npy_header(header, descr, n0, n1);

    VH_CHECK(z->at + size < UINT32_MAX - 65536, VHEM_EINVAL,
             "the data is larger than 4 GiB, too much for .npz; use .npy or .h5");
    zip_member *m = &z->done[z->n++];
    *m = (zip_member){ .key = key, .at = (uint32_t)z->at, .size = (uint32_t)(n_header + size) };
    m->crc = (uint32_t)crc32_z(0, (const Bytef *)header, n_header);
    VH_TRY(pass(ctx, data, size, &m->crc, NULL));
    put(&p, 0x04034b50, 4);
    put_common(&p, m);
    fwrite(local, 1, 30, z->f);
    fprintf(z->f, "%s.npy", key);
    fwrite(header, 1, n_header, z->f);
    VH_TRY(pass(ctx, data, size, NULL, z->f));
    z->at += 30 + strlen(key) + 4 + m->size;
    return VHEM_OK;
}

static void finish_archive(archive *z)
{
    unsigned char buf[64], *p;
    uint64_t start = z->at;
    for (int i = 0; i < z->n; i++) {
        p = buf;
        put(&p, 0x02014b50, 4);
        put(&p, 20, 2);
        put_common(&p, &z->done[i]);
        put(&p, 0, 2); /* comment */
        put(&p, 0, 2); /* disk */
        put(&p, 0, 2); /* attributes */
        put(&p, 0, 4);
        put(&p, z->done[i].at, 4);
        fwrite(buf, 1, 46, z->f);
        fprintf(z->f, "%s.npy", z->done[i].key);
        z->at += 46 + strlen(z->done[i].key) + 4;
    }
    p = buf;
    put(&p, 0x06054b50, 4);
    put(&p, 0, 4);
    put(&p, (uint64_t)z->n, 2);
    put(&p, (uint64_t)z->n, 2);
    put(&p, z->at - start, 4);
    put(&p, start, 4);
    put(&p, 0, 2);
    fwrite(buf, 1, 22, z->f);
}

/* Decodes the next UTF-8 character, or returns -1 if invalid. */
static int64_t next_char(const unsigned char **p)
{
    unsigned char c = *(*p)++;
    int more = c < 0x80                ? 0
               : c >= 0xC2 && c < 0xE0 ? 1
               : c >= 0xE0 && c < 0xF0 ? 2
               : c >= 0xF0 && c < 0xF5 ? 3
                                       : -1;
    if (more < 0)
        return -1;
    int64_t v = more == 0 ? c : c & (0x3F >> more);
    static const int64_t least[] = { 0, 0x80, 0x800, 0x10000 };
    for (int i = 0; i < more; i++) {
        if ((**p & 0xC0) != 0x80)
            return -1;
        v = v << 6 | (*(*p)++ & 0x3F);
    }
    return v < least[more] || v > 0x10FFFF || (v >= 0xD800 && v < 0xE000) ? -1 : v;
}

/* Number of characters, or -1 if the text is not UTF-8. */
static int64_t count_chars(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    int64_t n = 0;
    for (; *p; n++)
        if (next_char(&p) < 0)
            return -1;
    return n;
}

static vhem_status add_texts(archive *z, const char *key, int64_t n, char *const *text)
{
    vhem_ctx *ctx = z->ctx;
    int64_t width = 1, bytes = 1;
    bool unicode = true;
    VH_AUTOFREE unsigned char *buf = NULL;
    char descr[24];

    for (int64_t i = 0; i < n; i++) {
        int64_t chars = count_chars(text[i]), len = (int64_t)strlen(text[i]);
        unicode &= chars >= 0;
        width = chars > width ? chars : width;
        bytes = len > bytes ? len : bytes;
    }
    size_t item = (size_t)(unicode ? 4 * width : bytes);
    VH_NEW(buf, item * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        unsigned char *w = buf + item * (size_t)i;
        if (!unicode)
            memcpy(w, text[i], strlen(text[i]));
        for (const unsigned char *p = (const unsigned char *)text[i]; unicode && *p;)
            put(&w, (uint64_t)next_char(&p), 4);
    }
    snprintf(descr, sizeof descr, unicode ? "<U%lld" : "|S%lld", (long long)(unicode ? width : bytes));
    return add(z, key, descr, n, 0, buf, item * (size_t)n);
}

static vhem_status add_all(archive *z, const vhem_data *data)
{
    vhem_ctx *ctx = z->ctx;
    VH_AUTOFREE int64_t *length = NULL;
    int64_t rows = data->start[data->N];
    uint64_t N = (uint64_t)data->N;

    VH_NEW(length, data->N);
    for (int64_t n = 0; n < data->N; n++)
        length[n] = vh_data_length(data, n);
    VH_TRY(add(z, "X", "<f8", rows, data->d, data->y, (uint64_t)(rows * data->d) * sizeof *data->y));
    VH_TRY(add(z, "lengths", "<i8", data->N, 0, length, N * sizeof *length));
    if (data->name)
        VH_TRY(add_texts(z, "names", data->N, data->name));
    if (data->label)
        VH_TRY(add_texts(z, "labels", data->N, data->label));
    if (data->group)
        VH_TRY(add_texts(z, "groups", data->N, data->group));
    if (data->weight)
        VH_TRY(add(z, "weights", "<f8", data->N, 0, data->weight, N * sizeof *data->weight));
    return add_texts(z, "columns", data->d, data->column);
}

vhem_status vh_write_npz(vhem_ctx *ctx, const vhem_data *data, const char *path)
{
    VH_CLEANUP(vh_atomic_file_close) vh_atomic_file out = { 0 };
    archive z = { .ctx = ctx };

    VH_TRY(vh_atomic_file_open(ctx, path, &out));
    z.f = out.f;
    VH_TRY(add_all(&z, data));
    finish_archive(&z);
    return vh_atomic_file_commit(ctx, &out);
}
