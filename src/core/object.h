/* SPDX-License-Identifier: BSD-3-Clause */
/* object.h - objects and plain records that callers release with vhem_free: a hidden header in front of each
 * says how to free its contents. */
#ifndef VH_CORE_OBJECT_H
#define VH_CORE_OBJECT_H

#include "core/alloc.h"

typedef void vh_object_clear(void *record); /* frees the contents, not the record itself; NULL: none */

/* Returns a zeroed record of the given size; NULL and an error when out of memory. */
void *vh_object_new(vhem_ctx *ctx, size_t size, vh_object_clear *clear);

#define VH_NEW_OBJECT(p, clear)                         \
    do {                                                \
        (p) = vh_object_new(ctx, sizeof *(p), (clear)); \
        if (!(p))                                       \
            return VHEM_ENOMEM;                         \
    } while (0)

#endif
