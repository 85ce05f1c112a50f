/* job.h - one HMM to fit: its sequences, its coordinates, its constraints. */
#ifndef VH_ESTIMATE_JOB_H
#define VH_ESTIMATE_JOB_H

#include "data/data.h"
#include "estimate/topology.h"

typedef struct {
    const vhem_data *data;
    const int    *seq;                   /* [n]  sequences to fit to */
    int           n;
    int64_t       frames;
    double        mass;                  /* frames, each counted with the weight of its sequence */
    const double *origin, *scale;        /* [d]  mean and standard deviation of its frames */
    const double *floor;                 /* [d]  smallest variances; NULL: none */
    const vh_topology *topology;
    const vhem_fit_options *opt;
    uint64_t      item;                  /* its place in the whole fit, for random numbers */
} vh_job;

#endif
