/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_estep.h - sums over all base HMMs that an executor has made for us, in as many processes as it
 * likes. */
#ifndef VH_REDUCE_REMOTE_ESTEP_H
#define VH_REDUCE_REMOTE_ESTEP_H

#include "reduce/base.h"
#include "reduce/base_moments.h"

/* The survey of all chunks.  sum [vh_base_moments_size] */
vhem_status vh_remote_moments(vhem_ctx *ctx, const vhem_executor *executor, const vh_base_moments *s,
                              double *sum);
/* An E-step over all chunks, as vh_reduce_run makes it, with the tables that the step wants. */
vhem_status vh_remote_expect(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                             const vh_reduce_step *step, vh_reduce_sums *sums);

#endif
