/* SPDX-License-Identifier: BSD-3-Clause */
/* without.h - what VHEM makes of a set without one of its HMMs, for each of them in turn, where one iteration
 * from a given start is enough to know. */
#ifndef VH_VHEM_WITHOUT_H
#define VH_VHEM_WITHOUT_H

#include "vhem/vhem_h3m.h"

typedef struct {
    const vh_h3m *h3m, *start;  /* the set, and where every run begins */
    const vh_vhem_options *opt; /* of a run on the whole set, but for the floor */
    double cov_floor;           /* smallest variances, as a share of those of the set */
    const bool *wanted;         /* [K of h3m]  HMMs to leave out, one at a time */
    /* The centres that the run without HMM i ends with; NULL: the run has to be made to know them.  Called by
     * several threads, with a context of each. */
    vhem_status (*use)(vhem_ctx *ctx, void *arg, int64_t i, const vh_h3m *centers);
    void *arg;
} vh_without;

/* Calls `use` for all that are wanted, in any order.  The cost is that of a few E-steps of the whole set, the
 * same for one HMM and for all.  The centres are those of the run but for rounding, and the floor, which is
 * that of the whole set. */
vhem_status vh_vhem_without(vhem_ctx *ctx, const vh_without *w);

#endif
