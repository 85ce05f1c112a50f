/* SPDX-License-Identifier: BSD-3-Clause */
/* centers.h - from a partition of the models to a clustering: centres, weights, tables. */
#ifndef VH_METHODS_CENTERS_H
#define VH_METHODS_CENTERS_H

#include "methods/methods.h"

typedef struct {          /* models in clusters, by whatever method */
    const int *label;     /* [Kb] */
    const double *weight; /* [Kb]  how much each counts in the weight of its cluster */
    const int64_t *pick;  /* [K]   the model that stands for each cluster */
    bool learn;           /* centres by VHEM from the members, started at pick */
} vh_partition;

/* Fills z, centers, L_hmm and the map of states of out. */
vhem_status vh_centers_make(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt,
                            const vh_partition *part, uint64_t seed, vh_clustering *out);

#endif
