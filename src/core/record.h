/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - objects and plain records that callers release with vhem_free: in front of each stands, unseen,
 * what knows how to release what it holds. */
#ifndef VH_CORE_RECORD_H
#define VH_CORE_RECORD_H

#include "core/alloc.h"

typedef void vh_record_clear(
    void *record); /* frees what the record holds, not the record itself; NULL: nothing */

/* A zeroed record of the given size; NULL and a sentence when there is no memory. */
void *vh_record_new(vhem_ctx *ctx, size_t size, vh_record_clear *clear);

#define VH_NEW_RECORD(p, clear)                         \
    do {                                                \
        (p) = vh_record_new(ctx, sizeof *(p), (clear)); \
        if (!(p))                                       \
            return VHEM_ENOMEM;                         \
    } while (0)

#endif
