/* SPDX-License-Identifier: BSD-3-Clause */
/* first_reduce.h - hierarchical estimation on purpose: every file of a set of HMMs is reduced by itself to
 * some centres, and these, with their weights, are clustered.  Each file is read once.  Paper, Section 5:
 * what is lost against clustering all models at once is what a centre does not say of its members. */
#ifndef VH_METHODS_FIRST_REDUCE_H
#define VH_METHODS_FIRST_REDUCE_H

#include "methods/methods.h"

/* opt->first_reduce centres of each file, or of all models when they are in memory.  Fills in labels, centres
 * and the bound of the second clustering; z and L_hmm stay NULL. */
vhem_status vh_first_reduce(vhem_ctx *ctx, const vh_input *in, const vhem_cluster_options *opt, uint64_t seed,
                            vh_clustering *out);

#endif
