/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - the variational E-step over all base HMMs: score, assign, accumulate, block by block. */
#ifndef VH_REDUCE_ESTEP_H
#define VH_REDUCE_ESTEP_H

#include "reduce/base.h"

typedef struct {
    double J;      /* the objective, in nats */
    double *z, *L; /* [Kb][Kr]  by number of the base HMM; L may be NULL */
    double *
        sum_z; /* [Kr]      sum_i z_ij, or sum_i Kb omega_i z_ij when weighted; 0 when a double cannot hold it */
    double *log_sum_z; /* [Kr]      its logarithm, which can always be held */
    vh_stats *stats;   /* of the reduced set; NULL: not wanted */
    bool weighted;
    bool soft; /* more than half of the pairs had weight; what comes next is taken to be like what was before
                  */
} vh_assignment;

/* Row i of L [Kr] -> log z_i [Kr]; returns log sum_j omega_j exp(N_i L_ij). */
double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *log_z);

/* log_omega [Kr] of the reduced set.  N: virtual samples in all, N_i = N omega_i.  scratch [n_threads], one for each thread that may work.  The
 * answer does not depend on their number. */
vhem_status vh_reduce_expect(vhem_ctx *ctx, const vh_base *base, const vh_packed *reduced,
                             const double *log_omega, double N, int tau, vh_scratch *scratch, int n_threads,
                             vh_assignment *out);

/* L [Kb][Kr]: the bound L_hmm of every HMM of one set under every HMM of another, on all threads.  A stop
 * leaves L unfinished. */
vhem_status vh_reduce_score(vhem_ctx *ctx, const vh_h3m *base, const vh_h3m *reduced, int tau, double *L);

#endif
