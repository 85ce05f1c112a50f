/* SPDX-License-Identifier: BSD-3-Clause */
/* presets.h - the presets of a clustering, and what a search needs to know of its options. */
#ifndef VH_SEARCH_PRESETS_H
#define VH_SEARCH_PRESETS_H

#include "hmm/hmm_set.h"

/* The numbers that the preset (NULL: none) means; nv 0: Kb / tau. */
void vh_preset_numbers(const char *preset, vhem_cluster_options *out);
/* Does the preset want full covariances? */
bool vh_cluster_wants_full(const vhem_cluster_options *opt);
/* Work of one E-step, very roughly in nanoseconds; it depends on sizes alone, not on the machine. */
double vh_cluster_work(const vh_h3m *h3m, int64_t K, const vhem_cluster_options *opt);
/* M-steps before convergence is looked for. */
int vh_cluster_min_iter(const vhem_cluster_options *opt);

/* Are all restarts run to their end, as published? */
bool vh_cluster_runs_all(const vhem_cluster_options *opt);
/* Do candidates join the restarts (spectral_starts.h): of all kinds, or the best restart, settled, alone? */
bool vh_cluster_wants_candidates(int64_t K, const vhem_cluster_options *opt);

#endif
