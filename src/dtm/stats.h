/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.h - expected sufficient statistics of a dynamic texture, and the M-step that maximises its
 * likelihood.  EM fills the statistics from sequences, HEM-DTM from other textures. */
#ifndef VH_DTM_STATS_H
#define VH_DTM_STATS_H

#include "dtm/dtm.h"

typedef struct { /* weighted sums over sequences and frames, in one block */
    int n, d;
    size_t size;
    double *block;
    double *seqs, *steps, *frames; /* [1]  total weight of sequences, transitions, frames */
    double *x1, *xx1;              /* [n] [n][n]     E[x_1], E[x_1 x_1'] */
    double *from, *to, *step;      /* [n][n]         sum of E[x_{t-1} x_{t-1}'], E[x_t x_t'], E[x_t x_{t-1}'],
                                      t = 2 .. T */
    double *xx;                    /* [n+1][n+1]     sum of E[(x_t; 1) (x_t; 1)'] over all t */
    double *yx, *yy;               /* [d][n+1] [d]   sum of E[(y_t - ybar) (x_t; 1)'], E[(y_t - ybar)^2]; ybar
                                      of the texture used in the E-step */
} vh_dt_stats;

typedef struct {
    const double *floor; /* [d]  smallest R, above 0 */
    bool isotropic;      /* the same R in all dimensions */
} vh_dt_limits;

vhem_status vh_dt_stats_new(vhem_ctx *ctx, int n, int d, vh_dt_stats *out);
void vh_dt_stats_free(vh_dt_stats *s);

/* The sums of an E-step for a whole set in one flat block: the objective, sum_z [K], and the statistics of
 * each texture, with separate scales (math/scaled.h). */
size_t vh_dt_sums_size(const vh_dtm *dtm);
/* Initializes zeroed sums: marks all scales as unknown. */
void vh_dt_sums_begin(const vh_dtm *dtm, double *sums);
/* Adds a share exp(log_z) to sum_z of texture j. */
void vh_dt_sums_share(const vh_dtm *dtm, double *sums, int j, double log_z);
/* Returns exp(log_w) at the scale of the statistics of texture j, which is raised first if needed; 0 if it is
 * negligible next to the rest. */
double vh_dt_sums_weigh(const vh_dtm *dtm, double *sums, int j, double log_w);
vh_dt_stats vh_dt_sums_stats(const vh_dtm *dtm, double *sums, int j);
/* left += right; dtm is the set of textures. */
void vh_dt_sums_merge(const void *dtm, double *left, const double *right);
/* sum_z of texture j, 0 if it underflows a double, and its logarithm. */
double vh_dt_sums_z(const vh_dtm *dtm, const double *sums, int j);
double vh_dt_sums_log_z(const vh_dtm *dtm, const double *sums, int j);

/* Fingerprint of the textures used to compute the sums; log_omega [K]. */
uint64_t vh_dtm_fingerprint(const vh_dtm *dtm, const double *log_omega);

/* dt, used to compute the statistics, becomes the maximiser.  Without any weight dt stays unchanged, without
 * transitions A and Q do.  *n_floored counts entries of R at the floor. */
vhem_status vh_dt_maximise(vhem_ctx *ctx, const vh_dt_stats *s, const vh_dt_limits *lim, vh_dt *dt,
                           int *n_floored);

#endif
