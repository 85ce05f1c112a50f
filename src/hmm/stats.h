/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - expected sufficient statistics of a set of HMMs in one flat block, so that vh_stats_merge merges
 * those of sequences, threads, devices and ranks alike.
 *
 * The statistics of HMM k are stored at scale[k] (math/scaled.h); 0: plain sums.  If the weights are cluster
 * assignments, call vh_stats_begin first and let vh_stats_weigh compute the weights.  The scale of an HMM
 * cancels in the M-step, which only divides its statistics by each other. */
#ifndef VH_HMM_STATS_H
#define VH_HMM_STATS_H

#include "hmm/pack.h"

typedef struct {
    size_t size; /* doubles in the block */
    double *block;
    double *scale;  /* [K] */
    double *loglik; /* [K]               weighted log-likelihood */
    double *nu1;    /* [n_state]         expected first states */
    double *xi;     /* [n_trans]         expected transitions, same layout as A */
    double *T;      /* [n_comp][n_stat]  expected statistics, in pk->about[r]; the first: expected frames */
} vh_stats;

vhem_status vh_stats_new(vhem_ctx *ctx, const vh_packed *pk, vh_stats *out);
/* Maps the statistics onto block, which stays the caller's; block NULL: computes the size only. */
vh_stats vh_stats_at(const vh_packed *pk, double *block);
/* Initialises zeroed statistics: sets the scales to "none". */
void vh_stats_begin(const vh_packed *pk, vh_stats *stats);
/* Converts the log weights w [n][K] of n items to weights at the scale of each HMM.  First raises the scale,
 * with what has been added so far, if necessary.  Weights far below the largest become 0.  Returns the number
 * that are not. */
int64_t vh_stats_weigh(const vh_packed *pk, vh_stats *stats, int n, double *w);
/* Multiplies the numbers of HMM k by a factor and resets its scale to 0. */
void vh_stats_multiply(const vh_packed *pk, vh_stats *stats, int k, double factor);
/* left += right, both blocks of statistics of the packed set. */
void vh_stats_merge(const vh_packed *pk, double *left, const double *right);
void vh_stats_free(vh_stats *stats); /* accepts a zeroed struct */

#endif
