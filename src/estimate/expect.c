/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.c - see expect.h. */
#include "estimate/expect.h"

#include <string.h>

vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                      vh_workers *workers, double *loglik, vh_stats *total)
{
    vhem_status st = VHEM_OK;
    const vh_sequences in = {
        .data = data, .seq = seq, .n = n, .family = pk->family, .x = pk->x, .workers = workers
    };
    const vh_seq_step step = { .pk = pk, .statistics = total != NULL };
    vh_seq_job *job = NULL;
    vh_seq_sums sums = { 0 };

    VH_TRY(vh_sequences_open(ctx, &in, &job));
    VH_TRY(vh_seq_sums_new(ctx, pk, 0, &sums));
    sums.loglik = loglik;
    VH_TRY(vh_sequences_expect(ctx, job, &step, &sums));
    if (total)
        memcpy(total->block, sums.stats.block, sizeof *total->block * total->size);
done:
    vh_sequences_close(job);
    vh_seq_sums_free(&sums);
    return st;
}
