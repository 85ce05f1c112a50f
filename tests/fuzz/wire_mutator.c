/* SPDX-License-Identifier: BSD-3-Clause */
/* wire_mutator.c - see wire.h. */
#include "wire.h"

#include "core/hash.h"

#include <string.h>

enum { MARK = 8, CHECK = 8, INT = 8, FRESH = 16 };

/* Numbers that counts and places are confused by. */
static void put_number(uint8_t *at, unsigned seed)
{
    static const int64_t odd[] = { 0, -1, 1, 2, INT64_MAX, INT64_MIN, INT32_MAX, 1 << 20, (int64_t)1 << 40 };
    memcpy(at, &odd[seed % (sizeof odd / sizeof *odd)], INT);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed)
{
    size_t n;
    const void *sound = fuzz_sound(seed / FRESH, &n);
    if (n > most)
        return LLVMFuzzerMutate(bytes, size, most);
    if (seed % FRESH == 0 || size < MARK + CHECK || memcmp(bytes, sound, MARK) != 0)
        memcpy(bytes, sound, size = n);
    size_t body = size - MARK - CHECK, cells = body / INT;
    if (seed % 3 == 0 && cells > 0)
        put_number(bytes + MARK + INT * (seed / 3 % cells), seed / 7);
    else
        body = LLVMFuzzerMutate(bytes + MARK, body, most - MARK - CHECK);
    uint64_t check = vh_hash_chain(0, bytes, MARK + body);
    memcpy(bytes + MARK + body, &check, CHECK);
    return MARK + body + CHECK;
}
