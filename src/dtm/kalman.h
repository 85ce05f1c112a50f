/* SPDX-License-Identifier: BSD-3-Clause */
/* kalman.h - the Kalman filter and smoother of a dynamic texture on frames. */
#ifndef VH_DTM_KALMAN_H
#define VH_DTM_KALMAN_H

#include "parallel/scratch.h"
#include "dtm/gains.h"
#include "dtm/stats.h"

/* log p(y_1:T) of y [T][d], in nats, O(T (d n + n^2)). */
vhem_status vh_kalman_score(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                            vh_scratch *scratch, double *loglik);

typedef struct { /* states given all frames; every field but x may be NULL */
    double *x;   /* [T][n]     means */
    double *cov; /* [T][n][n]  covariances */
    double *loglik;
    vh_dt_stats *stats; /* adds those of the E-step, times weight */
    double weight;      /* of the sequence in them */
} vh_kalman_result;

/* Smooths y [T][d].  Requires gains computed with `smooth`. */
vhem_status vh_kalman_smooth(vhem_ctx *ctx, const vh_dt_gains *g, const double *y, int64_t T,
                             vh_scratch *scratch, const vh_kalman_result *out);

#endif
