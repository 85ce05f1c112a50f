/* SPDX-License-Identifier: BSD-3-Clause */
/* searched_items.h - what a search among sequences looks at: all items or a sample, in an order that follows
 * from their values, without columns that are nothing but noise. */
#ifndef VH_SEARCH_SEARCHED_ITEMS_H
#define VH_SEARCH_SEARCHED_ITEMS_H

#include "search/sequence_graphs.h"

typedef struct {
    int64_t n, *pick; /* [n]  these of all items */
    vh_sets sets;     /* their sequences, in both data sets below */
    vhem_data *full;  /* with all columns; borrows its frames */
    vhem_data *plain; /* without columns of noise; NULL: there are none */
} vh_searched_items;  /* zero it before use */

/* Chooses at most `most` of the items, evenly.  Whatever follows from the result is the same in whichever
 * order and units the sequences came.  Warns of columns of noise. */
vhem_status vh_searched_items_new(vhem_ctx *ctx, const vh_graph_source *all, int64_t most, uint64_t seed,
                                  vh_searched_items *out);
void vh_searched_items_free(vh_searched_items *x);

#endif
