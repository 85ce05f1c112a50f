/* SPDX-License-Identifier: BSD-3-Clause */
/* first_reduce.h - two-stage clustering: reduces each file of a set of HMMs to some centres, then clusters
 * these with their weights.  Each file is read once.  Paper, Section 5: compared with clustering all models
 * at once, it loses what a centre does not describe of its members. */
#ifndef VH_METHODS_FIRST_REDUCE_H
#define VH_METHODS_FIRST_REDUCE_H

#include "methods/methods.h"

/* Computes opt->first_reduce centres for each file, or for all models if they are in memory, and clusters
 * them.  Fills in labels, centres and the bound of the second clustering; z and L_hmm stay NULL. */
vhem_status vh_first_reduce(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                            vh_clustering *out);

#endif
