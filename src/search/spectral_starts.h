/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral_starts.h - what the search for clusters of HMMs tries beside random starts: partitions by spectral
 * clustering of distances between the models, and the best restart, each settled (group_centres.h) and then
 * improved by VHEM.  They join the restarts, and the best bound wins: nothing is replaced. */
#ifndef VH_SEARCH_SPECTRAL_STARTS_H
#define VH_SEARCH_SPECTRAL_STARTS_H

#include "search/hmm_search.h"

/* After the restarts of s, or instead of them when s->opt->search is "fast".  A candidate that cannot be
 * made, because a model is singular, say, is left out.  VHEM_ESTOPPED: some are left out. */
vhem_status vh_candidates_run(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);

#endif
