/* SPDX-License-Identifier: BSD-3-Clause */
/* things.h - what has a class or tags: sequences, or groups of them; and who has which. */
#ifndef VH_ANNOTATE_THINGS_H
#define VH_ANNOTATE_THINGS_H

#include "data/data.h"

typedef struct {
    int n;
    int *seq, *first;           /* [N]  [n+1]  sequences, those of one thing together */
    const char **name, **label; /* [n]  texts of the data; label: "" for none, NULL: several */
} vh_things;

/* Groups are numbered in the order in which they appear. */
vhem_status vh_things_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_things *out);
void vh_things_free(vh_things *things);

/* Who has which class: the row of a thing in has [n][C] of the result is that of things.  From their labels,
 * the classes in the order of their names; or from tags, matched by name.  What is left out is
 * told in warnings; nothing left at all is an error. */
vhem_status vh_members_new(vhem_ctx *ctx, const vh_things *things, const vhem_tags *tags, int min_items,
                           vhem_tags **out);

/* vh_data_subset of all sequences of n things. */
vhem_status vh_things_data(vhem_ctx *ctx, const vhem_data *data, const vh_things *things, const int *thing,
                           int n, vhem_data **out);

#endif
