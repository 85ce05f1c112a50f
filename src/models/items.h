/* SPDX-License-Identifier: BSD-3-Clause */
/* items.h - what is worked on when the input is sequences: each of them, or each group of them. */
#ifndef VH_MODELS_ITEMS_H
#define VH_MODELS_ITEMS_H

#include "data/data.h"

typedef struct {
    int64_t n;
    int64_t *seq, *first;       /* [N]  [n+1]  sequences, those of one item together */
    const char **name, **label; /* [n]  texts of the data; label: "" for none, NULL: several */
} vh_items;

/* Groups are numbered in the order in which they appear; a sequence without a group is an item by itself. */
vhem_status vh_items_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_items *out);
void vh_items_free(vh_items *items);

/* vh_data_subset of all sequences of n items. */
vhem_status vh_items_data(vhem_ctx *ctx, const vhem_data *data, const vh_items *items, const int64_t *item,
                          int64_t n, vhem_data **out);
/* total [n][K]: sums over the sequences of each item of loglik [N][K]. */
void vh_items_sum(const vh_items *items, int64_t K, const double *loglik, double *total);

#endif
