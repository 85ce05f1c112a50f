/* SPDX-License-Identifier: BSD-3-Clause */
/* object.c - see object.h. */
#include "core/object.h"
#include "vhem.h"

/* One alignment unit long, so that the record after it is as well aligned as any array. */
typedef union {
    vh_object_clear *clear;
    char room[VH_ALIGN];
} head;

void *vh_object_new(vhem_ctx *ctx, size_t size, vh_object_clear *clear)
{
    head *h = vh_alloc(ctx, 1, sizeof *h + size);
    if (!h)
        return NULL;
    h->clear = clear;
    return h + 1;
}

void vh_object_free(void *record)
{
    if (!record)
        return;
    head *h = (head *)record - 1;
    if (h->clear)
        h->clear(record);
    free(h);
}

void vhem_free(void *object)
{
    vh_object_free(object);
}
