/* SPDX-License-Identifier: BSD-3-Clause */
/* base_lanes.c - see base_lanes.h. */
#include "simd/base_lanes.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "os/system.h"

#include <string.h>

/* Number of base HMMs, starting at `first`, that have the same shape and fit in one load. */
static int lanes_size(const vh_packed *b, int first)
{
    int n = 1;
    while (n < VH_LOAD && first + n < b->K && b->S[first + n] == b->S[first]
           && b->M[first + n] == b->M[first])
        n++;
    return n;
}

static vh_base_lanes shape_lanes(const vh_packed *b, int first)
{
    vh_base_lanes x = { .first = first, .n = lanes_size(b, first), .Sb = b->S[first], .Mb = b->M[first] };
    x.groups = (x.n + VH_LANES - 1) / VH_LANES;
    x.cols = x.Sb * x.Mb * VH_LANES;
    return x;
}

/* Number of doubles needed, rounded up to whole vectors. */
static size_t room_for(const vh_base_lanes *x, int n_stat)
{
    size_t all = (size_t)(x->groups * (x->Sb + x->Sb * x->Sb + x->Sb * x->Mb)) * VH_LANES
                 + vh_row(x->groups * x->cols, n_stat);
    return (all + VH_LANES - 1) / VH_LANES * VH_LANES;
}

static void fill_lanes(const vh_packed *b, vh_base_lanes *x, double *memory)
{
    int Sb = x->Sb, C = x->Sb * x->Mb;
    size_t n_stat = (size_t)b->n_stat;
    vec *pi = (vec *)memory, *A = pi + x->groups * Sb, *c = A + x->groups * Sb * Sb;
    double *T = (double *)(c + x->groups * C);
    for (int k = 0; k < x->groups * VH_LANES; k++) {
        int q = k / VH_LANES, l = k % VH_LANES, i = x->first + (k < x->n ? k : q * VH_LANES);
        for (int s = 0; s < Sb; s++)
            pi[q * Sb + s][l] = b->pi[b->state0[i] + s];
        for (int e = 0; e < Sb * Sb; e++)
            A[q * Sb * Sb + e][l] = b->A[b->trans0[i] + (size_t)e];
        for (int m = 0; m < C; m++) {
            c[q * C + m][l] = b->c[b->comp0[i] + m];
            memcpy(T + (size_t)(q * x->cols + m * VH_LANES + l) * n_stat,
                   b->mean + (size_t)(b->comp0[i] + m) * n_stat, sizeof *T * n_stat);
        }
    }
    x->pi = pi;
    x->A = A;
    x->c = c;
    x->T = T;
}

VH_OWNED(vh_prepared_base, VH_NAME(vh_simd_reduce_release))

vhem_status VH_NAME(vh_simd_reduce_prepare)(vhem_ctx *ctx, const vh_packed *base, void **out)
{
    VH_OWN(vh_prepared_base) *prepared = NULL;
    size_t size = 0;

    VH_NEW(prepared, 1);
    VH_NEW(prepared->load, base->K);
    for (int i = 0; i < base->K; i += prepared->load[prepared->n++].n) {
        prepared->load[prepared->n] = shape_lanes(base, i);
        size += room_for(&prepared->load[prepared->n], base->n_stat);
    }
    prepared->memory = vh_memory_aligned(size * sizeof(double));
    VH_CHECK(prepared->memory, VHEM_ENOMEM, "no memory for %zu bytes of base models", size * sizeof(double));
    double *at = prepared->memory;
    for (int q = 0; q < prepared->n; q++) {
        fill_lanes(base, &prepared->load[q], at);
        at += room_for(&prepared->load[q], base->n_stat);
    }
    *out = vh_take(prepared);
    return VHEM_OK;
}

void VH_NAME(vh_simd_reduce_release)(void *prepared)
{
    vh_prepared_base *x = prepared;
    if (!x)
        return;
    free(x->memory);
    free(x->load);
    free(x);
}
