/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - see stats.h. */
#include "hmm/stats.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

vh_stats vh_stats_at(const vh_packed *pk, double *block)
{
    vh_stats s = { .block = block };
    s.size = 2 * (size_t)pk->K + (size_t)pk->n_state + pk->n_trans + vh_cells(pk->n_comp, pk->n_stat);
    if (!block)
        return s;
    s.scale = s.block;
    s.loglik = s.scale + pk->K;
    s.nu1 = s.loglik + pk->K;
    s.xi = s.nu1 + pk->n_state;
    s.T = s.xi + pk->n_trans;
    return s;
}

vhem_status vh_stats_new(vhem_ctx *ctx, const vh_packed *pk, vh_stats *out)
{
    double *block = NULL;

    VH_NEW(block, vh_stats_at(pk, NULL).size);
    *out = vh_stats_at(pk, block);
    return VHEM_OK;
}

void vh_stats_begin(const vh_packed *pk, vh_stats *stats)
{
    for (int k = 0; k < pk->K; k++)
        stats->scale[k] = VH_NO_SCALE;
}

/* The numbers of HMM k: four ranges of the block. */
typedef struct {
    size_t at[4], n[4];
} runs;

static runs runs_of(const vh_packed *pk, int k)
{
    size_t K = (size_t)pk->K, n_stat = (size_t)pk->n_stat, nu1 = 2 * K, xi = nu1 + (size_t)pk->n_state,
           T = xi + pk->n_trans;
    return (runs){ { K + (size_t)k, nu1 + (size_t)pk->state0[k], xi + pk->trans0[k],
                     T + (size_t)pk->comp0[k] * n_stat },
                   { 1, (size_t)pk->S[k], pk->trans0[k + 1] - pk->trans0[k],
                     (size_t)(pk->comp0[k + 1] - pk->comp0[k]) * n_stat } };
}

/* Rescales the numbers of HMM k to a scale that is not lower. */
static void raise_scale(const vh_packed *pk, int k, double *block, double scale)
{
    const runs r = runs_of(pk, k);
    double change = vh_scale_change(block[k], scale);
    for (int q = 0; q < 4 && change != 1; q++)
        for (size_t i = 0; i < r.n[q]; i++)
            block[r.at[q] + i] *= change;
    block[k] = scale;
}

void vh_stats_multiply(const vh_packed *pk, vh_stats *stats, int k, double factor)
{
    const runs r = runs_of(pk, k);
    double change = vh_scaled_value(factor, stats->scale[k]);
    for (int q = 0; q < 4; q++)
        for (size_t i = 0; i < r.n[q]; i++)
            stats->block[r.at[q] + i] *= change;
    stats->scale[k] = 0;
}

int64_t vh_stats_weigh(const vh_packed *pk, vh_stats *stats, int n, double *w)
{
    size_t K = (size_t)pk->K;
    int64_t used = 0;
    for (int k = 0; k < pk->K; k++) {
        double top = -INFINITY;
        for (int i = 0; i < n; i++)
            top = fmax(top, w[(size_t)i * K + (size_t)k]);
        double scale = vh_scale_of(top);
        if (scale > stats->scale[k])
            raise_scale(pk, k, stats->block, scale);
    }
    for (int i = 0; i < n; i++, w += K)
        for (size_t k = 0; k < K; k++) {
            w[k] = vh_at_scale(w[k], stats->scale[k]);
            used += w[k] > 0;
        }
    return used;
}

void vh_stats_merge(const vh_packed *pk, double *left, const double *right)
{
    size_t K = (size_t)pk->K, size = vh_stats_at(pk, NULL).size;
    bool same = memcmp(left, right, sizeof *left * K) == 0;
    for (size_t i = K; i < size && same; i++)
        left[i] += right[i];
    for (int k = 0; k < pk->K && !same; k++) {
        const runs r = runs_of(pk, k);
        double scale = fmax(left[k], right[k]), change = vh_scale_change(right[k], scale);
        raise_scale(pk, k, left, scale);
        for (int q = 0; q < 4; q++)
            for (size_t i = r.at[q]; i < r.at[q] + r.n[q]; i++)
                left[i] += right[i] * change;
    }
}

void vh_stats_free(vh_stats *stats)
{
    free(stats->block);
    *stats = (vh_stats){ 0 };
}
