/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - options of a clustering: from what was asked for to what is done. */
#ifndef VH_CLUSTER_OPTIONS_H
#define VH_CLUSTER_OPTIONS_H

#include "cluster/methods.h"

/* All defaults and the preset filled in, everything checked against the input.  With a given start, S, M and
 * K of the input are those of the start. */
vhem_status vh_cluster_resolve(vhem_ctx *ctx, vh_input *in, const vhem_cluster_options *asked,
                               vhem_cluster_options *out);
/* Does the preset want full covariances? */
bool vh_cluster_wants_full(const vhem_cluster_options *opt);
/* Work of one E-step, very roughly in nanoseconds; it depends on sizes alone, not on the machine. */
double vh_cluster_work(const vh_h3m *h3m, int64_t K, const vhem_cluster_options *opt);
double vh_cluster_work_dtm(const vh_dtm *dtm, int64_t K, const vhem_cluster_options *opt);
/* M-steps before convergence is looked for. */
int vh_cluster_min_iter(const vhem_cluster_options *opt);

/* Are all restarts run to their end, as published? */
bool vh_cluster_runs_all(const vhem_cluster_options *opt);
/* Do candidates join the restarts (candidates.h): of all kinds, or the best restart, settled, alone? */
bool vh_cluster_wants_candidates(int64_t K, const vhem_cluster_options *opt);

#endif
