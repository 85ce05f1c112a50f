#include "math/graph.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "math/kmeans.h"
#include "math/linalg.h"
#include <math.h>
#include <string.h>
typedef struct { double a, b; int j; } one;
static int cmp(const void *x, const void *y) { const one *p = x, *q = y; if (p->a != q->a) return p->a < q->a ? -1 : 1; if (p->b != q->b) return p->b < q->b ? -1 : 1; return p->j - q->j; }
vhem_status vh_near_by_rank(vhem_ctx *ctx, int n, const double *D, int m, vh_near **out)
{
    VH_AUTOFREE one *o = NULL; VH_AUTOFREE int *R = NULL; vh_near *x;
    VH_NEW(o, n); VH_NEW(R, vh_cells(n, n)); VH_NEW(x, 1); x->n = n; x->m = m; VH_NEW(x->near, vh_cells(n, m));
    for (int i = 0; i < n; i++) {
        int c = 0;
        for (int j = 0; j < n; j++) if (j != i) o[c++] = (one){ D[vh_ij(i, n, j)], 0, j };
        qsort(o, (size_t)c, sizeof *o, cmp);
        for (int k = 0; k < c; k++) R[vh_ij(i, n, o[k].j)] = k;
    }
    for (int i = 0; i < n; i++) {
        int c = 0;
        for (int j = 0; j < n; j++) if (j != i) o[c++] = (one){ R[vh_ij(i, n, j)] + R[vh_ij(j, n, i)], D[vh_ij(i, n, j)], j };
        qsort(o, (size_t)c, sizeof *o, cmp);
        for (int k = 0; k < m; k++) x->near[vh_ij(i, m, k)] = o[k].j;
    }
    *out = x; return VHEM_OK;
}
void vh_near_free(vh_near *x) { if (x) free(x->near); free(x); }
vhem_status vh_graph_new(vhem_ctx *ctx, const vh_near *near, int k, const int *subset, int n, vh_graph **out)
{
    VH_AUTOFREE int *at = NULL; vh_graph *g; VH_NEW(at, near->n); VH_NEW(g, 1); VH_NEW(g->A, vh_cells(n, n)); g->n = n;
    for (int i = 0; i < near->n; i++) at[i] = subset ? -1 : i;
    for (int i = 0; subset && i < n; i++) at[subset[i]] = i;
    for (int i = 0; i < n; i++) { int s = subset ? subset[i] : i;
        for (int e = 0, c = 0; e < near->m && c < k; e++) { int j = at[near->near[vh_ij(s, near->m, e)]]; if (j < 0) continue; c++; g->A[vh_ij(i, n, j)] += .5; g->A[vh_ij(j, n, i)] += .5; } }
    *out = g; return VHEM_OK;
}
void vh_graph_free(vh_graph *g) { if (g) free(g->A); free(g); }
double vh_graph_modularity(const vh_graph *g, const int *label)
{
    double m = 0, q = 0; int K = 0, n = g->n; for (int i = 0; i < n; i++) K = label[i] >= K ? label[i] + 1 : K;
    double *d = calloc((size_t)K, sizeof *d);
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double a = g->A[vh_ij(i, n, j)]; m += a; d[label[i]] += a; if (label[i] == label[j]) q += a; }
    q /= m; for (int k = 0; k < K; k++) q -= d[k] / m * (d[k] / m);
    free(d); return q;
}
vhem_status vh_graph_embed(vhem_ctx *ctx, const vh_graph *g, int k, const double *start, double *X)
{
    int n = g->n; VH_AUTOFREE double *L = NULL, *d = NULL, *w = NULL, *V = NULL; (void)start;
    VH_NEW(L, vh_cells(n, n)); VH_NEW(d, n); VH_NEW(w, k); VH_NEW(V, vh_cells(n, k));
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[i] += g->A[vh_ij(i, n, j)];
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) L[vh_ij(i, n, j)] = g->A[vh_ij(i, n, j)] / sqrt(d[i] * d[j]);
    VH_CHECK(vh_eigen_leading(n, L, k, w, V), VHEM_ENUMERIC, "eigen");
    for (int i = 0; i < n; i++) { double s = 0; for (int c = 0; c < k; c++) { X[vh_ij(i, k, c)] = V[vh_ij(c, n, i)]; s += X[vh_ij(i, k, c)] * X[vh_ij(i, k, c)]; }
        for (int c = 0; c < k; c++) X[vh_ij(i, k, c)] /= fmax(sqrt(s), 1e-12); }
    return VHEM_OK;
}
vhem_status vh_graph_partition(vhem_ctx *ctx, int n, int K, const double *X, int runs, uint64_t seed, int *label)
{
    VH_AUTOFREE double *centre = NULL; VH_AUTOFREE int *l = NULL; VH_NEW(centre, vh_cells(K, K)); VH_NEW(l, n);
    double best = INFINITY; const vh_points p = { n, K, X, NULL }; vh_kmeans_result own = { .centre = centre, .label = l }; vh_rng rng;
    for (int r = 0; r < runs; r++) { vh_rng_init(&rng, vh_rng_seed(seed, (uint64_t)r), VH_RNG_INIT, 0); VH_TRY(vh_kmeans(ctx, &rng, &p, K, 200, &own)); if (own.spread < best) { best = own.spread; memcpy(label, l, sizeof *l * (size_t)n); } }
    return VHEM_OK;
}
