/* SPDX-License-Identifier: BSD-3-Clause */
/* em_clustering.h - clustering sets of sequences by EM-H3M, for the methods em-h3m and shem. */
#ifndef VH_METHODS_EM_CLUSTERING_H
#define VH_METHODS_EM_CLUSTERING_H

#include "methods/methods.h"
#include "fit/sets.h"

/* Fills out; L_hmm is the log-likelihood of all sequences of a set.  VHEM_ESTOPPED leaves the best result so
 * far in out. */
vhem_status vh_cluster_sets(vhem_ctx *ctx, const vhem_data *data, const vh_sets *sets,
                            const vhem_cluster_options *opt, uint64_t seed, vh_clustering *out);

#endif
