/* SPDX-License-Identifier: BSD-3-Clause */
/* spectral_starts.h - candidates for clusters of HMMs besides random starts: partitions from spectral
 * clustering of distances between the models, and the best restart, each settled (group_centres.h) and then
 * improved by VHEM.  They join the restarts; the best bound wins. */
#ifndef VH_SEARCH_SPECTRAL_STARTS_H
#define VH_SEARCH_SPECTRAL_STARTS_H

#include "search/hmm_search.h"

/* Runs after the restarts of s, or instead of them if s->opt->search is "fast".  Skips candidates that fail,
 * for example because a model is singular.  VHEM_ESTOPPED: some candidates were skipped. */
vhem_status vh_candidates_run(vhem_ctx *ctx, vh_hmm_search *s, uint64_t seed);

#endif
