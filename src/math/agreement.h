/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.h - how well two partitions of the same things agree. */
#ifndef VH_MATH_AGREEMENT_H
#define VH_MATH_AGREEMENT_H

#include "core/ctx.h"

/* As vhem_partition_compare; all NaN when there is no memory for n pairs.
 * Fewer than two things agree perfectly. */
void vh_agreement(int64_t n, const int *a, const int *b, vhem_agreement *out);
/* Numbers the groups of b, of which there are K as of a, as those of a: to [K] is the one-to-one map under
 * which most of n things have to[b_i] = a_i.  Memory K x K, time up to K^3. */
vhem_status vh_match_groups(vhem_ctx *ctx, int64_t n, int K, const int *a, const int *b, int *to);

#endif
