/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - the variational E-step.  Paper, Section 3.3: z_ij ~ omega_j exp(N_i L_ij),
 * J = sum_i log sum_j omega_j exp(N_i L_ij), N_i = N omega_i.
 *
 * z_i needs row i of L alone, so a block of base HMMs is scored, assigned and accumulated before the next.
 * Blocks and the order in which their sums are added are the same whatever the number of threads. */
#include "reduce/estep.h"

#include "core/alloc.h"
#include "math/logsum.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { BLOCK = VH_ESTEP_BLOCK, SLOTS = 16 };

typedef struct { /* sums of a run of blocks */
    double J, *sum_z;
    int64_t used; /* pairs with weight */
    vh_stats stats;
    vhem_status st;
} slot;

double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *z)
{
    for (int j = 0; j < Kr; j++)
        z[j] = log_omega[j] + (Ni > 0 ? Ni * L[j] : 0);
    return vh_softmax(Kr, z);
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
        double omega = base->h3m->omega[i], *z = out->z + (size_t)i * (size_t)Kr;
        s->J += vh_reduce_assign(Kr, log_omega, N * omega, L + (size_t)p * (size_t)Kr, z);
        for (int j = 0; j < Kr; j++) {
            s->sum_z[j] += out->weighted ? base->Kb * omega * z[j] : z[j];
            w[(size_t)p * (size_t)Kr + (size_t)j] = z[j] > VH_NO_SHARE ? z[j] * omega : 0;
            s->used += z[j] > VH_NO_SHARE;
        }
        if (out->L)
            memcpy(out->L + (size_t)i * (size_t)Kr, L + (size_t)p * (size_t)Kr, sizeof *L * (size_t)Kr);
    }
    VH_CHECK(!isnan(s->J), VHEM_ENUMERIC, "the objective is not a number");
    if (out->stats)
        VH_TRY(ctx->backend->accumulate(ctx, es, first, n, w, scratch, &s->stats));
done:
    return st;
}

vhem_status vh_reduce_expect(vhem_ctx *ctx, const vh_base *base, const vh_packed *reduced,
                             const double *omega_r, double N, int tau, vh_scratch *scratch, int n_threads,
                             vh_assignment *out)
{
    vhem_status st = VHEM_OK;
    int Kr = reduced->K, n_block = (base->Kb + BLOCK - 1) / BLOCK, n_slot = n_block < SLOTS ? n_block : SLOTS;
    const vh_estep es = {
        .base = base->packed, .reduced = reduced, .tau = tau, .soft = out->stats && (out->soft || Kr == 1)
    };
    int64_t used = 0;
    slot slots[SLOTS] = { { 0 } };
    double *log_omega = NULL, *tables = NULL;
    size_t table = (size_t)BLOCK * (size_t)Kr;

    VH_NEW(log_omega, Kr);
    VH_NEW(tables, 2 * table * (size_t)n_threads);
    for (int j = 0; j < Kr; j++)
        log_omega[j] = log(omega_r[j]);
    for (int s = 0; s < n_slot; s++) {
        VH_NEW(slots[s].sum_z, Kr);
        if (out->stats)
            VH_TRY(vh_stats_new(ctx, reduced, &slots[s].stats));
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
    out->J = 0;
    memset(out->sum_z, 0, sizeof *out->sum_z * (size_t)Kr);
    if (out->stats)
        vh_stats_zero(out->stats);
    for (int s = 0; s < n_slot; s++) {
        VH_TRY(slots[s].st);
        out->J += slots[s].J;
        used += slots[s].used;
        for (int j = 0; j < Kr; j++)
            out->sum_z[j] += slots[s].sum_z[j];
        if (out->stats)
            vh_stats_add(out->stats, &slots[s].stats);
    }
    out->soft = 2 * used > (int64_t)base->Kb * Kr;
done:
    for (int s = 0; s < SLOTS; s++) {
        free(slots[s].sum_z);
        vh_stats_free(&slots[s].stats);
    }
    free(log_omega);
    free(tables);
    return st;
}
