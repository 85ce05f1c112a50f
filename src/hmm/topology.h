/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h - which entries of pi and A are free and which are fixed. */
#ifndef VH_HMM_TOPOLOGY_H
#define VH_HMM_TOPOLOGY_H

#include "core/ctx.h"
#include "hmm/hmm_set.h"

typedef struct {
    int S;
    bool ordered;   /* states are passed in order */
    double *pi, *A; /* [S] [S][S]  NaN: free; a number: fixed */
} vh_topology;

/* Builds the topology from the options: fixed_pi and fixed_A override the named topology; zeros of the start
 * (or NULL) stay zero. */
vhem_status vh_topology_new(vhem_ctx *ctx, const vhem_fit_options *opt, int S, const vh_hmm *start,
                            vh_topology *out);
void vh_topology_free(vh_topology *topo);

#endif
