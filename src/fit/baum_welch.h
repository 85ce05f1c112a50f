/* SPDX-License-Identifier: BSD-3-Clause */
/* baum_welch.h - maximum likelihood for one HMM on its sequences, several starts in parallel. */
#ifndef VH_FIT_BAUM_WELCH_H
#define VH_FIT_BAUM_WELCH_H

#include "fit/estep.h"
#include "data/data.h"
#include "hmm/mstep.h"
#include "prior/prior.h"

/* ---- one HMM to fit ------------------------------------------------------------------------------------ */

/* One HMM to fit: its sequences, coordinates and constraints. */

typedef struct {
    const vhem_data *data;
    const vh_emission *family; /* its statistics handle missing cells if there are any */
    const int64_t *seq;        /* [n]  sequences to fit to */
    int64_t n;
    int64_t frames;
    double mass;                  /* frames, weighted by sequence */
    const double *origin, *scale; /* [d]  mean and standard deviation of its frames */
    const double *X;              /* [frames][d]  its frames less the origin, over the scale, shared by
                                   * starts; NULL: not shared */
    vh_limits limits;             /* topology, smallest variances, spread */
    bool ordered;                 /* its states are ordered in time */
    const vhem_fit_options *opt;
    uint64_t number;       /* its index in the whole fit, for random numbers */
    const vh_prior *prior; /* NULL: maximum likelihood */
} vh_fit_item;

/* ---- its fit ------------------------------------------------------------------------------------------- */

/* Without a prior (item->prior) maximises the likelihood; with one, the lower bound of the evidence, and the
 * models are the means of the posteriors.
 *
 * runs holds R initialised HMMs of the same shape; each is iterated until it converges, and run [R] describes
 * how.  The restarts share every table of the E-step.  After VHEM_ESTOPPED the models are those of the last
 * iteration, with their likelihood; n_iter is -1 if there was none. */
vhem_status vh_baum_welch(vhem_ctx *ctx, const vh_fit_item *item, vh_h3m *runs, vh_workers *workers,
                          vhem_fit_run *run);

#endif
