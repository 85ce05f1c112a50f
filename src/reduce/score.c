/* SPDX-License-Identifier: BSD-3-Clause */
/* score.c - see score.h. */
#include "reduce/score.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "core/parallel.h"
#include "math/blas.h"
#include "model/shared_columns.h"
#include "model/missing_columns.h"
#include "reduce/base.h"

#include <string.h>

enum {
    COLUMNS = 64, /* reduced HMMs that are scored together when there are few base HMMs */
    FEW = 4096,   /* base HMMs: no more than that have too few chunks to keep all threads busy */
};

typedef struct {
    vhem_ctx *ctx;
    const vh_base *base;
    const vh_h3m *reduced;
    int tau;
    int64_t columns; /* reduced HMMs of a part */
    vh_scratch *scratch;
    double *L;      /* [Kb][Kr] */
    vhem_status st; /* of the first part that failed; its number */
    int64_t failed;
} scoring;

/* Some of the reduced HMMs: so many columns of L from column `first` on. */
static vhem_status score_part(vhem_ctx *ctx, const scoring *x, int64_t first)
{
    vhem_status st = VHEM_OK;
    int64_t Kb = x->base->Kb, Kr = x->reduced->K, n = Kr - first < x->columns ? Kr - first : x->columns;
    VH_AUTOFREE int64_t *index = NULL;
    VH_AUTOFREE double *own = NULL;
    VH_OWN(vh_packed) *pk = NULL;

    VH_NEW(index, n);
    if (n < Kr)
        VH_NEW(own, vh_cells(Kb, n));
    for (int64_t j = 0; j < n; j++)
        index[j] = first + j;
    VH_TRY(vh_base_pack_centers(ctx, x->base, x->reduced, index, n, &pk));
    VH_TRY(vh_pack_update(ctx, x->reduced, index, pk));
    const vh_reduce_step step = { .reduced = pk, .tau = x->tau, .L = own ? own : x->L };
    st = vh_reduce_run(ctx, x->base->job, &step, x->scratch, ctx->threads, true, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped before all models were scored");
    VH_TRY(st);
    for (int64_t i = 0; own && i < Kb; i++)
        memcpy(x->L + vh_ij(i, Kr, first), own + vh_row(i, n), sizeof *own * (size_t)n);
    return VHEM_OK;
}

static void score_turn(void *arg, int64_t k, int worker)
{
    scoring *x = arg;
    vhem_ctx own;
    (void)worker;
    vh_ctx_member(x->ctx, &own);
    vhem_status st = score_part(&own, x, k * x->columns);
    if (st == VHEM_OK)
        return;
#pragma omp critical(vh_reduce_score)
    if (k < x->failed) {
        x->failed = k;
        x->st = vh_fail(x->ctx, st, "%s", own.error);
    }
}

vhem_status vh_reduce_score_each(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *reduced, int tau, double *L)
{
    VH_BLAS_SERIAL;
    vh_h3m seen = *h3m;
    int threads = ctx->threads;
    int64_t columns = h3m->K <= FEW ? COLUMNS : reduced->K;
    int64_t parts = (reduced->K + columns - 1) / columns;
    VH_OWN(vh_base) *base = NULL;
    VH_CLEANUP(vh_workers_free) vh_workers workers = { 0 };

    VH_TRY(vh_workers_new(ctx, threads, &workers));
    if (vh_h3m_lacks_columns(reduced) && vh_family_same(h3m->family, reduced->family))
        seen.family = reduced->family; /* whose statistics know of columns that are not there */
    VH_TRY(vh_base_new(ctx, &seen, &base));
    scoring x = { .ctx = ctx,
                  .base = base,
                  .reduced = reduced,
                  .tau = tau,
                  .columns = columns,
                  .scratch = workers.scratch,
                  .L = L,
                  .failed = parts };
    vh_parallel(ctx, &(vh_loop){ parts, threads, false, score_turn, &x });
    return x.st;
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
