/* SPDX-License-Identifier: BSD-3-Clause */
/* agglomerate.c - agglomerative clustering.  The distance of two clusters is the mean (average), the largest
 * (complete) or the smallest (single) distance between their items.
 *
 * Distances after a merge of i and j follow from the old ones (Lance and Williams 1967), and in all three
 * linkages a merge never moves a cluster closer than its parts were.  So mutual nearest neighbours stay so
 * whatever else is merged, and merges can be made in any order: a chain of nearest neighbours ends in such a
 * pair (Benzecri 1982, Murtagh 1983), in O(n^2) in total.  To cut the tree at k clusters, all merges are made
 * and sorted by distance, and the first n - k are kept. */
#include "math/agglomerate.h"

#include "core/alloc.h"
#include "core/array2.h"

#include <math.h>
#include <string.h>

typedef struct {
    double distance;
    int a, b, order; /* an item of each side; order of discovery breaks ties */
} merge;

typedef struct {
    int n;
    double *D;      /* [n][n] of clusters, indexed by one of their items */
    double *weight; /* [n]  0: merged into another */
    double *height; /* [n]  distance of its last merge */
    vh_linkage linkage;
    int *chain;    /* [n] */
    merge *merges; /* [n-1] */
} tree;

static void tree_free(tree *t)
{
    free(t->D);
    free(t->weight);
    free(t->height);
    free(t->chain);
    free(t->merges);
}

static double *at(const tree *t, int i, int j)
{
    return &t->D[vh_ij(i, t->n, j)];
}

/* Distance from c to the union of a and b. */
static double joined(const tree *t, int a, int b, int c)
{
    double x = *at(t, a, c), y = *at(t, b, c);
    if (t->linkage == VH_LINK_COMPLETE)
        return fmax(x, y);
    if (t->linkage == VH_LINK_SINGLE)
        return fmin(x, y);
    return (t->weight[a] * x + t->weight[b] * y) / (t->weight[a] + t->weight[b]);
}

/* Merges b into a. */
static void merge_groups(tree *t, int a, int b)
{
    for (int c = 0; c < t->n; c++)
        if (c != a && c != b && t->weight[c] > 0)
            *at(t, a, c) = *at(t, c, a) = joined(t, a, b, c);
    t->weight[a] += t->weight[b];
    t->weight[b] = 0;
}

/* The nearest neighbour of i; ties go to the cluster before it in the chain, else to the first. */
static int nearest(const tree *t, int i, int before)
{
    int best = before;
    for (int j = 0; j < t->n; j++)
        if (j != i && t->weight[j] > 0 && (best < 0 || *at(t, i, j) < *at(t, i, best)))
            best = j;
    return best;
}

static vhem_status grow_tree(vhem_ctx *ctx, tree *t)
{
    int length = 0, first = 0;
    for (int made = 0; made < t->n - 1;) {
        VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped while clusters were merged");
        while (t->weight[first] <= 0)
            first++;
        if (length == 0)
            t->chain[length++] = first;
        int i = t->chain[length - 1], before = length > 1 ? t->chain[length - 2] : -1;
        int j = nearest(t, i, before);
        if (j != before) {
            t->chain[length++] = j;
            continue;
        }
        int a = i < j ? i : j, b = i < j ? j : i;
        /* Rounding must not put a merge below its parts. */
        t->height[a] = fmax(*at(t, a, b), fmax(t->height[a], t->height[b]));
        t->merges[made] = (merge){ t->height[a], a, b, made };
        made++;
        merge_groups(t, a, b);
        length -= 2;
    }
    return VHEM_OK;
}

static int by_distance(const void *x, const void *y)
{
    const merge *p = x, *q = y;
    if (p->distance != q->distance)
        return p->distance < q->distance ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static int find_root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Computes label [n] after the first n - k merges; parent [n] is working memory. */
static void cut_tree(const tree *t, int k, int *parent, int *label)
{
    int next = 0;
    for (int i = 0; i < t->n; i++)
        parent[i] = i;
    for (int m = 0; m < t->n - k; m++) {
        int a = find_root(parent, t->merges[m].a), b = find_root(parent, t->merges[m].b);
        parent[a > b ? a : b] = a > b ? b : a; /* the root is the first item */
    }
    for (int i = 0; i < t->n; i++) {
        int r = find_root(parent, i);
        label[i] = r == i ? next++ : label[r];
    }
}

/* Reduces D [n][n] to [k][k]: the distances after the first n - k merges; parent [n] is working memory. */
static void reduce(tree *t, int k, const double *weight, int *parent, double *D)
{
    int n = t->n;
    t->D = D;
    memcpy(t->weight, weight, sizeof *weight * (size_t)n);
    for (int i = 0; i < n; i++)
        parent[i] = i;
    for (int m = 0; m < n - k; m++) {
        int a = find_root(parent, t->merges[m].a), b = find_root(parent, t->merges[m].b),
            keep = a < b ? a : b;
        merge_groups(t, keep, a < b ? b : a);
        parent[a > b ? a : b] = keep;
    }
    double *next = D; /* never overtakes the reads */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n && t->weight[i] > 0; j++)
            if (t->weight[j] > 0)
                *next++ = *at(t, i, j);
}

vhem_status vh_agglomerate(vhem_ctx *ctx, int n, const double *weight, vh_linkage linkage, int k, double *D,
                           int *label)
{
    VH_CLEANUP(tree_free) tree t = { .n = n, .linkage = linkage };
    VH_AUTOFREE int *parent = NULL;

    VH_NEW(t.D, vh_cells(n, n));
    VH_NEW(t.weight, n);
    VH_NEW(t.height, n);
    VH_NEW(t.chain, n);
    VH_NEW(t.merges, n);
    VH_NEW(parent, n);
    memcpy(t.D, D, sizeof *D * vh_cells(n, n));
    memcpy(t.weight, weight, sizeof *weight * (size_t)n);
    for (int i = 0; i < n; i++)
        t.height[i] = -INFINITY;
    VH_TRY(grow_tree(ctx, &t));
    qsort(t.merges, (size_t)(n - 1), sizeof *t.merges, by_distance);
    cut_tree(&t, k, parent, label);
    free(vh_take(t.D));
    reduce(&t, k, weight, parent, D);
    t.D = NULL; /* D belongs to the caller */
    return VHEM_OK;
}
