/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.h - the nearest neighbours of items given by their distances. */
#ifndef VH_MATH_NEIGHBOURS_H
#define VH_MATH_NEIGHBOURS_H

#include "core/ctx.h"

typedef struct {
    int n, k;
    int *near; /* [n][k]  of each item, nearest first, without itself; -1 past the last */
} vh_near;

/* near [k]: the k of n items with the least distances d [n], nearest first, excluding `self` (-1: none);
 * k >= 1, and at least k items must remain.  Ties go to the lowest index. */
void vh_neighbours_of(int n, const double *d, int self, int k, int *near);

/* near [n][k]: the k nearest neighbours of each of n items, nearest first, excluding itself; 1 <= k < n.  D
 * [n][n]: their distances, which may be negative.  Ties go to the lowest index. */
void vh_neighbours(int n, const double *D, int k, int *near);

/* The same by mutual rank, with k >= 1 of any size; release with vh_near_free.  The rank of j for i is
 * its place among the others ordered by D [i][j], ties by index; the nearest have the least rank of j
 * for i plus rank of i for j, ties by D [i][j] + D [j][i], then by index.  So a hub, which is near to
 * everything, is nearest to a few.  D [n][n] may be infinite, not NaN or -infinity, and need not be
 * symmetric.  O(n^2 log n). */
vhem_status vh_near_mutual(vhem_ctx *ctx, int n, const double *D, int k, vh_near *out);
void vh_near_free(vh_near *near); /* leaves it empty */

/* log_A [n][n]: 0 if one of two items is among the k nearest of the other, else, and on the diagonal,
 * -infinity. */
void vh_neighbours_affinity(int n, int k, const int *near, double *log_A);

#endif
