/* SPDX-License-Identifier: BSD-3-Clause */
/* kmeans.h - k-means with k-means++ seeding, to start other algorithms from. */
#ifndef VH_MATH_KMEANS_H
#define VH_MATH_KMEANS_H

#include "core/ctx.h"
#include "core/rng.h"

typedef struct {
    int n, d;
    const double *X;      /* [n][d] */
    const double *weight; /* [n]  times each counts, 0 or more; NULL: once */
} vh_points;

typedef struct {
    double *centre; /* [k][d] */
    int *label;     /* [n] */
    double spread;  /* sum of weighted squared distances to the centres */
    bool converged; /* the labels came to rest */
} vh_kmeans_result;

/* The points into k clusters.  centre and label of the result are the caller's.  Clusters may end empty when
 * there are fewer than k different points; their centre is then a point.  A stop ends it where it stands. */
vhem_status vh_kmeans(vhem_ctx *ctx, vh_rng *rng, const vh_points *points, int k, int max_iter,
                      vh_kmeans_result *out);
/* Moves each of the d features of n points X [n][d] to mean 0 and deviation 1, where it varies: k-means takes
 * all for equally important. */
void vh_even_out(int64_t n, int d, double *X);
/* The nearest centre of each point; ties go to the lowest index. */
vhem_status vh_nearest(vhem_ctx *ctx, int n, int d, const double *X, int k, const double *centre, int *label);

/* A point drawn with probability far [n] / sum; any point where the sum is 0, when all are seeds already. */
int vh_next_seed(vh_rng *rng, int n, const double *far, double sum);

/* The same for points of which coordinates are missing (NaN); weights are not looked at.  centre [k][d],
 * label [n]. */
vhem_status vh_kmeans_gaps(vhem_ctx *ctx, vh_rng *rng, const vh_points *points, int k, int max_iter,
                           double *centre, int *label);
void vh_nearest_gaps(int n, int d, const double *X, int k, const double *centre, int *label);

#endif
