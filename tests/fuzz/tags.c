/* SPDX-License-Identifier: BSD-3-Clause */
/* tags.c - tables of tags: written as a table of 0 and 1 and read again they are the same. */
#include "fuzz.h"
#include "vhem.h"
#include "vhem/classes.h"

#include <string.h>

static vhem_tags *load(const char *path)
{
    vhem_tags *tags = (vhem_tags *)fuzz_untouched;
    vhem_status st = vhem_tags_load(fuzz_ctx(), path, &tags);
    if (st == VHEM_OK)
        return tags;
    fuzz_check_failure(st, tags, fuzz_untouched);
    return NULL;
}

static void put_text(FILE *f, const char *text)
{
    putc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', f);
        putc(*text, f);
    }
    putc('"', f);
}

static const char *write_table(const vhem_tags *tags)
{
    const char *path = fuzz_path("out.csv");
    FILE *f = fopen(path, "wb");
    fuzz_require(f, "%s", path);
    fputs("\"an item \"\"of\"\" it\"", f);
    for (int c = 0; c < tags->C; c++) {
        putc(',', f);
        put_text(f, tags->tag[c]);
    }
    for (int64_t i = 0; i < tags->n; i++) {
        putc('\n', f);
        put_text(f, tags->item[i]);
        for (int c = 0; c < tags->C; c++)
            fprintf(f, ",%d", tags->has[i * tags->C + c]);
    }
    putc('\n', f);
    fclose(f);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vhem_tags *tags = load(fuzz_file("in.csv", bytes, size));
    if (!tags)
        return 0;
    bool list = tags->C == 1 && strcmp(tags->tag[0], "tag") == 0; /* reads as the other of the two forms */
    vhem_tags *again = list ? NULL : load(write_table(tags));
    fuzz_require(list || again, "what was saved is not read: %s", vhem_ctx_error(fuzz_ctx()));
    if (again) {
        fuzz_require(tags->n == again->n && tags->C == again->C, "%lld x %d became %lld x %d",
                     (long long)tags->n, tags->C, (long long)again->n, again->C);
        fuzz_require(memcmp(tags->has, again->has, (size_t)tags->n * (size_t)tags->C) == 0, "tags differ");
    }
    vhem_free(tags);
    vhem_free(again);
    return 0;
}
