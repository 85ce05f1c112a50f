/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - items of a sequence set: single sequences or groups of them. */
#ifndef VH_MODELS_ITEMS_H
#define VH_MODELS_ITEMS_H

#include "data/data.h"

typedef struct {
    int64_t n;
    int64_t *seq, *first;       /* [N]  [n+1]  sequences, grouped by item */
    const char **name, **label; /* [n]  owned by the data; label: "" none, NULL differing */
} vh_items;

/* Groups are numbered by first appearance; a sequence without a group is an item of its own. */
vhem_status vh_items_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_items *out);
void vh_items_free(vh_items *items);

/* As vh_data_subset, for all sequences of n items. */
vhem_status vh_items_data(vhem_ctx *ctx, const vhem_data *data, const vh_items *items, const int64_t *item,
                          int64_t n, vhem_data **out);
/* Sums loglik [N][K] over the sequences of each item into total [n][K]. */
void vh_items_sum(const vh_items *items, int64_t K, const double *loglik, double *total);

#endif
