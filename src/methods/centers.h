/* SPDX-License-Identifier: BSD-3-Clause */
/* centers.h - from a partition of the models to a clustering: centres, weights, tables. */
#ifndef VH_METHODS_CENTERS_H
#define VH_METHODS_CENTERS_H

#include "methods/methods.h"

typedef struct {          /* a partition, by any method */
    const int *label;     /* [Kb] */
    const double *weight; /* [Kb]  contribution to the weight of the cluster */
    const int64_t *pick;  /* [K]   representative model of each cluster */
    bool learn;           /* learn centres from the members by VHEM, started at pick */
} vh_partition;

/* Fills z, centers, L_hmm and the state map of out. */
vhem_status vh_centers_make(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                            const vh_partition *part, uint64_t seed, vh_clustering *out);

#endif
