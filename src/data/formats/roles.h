/* SPDX-License-Identifier: BSD-3-Clause */
/* roles.h - roles of the columns of a table, from the options or from their names. */
#ifndef VH_DATA_FORMATS_ROLES_H
#define VH_DATA_FORMATS_ROLES_H

#include "data/formats/symbols.h"
#include "data/formats/table.h"
#include "data/values.h"

typedef struct {
    int *id, n_id;                   /* id columns: they name the sequence */
    int label, group, weight, where; /* column indices, or -1 */
    int order;                       /* column to sort rows by, or -1 */
    char *where_value;
    int n_seen; /* number of distinct values seen in the where column, for messages */
    char *seen[6];
} vh_roles;

/* Assigns roles; t must have its header.  index: the table has one row per sequence and needs no id. */
vhem_status vh_roles_find(vhem_ctx *ctx, const vh_table *t, const vhem_data_options *opt, bool index,
                          vh_roles *roles);
void vh_roles_free(vh_roles *roles);
/* Sets *keep if the current record passes --where. */
vhem_status vh_roles_keep(vhem_ctx *ctx, vh_roles *roles, const vh_table *t, bool *keep);
/* Error message for a --where that selects no rows. */
vhem_status vh_roles_none_kept(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t);
/* Reads the weight of the current record: a positive number. */
vhem_status vh_roles_weight(vhem_ctx *ctx, const vh_roles *roles, const vh_table *t, double *weight);

/* Converts a --columns list to indices into column [d]; an entry is a name or an index counted from 0. */
vhem_status vh_columns_pick(vhem_ctx *ctx, const char *path, const char *list, char *const *column, int d,
                            int **place, int *n);

#endif
