/* SPDX-License-Identifier: BSD-3-Clause */
/* embedding.h - partitions of models that follow from their distances alone, by spectral clustering:
 * distances, affinities, places in the leading eigenvectors, k-means. */
#ifndef VH_DISTANCE_EMBEDDING_H
#define VH_DISTANCE_EMBEDDING_H

#include "core/ctx.h"
#include "hmm/hmm_set.h"

typedef struct { /* a kind of distance */
    const char *name;
    int tau;
    double lambda;
    bool normalised;
} vh_embedding_kind;

/* D [K][K], symmetric: divergences ("kl", "kl-sampled"), the mean of both directions, or -log of the product
 * kernel ("ppk"; normalised: divided by the kernels of each HMM with itself).  None is NaN. */
vhem_status vh_embedding_distances(vhem_ctx *ctx, const vh_h3m *models, const vh_embedding_kind *kind,
                                   double *D);

/* The same, D [Ka][Kb], between two sets. */
vhem_status vh_embedding_distances_to(vhem_ctx *ctx, const vh_h3m *a, const vh_h3m *b,
                                      const vh_embedding_kind *kind, double *D);

/* D [n][n] becomes the logarithms of affinities, -D / median when scaled, else -D.  The median is that of the
 * distances between different things that are positive and finite; *scale (may be NULL) is what they were
 * divided by. */
vhem_status vh_embedding_affinity(vhem_ctx *ctx, int64_t n, bool scaled, double *D, double *scale);

typedef struct {
    int64_t n, dim, K;
    const double *place;  /* [n][dim] */
    const double *weight; /* [n]  times each counts; NULL: once */
    int restarts, max_iter;
    uint64_t seed;
} vh_embedding;

/* The best of several runs of k-means: label [n] and centre [K][dim].  run [restarts], NULL: not wanted,
 * tells of each; its bound is the spread about the centres, negative.  *n_run of them were made, fewer after
 * a stop. */
vhem_status vh_embedding_cluster(vhem_ctx *ctx, const vh_embedding *p, int *label, double *centre,
                                 vhem_cluster_run *run, int *n_run, int *converged);

#endif
