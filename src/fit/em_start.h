/* SPDX-License-Identifier: BSD-3-Clause */
/* em_start.h - starting points for EM-H3M. */
#ifndef VH_FIT_EM_START_H
#define VH_FIT_EM_START_H

#include "fit/em_h3m.h"

typedef struct {
    const char *name;
    /* Fills HMMs first .. first+K-1 of the H3M, whose shape is set, and their weights. */
    vhem_status (*make)(vhem_ctx *ctx, const vh_mixture *mix, vh_rng *rng, vh_h3m *h3m, int first);
} vh_em_start;

/* Finds "far" or "dealt"; NULL if the name is unknown.  vh_em_starts lists them, ended by a NULL name. */
const vh_em_start *vh_em_start_find(const char *name);
extern const vh_em_start vh_em_starts[];

#endif
