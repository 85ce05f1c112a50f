/* SPDX-License-Identifier: BSD-3-Clause */
/* zip.h - reads members of a zip archive: stored or deflated, including zip64. */
#ifndef VH_DATA_FORMATS_ZIP_H
#define VH_DATA_FORMATS_ZIP_H

#include "core/own.h"
#include "data/formats/npy.h"

#include <stdio.h>

typedef struct {
    char *name;
    int method, flags;
    uint32_t crc;
    int64_t packed, size, at; /* compressed and uncompressed bytes, offset of the local header */
} vh_zip_member;

typedef struct {
    const char *path;
    FILE *f;
    int64_t size;
    vh_zip_member *member; /* [n] */
    int n;
} vh_zip;

vhem_status vh_zip_open(vhem_ctx *ctx, const char *path, vh_zip *z);
void vh_zip_close(vh_zip *z);

/* A member as a stream; the checksum is verified with the last byte.  name begins error messages. */
typedef struct vh_unzip vh_unzip;
vhem_status vh_unzip_open(vhem_ctx *ctx, const vh_zip *z, int i, const char *name, vh_stream *s,
                          vh_unzip **out);
void vh_unzip_close(vh_unzip *u);
VH_OWNED(vh_unzip, vh_unzip_close)

#endif
