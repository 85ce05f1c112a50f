/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.c - see neighbours.h.  By mutual rank both items count, and of distances only their order,
 * so that tight and loose groups have lists of the same kind. */
#include "math/neighbours.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/order.h"
#include "parallel/parallel.h"

#include <math.h>
#include <string.h>

void vh_neighbours_of(int n, const double *d, int self, int k, int *near)
{
    int found = 0;
    for (int j = 0; j < n; j++) {
        if (j == self || (found == k && !(d[j] < d[near[k - 1]])))
            continue;
        int at = found < k ? found++ : k - 1;
        for (; at > 0 && d[j] < d[near[at - 1]]; at--)
            near[at] = near[at - 1];
        near[at] = j;
    }
}

void vh_neighbours(int n, const double *D, int k, int *near)
{
    for (int i = 0; i < n; i++)
        vh_neighbours_of(n, D + vh_row(i, n), i, k, near + vh_row(i, k));
}

void vh_neighbours_affinity(int n, int k, const int *near, double *log_A)
{
    for (size_t p = 0; p < vh_cells(n, n); p++)
        log_A[p] = -INFINITY;
    for (size_t i = 0; i < (size_t)n; i++)
        for (int e = 0; e < k; e++) {
            size_t j = (size_t)near[i * (size_t)k + (size_t)e];
            log_A[i * (size_t)n + j] = log_A[j * (size_t)n + i] = 0;
        }
}

/* ---- by mutual rank ------------------------------------------------------------------------------------ */

typedef struct {
    int n, k;
    const double *D;
    int *rank;     /* [n][n]  of j for i, then the sums of both; the diagonal is not used */
    int *near;     /* [n][k] */
    uint64_t *key; /* [threads][2][n]  for vh_order */
    int *order;    /* [threads][2][n] */
    double *d;     /* [threads][n]  distances of some items, both ways, */
    int *which;    /* [threads][n]  and these items */
    int *count;    /* [threads][2][n]  of items with each sum of ranks */
} mutual_ranks;

static void mutual_free(mutual_ranks *m)
{
    free(m->rank);
    free(m->near);
    free(m->key);
    free(m->order);
    free(m->d);
    free(m->which);
    free(m->count);
}

static void rank_others(void *arg, int64_t i, int worker)
{
    const mutual_ranks *m = arg;
    int *rank = m->rank + vh_row(i, m->n), *order = m->order + 2 * vh_row(worker, m->n), place = 0;
    vh_order((size_t)m->n, m->D + vh_row(i, m->n), m->key + 2 * vh_row(worker, m->n), order);
    for (int e = 0; e < m->n; e++)
        if (order[e] != i)
            rank[order[e]] = place++;
}

enum { TILE = 32 }; /* rows and columns whose cells stay in the cache */

/* Replaces the ranks in the rows of a tile, right of the diagonal, and those opposite by their sums. */
static void add_opposite(void *arg, int64_t tile, int worker)
{
    const mutual_ranks *m = arg;
    int n = m->n, first = (int)tile * TILE, end = first + TILE < n ? first + TILE : n;
    (void)worker;
    for (int from = first; from < n; from += TILE)
        for (int i = first; i < end; i++)
            for (int j = from > i ? from : i + 1; j < from + TILE && j < n; j++) {
                int *a = &m->rank[vh_ij(i, n, j)], *b = &m->rank[vh_ij(j, n, i)];
                *a = *b = *a + *b;
            }
}

/* Counts the items with each sum of ranks with item i, and turns the counts into the places where these
 * items begin in the order of sums, up to the sum of the k-th, which is returned. */
static int count_sums(const mutual_ranks *m, int64_t i, int *count)
{
    const int *rank = m->rank + vh_row(i, m->n);
    int last = -1, found = 0;
    memset(count, 0, 2 * sizeof *count * (size_t)m->n);
    for (int j = 0; j < m->n; j++)
        count[j == i ? 2 * m->n - 1 : rank[j]]++; /* itself at the end, which no sum reaches */
    while (found < m->k && last + 1 < 2 * m->n - 1) {
        int here = count[++last];
        count[last] = found;
        found += here;
    }
    return last;
}

/* Items in the order of distances are put into places by the sum of ranks. */
static void choose_nearest(void *arg, int64_t i, int worker)
{
    const mutual_ranks *m = arg;
    int n = m->n, found = 0, *which = m->which + vh_row(worker, n), *place = m->count + 2 * vh_row(worker, n);
    int last = count_sums(m, i, place), *order = m->order + 2 * vh_row(worker, n);
    int *near = m->near + vh_row(i, m->k);
    const int *rank = m->rank + vh_row(i, n);
    double *d = m->d + vh_row(worker, n);

    for (int j = 0; j < n; j++)
        if (j != i && rank[j] <= last) {
            d[found] = m->D[vh_ij(i, n, j)] + m->D[vh_ij(j, n, i)];
            which[found++] = j;
        }
    vh_order((size_t)found, d, m->key + 2 * vh_row(worker, n), order);
    for (int e = 0; e < found; e++) {
        int j = which[order[e]], at = place[rank[j]]++;
        if (at < m->k)
            near[at] = j;
    }
    for (int e = found; e < m->k; e++)
        near[e] = -1;
}

vhem_status vh_near_mutual(vhem_ctx *ctx, int n, const double *D, int k, vh_near *out)
{
    VH_CLEANUP(mutual_free) mutual_ranks m = { .n = n, .k = k, .D = D };
    int threads = ctx->threads;

    VH_NEW(m.rank, vh_cells(n, n));
    VH_NEW(m.near, vh_cells(n, k));
    VH_NEW(m.key, 2 * vh_cells(threads, n));
    VH_NEW(m.order, 2 * vh_cells(threads, n));
    VH_NEW(m.d, vh_cells(threads, n));
    VH_NEW(m.which, vh_cells(threads, n));
    VH_NEW(m.count, 2 * vh_cells(threads, n));
    vh_parallel(ctx, n, threads, true, rank_others, &m);
    vh_parallel(ctx, (n + TILE - 1) / TILE, threads, true, add_opposite, &m);
    vh_parallel(ctx, n, threads, true, choose_nearest, &m);
    *out = (vh_near){ n, k, vh_take(m.near) };
    return VHEM_OK;
}

void vh_near_free(vh_near *near)
{
    free(near->near);
    *near = (vh_near){ 0 };
}
