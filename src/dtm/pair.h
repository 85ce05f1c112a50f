/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.h - one dynamic texture under another: the expected log-likelihood, and the expected statistics of
 * the E-step, of tau frames that texture b makes and texture r explains.  Chan, Coviello, Lanckriet, CVPR
 * 2010. */
#ifndef VH_DTM_PAIR_H
#define VH_DTM_PAIR_H

#include "parallel/scratch.h"
#include "dtm/gains.h"
#include "dtm/stats.h"

/* E_b[log p(y_1:tau | r)] in nats, exact, O(d n^2 + tau n^3).  Only R of r is inverted. */
vhem_status vh_dt_pair_score(vhem_ctx *ctx, const vh_dt *b, const vh_dt_gains *r, int tau,
                             vh_scratch *scratch, double *L);

/* Adds the statistics of r, with a weight: expectations over y ~ b of those of vh_kalman_smooth.  The gains
 * must be made to smooth. */
vhem_status vh_dt_pair_accumulate(vhem_ctx *ctx, const vh_dt *b, const vh_dt_gains *r, int tau, double weight,
                                  vh_scratch *scratch, vh_dt_stats *stats);

#endif
