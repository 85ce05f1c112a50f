/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.h - partitions sequences into sets, the items of a fit or a clustering: one each, by group, or as
 * given. */
#ifndef VH_FIT_SETS_H
#define VH_FIT_SETS_H

#include "data/data.h"

typedef struct {
    int64_t n;                  /* number of sets */
    int64_t *seq;               /* [N]    sequences, grouped by set, in their order */
    int64_t *first;             /* [n+1]  first index of each set */
    const char **name, **label; /* [n]  owned by the data; label: "" none, NULL differing.  NULL from
                                   vh_sets_from */
} vh_sets;

/* One set per sequence, or per group in order of first appearance; a sequence without a group is a set of its
 * own. */
vhem_status vh_sets_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_sets *out);
/* Sequence i of N belongs to set item[i] of n; a set may be empty. */
vhem_status vh_sets_from(vhem_ctx *ctx, int64_t N, const int64_t *item, int64_t n, vh_sets *out);
void vh_sets_free(vh_sets *sets);

/* A set is named after its group or first sequence; it has the label of its sequences if they agree.  "":
 * none. */
const char *vh_sets_name(const vh_sets *sets, const vhem_data *data, int64_t g, bool by_group);
const char *vh_sets_label(const vh_sets *sets, const vhem_data *data, int64_t g);
/* Number of frames in set g; *mass (may be NULL): frames weighted by sequence. */
int64_t vh_sets_frames(const vh_sets *sets, const vhem_data *data, int64_t g, double *mass);

/* As vh_data_subset, for all sequences of sets pick [n]. */
vhem_status vh_sets_data(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets, const int64_t *pick,
                         int64_t n, vhem_data **out);
/* Sums loglik [N][K] over the sequences of each set into total [n][K]. */
void vh_sets_sum(const vh_sets *sets, int64_t K, const double *loglik, double *total);

#endif
