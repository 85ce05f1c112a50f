/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - expected sufficient statistics of a set of HMMs: one flat block, so that sequences, threads,
 * devices and ranks are merged by the same operation, vh_stats_merge.
 *
 * The statistics of HMM k are its numbers at scale[k] (math/scaled.h), 0 for plain sums.  Where weights are
 * shares of clusters, vh_stats_begin comes first and vh_stats_weigh makes the weights: the M-step divides
 * statistics of one HMM by each other, so that its scale does not matter there. */
#ifndef VH_HMM_STATS_H
#define VH_HMM_STATS_H

#include "hmm/pack.h"

typedef struct {
    size_t size; /* doubles in the block */
    double *block;
    double *scale;  /* [K] */
    double *loglik; /* [K]               weighted log-likelihood */
    double *nu1;    /* [n_state]         expected first states */
    double *xi;     /* [n_trans]         expected transitions, laid out as A */
    double *T;      /* [n_comp][n_stat]  expected statistics, in the coordinates pk->about[r]; the first is
                       the expected number of frames */
} vh_stats;

vhem_status vh_stats_new(vhem_ctx *ctx, const vh_packed *pk, vh_stats *out);
/* The statistics that lie at block, which stays its owner's; block NULL: only their size is wanted. */
vh_stats vh_stats_at(const vh_packed *pk, double *block);
void vh_stats_zero(vh_stats *stats);
/* Of statistics that are all zero: no scale is known yet. */
void vh_stats_begin(const vh_packed *pk, vh_stats *stats);
/* What n items [n][K] count in the statistics, from the logs of their weights to the weights at the scale of
 * each HMM, which is raised first if need be, with what has been added so far.  Far below the largest, a
 * weight is 0.  Returns how many are not. */
int64_t vh_stats_weigh(const vh_packed *pk, vh_stats *stats, int n, double *w);
/* The numbers of HMM k times a factor, no longer at a scale of their own. */
void vh_stats_multiply(const vh_packed *pk, vh_stats *stats, int k, double factor);
/* left += right, both blocks of statistics of the packed set. */
void vh_stats_merge(const vh_packed *pk, double *left, const double *right);
void vh_stats_free(vh_stats *stats); /* accepts a zeroed struct */

#endif
