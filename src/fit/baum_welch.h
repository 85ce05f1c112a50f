/* SPDX-License-Identifier: BSD-3-Clause */
/* baum_welch.h - maximum likelihood for one HMM on its sequences, several starts side by side. */
#ifndef VH_FIT_BAUM_WELCH_H
#define VH_FIT_BAUM_WELCH_H

#include "fit/estep.h"
#include "data/data.h"
#include "hmm/mstep.h"
#include "prior/prior.h"

/* ---- one HMM to fit ------------------------------------------------------------------------------------ */

/* One HMM to fit: its sequences, its coordinates, its constraints. */

typedef struct {
    const vhem_data *data;
    const vh_emission *family; /* with statistics that know of missing cells where there are any */
    const int64_t *seq;        /* [n]  sequences to fit to */
    int64_t n;
    int64_t frames;
    double mass;                  /* frames, each counted with the weight of its sequence */
    const double *origin, *scale; /* [d]  mean and standard deviation of its frames */
    const double *X;              /* [frames][d]  its frames less the origin, over the scale, which several
                                     starts share; NULL: each makes its own */
    vh_limits limits;             /* topology, smallest variances, spread */
    bool ordered;                 /* its states follow one another in time */
    const vhem_fit_options *opt;
    uint64_t item;         /* its place in the whole fit, for random numbers */
    const vh_prior *prior; /* NULL: highest likelihood */
} vh_fit_item;

/* ---- its fit ------------------------------------------------------------------------------------------- */

/* Without a prior (job->prior) runs end at the highest likelihood; with one at the highest lower bound of the
 * evidence, and the models are the means of the posteriors.
 *
 * runs holds R started HMMs of the same shape; each is iterated until it converges, run [R] says how it went.
 * The restarts share every table of the E-step.  VHEM_ESTOPPED leaves the models as they were at the last
 * iteration, with their likelihood; n_iter is -1 where there was none. */
vhem_status vh_baum_welch(vhem_ctx *ctx, const vh_fit_item *job, vh_h3m *runs, vh_workers *workers,
                          vhem_fit_run *run);

#endif
