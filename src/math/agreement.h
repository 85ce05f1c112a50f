/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.h - agreement of two partitions of the same items. */
#ifndef VH_MATH_AGREEMENT_H
#define VH_MATH_AGREEMENT_H

#include "core/ctx.h"

/* Like vhem_partition_compare; all NaN when out of memory.  Fewer than two items agree perfectly. */
void vh_agreement(int64_t n, const int *a, const int *b, vhem_agreement *out);
enum { VH_MOST_MATCHED = 1000 }; /* groups: to match more takes too long */
/* Matches the groups of two partitions with K groups each: to [K] is the one-to-one map that maximises the
 * number of items with a_i = to[b_i].  Memory O(K^2), time up to O(K^3). */
vhem_status vh_match_groups(vhem_ctx *ctx, int64_t n, int K, const int *a, const int *b, int *to);

#endif
