/* SPDX-License-Identifier: BSD-3-Clause */
/* still.h - columns that are identical in all models, and so do not affect the clusters. */
#ifndef VH_VHEM_STILL_H
#define VH_VHEM_STILL_H

#include "hmm/hmm_set.h"

/* Finds the columns that are identical up to rounding in all components of all HMMs that have them, still
 * [d]; if all are, none is marked.  *n_telling: number of other columns; *rest: contribution of the still
 * columns to the bound per frame, for any clusters, in nats. */
vhem_status vh_still_columns(vhem_ctx *ctx, const vh_h3m *h3m, bool *still, int *n_telling, double *rest);

#endif
