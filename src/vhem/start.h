/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - initial centres for VHEM: ways to make Kr centres from Kb base HMMs. */
#ifndef VH_VHEM_START_H
#define VH_VHEM_START_H

#include "vhem/base.h"

typedef struct {
    const char *name;
    /* Fills the centres, whose shapes are set; tau is for kinds that compare HMMs. */
    vhem_status (*make)(vhem_ctx *ctx, const vh_base *base, int tau, vh_rng *rng, vh_scratch *scratch,
                        vh_h3m *centers);
} vh_start_kind;

/* NULL if no kind has that name; vh_start_kinds ends with a NULL name. */
const vh_start_kind *vh_start_kind_find(const char *name);
extern const vh_start_kind vh_start_kinds[];

/* Copies base HMM i into centre j, truncated or repeated to the centre's number of states and components.
 * Zeros of pi and A get a little mass, because VHEM never changes a zero, unless they are zero in every base
 * HMM.  Returns false if out of memory. */
bool vh_center_from_base(const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers, int64_t j);
/* Same for base HMMs in memory or on disk. */
vhem_status vh_center_from_any(vhem_ctx *ctx, const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers,
                               int j);

#endif
