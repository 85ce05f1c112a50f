/* SPDX-License-Identifier: BSD-3-Clause */
/* validate_batch.h - are many HMMs of one shape valid? Answered for whole arrays at once, as files have
 * them. */
#ifndef VH_HMM_VALIDATE_BATCH_H
#define VH_HMM_VALIDATE_BATCH_H

#include "emission/emission.h"

#include <stdint.h>

/* array: pi [n][S], A [n][S][S], c [n][S][M], then each parameter of the family [n][S][M][size]; NULL: all
 * zero.  False where any HMM might not be valid, also where the family, or a missing column, needs a closer
 * look: vh_h3m_check has the last word, and the sentence. */
bool vh_rows_valid(const vh_emission *family, const vh_shape *shape, int S, int M, int64_t n,
                   double *const *array);
/* All are finite numbers of 0 or more. */
bool vh_rows_weights(const double *omega, int64_t n);

#endif
