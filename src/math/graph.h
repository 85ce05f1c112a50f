/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.h - a sparse undirected graph of nearest neighbours: modularity, spectral embedding, partition.
 * Time and memory are proportional to its edges, not to pairs of items. */
#ifndef VH_MATH_GRAPH_H
#define VH_MATH_GRAPH_H

#include "core/ctx.h"
#include "math/neighbours.h"

typedef struct { /* each edge stands in the rows of both its nodes */
    int n;
    int64_t *at;    /* [n + 1]  the edges of node i are at[i] .. at[i + 1] - 1 */
    int *to;        /* [at[n]]  ascending in each row */
    double *w;      /* [at[n]]  weights, > 0 */
    double *degree; /* [n]  sums of the weights of the rows */
} vh_graph;

/* The graph of some items, item [n], all different (NULL: all items of the lists): each is joined to the
 * first k of its list that are among them.  Weights are 1 if both chose each other, 1/2 if one did.
 * Node numbers are places in item [n].  Release with vh_graph_free. */
vhem_status vh_graph_new(vhem_ctx *ctx, const vh_near *near, int k, int64_t n, const int64_t *item,
                         vh_graph *out);
void vh_graph_free(vh_graph *g); /* leaves it empty */

/* Modularity (Newman 2006) of the partition label [n], from 0 on: the share of the weight of edges inside
 * parts, less the share expected by chance.  From -1/2 to 1; 0 for a single part and without edges. */
vhem_status vh_graph_modularity(vhem_ctx *ctx, const vh_graph *g, const int *label, double *out);
/* The same in the graph with edges of weight 1 that join two items if one is in the list of the other. */
vhem_status vh_modularity(vhem_ctx *ctx, const vh_near *near, const int *label, double *out);

/* Spectral embedding: X [n][k], 1 <= k <= n, the rows of the k leading eigenvectors of D^-1/2 W D^-1/2
 * scaled to unit length; nodes without edges, and components without a share in these eigenvectors, are
 * at 0.  w [k]: eigenvalues, descending; NULL: not wanted.  V [k][n]: on entry vectors to start from, a
 * row of zeros for none, on return the eigenvectors; NULL: neither.  X may be NULL. */
vhem_status vh_graph_embed(vhem_ctx *ctx, const vh_graph *g, int k, double *w, double *V, double *X);

/* Divides the nodes into at most K parts, label [n]; 1 <= K <= n: k-means of the spectral embedding in K
 * dimensions, the best of some runs.  V [K][n], or more rows: the eigenvectors, from vh_graph_embed. */
vhem_status vh_graph_partition(vhem_ctx *ctx, const vh_graph *g, const double *V, int K, int runs,
                               uint64_t seed, int *label);

#endif
