/* SPDX-License-Identifier: BSD-3-Clause */
/* zip.c - the members of an archive.  What comes out of one is as long as it promised, and has its
 * checksum. */
#include "data/formats/zip.h"

#include "fuzz.h"

#include <zlib.h>

enum { MOST = 1 << 20 }; /* bytes that are read of a member */

static void read_member(vh_zip *z, int i)
{
    static unsigned char buffer[1 << 12];
    vh_stream s;
    vh_unzip *u = (vh_unzip *)fuzz_untouched;
    vhem_status st = vh_unzip_open(fuzz_ctx(), z, i, "member", &s, &u);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, u, fuzz_untouched);
        return;
    }
    size_t got = 1, all = 0;
    uint32_t crc = 0;
    while (st == VHEM_OK && got > 0 && all < MOST) {
        st = s.pull(fuzz_ctx(), &s, buffer, sizeof buffer, &got);
        crc = (uint32_t)crc32(crc, buffer, (uInt)got);
        all += got;
        fuzz_require((int64_t)all <= z->member[i].size, "%zu bytes of %lld", all,
                     (long long)z->member[i].size);
    }
    if (st != VHEM_OK)
        fuzz_check_failure(st, NULL, NULL);
    else if (all > 0 && (int64_t)all == z->member[i].size)
        fuzz_require(crc == z->member[i].crc, "a wrong checksum was let in");
    vh_unzip_close(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    vh_zip z;
    vhem_status st = vh_zip_open(fuzz_ctx(), fuzz_file("in.zip", bytes, size), &z);
    if (st != VHEM_OK) {
        fuzz_check_failure(st, NULL, NULL);
        return 0;
    }
    for (int i = 0; i < z.n && i < 64; i++)
        read_member(&z, i);
    vh_zip_close(&z);
    return 0;
}
