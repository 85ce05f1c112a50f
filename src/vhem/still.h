/* SPDX-License-Identifier: BSD-3-Clause */
/* still.h - columns that say nothing of which models are alike. */
#ifndef VH_VHEM_STILL_H
#define VH_VHEM_STILL_H

#include "hmm/hmm_set.h"

/* Which columns are the same, but for rounding, in all components of all HMMs that have them, still [d]; none
 * where all are.  *n_telling: how many others there are; *rest: what a frame adds to bounds for those that
 * are still, whatever the clusters, in nats. */
vhem_status vh_still_columns(vhem_ctx *ctx, const vh_h3m *h3m, bool *still, int *n_telling, double *rest);

#endif
