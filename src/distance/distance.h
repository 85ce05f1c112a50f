/* SPDX-License-Identifier: BSD-3-Clause */
/* distance.h - distances between HMMs: entry points and the table of kinds. */
#ifndef VH_DISTANCE_DISTANCE_H
#define VH_DISTANCE_DISTANCE_H

#include "hmm/hmm_set.h"

/* Fills in default options, then calls vh_distance. */
vhem_status vh_h3m_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                            double *D, double *error);
/* All options must be set.  a and b have the same dimension and family, or diagonal against full Gaussians.
 * If a and b are the same object, symmetric quantities are computed once.  On failure, and on VHEM_ESTOPPED,
 * D and error (may be NULL) are unchanged, except large tables.  With several processes, each computes the
 * whole table; only vhem_distance distributes the rows. */
vhem_status vh_distance(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b, const vhem_distance_options *opt,
                        double *D, double *error);

/* The same, computed by all processes together: D is filled on rank 0. */
vhem_status vh_distance_shared(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                               const vhem_distance_options *opt, double *D, double *error);

/* One kind: D and error [Ka][Kb].  error is NULL if not wanted or not sampled; on processes without a table,
 * both are NULL. */
typedef vhem_status vh_distance_run(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                    const vhem_distance_options *opt, double *D, double *error);
vh_distance_run vh_distance_kl, vh_distance_kl_sampled, vh_distance_ppk;

#endif
