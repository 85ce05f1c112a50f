/* SPDX-License-Identifier: BSD-3-Clause */
/* kalman.h - the Kalman filter and smoother of a dynamic texture on frames. */
#ifndef VH_ESTIMATE_KALMAN_H
#define VH_ESTIMATE_KALMAN_H

#include "core/scratch.h"
#include "model/dtm_gains.h"
#include "model/dtm_stats.h"

/* log p(y_1:T) of y [T][d], in nats, O(T (d n + n^2)). */
vhem_status vh_kalman_score(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                            vh_scratch *scratch, double *loglik);

/* States given all frames: means x [T][n], covariances cov [T][n][n], log-likelihood, and the statistics of
 * the E-step added to stats with a weight; each of the last three may be NULL.  The gains must be made to
 * smooth. */
vhem_status vh_kalman_smooth(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T, double weight,
                             vh_scratch *scratch, double *x, double *cov, double *loglik, vh_dt_stats *stats);

#endif
