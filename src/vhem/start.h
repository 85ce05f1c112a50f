/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - initial centres for VHEM: ways to make Kr centres from Kb base HMMs. */
#ifndef VH_VHEM_START_H
#define VH_VHEM_START_H

#include "vhem/base.h"

/* Names of the starts; ends with NULL. */
extern const char *const vh_vhem_starts[];
/* Fills the centres, whose shapes are set, by the start of this name; tau is for those that compare HMMs. */
vhem_status vh_vhem_start(vhem_ctx *ctx, const char *name, const vh_base *base, int tau, vh_rng *rng,
                          vh_scratch *scratch, vh_h3m *centers);

/* Copies base HMM i into centre j, truncated or repeated to the centre's number of states and components.
 * Zeros of pi and A get a little mass, because VHEM never changes a zero, unless they are zero in every base
 * HMM.  Returns false if out of memory. */
bool vh_center_from_base(const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers, int64_t j);
/* Same for base HMMs in memory or on disk. */
vhem_status vh_center_from_any(vhem_ctx *ctx, const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers,
                               int j);

#endif
