/* SPDX-License-Identifier: BSD-3-Clause */
/* object.h - objects and plain records that callers release with vhem_free: in front of each stands, unseen,
 * what knows how to release what it holds. */
#ifndef VH_CORE_OBJECT_H
#define VH_CORE_OBJECT_H

#include "core/alloc.h"

typedef void vh_object_clear(
    void *record); /* frees what the record holds, not the record itself; NULL: nothing */

/* A zeroed record of the given size; NULL and a sentence when there is no memory. */
void *vh_object_new(vhem_ctx *ctx, size_t size, vh_object_clear *clear);

#define VH_NEW_OBJECT(p, clear)                         \
    do {                                                \
        (p) = vh_object_new(ctx, sizeof *(p), (clear)); \
        if (!(p))                                       \
            return VHEM_ENOMEM;                         \
    } while (0)

#endif
