/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.h - which sequences belong together: each by itself, by group, or as somebody has put them. */
#ifndef VH_FIT_SETS_H
#define VH_FIT_SETS_H

#include "data/data.h"

typedef struct {
    int64_t n;      /* sets */
    int64_t *seq;   /* [N]    sequences, those of one set together, in their order */
    int64_t *first; /* [n+1]  where those of a set begin */
} vh_sets;

/* Every sequence a set, or every group, in the order in which the groups appear. */
vhem_status vh_sets_new(vhem_ctx *ctx, const vhem_data *data, bool by_group, vh_sets *out);
/* Sequence i of N belongs to set item[i] of n; a set may stay without sequences. */
vhem_status vh_sets_from(vhem_ctx *ctx, int64_t N, const int64_t *item, int64_t n, vh_sets *out);
void vh_sets_free(vh_sets *sets);

/* The name of a set is that of its group or its first sequence, its label that of its sequences, if they
 * agree; "" for none. */
const char *vh_sets_name(const vh_sets *sets, const vhem_data *data, int64_t g, bool by_group);
const char *vh_sets_label(const vh_sets *sets, const vhem_data *data, int64_t g);
/* Frames of set g; mass (NULL: not wanted): each counted with the weight of its sequence. */
int64_t vh_sets_frames(const vh_sets *sets, const vhem_data *data, int64_t g, double *mass);

#endif
