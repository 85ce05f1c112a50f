/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_careful.c - the recursions of estep_lanes.c for pairs whose sums are too small there: chains with
 * impossible transitions, where the best possible path may be e^-644 below the best impossible one.
 *
 * Each sum over the states of the reduced HMM is scaled by its own largest term, log a included:
 *   U_t(beta, rho) = log sum_q exp{ log a^r_{rho q} + L_GMM + L_t+1 },   L_t = A^b U_t
 * This takes one exp per possible transition instead of one per state.  L_t+1 and U_t are stored in place of
 * E and D; the forward pass recomputes phi from them. */
#include "simd/estep_lanes.h"

#include "simd/vec.h"

#include <math.h>
#include <string.h>

/* log sum_q exp(log_a + G + L) over the q with a > 0. */
static vec log_sum(int Sr, const double *log_a, const vec *G, const vec *L)
{
    vec top = vec_all(-INFINITY), sum = { 0 };
    for (int q = 0; q < Sr; q++)
        if (log_a[q] > -INFINITY)
            top = vec_max(top, log_a[q] + G[q] + L[q]);
    for (int q = 0; q < Sr; q++)
        if (log_a[q] > -INFINITY)
            sum += vec_exp(log_a[q] + G[q] + L[q] - top);
    return top + vec_log(sum);
}

void VH_NAME(vh_reduce_careful_backward)(vh_reduce_lanes *g, bool keep)
{
    const int Sb = g->Sb, Sr = g->Sr, n = Sb * Sr;
    vec *L = g->L, L_hmm = { 0 };

    for (int k = 0; k < Sr * Sr; k++)
        g->log_A[k] = log(g->A_r[k]);
    for (int k = 0; k < Sr; k++)
        g->log_pi[k] = log(g->pi_r[k]);
    memset(L, 0, sizeof *L * (size_t)n);
    for (g->steps = 0; g->steps < g->tau - 1; g->steps++) {
        vec *U = keep ? g->D + g->steps * n : g->D;
        if (keep)
            memcpy(g->E + g->steps * n, L, sizeof *L * (size_t)n);
        for (int b = 0; b < Sb; b++)
            for (int r = 0; r < Sr; r++)
                U[b * Sr + r] = log_sum(Sr, g->log_A + r * Sr, g->L_gmm + b * Sr, L + b * Sr);
        for (int b = 0; b < Sb; b++)
            for (int r = 0; r < Sr; r++) {
                vec sum = { 0 };
                for (int q = 0; q < Sb; q++)
                    sum += g->A_b[b * Sb + q] * U[q * Sr + r];
                L[b * Sr + r] = sum;
            }
    }
    for (int b = 0; b < Sb; b++) {
        g->U[b] = log_sum(Sr, g->log_pi, g->L_gmm + b * Sr, L + b * Sr);
        L_hmm += g->pi_b[b] * g->U[b];
    }
    g->L_hmm = L_hmm;
    g->low = L_hmm - L_hmm; /* NaN if there is no finite bound */
}

/* a exp(e), at most 1 up to rounding. */
static vec share(double log_a, vec e)
{
    return log_a > -INFINITY ? vec_exp_or_0(vec_min(log_a + e, vec_all(1))) : vec_all(0);
}

void VH_NAME(vh_reduce_careful_forward)(vh_reduce_lanes *g)
{
    const int Sb = g->Sb, Sr = g->Sr, n = Sb * Sr;
    vec *nu = g->nu, *new = g->H;

    memset(g->xi, 0, sizeof *g->xi * (size_t)(Sr * Sr));
    for (int r = 0; r < Sr; r++) {
        g->nu1[r] = (vec){ 0 };
        for (int b = 0; b < Sb; b++) {
            vec e = g->L_gmm[b * Sr + r] + g->L[b * Sr + r] - g->U[b];
            nu[r * Sb + b] = g->pi_b[b] * share(g->log_pi[r], e);
            g->nu1[r] += nu[r * Sb + b];
        }
    }
    memcpy(g->sum_nu, nu, sizeof *nu * (size_t)n);
    for (int t = g->steps - 1; t >= 0; t--) {
        const vec *L = g->E + t * n, *U = g->D + t * n;
        memset(new, 0, sizeof *new *(size_t)n);
        for (int r = 0; r < Sr; r++)
            for (int b = 0; b < Sb; b++) {
                vec come = { 0 };
                for (int q = 0; q < Sb; q++)
                    come += nu[r * Sb + q] * g->A_b[q * Sb + b];
                for (int q = 0; q < Sr; q++) {
                    vec e = g->L_gmm[b * Sr + q] + L[b * Sr + q] - U[b * Sr + r];
                    vec all = come * share(g->log_A[r * Sr + q], e);
                    g->xi[r * Sr + q] += all;
                    new[q * Sb + b] += all;
                }
            }
        for (int k = 0; k < n; k++)
            g->sum_nu[k] += new[k];
        vec *swap = nu;
        nu = new;
        new = swap;
    }
}
