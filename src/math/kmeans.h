/* SPDX-License-Identifier: BSD-3-Clause */
/* kmeans.h - k-means with k-means++ seeding, to start other algorithms from. */
#ifndef VH_MATH_KMEANS_H
#define VH_MATH_KMEANS_H

#include "core/ctx.h"
#include "core/rng.h"

/* X [n][d] into k clusters: centre [k][d], label [n].  Clusters may end empty when X has fewer than k
 * different points; their centre is then a point of X.  A stop ends it where it stands. */
vhem_status vh_kmeans(vhem_ctx *ctx, vh_rng *rng, int n, int d, const double *X, int k, int max_iter,
                      double *centre, int *label);
/* The same for points that count weight_i >= 0 times (NULL: once each); *spread, the sum of weighted squared
 * distances to the centres, and *converged, whether the labels came to rest, may be NULL. */
vhem_status vh_kmeans_weighted(vhem_ctx *ctx, vh_rng *rng, int n, int d, const double *X,
                               const double *weight, int k, int max_iter, double *centre, int *label,
                               double *spread, bool *converged);
/* The nearest centre of each point; ties go to the lowest index. */
vhem_status vh_nearest(vhem_ctx *ctx, int n, int d, const double *X, int k, const double *centre, int *label);

#endif
