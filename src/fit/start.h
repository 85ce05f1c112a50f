/* SPDX-License-Identifier: BSD-3-Clause */
/* start.h - where Baum-Welch starts. */
#ifndef VH_FIT_START_H
#define VH_FIT_START_H

#include "fit/baum_welch.h"

typedef vhem_status (*vh_start)(vhem_ctx *ctx, const vh_fit_item *job, vh_rng *rng, int restart, vh_h3m *h3m,
                                vh_hmm *h);

/* The start with this name, "kmeans", "random" or "segment"; NULL when there is none. */
vh_start vh_start_find(const char *name);

/* Leaves a job of very many frames only every so many of its sequences, some 200,000 frames: a start needs no
 * more, and all later iterations see everything.  seq: the list it then has, for free(); NULL: all stay. */
vhem_status vh_start_thin(vhem_ctx *ctx, vh_fit_item *job, int64_t **seq);

/* Fills HMM h of the H3M by the start that suits the options and the topology of the job. */
vhem_status vh_start_hmm(vhem_ctx *ctx, const vh_fit_item *job, vh_rng *rng, int restart, vh_h3m *h3m,
                         vh_hmm *h);
/* The R starts of a job, made to agree with its topology; given: R copies of it. */
vhem_status vh_starts(vhem_ctx *ctx, const vh_fit_item *job, const vh_hmm *given, int R, vh_h3m **out);
/* Makes pi and A agree with the topology, where they do not. */
void vh_start_obey(const vh_limits *limits, vh_hmm *h);

#endif
