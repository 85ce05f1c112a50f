/* SPDX-License-Identifier: BSD-3-Clause */
/* zip_mutator.c - changes archives so that most stay whole: after a change the sizes and checksums of members
 * are made to agree with their bytes, and the list of members with where it is.  Without this nearly every
 * change would end at the first checksum.  One change in eight is left as it is. */
#include "fuzz.h"

#include <string.h>
#include <zlib.h>

enum { END = 22, ENTRY = 46, LOCAL = 30, MOST_MEMBERS = 64, MOST_UNPACKED = 1 << 16 };

static size_t get(const uint8_t *p, int n)
{
    size_t v = 0;
    while (n-- > 0)
        v = v << 8 | p[n];
    return v;
}

static void put(uint8_t *p, int n, size_t v)
{
    for (int k = 0; k < n; k++, v >>= 8)
        p[k] = (uint8_t)v;
}

static size_t find_last(const uint8_t *bytes, size_t size, const char *magic)
{
    for (size_t k = size; k-- > 0;)
        if (size - k >= 4 && memcmp(bytes + k, magic, 4) == 0)
            return k;
    return size;
}

/* Unpacked size and checksum of packed bytes; false when they do not unpack. */
static bool unpack(const uint8_t *bytes, size_t n, int method, size_t *size, uint32_t *crc)
{
    static uint8_t out[MOST_UNPACKED];
    z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n, .next_out = out, .avail_out = sizeof out };
    *size = n;
    *crc = (uint32_t)crc32(0, bytes, (uInt)n);
    if (method == 0)
        return true;
    if (inflateInit2(&z, -15) != Z_OK)
        return false;
    int code = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    *size = sizeof out - z.avail_out;
    *crc = (uint32_t)crc32(0, out, (uInt)*size);
    return code == Z_STREAM_END;
}

/* A member listed at e: its bytes end where the next part of the archive begins. */
static void mend_member(uint8_t *bytes, size_t size, uint8_t *e)
{
    size_t at = get(e + 42, 4), packed = get(e + 20, 4), unpacked;
    uint32_t crc;
    if (at > size || size - at < LOCAL || memcmp(bytes + at, "PK\x03\x04", 4) != 0)
        return;
    size_t data = at + LOCAL + get(bytes + at + 26, 2) + get(bytes + at + 28, 2), end = data;
    while (end < size
           && !(size - end >= 4 && bytes[end] == 'P' && bytes[end + 1] == 'K' && bytes[end + 2] < 9))
        end++;
    if (data > size)
        return;
    packed = end - data;
    if (!unpack(bytes + data, packed, (int)get(e + 10, 2), &unpacked, &crc))
        return;
    put(e + 16, 4, crc);
    put(e + 20, 4, packed);
    put(e + 24, 4, unpacked);
    memmove(bytes + at + 14, e + 16, 12);
}

static void mend(uint8_t *bytes, size_t size)
{
    size_t end = find_last(bytes, size, "PK\x05\x06"), first = 0, n = 0, local = 0;
    if (size - end < END)
        return;
    for (size_t k = 0; k + ENTRY <= end && n < MOST_MEMBERS; k++) {
        if (memcmp(bytes + k, "PK\x03\x04", 4) == 0)
            local = k;
        if (memcmp(bytes + k, "PK\x01\x02", 4) != 0)
            continue;
        first = n++ == 0 ? k : first;
        if (get(bytes + k + 42, 4) > size && get(bytes + k + 42, 4) != 0xFFFFFFFF)
            put(bytes + k + 42, 4, local);
        mend_member(bytes, size, bytes + k);
    }
    if (n == 0)
        return;
    put(bytes + end + 8, 2, n);
    put(bytes + end + 10, 2, n);
    put(bytes + end + 12, 4, end - first);
    put(bytes + end + 16, 4, first);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed)
{
    size = LLVMFuzzerMutate(bytes, size, most);
    if (seed % 8 != 0)
        mend(bytes, size);
    return size;
}
