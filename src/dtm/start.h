/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - initial centres for HEM-DTM. */
#ifndef VH_DTM_START_H
#define VH_DTM_START_H

#include "core/rng.h"
#include "parallel/scratch.h"
#include "dtm/dtm.h"

/* Names of the starts: "base" draws textures by weight; "far" prefers textures badly explained by those
 * already drawn.  Ends with NULL. */
extern const char *const vh_dtm_starts[];
/* centers must have their shapes; sets their parameters and equal weights. */
vhem_status vh_dtm_start(vhem_ctx *ctx, const char *name, const vh_dtm *base, int tau, vh_rng *rng,
                         vh_scratch *scratch, vh_dtm *centers);

/* Copies texture b to center.  Surplus states of b are dropped; missing ones are added with little effect. */
void vh_dt_from_base(const vh_dt *b, int d, vh_rng *rng, vh_dt *center);

/* scale [d]: standard deviation of a frame of the base textures, with their weights. */
void vh_dtm_scale(const vh_dtm *base, double *scale);

#endif
