/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.h - the nearest-neighbour graph of items given by their distances, and its modularity. */
#ifndef VH_MATH_NEIGHBOURS_H
#define VH_MATH_NEIGHBOURS_H

#include "core/ctx.h"

/* near [k]: the k of n items with the least distances d [n], nearest first, excluding `self` (-1: none); k >=
 * 1, and at least k items must remain.  Ties go to the lowest index. */
void vh_neighbours_of(int n, const double *d, int self, int k, int *near);

/* near [n][k]: the k nearest neighbours of each of n items, nearest first, excluding itself; 1 <= k < n.  D
 * [n][n]: their distances, which may be negative.  Ties go to the lowest index. */
void vh_neighbours(int n, const double *D, int k, int *near);

/* log_A [n][n]: 0 if one of two items is among the k nearest of the other, else, and on the diagonal,
 * -infinity. */
void vh_neighbours_affinity(int n, int k, const int *near, double *log_A);

/* Modularity (Newman 2006) of the partition label [n] in that graph: the share of edges inside parts, less
 * the share expected by chance.  From -1/2 to 1; 0 for a single part. */
vhem_status vh_modularity(vhem_ctx *ctx, int n, int k, const int *near, const int *label, double *out);

#endif
