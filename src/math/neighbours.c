/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours.c - see neighbours.h.
 *
 * An edge joins two items if either is among the k nearest of the other.  Unlike a kernel of one width, such
 * a graph connects tight and loose groups equally well.
 *
 *   Q = sum_c ( e_c / m - (g_c / 2m)^2 )
 *
 * with m edges in all, e_c inside part c, and g_c the sum of the degrees of its members. */
#include "math/neighbours.h"

#include "core/alloc.h"
#include "core/array2.h"

#include <math.h>

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

/* True if j is among the neighbours of i. */
static bool is_near(int k, const int *near, int i, int j)
{
    for (int e = 0; e < k; e++)
        if (near[vh_ij(i, k, e)] == j)
            return true;
    return false;
}

vhem_status vh_modularity(vhem_ctx *ctx, int n, int k, const int *near, const int *label, double *out)
{
    int parts = 0;
    VH_AUTOFREE double *degree = NULL;
    double m = 0, inside = 0, chance = 0;

    for (int i = 0; i < n; i++)
        parts = label[i] >= parts ? label[i] + 1 : parts;
    VH_NEW(degree, parts);
    for (int i = 0; i < n; i++)
        for (int e = 0; e < k; e++) {
            int j = near[vh_ij(i, k, e)];
            if (j < i && is_near(k, near, j, i)) /* counted from the other side */
                continue;
            m++;
            inside += label[i] == label[j];
            degree[label[i]]++;
            degree[label[j]]++;
        }
    for (int c = 0; m > 0 && c < parts; c++)
        chance += degree[c] / (2 * m) * (degree[c] / (2 * m));
    *out = m > 0 ? inside / m - chance : 0;
    return VHEM_OK;
}
