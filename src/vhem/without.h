/* SPDX-License-Identifier: BSD-3-Clause */
/* without.h - leave-one-out VHEM: the result without each HMM in turn, where one iteration from a given start
 * suffices. */
#ifndef VH_VHEM_WITHOUT_H
#define VH_VHEM_WITHOUT_H

#include "vhem/vhem_h3m.h"

typedef struct {
    const vh_h3m *h3m, *start;  /* the set, and the start of every run */
    const vh_vhem_options *opt; /* those of a run on the whole set, except the floor */
    double cov_floor;           /* smallest variances, as a share of the set's variances */
    const bool *wanted;         /* [K of h3m]  HMMs to leave out, one at a time */
    /* Receives the centres of the run without HMM i; NULL: one iteration does not suffice, and the caller
     * must run VHEM.  Called by several threads, each with its own context. */
    vhem_status (*use)(vhem_ctx *ctx, void *arg, int64_t i, const vh_h3m *centers);
    void *arg;
} vh_without;

/* Calls `use` for all wanted HMMs, in any order.  Costs a few E-steps of the whole set, for one HMM or all.
 * The centres equal those of a full run up to rounding and the floor, which is that of the whole set. */
vhem_status vh_vhem_without(vhem_ctx *ctx, const vh_without *w);

#endif
