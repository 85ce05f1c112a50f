/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.h - L_hmm between two sets of HMMs, for itself: nothing is assigned or learned. */
#ifndef VH_VHEM_BOUNDS_H
#define VH_VHEM_BOUNDS_H

#include "core/ctx.h"
#include "hmm/hmm_set.h"

/* L [Kb][Kr]: the bound L_hmm of every HMM of one set under every HMM of another, over the columns that all
 * of the other set have (hmm/shared_columns.h), on all threads.  A stop leaves L unfinished. */
vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau, double *L);
/* The same, each pair over the columns that both have. */
vhem_status vh_reduce_score_each(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau,
                                 double *L);

#endif
