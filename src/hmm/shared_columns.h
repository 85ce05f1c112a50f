/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_columns.h - the columns that all HMMs of a set have, over which they can be compared.
 *
 * An HMM that lacks a column (missing_columns.h) gives log p and L_hmm of fewer values, which alone would
 * decide a comparison with an HMM that has it.  So candidates for the same sequence or HMM are compared over
 * the columns that all of them have: other columns are integrated out of every candidate, which is exact. */
#ifndef VH_HMM_SHARED_COLUMNS_H
#define VH_HMM_SHARED_COLUMNS_H

#include "hmm/hmm_set.h"

/* Same; fails if the HMMs have no column in common. */
vhem_status vh_h3m_require_shared(vhem_ctx *ctx, const vh_h3m *h3m, int64_t *lacking);
/* Drops the columns k with away[k], [d]: *out is h3m itself if there are none, else *copy, which the caller
 * frees.  Keeps weights and names. */
vhem_status vh_h3m_without(vhem_ctx *ctx, const vh_h3m *h3m, const bool *away, vh_h3m **copy,
                           const vh_h3m **out);
/* Drops the columns that some HMM lacks, with the same *copy and *out; fails if none is left. */
vhem_status vh_h3m_shared_columns(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **copy, const vh_h3m **out);

/* The distinct sets of missing columns: pattern 0 is "none". */
typedef struct {
    int d, n;       /* columns; patterns */
    bool *set;      /* [n][d] */
    int64_t *first; /* [n] an HMM with this pattern */
    int *of;        /* [K] pattern of each HMM */
} vh_patterns;
vhem_status vh_patterns_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_patterns *out);
void vh_patterns_free(vh_patterns *patterns);
/* Fails if two HMMs, one of each set, have no column in common. */
vhem_status vh_patterns_meet(vhem_ctx *ctx, const vh_patterns *a, const vh_patterns *b);

#endif
