/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - the variational E-step.  Paper, Section 3.3: z_ij ~ omega_j exp(N_i L_ij),
 * J = sum_i log sum_j omega_j exp(N_i L_ij), N_i = N omega_i.
 *
 * z_i needs row i of L alone, so a block of base HMMs is scored, assigned and accumulated before the next.
 * Blocks and the order in which their sums are added are the same whatever the number of threads. */
#include "reduce/estep.h"

#include "core/alloc.h"
#include "math/logsum.h"
#include "math/scaled.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { BLOCK = VH_ESTEP_BLOCK, SLOTS = 16 };

typedef struct {              /* sums of a run of blocks */
    double J, *sum_z, *scale; /* [Kr] [Kr]  sum of z at the scale of each cluster */
    int64_t used;             /* pairs with weight */
    vh_stats stats;
    vhem_status st;
} slot;

double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *log_z)
{
    for (int j = 0; j < Kr; j++)
        log_z[j] = log_omega[j] + (Ni > 0 ? Ni * L[j] : 0);
    return vh_log_softmax(Kr, log_z);
}

static vhem_status run_block(vhem_ctx *ctx, const vh_base *base, const vh_estep *es, const double *log_omega,
                             double N, int first, int n, vh_scratch *scratch, double *L, double *w,
                             const vh_assignment *out, slot *s)
{
    vhem_status st = VHEM_OK;
    int Kr = es->reduced->K;

    VH_TRY(ctx->backend->score(ctx, es, first, n, scratch, L));
    for (int p = 0; p < n; p++) {
        int i = base->order[first + p];
        double omega = base->h3m->omega[i], log_weight = log(omega);
        double *log_z = w + (size_t)p * (size_t)Kr;
        s->J += vh_reduce_assign(Kr, log_omega, N * omega, L + (size_t)p * (size_t)Kr, log_z);
        for (int j = 0; j < Kr; j++) {
            out->z[(size_t)i * (size_t)Kr + (size_t)j] = exp(log_z[j]);
            vh_scaled_add(&s->sum_z[j], &s->scale[j],
                          log_z[j] + (out->weighted ? log(base->Kb) + log_weight : 0));
            log_z[j] += log_weight;
        }
        if (out->L)
            memcpy(out->L + (size_t)i * (size_t)Kr, L + (size_t)p * (size_t)Kr, sizeof *L * (size_t)Kr);
    }
    VH_CHECK(!isnan(s->J), VHEM_ENUMERIC, "the objective is not a number");
    if (out->stats) {
        s->used += vh_stats_weigh(es->reduced, &s->stats, n, w);
        VH_TRY(ctx->backend->accumulate(ctx, es, first, n, w, scratch, &s->stats));
    }
done:
    return st;
}

vhem_status vh_reduce_expect(vhem_ctx *ctx, const vh_base *base, const vh_packed *reduced,
                             const double *log_omega, double N, int tau, vh_scratch *scratch, int n_threads,
                             vh_assignment *out)
{
    vhem_status st = VHEM_OK;
    int Kr = reduced->K, n_block = (base->Kb + BLOCK - 1) / BLOCK, n_slot = n_block < SLOTS ? n_block : SLOTS;
    const vh_estep es = {
        .base = base->packed, .reduced = reduced, .tau = tau, .soft = out->stats && (out->soft || Kr == 1)
    };
    slot slots[SLOTS] = { { 0 } };
    double *tables = NULL;
    size_t table = (size_t)BLOCK * (size_t)Kr;

    VH_NEW(tables, 2 * table * (size_t)n_threads);
    for (int s = 0; s < n_slot; s++) {
        VH_NEW(slots[s].sum_z, 2 * (size_t)Kr);
        slots[s].scale = slots[s].sum_z + Kr;
        for (int j = 0; j < Kr; j++)
            slots[s].scale[j] = VH_NO_SCALE;
        if (out->stats) {
            VH_TRY(vh_stats_new(ctx, reduced, &slots[s].stats));
            vh_stats_begin(reduced, &slots[s].stats);
        }
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads) if (n_threads > 1 && n_slot > 1)
    for (int s = 0; s < n_slot; s++) {
        int me = omp_in_parallel() && n_threads > 1 ? omp_get_thread_num() : 0;
        double *L = tables + 2 * table * (size_t)me;
        int lo = (int)((int64_t)n_block * s / n_slot), hi = (int)((int64_t)n_block * (s + 1) / n_slot);
        for (int b = lo; b < hi && slots[s].st == VHEM_OK; b++) {
            int first = b * BLOCK, n = base->Kb - first < BLOCK ? base->Kb - first : BLOCK;
            slots[s].st =
                run_block(ctx, base, &es, log_omega, N, first, n, &scratch[me], L, L + table, out, &slots[s]);
        }
    }
    for (int s = 0; s < n_slot; s++)
        VH_TRY(slots[s].st);
    for (int s = 1; s < n_slot; s++) {
        slots[0].J += slots[s].J;
        slots[0].used += slots[s].used;
        for (int j = 0; j < Kr; j++)
            vh_scaled_merge(&slots[0].sum_z[j], &slots[0].scale[j], slots[s].sum_z[j], slots[s].scale[j]);
        if (out->stats)
            vh_stats_merge(reduced, slots[0].stats.block, slots[s].stats.block);
    }
    out->J = slots[0].J;
    out->soft = 2 * slots[0].used > (int64_t)base->Kb * Kr;
    for (int j = 0; j < Kr; j++) {
        out->sum_z[j] = vh_scaled_value(slots[0].sum_z[j], slots[0].scale[j]);
        out->log_sum_z[j] = vh_scaled_log(slots[0].sum_z[j], slots[0].scale[j]);
    }
    if (out->stats)
        memcpy(out->stats->block, slots[0].stats.block, sizeof *out->stats->block * out->stats->size);
done:
    for (int s = 0; s < SLOTS; s++) {
        free(slots[s].sum_z);
        vh_stats_free(&slots[s].stats);
    }
    free(tables);
    return st;
}
