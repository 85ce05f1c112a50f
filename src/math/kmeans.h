/* SPDX-License-Identifier: BSD-3-Clause */
/* kmeans.h - k-means with k-means++ seeding, to initialise other algorithms. */
#ifndef VH_MATH_KMEANS_H
#define VH_MATH_KMEANS_H

#include "core/ctx.h"
#include "core/rng.h"

typedef struct {
    int n, d;
    const double *X;      /* [n][d] */
    const double *weight; /* [n]  >= 0; NULL: all 1 */
} vh_points;

typedef struct {
    double *centre; /* [k][d] */
    int *label;     /* [n] */
    double spread;  /* sum of weighted squared distances to the centres */
    bool converged; /* the labels no longer change */
} vh_kmeans_result;

/* Clusters the points into k clusters.  The caller provides centre and label of the result.  With fewer than
 * k distinct points, clusters may end empty; their centre is then a point.  A stop ends it early. */
vhem_status vh_kmeans(vhem_ctx *ctx, vh_rng *rng, const vh_points *points, int k, int max_iter,
                      vh_kmeans_result *out);
/* Standardises each of the d features of n points X [n][d] to mean 0 and deviation 1, unless it is constant:
 * k-means weights all features equally. */
void vh_even_out(int64_t n, int d, double *X);
/* Finds the nearest centre of each point; ties go to the lowest index. */
vhem_status vh_nearest(vhem_ctx *ctx, int n, int d, const double *X, int k, const double *centre, int *label);

/* Draws a point with probability far [n] / sum; any point if the sum is 0 (all points are seeds). */
int vh_next_seed(vh_rng *rng, int n, const double *far, double sum);

/* The same for points with missing coordinates (NaN); weights are ignored.  centre [k][d], label [n]. */
vhem_status vh_kmeans_gaps(vhem_ctx *ctx, vh_rng *rng, const vh_points *points, int k, int max_iter,
                           double *centre, int *label);
void vh_nearest_gaps(int n, int d, const double *X, int k, const double *centre, int *label);

#endif
