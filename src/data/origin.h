/* SPDX-License-Identifier: BSD-3-Clause */
/* origin.h - source file and line of sequences, for error messages. */
#ifndef VH_DATA_ORIGIN_H
#define VH_DATA_ORIGIN_H

#include "core/ctx.h"

typedef struct {
    char *path;    /* the file or folder; NULL: none */
    char **file;   /* [N]  of a folder: the file of each sequence; NULL: all are in path */
    int64_t n;     /* sequences, where a copy has an owner; else 0 */
    int64_t *line; /* [N]  line of the first frame; 0: lines not consecutive; NULL: unknown */
} vh_origin;       /* all zero: unknown */

void vh_origin_free(vh_origin *origin, int64_t N);
static inline void vh_origin_drop(vh_origin *origin) /* for VH_CLEANUP */
{
    vh_origin_free(origin, origin->n);
}
/* Copies the entries of sequences seq [n] (NULL: the first n). */
vhem_status vh_origin_some(vhem_ctx *ctx, const vh_origin *from, const int64_t *seq, int64_t n,
                           vh_origin *out);

enum { VH_PLACE_SIZE = 1024 }; /* room for where something is */
/* Writes "walks.csv: line 7: " for frame t of sequence n, without the parts that are unknown; returns out. */
const char *vh_origin_tell(const vh_origin *origin, int64_t n, int64_t t, char out[VH_PLACE_SIZE]);

#endif
