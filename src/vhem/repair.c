/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.c - see repair.h.  The paper does not cover empty clusters; unrepaired they stay empty, since
 * omega_j = 0 is absorbing. */
#include "vhem/repair.h"

#include "core/array2.h"
#include "math/logsum.h"
#include "vhem/start.h"

#include <math.h>
#include <string.h>

#define EARLY 10 /* number of iterations in which states are revived */

int64_t vh_move_worst(int64_t Kb, const double *omega, int Kr, const double *L, int j, int64_t to, double *z)
{
    int64_t worst = -1, members = 0;
    for (int64_t i = 0; i < Kb; i++) {
        if (z[vh_ij(i, Kr, j)] < 0.5 || !(omega[i] > 0))
            continue;
        members++;
        if (worst < 0 || L[vh_ij(i, Kr, j)] < L[vh_ij(worst, Kr, j)])
            worst = i;
    }
    if (members < 2)
        return -1;
    memset(z + vh_row(worst, Kr), 0, sizeof *z * (size_t)Kr);
    z[vh_ij(worst, Kr, to)] = 1;
    return worst;
}

/* The largest cluster with at least two members, -1 for none. */
static int largest(int Kr, const double *omega, const vh_reduce_sums *sums)
{
    int big = -1;
    for (int j = 0; j < Kr; j++)
        if (sums->members[j] > 1 && (big < 0 || omega[j] > omega[big]))
            big = j;
    return big;
}

vhem_status vh_repair(vhem_ctx *ctx, const vh_vhem_step *m, int k, vh_vhem_run *run, bool *repaired)
{
    const vh_base *base = m->base;
    const vh_vhem_options *opt = m->opt;
    vh_reduce_sums *sums = m->sums;
    vh_h3m *centers = m->centers;
    const vh_limits lim = { .floor = opt->floor, .scale = base->scale, .unit = 1.0 / base->Kb };
    int Kr = (int)centers->K, n = 0;
    bool time_left = opt->max_iter - k > 5 && run->idle < VH_MOST_IDLE;
    vh_rng rng;

    vh_rng_init(&rng, opt->seed, VH_RNG_REVIVE, (uint64_t)k);
    for (int j = 0; j < Kr && time_left && run->n_empty < VH_MAX_RESEED * Kr; j++) {
        int big = centers->omega[j] * base->Kb < VH_EMPTY ? largest(Kr, centers->omega, sums) : -1;
        if (big < 0)
            continue;
        VH_CHECK(sums->worst[big] >= 0 && sums->worst[big] < (double)base->Kb, VHEM_EFORMAT,
                 "the sums of cluster %d name HMM %g as its worst, there are %lld", big, sums->worst[big],
                 (long long)base->Kb);
        VH_TRY(vh_center_from_any(ctx, base, (int64_t)sums->worst[big], &rng, centers, j));
        sums->members[big] = 0; /* its worst member is gone, and the next worst is unknown */
        centers->omega[j] = centers->omega[big] /= 2;
        m->log_omega[j] = m->log_omega[big] = log(centers->omega[j]);
        run->n_empty++;
        n++;
    }
    for (int j = 0; j < Kr && time_left && k < EARLY; j++) {
        if (centers->omega[j] * base->Kb < VH_EMPTY || run->n_revived >= 2 * m->pk->n_comp)
            continue;
        int revived = vh_revive(&lim, m->pk, j, &sums->stats, centers, &centers->hmm[j], &rng);
        VH_CHECK(revived >= 0, VHEM_ENOMEM, "out of memory: no room to revive a state");
        run->n_revived += revived;
        n += revived;
    }
    if (n)
        vh_log(ctx, VHEM_LOG_DEBUG, "iteration %d: %d repairs", k, n);
    *repaired = n > 0;
    return VHEM_OK;
}
