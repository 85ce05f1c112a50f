/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - expected sufficient statistics of a set of HMMs: one flat block, so that sequences, threads,
 * devices and ranks are merged by the same operation: adding blocks. */
#ifndef VH_MODEL_STATS_H
#define VH_MODEL_STATS_H

#include "model/pack.h"

typedef struct {
    size_t size; /* doubles in the block */
    double *block;
    double *loglik; /* [K]               weighted log-likelihood */
    double *nu1;    /* [n_state]         expected first states */
    double *xi;     /* [n_trans]         expected transitions, laid out as A */
    double *T;      /* [n_comp][n_stat]  expected statistics, in the coordinates pk->about[r]; the first is
                       the expected number of frames */
} vh_stats;

vhem_status vh_stats_new(vhem_ctx *ctx, const vh_packed *pk, vh_stats *out);
void vh_stats_zero(vh_stats *stats);
void vh_stats_add(vh_stats *sum, const vh_stats *term);
void vh_stats_free(vh_stats *stats); /* accepts a zeroed struct */

#endif
