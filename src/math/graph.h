#ifndef VH_MATH_GRAPH_H
#define VH_MATH_GRAPH_H
#include "core/ctx.h"
#include "core/own.h"
typedef struct { int n, m; int *near; } vh_near;
typedef struct { int n; double *A; } vh_graph;
vhem_status vh_near_by_rank(vhem_ctx *ctx, int n, const double *D, int m, vh_near **out);
void vh_near_free(vh_near *x);
VH_OWNED(vh_near, vh_near_free)
vhem_status vh_graph_new(vhem_ctx *ctx, const vh_near *near, int k, const int *subset, int n, vh_graph **out);
void vh_graph_free(vh_graph *g);
VH_OWNED(vh_graph, vh_graph_free)
double vh_graph_modularity(const vh_graph *g, const int *label);
vhem_status vh_graph_embed(vhem_ctx *ctx, const vh_graph *g, int k, const double *start, double *X);
vhem_status vh_graph_partition(vhem_ctx *ctx, int n, int K, const double *X, int runs, uint64_t seed, int *label);
#endif
