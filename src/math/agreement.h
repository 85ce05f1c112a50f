/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement.h - how well two partitions of the same things agree. */
#ifndef VH_MATH_AGREEMENT_H
#define VH_MATH_AGREEMENT_H

#include "core/ctx.h"

/* As vhem_partition_compare; all NaN when there is no memory for n pairs.
 * Fewer than two things agree perfectly. */
void vh_agreement(int64_t n, const int *a, const int *b, vhem_agreement *out);

#endif
