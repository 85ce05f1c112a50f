/* SPDX-License-Identifier: BSD-3-Clause */
/* validate_batch.h - fast validation of many HMMs of one shape, stored as whole arrays. */
#ifndef VH_HMM_VALIDATE_BATCH_H
#define VH_HMM_VALIDATE_BATCH_H

#include "emission/emission.h"

#include <stdint.h>

/* array: pi [n][S], A [n][S][S], c [n][S][M], then each parameter of the family [n][S][M][size]; NULL: all
 * zero.  Returns true if all HMMs are valid.  False means "maybe not", also for other families and missing
 * columns: vh_h3m_check then decides and writes the message. */
bool vh_rows_valid(const vh_emission *family, const vh_shape *shape, int S, int M, int64_t n,
                   double *const *array);
/* True if all are finite and nonnegative. */
bool vh_rows_weights(const double *omega, int64_t n);

#endif
