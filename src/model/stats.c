/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - see stats.h. */
#include "model/stats.h"

#include "core/alloc.h"

#include <string.h>

vhem_status vh_stats_new(vhem_ctx *ctx, const vh_packed *pk, vh_stats *out)
{
    vhem_status st = VHEM_OK;
    vh_stats s = { 0 };
    size_t n_comp = (size_t)pk->n_comp, n_stat = (size_t)pk->n_stat;

    s.size = (size_t)pk->K + (size_t)pk->n_state + pk->n_trans + n_comp * n_stat;
    VH_NEW(s.block, s.size);
    s.loglik = s.block;
    s.nu1 = s.loglik + pk->K;
    s.xi = s.nu1 + pk->n_state;
    s.T = s.xi + pk->n_trans;
    *out = s;
done:
    return st;
}

void vh_stats_zero(vh_stats *stats)
{
    memset(stats->block, 0, sizeof *stats->block * stats->size);
}

void vh_stats_add(vh_stats *sum, const vh_stats *term)
{
    for (size_t i = 0; i < sum->size; i++)
        sum->block[i] += term->block[i];
}

void vh_stats_free(vh_stats *stats)
{
    free(stats->block);
    *stats = (vh_stats){ 0 };
}
