/* SPDX-License-Identifier: BSD-3-Clause */
/* presets.h - the presets of a clustering, and queries on its options. */
#ifndef VH_SEARCH_PRESETS_H
#define VH_SEARCH_PRESETS_H

#include "hmm/hmm_set.h"

/* Fills in the options of a preset (NULL: none); nv 0: Kb / tau. */
void vh_preset_numbers(const char *preset, vhem_cluster_options *out);
/* True if the preset uses full covariances. */
bool vh_cluster_wants_full(const vhem_cluster_options *opt);
/* Cost of one E-step, very roughly in nanoseconds; depends on sizes only, not on the machine. */
double vh_cluster_work(const vh_h3m *h3m, int64_t K, const vhem_cluster_options *opt);
/* M-steps before convergence is tested. */
int vh_cluster_min_iter(const vhem_cluster_options *opt);

/* True if all restarts run to their end, as published. */
bool vh_cluster_runs_all(const vhem_cluster_options *opt);
/* True if candidates join the restarts (spectral_starts.h): all kinds, or only the best restart, settled. */
bool vh_cluster_wants_candidates(int64_t K, const vhem_cluster_options *opt);

#endif
