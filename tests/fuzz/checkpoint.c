/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoint.c - checkpoint files: numbers that are found are those that were written, a damaged record
 * counts as missing, and what is added is there the next time. */
#include "core/journal.h"

#include "fuzz.h"
#include "vhem.h"

#include <string.h>

enum { HEAD = 18, KEY = 32, LEAD = KEY + 16, MOST = 8, LARGEST = 4096 };
static const char head[] = "vhem-checkpoint 1\n";

typedef struct {
    vh_key key;
    size_t n;
    double x[LARGEST];
} record;

static uint64_t number(const uint8_t *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static uint64_t checksum(const uint8_t *lead, uint64_t n)
{
    uint64_t h = vh_hash_chain(0, lead, KEY);
    h = vh_hash_chain(h, lead + KEY, 8);
    return vh_hash_chain(h, lead + LEAD, 8 * n);
}

/* Where the next record begins; NULL: there is no whole one here. */
static const uint8_t *past(const uint8_t *at, const uint8_t *end)
{
    if (end - at < LEAD || number(at + KEY) > (uint64_t)(end - at - LEAD) / 8)
        return NULL;
    return at + LEAD + 8 * number(at + KEY);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed)
{
    size = LLVMFuzzerMutate(bytes, size, most);
    if (size < HEAD || seed % 8 == 0)
        return size;
    memcpy(bytes, head, HEAD);
    const uint8_t *next;
    for (uint8_t *at = bytes + HEAD; (next = past(at, bytes + size)); at = (uint8_t *)next) {
        uint64_t check = checksum(at, number(at + KEY));
        if (seed % 5 != 0)
            memcpy(at + KEY + 8, &check, 8);
    }
    return size;
}

static vh_journal *open_journal(const char *path)
{
    vh_journal *j = (vh_journal *)fuzz_untouched;
    vhem_status st = vh_journal_open(fuzz_ctx(), path, &j);
    if (st == VHEM_OK)
        return j;
    fuzz_check_failure(st, j, fuzz_untouched);
    return NULL;
}

/* The last sound record of each of some keys: what must be found. */
static int collect(const uint8_t *bytes, size_t size, record *out)
{
    const uint8_t *at = bytes + HEAD, *next;
    int n = 0;
    if (size < HEAD || memcmp(bytes, head, HEAD) != 0)
        return 0;
    for (; (next = past(at, bytes + size)); at = next) {
        int k = 0;
        while (k < n && memcmp(out[k].key.text, at, KEY) != 0)
            k++;
        bool sound = number(at + KEY) <= LARGEST && number(at + KEY + 8) == checksum(at, number(at + KEY));
        if (k == MOST)
            continue;
        memcpy(out[k].key.text, at, KEY);
        out[k].n = sound ? number(at + KEY) : SIZE_MAX; /* not to be found */
        if (sound)
            memcpy(out[k].x, at + LEAD, 8 * out[k].n);
        n = k == n ? n + 1 : n;
    }
    return n;
}

static void check_found(vh_journal *j, const record *r, int n)
{
    static double x[LARGEST];
    for (int k = 0; k < n; k++) {
        if (r[k].n == SIZE_MAX) {
            fuzz_require(!vh_journal_find(j, &r[k].key, 1, x), "a damaged record is found");
            continue;
        }
        fuzz_require(vh_journal_find(j, &r[k].key, r[k].n, x), "record %d is not found", k);
        fuzz_require(memcmp(x, r[k].x, 8 * r[k].n) == 0, "record %d has other numbers", k);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static record known[MOST];
    const vh_key fresh = { "0123456789abcdef0123456789abcdef" };
    const double put[3] = { 1, 2.5, -3 };
    double got[3];
    const char *path = fuzz_file("in.ckpt", bytes, size);
    vh_journal *j = open_journal(path);
    if (!j)
        return 0;
    int n = collect(bytes, size, known);
    check_found(j, known, n);
    vh_journal_add(fuzz_ctx(), j, &fresh, 3, put);
    vh_journal_free(j);
    j = open_journal(path);
    fuzz_require(j, "%s", vhem_ctx_error(fuzz_ctx()));
    fuzz_require(vh_journal_find(j, &fresh, 3, got) && memcmp(got, put, sizeof put) == 0,
                 "what was added is gone");
    for (int k = 0; k < n; k++)
        if (memcmp(known[k].key.text, fresh.text, KEY) == 0)
            known[k] = known[--n];
    check_found(j, known, n);
    vh_journal_free(j);
    return 0;
}
