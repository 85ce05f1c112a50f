/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - one HMM to fit: its sequences, its coordinates, its constraints. */
#ifndef VH_FIT_JOB_H
#define VH_FIT_JOB_H

#include "data/data.h"
#include "hmm/mstep.h"
#include "prior/prior.h"

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
} vh_job;

#endif
