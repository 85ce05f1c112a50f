/* SPDX-License-Identifier: BSD-3-Clause */
/* component_split_symbols.c - a distribution of symbols as the most likely ones, each by itself, and all
 * the rest together (component_split.h). With as many parts as symbols, a state of the refined HMM gives one
 * symbol. */
#include "emission/component_split.h"

#include <string.h>

static int parts(const vh_shape *shape, const vh_component_cut *p, int Q)
{
    int n = 0;
    for (int v = 0; v < shape->V && n < Q; v++)
        n += p->par[0][v] > 0;
    return n > 0 ? n : 1;
}

/* The symbol that q others are likelier than; of equal ones the first is likelier. */
static int ranked(const vh_shape *shape, const double *p, int q)
{
    for (int v = 0; v < shape->V; v++) {
        int before = 0;
        for (int u = 0; u < shape->V && before <= q; u++)
            before += p[u] > p[v] || (p[u] == p[v] && u < v);
        if (before == q)
            return v;
    }
    return 0;
}

static double part(const vh_shape *shape, const vh_component_cut *p, int q, double *const *par)
{
    double *to = par[0], share = 0;
    if (q + 1 < p->n) {
        int v = ranked(shape, p->par[0], q);
        share = to[v];
        memset(to, 0, sizeof *to * (size_t)shape->V);
        to[v] = 1;
        return share;
    }
    for (int k = 0; k + 1 < p->n; k++)
        to[ranked(shape, p->par[0], k)] = 0;
    for (int v = 0; v < shape->V; v++)
        share += to[v];
    for (int v = 0; v < shape->V; v++)
        to[v] /= share;
    return share;
}

const vh_splits vh_splits_symbols = { .parts = parts, .part = part };
