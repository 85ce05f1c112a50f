/* SPDX-License-Identifier: BSD-3-Clause */
/* score.c - L_hmm between two sets of HMMs, for itself: nothing is assigned or learned. */
#include "core/alloc.h"
#include "math/linalg.h"
#include "reduce/estep.h"

#include <omp.h>
#include <string.h>

enum { BLOCK = 64 };

/* One block of the packed base set; table [BLOCK][Kr] is the thread's own. */
static vhem_status score_block(vhem_ctx *ctx, const vh_base *base, const vh_estep *es, int block,
                               vh_scratch *scratch, double *table, double *L)
{
    vhem_status st = VHEM_OK;
    int first = block * BLOCK, n = base->Kb - first < BLOCK ? base->Kb - first : BLOCK;
    size_t Kr = (size_t)es->reduced->K;

    VH_TRY(ctx->backend->score(ctx, es, first, n, scratch, table));
    for (int p = 0; p < n; p++)
        memcpy(L + (size_t)base->order[first + p] * Kr, table + (size_t)p * Kr, sizeof *L * Kr);
done:
    return st;
}

vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *reduced, int tau, double *L)
{
    vhem_status st = VHEM_OK, *each = NULL;
    int threads = ctx->threads;
    size_t table = (size_t)BLOCK * (size_t)reduced->K;
    vh_base *base = NULL;
    vh_packed *pk = NULL;
    vh_scratch *scratch = NULL;
    double *tables = NULL;

    vh_blas_enter();
    VH_NEW(each, threads);
    VH_NEW(scratch, threads);
    VH_NEW(tables, table * (size_t)threads);
    VH_TRY(vh_base_new(ctx, h3m, &base));
    VH_TRY(vh_pack_new(ctx, reduced, NULL, reduced->K, base->origin, base->scale, &pk));
    VH_TRY(vh_pack_update(ctx, reduced, NULL, pk));
    const vh_estep es = { .base = base->packed, .reduced = pk, .tau = tau };
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads) if (threads > 1)
    for (int b = 0; b < (base->Kb + BLOCK - 1) / BLOCK; b++) {
        int me = omp_get_thread_num();
        if (each[me] == VHEM_OK && !vh_stopped(ctx))
            each[me] = score_block(ctx, base, &es, b, &scratch[me], tables + table * (size_t)me, L);
    }
    for (int t = 0; t < threads; t++)
        VH_TRY(each[t]);
    VH_CHECK(!vh_stopped(ctx), VHEM_ESTOPPED, "stopped before all models were scored");
done:
    for (int t = 0; scratch && t < threads; t++)
        vh_scratch_free(&scratch[t]);
    free(scratch);
    free(each);
    free(tables);
    vh_pack_free(pk);
    vh_base_free(base);
    vh_blas_leave();
    return st;
}
