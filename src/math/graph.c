/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - see graph.h.  Unlike a kernel of one width, a graph of nearest neighbours connects tight and
 * loose groups equally well.  The embedding is that of Ng, Jordan and Weiss 2002; the modularity
 *
 *   Q = sum_c ( e_c / m - (g_c / 2m)^2 )
 *
 * with m the weight of all edges, e_c that of edges inside part c, and g_c the sum of the degrees of its
 * members. */
#include "math/graph.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/blas.h"
#include "math/eigen.h"
#include "math/kmeans.h"
#include "parallel/map.h"

#include <math.h>
#include <string.h>

enum { ITERATIONS = 200 }; /* of k-means */
#define TINY 1e-6          /* shorter rows of eigenvectors are but rounding errors */

void vh_graph_free(vh_graph *g)
{
    free(g->at);
    free(g->to);
    free(g->w);
    free(g->degree);
    *g = (vh_graph){ 0 };
}

/* ---- 1. edges from lists ----------------------------------------------------------------------------- */

/* Fills choices: what each of some items has chosen, as places in item [choices->n]; place [near->n] is
 * scratch. */
static void take_choices(const vh_near *near, const int64_t *item, int *place, vh_near *choices)
{
    for (int i = 0; i < near->n; i++)
        place[i] = item ? -1 : i;
    for (int a = 0; item && a < choices->n; a++)
        place[item[a]] = a;
    for (int a = 0; a < choices->n; a++) {
        const int *list = near->near + vh_row(item ? item[a] : a, near->k);
        int *choice = choices->near + vh_row(a, choices->k), found = 0;
        for (int e = 0; e < near->k && found < choices->k && list[e] >= 0; e++)
            if (place[list[e]] >= 0)
                choice[found++] = place[list[e]];
        for (; found < choices->k; found++)
            choice[found] = -1;
    }
}

/* Where the rows begin: each choice is an entry in both rows. */
static void find_rows(const vh_near *choices, int64_t *at)
{
    memset(at, 0, sizeof *at * ((size_t)choices->n + 1));
    for (int a = 0; a < choices->n; a++) {
        const int *choice = choices->near + vh_row(a, choices->k);
        for (int e = 0; e < choices->k && choice[e] >= 0; e++) {
            at[a + 1]++;
            at[choice[e] + 1]++;
        }
    }
    for (int a = 0; a < choices->n; a++)
        at[a + 1] += at[a];
}

/* The entries of all rows; next [n] is scratch. */
static void fill_rows(const vh_near *choices, const int64_t *at, int64_t *next, int *to)
{
    memcpy(next, at, sizeof *next * (size_t)choices->n);
    for (int a = 0; a < choices->n; a++) {
        const int *choice = choices->near + vh_row(a, choices->k);
        for (int e = 0; e < choices->k && choice[e] >= 0; e++) {
            to[next[a]++] = choice[e];
            to[next[choice[e]]++] = a;
        }
    }
}

/* Entries in ascending order: row by row, each is entered into the row of its other end. */
static void sort_rows(int n, const int64_t *at, const int *from, int64_t *next, int *to)
{
    memcpy(next, at, sizeof *next * (size_t)n);
    for (int a = 0; a < n; a++)
        for (int64_t e = at[a]; e < at[a + 1]; e++)
            to[next[from[e]]++] = a;
}

/* Merges equal entries, of weight 1/2 each, and adds up the degrees. */
static void merge_entries(vh_graph *g)
{
    int64_t end = 0, from = 0;
    for (int a = 0; a < g->n; a++) {
        int64_t first = end, past = g->at[a + 1];
        for (int64_t e = from; e < past; e++)
            if (end > first && g->to[end - 1] == g->to[e]) {
                g->w[end - 1] += 0.5;
            } else {
                g->to[end] = g->to[e];
                g->w[end++] = 0.5;
            }
        from = past;
        g->at[a + 1] = end;
        g->degree[a] = 0;
        for (int64_t e = first; e < end; e++)
            g->degree[a] += g->w[e];
    }
}

vhem_status vh_graph_new(vhem_ctx *ctx, const vh_near *near, int k, int64_t n, const int64_t *item,
                         vh_graph *out)
{
    VH_CLEANUP(vh_graph_free) vh_graph g = { .n = (int)n };
    VH_AUTOFREE int *place = NULL, *choice = NULL, *loose = NULL;
    VH_AUTOFREE int64_t *next = NULL;

    VH_NEW(place, near->n);
    VH_NEW(choice, vh_cells(n, k));
    VH_NEW(next, n);
    VH_NEW(g.at, n + 1);
    VH_NEW(g.degree, n);
    vh_near choices = { g.n, k, choice };
    take_choices(near, item, place, &choices);
    find_rows(&choices, g.at);
    VH_NEW(loose, g.at[n]);
    VH_NEW(g.to, g.at[n]);
    VH_NEW(g.w, g.at[n]);
    fill_rows(&choices, g.at, next, loose);
    sort_rows(g.n, g.at, loose, next, g.to);
    merge_entries(&g);
    *out = g;
    g = (vh_graph){ 0 };
    return VHEM_OK;
}

/* ---- 2. modularity ----------------------------------------------------------------------------------- */

vhem_status vh_graph_modularity(vhem_ctx *ctx, const vh_graph *g, const int *label, double *out)
{
    VH_AUTOFREE double *degree = NULL; /* [parts] */
    double m = 0, inside = 0, chance = 0;
    int parts = 0;

    for (int i = 0; i < g->n; i++)
        parts = label[i] >= parts ? label[i] + 1 : parts;
    VH_NEW(degree, parts);
    for (int i = 0; i < g->n; i++) {
        m += g->degree[i] / 2;
        degree[label[i]] += g->degree[i];
        for (int64_t e = g->at[i]; e < g->at[i + 1]; e++)
            inside += label[i] == label[g->to[e]] ? g->w[e] / 2 : 0; /* halves: from both ends */
    }
    for (int c = 0; m > 0 && c < parts; c++)
        chance += degree[c] / (2 * m) * (degree[c] / (2 * m));
    *out = m > 0 ? inside / m - chance : 0;
    return VHEM_OK;
}

vhem_status vh_modularity(vhem_ctx *ctx, const vh_near *near, const int *label, double *out)
{
    VH_CLEANUP(vh_graph_free) vh_graph g = { 0 };

    VH_TRY(vh_graph_new(ctx, near, near->k, near->n, NULL, &g));
    for (int i = 0; i < g.n; i++)
        g.degree[i] = (double)(g.at[i + 1] - g.at[i]);
    for (int64_t e = 0; e < g.at[g.n]; e++)
        g.w[e] = 1;
    return vh_graph_modularity(ctx, &g, label, out);
}

/* ---- 3. embedding ------------------------------------------------------------------------------------ */

/* Rows of W X for a graph with weights W. */
static void multiply_edges(const void *arg, int first, int rows, int m, const double *X, double *Y)
{
    const vh_graph *g = arg;
    for (int i = first; i < first + rows; i++, Y += m) {
        memset(Y, 0, sizeof *Y * (size_t)m);
        for (int64_t e = g->at[i]; e < g->at[i + 1]; e++) {
            const double *x = X + vh_row(g->to[e], m), w = g->w[e];
            for (int c = 0; c < m; c++)
                Y[c] += w * x[c];
        }
    }
}

/* w [at[n]]: the weights of D^-1/2 W D^-1/2. */
static void normalise(const vh_graph *g, double *w)
{
    for (int i = 0; i < g->n; i++)
        for (int64_t e = g->at[i]; e < g->at[i + 1]; e++)
            w[e] = g->w[e] / sqrt(g->degree[i] * g->degree[g->to[e]]);
}

/* X [n][k]: the rows of the eigenvectors V [k][n], of unit length or 0. */
static void make_points(const vh_graph *g, int k, const double *V, double *X)
{
    for (int i = 0; i < g->n; i++) {
        double *x = X + vh_row(i, k), length = 0;
        for (int c = 0; c < k; c++) {
            x[c] = V[vh_ij(c, g->n, i)];
            length += x[c] * x[c];
        }
        length = sqrt(length);
        for (int c = 0; c < k; c++)
            x[c] = g->degree[i] > 0 && length > TINY ? x[c] / length : 0;
    }
}

vhem_status vh_graph_embed(vhem_ctx *ctx, const vh_graph *g, int k, double *w, double *V, double *X)
{
    VH_AUTOFREE double *own_w = NULL, *own_V = NULL, *weight = NULL;
    vh_graph scaled = *g;

    VH_NEW(weight, g->at[g->n]);
    if (!w)
        VH_NEW(own_w, k);
    if (!V)
        VH_NEW(own_V, vh_cells(k, g->n));
    w = w ? w : own_w;
    V = V ? V : own_V;
    normalise(g, weight);
    scaled.w = weight;
    VH_TRY(vh_eigen_find(ctx, &(vh_operator){ g->n, 1, multiply_edges, &scaled }, k, w, V));
    vh_eigen_fix_signs(g->n, k, V);
    if (X)
        make_points(g, k, V, X);
    return VHEM_OK;
}

/* ---- 4. partition ------------------------------------------------------------------------------------ */

typedef struct {
    vh_points points;
    int K;
    uint64_t seed;
    int *label;     /* [runs][n] */
    double *spread; /* [runs] */
} partition_runs;

static void runs_free(partition_runs *r)
{
    free(r->label);
    free(r->spread);
}

static vhem_status run_kmeans(vhem_ctx *ctx, void *arg, int64_t r, int worker)
{
    const partition_runs *p = arg;
    VH_AUTOFREE double *centre = NULL;
    vh_rng rng;
    (void)worker;

    VH_NEW(centre, vh_cells(p->K, p->points.d));
    vh_kmeans_result found = { .centre = centre, .label = p->label + vh_row(r, p->points.n) };
    vh_rng_init(&rng, vh_rng_seed(p->seed, (uint64_t)r), VH_RNG_INIT, 0);
    VH_TRY(vh_kmeans(ctx, &rng, &p->points, p->K, ITERATIONS, &found));
    p->spread[r] = found.spread;
    return VHEM_OK;
}

vhem_status vh_graph_partition(vhem_ctx *ctx, const vh_graph *g, const double *V, int K, int runs,
                               uint64_t seed, int *label)
{
    VH_BLAS_SERIAL;
    VH_AUTOFREE double *X = NULL, *weight = NULL;
    VH_CLEANUP(runs_free) partition_runs p = { .K = K, .seed = seed };
    int best = 0;

    VH_NEW(X, vh_cells(g->n, K));
    VH_NEW(weight, g->n);
    VH_NEW(p.label, vh_cells(runs, g->n));
    VH_NEW(p.spread, runs);
    make_points(g, K, V, X);
    for (int i = 0; i < g->n; i++)
        weight[i] = g->degree[i] > 0; /* those without a place take no centre */
    p.points = (vh_points){ g->n, K, X, weight };
    VH_TRY(vh_map(ctx, &(vh_work){ .n = runs, .run = run_kmeans, .arg = &p }, NULL));
    for (int r = 1; r < runs; r++)
        best = p.spread[r] < p.spread[best] ? r : best;
    memcpy(label, p.label + vh_row(best, g->n), sizeof *label * (size_t)g->n);
    return VHEM_OK;
}
