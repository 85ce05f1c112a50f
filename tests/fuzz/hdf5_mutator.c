/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_mutator.c - changes HDF5 files so that most stay whole: checksums that were right before a change are
 * right after it.  The library gives up at the first wrong one, so that without this nothing behind it would
 * ever be seen.  One change in eight is left as it is.
 *
 * Versions 2 and 3 of the superblock, object headers of version 2 and the blocks of the newer indices end in
 * a checksum, lookup3 by Bob Jenkins; older parts have none.  How long a header is stands in it; of other
 * blocks the length is found by trying where a right checksum follows. */
#include "fuzz.h"

#include <string.h>

enum { MOST_PARTS = 64, LONGEST_BLOCK = 600, LONGEST_HEADER = 1 << 16 };

typedef struct {
    size_t at, size; /* the checksum stands behind these bytes */
} part;

static uint32_t turn(uint32_t x, int k)
{
    return x << k | x >> (32 - k);
}

static uint32_t word(const uint8_t *p, size_t n)
{
    uint32_t v = 0;
    for (size_t k = 0; k < n && k < 4; k++)
        v |= (uint32_t)p[k] << 8 * k;
    return v;
}

static uint32_t rest(const uint8_t *p, size_t n, size_t from)
{
    return n > from ? word(p + from, n - from) : 0;
}

/* lookup3, with 0 to begin with. */
static uint32_t checksum(const uint8_t *p, size_t n)
{
    uint32_t a = 0xdeadbeef + (uint32_t)n, b = a, c = a;
    for (; n > 12; n -= 12, p += 12) {
        a += word(p, 4);
        b += word(p + 4, 4);
        c += word(p + 8, 4);
        a = (a - c) ^ turn(c, 4), c += b;
        b = (b - a) ^ turn(a, 6), a += c;
        c = (c - b) ^ turn(b, 8), b += a;
        a = (a - c) ^ turn(c, 16), c += b;
        b = (b - a) ^ turn(a, 19), a += c;
        c = (c - b) ^ turn(b, 4), b += a;
    }
    if (n == 0)
        return c;
    a += rest(p, n, 0);
    b += rest(p, n, 4);
    c += rest(p, n, 8);
    c = (c ^ b) - turn(b, 14);
    a = (a ^ c) - turn(c, 11);
    b = (b ^ a) - turn(a, 25);
    c = (c ^ b) - turn(b, 16);
    a = (a ^ c) - turn(c, 4);
    b = (b ^ a) - turn(a, 14);
    return (c ^ b) - turn(b, 24);
}

/* Bytes of an object header of version 2 before its checksum; 0 when it is none. */
static size_t header_size(const uint8_t *p, size_t left)
{
    if (left < 16 || p[4] != 2)
        return 0;
    int flags = p[5], width = 1 << (flags & 3);
    size_t n = 6 + (flags & 32 ? 16u : 0u) + (flags & 16 ? 4u : 0u), chunk = 0;
    for (int k = width; k-- > 0 && n + (size_t)k < left;)
        chunk = chunk << 8 | p[n + (size_t)k];
    return chunk > LONGEST_HEADER ? 0 : n + (size_t)width + chunk;
}

/* Bytes of a block before its checksum, by trial; 0 when none is right. */
static size_t block_size(const uint8_t *p, size_t left)
{
    for (size_t n = 8; n + 4 <= left && n <= LONGEST_BLOCK; n++)
        if (checksum(p, n) == word(p + n, 4))
            return n;
    return 0;
}

static size_t part_size(const uint8_t *p, size_t left)
{
    static const char block[][5] = { "OCHK", "BTHD", "BTLF", "FRHP", "FSHD", "SMTB", "SMLI", "FAHD", "EAHD" };
    if (left < 16)
        return 0;
    if (memcmp(p, "\x89HDF\r\n\x1a\n", 8) == 0)
        return p[8] == 2 || p[8] == 3 ? 12 + 4 * (size_t)p[9] : 0;
    if (memcmp(p, "OHDR", 4) == 0)
        return header_size(p, left);
    for (size_t k = 0; k < sizeof block / sizeof *block; k++)
        if (memcmp(p, block[k], 4) == 0)
            return block_size(p, left);
    return 0;
}

/* The parts whose checksum is right. */
static int find_parts(const uint8_t *bytes, size_t size, part *found)
{
    int n = 0;
    for (size_t k = 0; k < size && n < MOST_PARTS; k++) {
        if (bytes[k] != 0x89 && (bytes[k] < 'B' || bytes[k] > 'S'))
            continue;
        size_t m = part_size(bytes + k, size - k);
        if (m > 0 && m + 4 <= size - k && checksum(bytes + k, m) == word(bytes + k + m, 4))
            found[n++] = (part){ k, m };
    }
    return n;
}

static void mend(uint8_t *bytes, const part *p, int n)
{
    for (int k = 0; k < n; k++) {
        uint32_t sum = checksum(bytes + p[k].at, p[k].size);
        for (int j = 0; j < 4; j++)
            bytes[p[k].at + p[k].size + (size_t)j] = (uint8_t)(sum >> 8 * j);
    }
}

/* Changes of some bytes in the middle: what is before and after stays where addresses say it is. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed)
{
    static uint8_t changed[64];
    part found[MOST_PARTS];
    if (size < 64 || seed % 8 == 0)
        return LLVMFuzzerMutate(bytes, size, most);
    int n = find_parts(bytes, size, found);
    for (unsigned int times = 1 + seed / 8 % 3; times > 0; times--) {
        seed = seed * 1664525u + 1013904223u;
        size_t at = seed % (size - sizeof changed + 1), m = 1 + (seed >> 16) % sizeof changed;
        if (n > 0 && seed >> 28 < 8) /* within a header, where most of what matters is */
            at = found[(seed >> 8) % (unsigned)n].at + (seed >> 18) % 128;
        if (at + m > size)
            continue;
        memcpy(changed, bytes + at, m);
        LLVMFuzzerMutate(changed, m, m);
        memcpy(bytes + at, changed, m);
    }
    mend(bytes, found, n);
    return size;
}
