/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h - which items have which class or tag. */
#ifndef VH_CLASSIFY_MEMBERS_H
#define VH_CLASSIFY_MEMBERS_H

#include "models/items.h"
#include "vhem/classes.h"

/* The row of an item in has [n][C] of the result is that of items.  From their labels, the classes in the
 * order of their names; or from tags, matched by name.  What is left out is told in warnings; nothing left at
 * all is an error. */
vhem_status vh_members_new(vhem_ctx *ctx, const vh_items *items, const vhem_tags *tags, int min_items,
                           vhem_tags **out);
/* Frees what a vhem_tags holds. */
void vh_tags_clear(void *tags);

#endif
