/* SPDX-License-Identifier: BSD-3-Clause */
/* bounds.c - see bounds.h. */
#include "vhem/bounds.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/map.h"
#include "math/blas.h"
#include "hmm/shared_columns.h"
#include "hmm/missing_columns.h"
#include "vhem/base.h"

#include <string.h>

enum {
    COLUMNS = 64, /* reduced HMMs scored together when there are few base HMMs */
    FEW = 4096,   /* base HMMs: up to this many, there are too few chunks to keep all threads busy */
};

typedef struct {
    const vh_base *base;
    const vh_h3m *reduced;
    int tau;
    int64_t columns; /* reduced HMMs per part */
    const vh_workers *workers;
    double *L; /* [Kb][Kr] */
} scoring;

/* Scores one part of the reduced HMMs: the columns of L from `first` on. */
static vhem_status score_part(vhem_ctx *ctx, void *arg, int64_t part, int worker)
{
    const scoring *x = arg;
    int64_t first = part * x->columns;
    int64_t Kb = x->base->Kb, Kr = x->reduced->K, n = Kr - first < x->columns ? Kr - first : x->columns;
    VH_AUTOFREE int64_t *index = NULL;
    VH_AUTOFREE double *own = NULL;
    VH_OWN(vh_packed) *pk = NULL;

    (void)worker;
    VH_NEW(index, n);
    if (n < Kr)
        VH_NEW(own, vh_cells(Kb, n));
    for (int64_t j = 0; j < n; j++)
        index[j] = first + j;
    VH_TRY(vh_base_pack_centers(ctx, x->base, x->reduced, index, n, &pk));
    VH_TRY(vh_pack_update(ctx, x->reduced, index, pk));
    const vh_reduce_step step = { .reduced = pk, .tau = x->tau, .L = own ? own : x->L };
    VH_TRY(vh_reduce_run(ctx, x->base->opened, &step, x->workers, true, NULL));
    for (int64_t i = 0; own && i < Kb; i++)
        memcpy(x->L + vh_ij(i, Kr, first), own + vh_row(i, n), sizeof *own * (size_t)n);
    return VHEM_OK;
}

vhem_status vh_reduce_score_each(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *reduced, int tau, double *L)
{
    VH_BLAS_SERIAL;
    vh_h3m seen = *h3m;
    int64_t columns = h3m->K <= FEW ? COLUMNS : reduced->K;
    int64_t parts = (reduced->K + columns - 1) / columns;
    VH_OWN(vh_base) *base = NULL;
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };

    VH_TRY(vh_workers_new(ctx, ctx->threads, &workers));
    if (vh_h3m_lacks_columns(reduced) && vh_family_same(h3m->family, reduced->family))
        seen.family = reduced->family; /* its statistics handle missing columns */
    VH_TRY(vh_base_new(ctx, &seen, &base));
    scoring x = { base, reduced, tau, columns, &workers, L };
    const vh_work work = { .n = parts, .nested = true, .run = score_part, .arg = &x };
    vhem_status st = vh_map(ctx, &work, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, st, "stopped before all models were scored");
    return st;
}

vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *reduced, int tau, double *L)
{
    vh_h3m *copy = NULL;
    vhem_status st = vh_h3m_shared_columns(ctx, reduced, &copy, &reduced);
    if (st == VHEM_OK)
        st = vh_reduce_score_each(ctx, h3m, reduced, tau, L);
    vh_h3m_free(copy);
    return st;
}
