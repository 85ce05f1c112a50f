/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - where HEM-DTM begins. */
#ifndef VH_DTM_START_H
#define VH_DTM_START_H

#include "core/rng.h"
#include "parallel/scratch.h"
#include "dtm/dtm.h"

/* Starts, by name: "base", textures drawn by their weights; "far", each as one that those before explain
 * badly. NULL ends them. */
extern const char *const vh_dtm_starts[];
/* centers have their shapes, and get numbers and equal weights. */
vhem_status vh_dtm_start(vhem_ctx *ctx, const char *name, const vh_dtm *base, int tau, vh_rng *rng,
                         vh_scratch *scratch, vh_dtm *centers);

/* center as the texture b; of more states than it has room for the first ones, and for fewer some of little
 * effect are added. */
void vh_dt_from_base(const vh_dt *b, int d, vh_rng *rng, vh_dt *center);

/* scale [d]: deviation of a frame of the base textures, by their weights. */
void vh_dtm_scale(const vh_dtm *base, double *scale);

#endif
