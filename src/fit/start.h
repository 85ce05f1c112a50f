/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - starting points for Baum-Welch. */
#ifndef VH_FIT_START_H
#define VH_FIT_START_H

#include "fit/baum_welch.h"

typedef vhem_status (*vh_start)(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                                vh_hmm *h);

/* Finds the start named "kmeans", "random" or "segment"; NULL if unknown. */
vh_start vh_start_find(const char *name);

/* Thins out the sequences of a very large item to some 200,000 frames: enough for a start, and later
 * iterations see everything.  *seq: its new list, freed by the caller; NULL: unchanged. */
vhem_status vh_start_thin(vhem_ctx *ctx, vh_fit_item *item, int64_t **seq);

/* Initialises HMM h of the H3M by the start that fits the options and the topology of the item. */
vhem_status vh_start_hmm(vhem_ctx *ctx, const vh_fit_item *item, vh_rng *rng, int restart, vh_h3m *h3m,
                         vh_hmm *h);
/* Makes R starts of an item that comply with its topology; given: R copies of it. */
vhem_status vh_starts(vhem_ctx *ctx, const vh_fit_item *item, const vh_hmm *given, int R, vh_h3m **out);
/* Makes pi and A comply with the topology where they do not. */
void vh_start_obey(const vh_limits *limits, vh_hmm *h);

#endif
