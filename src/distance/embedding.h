/* SPDX-License-Identifier: BSD-3-Clause */
/* embedding.h - partitions of models from their distances alone, by spectral clustering: distances,
 * affinities, embedding in the leading eigenvectors, k-means. */
#ifndef VH_DISTANCE_EMBEDDING_H
#define VH_DISTANCE_EMBEDDING_H

#include "core/ctx.h"
#include "hmm/hmm_set.h"

/* Options of a symmetric distance: kind "ppk", with the power lambda, "kl" or "kl-sampled". */
vhem_distance_options vh_embedding_options(const char *kind, int tau, double lambda, bool normalised);
/* Computes D [K][K], symmetric: divergences ("kl", "kl-sampled"), the mean of both directions, or -log of the
 * product kernel ("ppk"; normalised: divided by the self-kernels).  VHEM_ENUMERIC if one is NaN. */
vhem_status vh_embedding_distances(vhem_ctx *ctx, const vh_h3m *models, const vhem_distance_options *opt,
                                   double *D);

/* The same, D [Ka][Kb], between two sets. */
vhem_status vh_embedding_distances_to(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                      const vhem_distance_options *opt, double *D);

/* Replaces D [n][n] by log-affinities: -D / median if scaled, else -D.  The median is over positive, finite
 * distances between different items; *scale (may be NULL) is the divisor. */
vhem_status vh_embedding_affinity(vhem_ctx *ctx, int64_t n, bool scaled, double *D, double *scale);

typedef struct {
    int64_t n, dim, K;
    const double *place;  /* [n][dim] */
    const double *weight; /* [n]  NULL: all 1 */
    int restarts, max_iter;
    uint64_t seed;
} vh_embedding;

/* Best of several runs of k-means: label [n] and centre [K][dim].  run [restarts] (may be NULL) describes
 * each run; its bound is minus the spread about the centres.  *n_run: runs made, fewer after a stop. */
vhem_status vh_embedding_cluster(vhem_ctx *ctx, const vh_embedding *p, int *label, double *centre,
                                 vhem_cluster_run *run, int *n_run, int *converged);

#endif
