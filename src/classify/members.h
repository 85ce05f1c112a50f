/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h - assigns items to classes or tags. */
#ifndef VH_CLASSIFY_MEMBERS_H
#define VH_CLASSIFY_MEMBERS_H

#include "fit/sets.h"
#include "vhem/classes.h"

/* Determines the classes of items: has [n][C], in the order of items.  Classes come from labels, sorted by
 * name, or from tags, matched by item name.  Warns of omissions; an empty result is an error. */
vhem_status vh_members_new(vhem_ctx *ctx, const vh_sets *items, const vhem_tags *tags, int min_items,
                           vhem_tags **out);
/* Frees the contents of a vhem_tags. */
void vh_tags_clear(void *tags);

#endif
