/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h - what the columns of a table are for, as the options say or as their names suggest. */
#ifndef VH_DATA_FORMATS_ROLES_H
#define VH_DATA_FORMATS_ROLES_H

#include "data/formats/symbols.h"
#include "data/formats/table.h"
#include "data/values.h"

typedef struct {
    int *id, n_id;                   /* columns that name a sequence */
    int label, group, weight, where; /* columns, or -1 */
    int order;                       /* the column that rows are sorted by, or -1 */
    char *where_value;
    int n_seen; /* values the where column was seen to have, for a sentence */
    char *seen[6];
} vh_roles;

/* Needs the header of t.  index: the table has one row per sequence, and may have no id at all. */
vhem_status vh_roles_find(vhem_ctx *ctx, const vh_table *t, const vhem_data_options *opt, bool index,
                          vh_roles *roles);
void vh_roles_free(vh_roles *roles);
/* Does the current record pass --where? */
vhem_status vh_roles_keep(vhem_ctx *ctx, vh_roles *roles, const vh_table *t, bool *keep);
/* The sentence for a --where that no row passes. */
vhem_status vh_roles_none_kept(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t);
/* The weight in the current record: a positive number. */
vhem_status vh_roles_weight(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t, double *weight);

/* The places of the names in --columns among column [d]; a name may also be a place counted from 0. */
vhem_status vh_columns_pick(vhem_ctx *ctx, const char *path, const char *list, char *const *column, int d,
                            int **place, int *n);

#endif
