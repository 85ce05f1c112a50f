/* SPDX-License-Identifier: BSD-3-Clause */
/* score.c - see score.h. */
#include "reduce/score.h"

#include "core/alloc.h"
#include "math/linalg.h"
#include "reduce/base.h"

vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *h3m, const vh_h3m *reduced, int tau, double *L)
{
    vhem_status st = VHEM_OK;
    int threads = ctx->threads;
    vh_base *base = NULL;
    vh_packed *pk = NULL;
    vh_scratch *scratch = NULL;

    vh_blas_enter();
    VH_NEW(scratch, threads);
    VH_TRY(vh_base_new(ctx, h3m, &base));
    VH_TRY(vh_pack_new(ctx, reduced, NULL, reduced->K, base->origin, base->scale, &pk));
    VH_TRY(vh_pack_update(ctx, reduced, NULL, pk));
    const vh_reduce_step step = { .reduced = pk, .tau = tau, .L = L };
    st = vh_reduce_run(ctx, base->job, &step, scratch, threads, true, NULL);
    VH_CHECK(st != VHEM_ESTOPPED, VHEM_ESTOPPED, "stopped before all models were scored");
done:
    for (int t = 0; scratch && t < threads; t++)
        vh_scratch_free(&scratch[t]);
    free(scratch);
    vh_pack_free(pk);
    vh_base_free(base);
    vh_blas_leave();
    return st;
}
