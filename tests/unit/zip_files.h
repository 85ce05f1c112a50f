/* SPDX-License-Identifier: BSD-3-Clause */
/* zip_files.h - archives for tests, built member by member, stored or deflated, with and without zip64. */
#ifndef VH_TESTS_ZIP_FILES_H
#define VH_TESTS_ZIP_FILES_H

#include "data_files.h"

#include <zlib.h>

typedef struct {
    unsigned char bytes[16384], list[4096];
    size_t n, n_list;
    int n_members;
} zip;

static inline void put(unsigned char *to, size_t *n, uint64_t v, int size)
{
    for (; size > 0; size--, v >>= 8)
        to[(*n)++] = (unsigned char)v;
}

static inline void put_bytes(unsigned char *to, size_t *n, const void *from, size_t size)
{
    memcpy(to + *n, from, size);
    *n += size;
}

enum { STORED, DEFLATED, WIDE }; /* WIDE: stored, sizes in a zip64 field */

static inline void add_raw(zip *z, const char *name, int how, const void *data, size_t size)
{
    unsigned char packed[8192];
    size_t n_packed = size, at = z->n, narrow = how == WIDE ? 0xFFFFFFFF : 0;
    uint32_t crc = (uint32_t)crc32(0, data, (uInt)size);
    memcpy(packed, data, size);
    if (how == DEFLATED) {
        z_stream s = {
            .next_in = (Bytef *)data, .avail_in = (uInt)size, .next_out = packed, .avail_out = sizeof packed
        };
        assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
        n_packed = s.total_out;
        deflateEnd(&s);
    }
    for (int list = 0; list < 2; list++) {
        unsigned char *to = list ? z->list : z->bytes;
        size_t *n = list ? &z->n_list : &z->n;
        put(to, n, list ? 0x02014b50 : 0x04034b50, 4);
        put(to, n, 20, list ? 4 : 2);
        put(to, n, 0, 2);
        put(to, n, how == DEFLATED ? 8 : 0, 2);
        put(to, n, 0, 4);
        put(to, n, crc, 4);
        put(to, n, narrow ? narrow : n_packed, 4);
        put(to, n, narrow ? narrow : size, 4);
        put(to, n, strlen(name), 2);
        put(to, n, narrow ? 20 : 0, 2);
        if (list) {
            put(to, n, 0, 6);
            put(to, n, 0, 4);
            put(to, n, at, 4);
        }
        put_bytes(to, n, name, strlen(name));
        if (narrow) {
            put(to, n, 1, 2);
            put(to, n, 16, 2);
            put(to, n, size, 8);
            put(to, n, n_packed, 8);
        }
    }
    put_bytes(z->bytes, &z->n, packed, n_packed);
    z->n_members++;
}

/* Writes the archive as a scratch file, which the caller removes. */
static inline const char *finish(zip *z, const char *name, int wide)
{
    size_t start = z->n;
    put_bytes(z->bytes, &z->n, z->list, z->n_list);
    if (wide) {
        size_t end64 = z->n;
        put(z->bytes, &z->n, 0x06064b50, 4);
        put(z->bytes, &z->n, 44, 8);
        put(z->bytes, &z->n, 45, 4);
        put(z->bytes, &z->n, 0, 8);
        put(z->bytes, &z->n, (uint64_t)z->n_members, 8);
        put(z->bytes, &z->n, (uint64_t)z->n_members, 8);
        put(z->bytes, &z->n, z->n_list, 8);
        put(z->bytes, &z->n, start, 8);
        put(z->bytes, &z->n, 0x07064b50, 4);
        put(z->bytes, &z->n, 0, 4);
        put(z->bytes, &z->n, end64, 8);
        put(z->bytes, &z->n, 1, 4);
    }
    put(z->bytes, &z->n, 0x06054b50, 4);
    put(z->bytes, &z->n, 0, 4);
    put(z->bytes, &z->n, wide ? 0xFFFF : (uint64_t)z->n_members, 2);
    put(z->bytes, &z->n, wide ? 0xFFFF : (uint64_t)z->n_members, 2);
    put(z->bytes, &z->n, wide ? 0xFFFFFFFF : z->n_list, 4);
    put(z->bytes, &z->n, wide ? 0xFFFFFFFF : start, 4);
    put(z->bytes, &z->n, 0, 2);
    const char *path = test_scratch(name);
    test_write(path, z->bytes, z->n);
    return path;
}

#endif
