/* SPDX-License-Identifier: BSD-3-Clause */
/* fit_prior.h - the prior of a whole fit: given, or learnt from first fits to some of the sets. */
#ifndef VH_FIT_FIT_PRIOR_H
#define VH_FIT_FIT_PRIOR_H

#include "fit/expect.h"
#include "fit/job.h"
#include "fit/options.h"
#include "fit/prior_option.h"
#include "fit/sets.h"

#define VH_BROAD 0.5 /* smallest variance of a first fit, as a share of that of the data */
enum {
    VH_PRIOR_SETS = 1000,    /* a prior is learnt from so many sets at most, */
    VH_PRIOR_ROOM = 1 << 23, /* fewer where their scatters have more numbers than this, */
    VH_PRIOR_LEAST = 20,     /* but so many at least, */
    VH_PRIOR_ROUNDS = 3,     /* so many times */
};

/* The prior in the choice's text; it must be one of this dimension and family. */
vhem_status vh_fit_prior_given(vhem_ctx *ctx, const vh_prior_choice *choice, int d, const char *emission,
                               vh_prior **out);

/* The prior that vh_fit_each would give HMMs with these options, as JSON text, without fitting them; *out
 * stays NULL when it is none.  free() it. */
vhem_status vh_fit_prior_text(vhem_ctx *ctx, const vhem_data *data, const vhem_fit_options *opt, char **out);

/* The scale becomes that of the data the prior was made from, so that a sequence gets the same HMM whatever
 * is beside it; share: of the floor. */
void vh_fit_prior_scale(const vh_prior *prior, double share, vh_fit_scale *scale);
/* Its variances with the digits that a prior keeps of them. */
void vh_fit_prior_round(int d, double share, vh_fit_scale *scale);

/* All variances of the models at least floor [d]. */
vhem_status vh_fit_prior_widen(vhem_ctx *ctx, const double *floor, vh_h3m *runs);

/* What the components of an HMM gather from the sequences of the job: frames [S M], scatter [S M][size], and
 * seen [S M][d], the frames that have each column, unless it is NULL. */
vhem_status vh_fit_prior_gather(vhem_ctx *ctx, const vh_job *job, const vh_h3m *hmm, vh_workers *workers,
                                double *frames, double *seen, double *scatter);

/* Correlation of frames with the next in the same sequence, the mean over the dimensions but those that never
 * vary, still [d], in n of the sets. */
double vh_fit_prior_correlation(const vhem_data *data, const vh_sets *sets, const bool *still,
                                const int64_t *which, int64_t n);

#endif
