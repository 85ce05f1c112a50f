/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - see topology.h. */
#include "hmm/topology.h"

#include "core/alloc.h"
#include "core/array2.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;
    bool ordered;
    bool (*allowed)(int s, int q);
} named_topology;

static bool any(int s, int q)
{
    (void)s;
    (void)q;
    return true;
}
static bool forward(int s, int q)
{
    return q >= s;
}
static bool next(int s, int q)
{
    return q == s || q == s + 1;
}

static const named_topology table[] = {
    { "free", false, any },
    { "left-right", true, forward },
    { "linear", true, next },
};
enum { N_NAMED = sizeof table / sizeof table[0] };

/* Fails unless the fixed entries sum to less than one, or to one if no entry is free. */
static vhem_status check_row(vhem_ctx *ctx, int n, const double *row, const char *what, int s)
{
    double sum = 0;
    int n_free = 0;
    char name[32];
    if (s < 0)
        snprintf(name, sizeof name, "%s", what);
    else
        snprintf(name, sizeof name, "row %d of %s", s, what);
    for (int q = 0; q < n; q++) {
        n_free += isnan(row[q]);
        if (!isnan(row[q]) && !(row[q] >= 0 && row[q] <= 1))
            return vh_fail(ctx, VHEM_EINVAL, "topology: %s has the entry %g, must be from 0 to 1 or free",
                           name, row[q]);
        sum += isnan(row[q]) ? 0 : row[q];
    }
    if (n_free == 0 && fabs(sum - 1) > 1e-6)
        return vh_fail(ctx, VHEM_EINVAL, "topology: %s has no free entry and sums to %g, must be 1", name,
                       sum);
    if (n_free > 0 && sum > 1 - 1e-12)
        return vh_fail(ctx, VHEM_EINVAL,
                       "topology: the fixed entries of %s sum to %g, which leaves nothing for the free ones",
                       name, sum);
    return VHEM_OK;
}

static void fix_zeros(size_t n, const double *start, double *fixed)
{
    for (size_t i = 0; i < n; i++)
        if (start[i] == 0 && isnan(fixed[i]))
            fixed[i] = 0;
}

vhem_status vh_topology_new(vhem_ctx *ctx, const vhem_fit_options *opt, int S, const vh_hmm *start,
                            vh_topology *out)
{
    const named_topology *named = NULL;
    VH_CLEANUP(vh_topology_free) vh_topology t = { .S = S };

    for (int i = 0; i < N_NAMED && !named; i++)
        if (strcmp(opt->topology, table[i].name) == 0)
            named = &table[i];
    VH_CHECK(named, VHEM_EINVAL, "topology '%s' is unknown; known are free, left-right, linear",
             opt->topology);
    t.ordered = named->ordered;
    VH_NEW(t.pi, S);
    VH_NEW(t.A, vh_cells(S, S));
    for (int s = 0; s < S; s++) {
        t.pi[s] = !named->ordered ? NAN : s == 0;
        for (int q = 0; q < S; q++)
            t.A[s * S + q] = named->allowed(s, q) ? NAN : 0;
    }
    if (opt->fixed_pi)
        memcpy(t.pi, opt->fixed_pi, sizeof *t.pi * (size_t)S);
    if (opt->fixed_A)
        memcpy(t.A, opt->fixed_A, sizeof *t.A * vh_cells(S, S));
    if (start) {
        fix_zeros((size_t)S, start->pi, t.pi);
        fix_zeros(vh_cells(S, S), start->A, t.A);
    }
    VH_TRY(check_row(ctx, S, t.pi, "pi", -1));
    for (int s = 0; s < S; s++)
        VH_TRY(check_row(ctx, S, t.A + vh_row(s, S), "A", s));
    *out = t;
    t = (vh_topology){ 0 };
    return VHEM_OK;
}

void vh_topology_free(vh_topology *topo)
{
    free(topo->pi);
    free(topo->A);
    *topo = (vh_topology){ 0 };
}
