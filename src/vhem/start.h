/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - where VHEM starts: ways to make Kr centres from Kb base HMMs. */
#ifndef VH_VHEM_START_H
#define VH_VHEM_START_H

#include "vhem/base.h"

typedef struct {
    const char *name;
    /* Fills the centres, whose shape is set; tau is for those that compare HMMs. */
    vhem_status (*make)(vhem_ctx *ctx, const vh_base *base, int tau, vh_rng *rng, vh_scratch *scratch,
                        vh_h3m *centers);
} vh_start_kind;

/* NULL when there is none of that name; vh_start_kinds lists them, ended by a NULL name. */
const vh_start_kind *vh_start_kind_find(const char *name);
extern const vh_start_kind vh_start_kinds[];

/* Centre j becomes base HMM i, cut or doubled to its own number of states and components.  Entries of pi and
 * A that are zero get a little mass, unless they are zero in every base HMM: a zero would never change.
 * False when there is no memory. */
bool vh_center_from_base(const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers, int64_t j);
/* The same where base HMMs may be on disk. */
vhem_status vh_center_from_any(vhem_ctx *ctx, const vh_base *base, int64_t i, vh_rng *rng, vh_h3m *centers,
                               int j);

#endif
