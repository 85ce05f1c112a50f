/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.c - see expect.h. */
#include "fit/expect.h"

#include <string.h>

vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vh_sequences *in, double *loglik,
                      vh_stats *total)
{
    vh_sequences own = *in;
    const vh_seq_step step = { .pk = pk, .statistics = total != NULL };
    VH_OWN(vh_seq_job) *job = NULL;
    VH_CLEANUP(vh_seq_sums_free) vh_seq_sums sums = { 0 };

    own.family = pk->family;
    own.x = pk->x;
    VH_TRY(vh_sequences_open(ctx, &own, &job));
    VH_TRY(vh_seq_sums_new(ctx, pk, 0, &sums));
    sums.loglik = loglik;
    VH_TRY(vh_sequences_run(ctx, job, &step, &sums));
    if (total)
        memcpy(total->block, sums.stats.block, sizeof *total->block * total->size);
    return VHEM_OK;
}
