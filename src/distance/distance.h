/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.h - distances between HMMs: the table of kinds, and the way through it. */
#ifndef VH_DISTANCE_DISTANCE_H
#define VH_DISTANCE_DISTANCE_H

#include "hmm/hmm_set.h"

/* Defaults filled in. */
vhem_status vh_h3m_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                            double *D, double *error);
/* With all options filled in: a and b of one family and dimension, or diagonal against full.
 * When a and b are the same object, what is symmetric is computed once.  On failure, and on
 * VHEM_ESTOPPED, D and error (may be NULL) are as they were, unless they are large: then they are worked in.
 * Where several processes make the same calls, each makes the whole table; only vhem_distance deals the rows
 * out. */
vhem_status vh_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                        double *D, double *error);

/* The same by all processes together: D is filled on the first. */
vhem_status vh_distance_shared(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                               const vhem_distance_options *opt, double *D, double *error);

/* One kind: D and error [Ka][Kb]; error is NULL for kinds that are not sampled, and where it is not wanted;
 * both are on processes that have no table. */
typedef vhem_status vh_distance_run(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                    const vhem_distance_options *opt, double *D, double *error);
vh_distance_run vh_distance_kl, vh_distance_kl_sampled, vh_distance_ppk;

#endif
