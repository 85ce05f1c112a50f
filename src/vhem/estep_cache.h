/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cache.h - an E-step over all base HMMs, made or remembered. */
#ifndef VH_VHEM_ESTEP_CACHE_H
#define VH_VHEM_ESTEP_CACHE_H

#include "vhem/base.h"

/* The sums of a step, whose reduced HMMs are the centres, and its tables: made here or by the executor of the
 * base. */
vhem_status vh_vhem_sum(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const vh_reduce_step *step,
                        const vh_workers *workers, vh_reduce_sums *sums);
/* The sums of a step, whose reduced HMMs are the centres; from the journal of the base where an earlier run
 * has left them there.  *known says so: tables and labels are not filled in then. */
vhem_status vh_vhem_expect(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                           const vh_reduce_step *step, const vh_workers *workers, vh_reduce_sums *sums,
                           bool *known);

#endif
