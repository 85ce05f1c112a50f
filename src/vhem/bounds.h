/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.h - L_hmm between two sets of HMMs, without assignment or learning. */
#ifndef VH_VHEM_BOUNDS_H
#define VH_VHEM_BOUNDS_H

#include "core/ctx.h"
#include "hmm/hmm_set.h"

/* L [Kb][Kr]: the bound L_hmm of every base HMM under every reduced HMM, over the columns that all reduced
 * HMMs have (hmm/shared_columns.h), on all threads.  A stop leaves L incomplete. */
vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau, double *L);
/* Same, each pair over the columns that both have. */
vhem_status vh_reduce_score_each(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau,
                                 double *L);

#endif
