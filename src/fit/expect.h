/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.h - one pass over sequences that are gone through once only; a loop opens them
 * (fit/estep.h). */
#ifndef VH_FIT_EXPECT_H
#define VH_FIT_EXPECT_H

#include "fit/estep.h"

/* All HMMs of the set against the n sequences of `in`, whose family and coordinates are those of the set:
 * loglik [n][K]; total (NULL: not wanted) is overwritten with the sum of the expected statistics.  The sum
 * does not depend on the number of workers. */
vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vh_sequences *in, double *loglik,
                      vh_stats *total);

#endif
