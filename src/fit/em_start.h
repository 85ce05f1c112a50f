/* SPDX-License-Identifier: BSD-3-Clause */
/* em_start.h - starting points for EM-H3M. */
#ifndef VH_FIT_EM_START_H
#define VH_FIT_EM_START_H

#include "fit/em_h3m.h"

/* Names of the starts, "far" and "dealt"; ends with NULL. */
extern const char *const vh_em_starts[];
/* Fills HMMs first .. first+K-1 of the H3M, whose shape is set, and their weights. */
vhem_status vh_em_start(vhem_ctx *ctx, const char *name, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m,
                        int first);

#endif
