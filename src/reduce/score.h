/* SPDX-License-Identifier: BSD-3-Clause */
/* score.h - L_hmm between two sets of HMMs, for itself: nothing is assigned or learned. */
#ifndef VH_REDUCE_SCORE_H
#define VH_REDUCE_SCORE_H

#include "core/ctx.h"
#include "model/h3m.h"

/* L [Kb][Kr]: the bound L_hmm of every HMM of one set under every HMM of another, on all threads.  A stop
 * leaves L unfinished. */
vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau, double *L);

#endif
