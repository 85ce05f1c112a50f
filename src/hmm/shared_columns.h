/* SPDX-License-Identifier: BSD-3-Clause */
/* shared_columns.h - the columns that all HMMs of a set have, over which they can be compared.
 *
 * An HMM that lacks a column (missing_columns.h) gives log p and L_hmm of fewer values, so beside an HMM that
 * has it it would win or lose by that alone.  Candidates for the same sequence, or for the same HMM, are
 * therefore compared over the columns that all of them have: the others are integrated out of every
 * candidate, which is exact, and every candidate then speaks of the same values. */
#ifndef VH_HMM_SHARED_COLUMNS_H
#define VH_HMM_SHARED_COLUMNS_H

#include "hmm/hmm_set.h"

/* lacking [d]: how many of the HMMs lack each column; returns the number of columns that some HMM lacks. */
int vh_h3m_lacking(const vh_h3m *h3m, int64_t *lacking);
/* The same, and refuses HMMs that have no column in common. */
vhem_status vh_h3m_require_shared(vhem_ctx *ctx, const vh_h3m *h3m, int64_t *lacking);
/* The HMMs without the columns k for which away[k] is true, [d]: *out is h3m itself when none has to go, or
 * *copy, which the caller frees.  Weights and names stay. */
vhem_status vh_h3m_without(vhem_ctx *ctx, const vh_h3m *h3m, const bool *away, vh_h3m **copy,
                           const vh_h3m **out);
/* The HMMs over the columns that all of them have, likewise; refuses where there is none. */
vhem_status vh_h3m_shared_columns(vhem_ctx *ctx, const vh_h3m *h3m, vh_h3m **copy, const vh_h3m **out);

/* The sets of columns that HMMs lack: pattern 0 is "none". */
typedef struct {
    int d, n;       /* columns; patterns */
    bool *set;      /* [n][d] */
    int64_t *first; /* [n] an HMM that has it */
    int *of;        /* [K] pattern of each HMM */
} vh_patterns;
vhem_status vh_patterns_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_patterns *out);
void vh_patterns_free(vh_patterns *patterns);
/* Refuses two HMMs, one of each set, that have no column in common. */
vhem_status vh_patterns_meet(vhem_ctx *ctx, const vh_patterns *a, const vh_patterns *b);

#endif
