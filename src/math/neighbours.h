/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.h - the graph of nearest neighbours of things of which only their distances are known, and how
 * well a partition suits it. */
#ifndef VH_MATH_NEIGHBOURS_H
#define VH_MATH_NEIGHBOURS_H

#include "core/ctx.h"

/* near [k]: the k things of n with the least distances d [n], nearest first, never `self` (-1: any); 1 <= k,
 * and there are as many.  Ties go to the lowest index. */
void vh_neighbours_of(int n, const double *d, int self, int k, int *near);

/* near [n][k]: the k things nearest to each of n, nearest first, never itself; 1 <= k < n.  D [n][n]: their
 * distances, which may be negative.  Ties go to the lowest index. */
void vh_neighbours(int n, const double *D, int k, int *near);

/* log_A [n][n]: 0 where one of two things is among the k nearest of the other, else -infinity; the diagonal
 * is -infinity. */
void vh_neighbours_affinity(int n, int k, const int *near, double *log_A);

/* The modularity (Newman 2006) of the partition label [n] in that graph: the share of edges that stay inside
 * a part, less the share that would by chance.  From -1/2 to 1; one part for all has 0. */
vhem_status vh_modularity(vhem_ctx *ctx, int n, int k, const int *near, const int *label, double *out);

#endif
