/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cache.h - E-steps over all base HMMs, computed or read from the journal. */
#ifndef VH_VHEM_ESTEP_CACHE_H
#define VH_VHEM_ESTEP_CACHE_H

#include "vhem/base.h"

/* Computes the sums and tables of a step whose reduced HMMs are the centres, here or on the base's
 * executor. */
vhem_status vh_vhem_sum(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const vh_reduce_step *step,
                        const vh_workers *workers, vh_reduce_sums *sums);
/* Same, but first looks the sums up in the journal of the base, where an earlier run may have saved them.
 * *known: true if found; tables and labels are then not filled. */
vhem_status vh_vhem_expect(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                           const vh_reduce_step *step, const vh_workers *workers, vh_reduce_sums *sums,
                           bool *known);

#endif
