/* SPDX-License-Identifier: BSD-3-Clause */
/* pair_bound.c - the variational E-step in plain C: L_hmm of one base and one reduced HMM, and its summary
 * statistics.  Paper, Section 3.3 and Appendix A. */
#include "vhem/pair_bound.h"

#include "core/array2.h"
#include "math/logsum.h"

#include <math.h>
#include <string.h>

typedef struct { /* one pair; b for base, r for reduced */
    const vh_reduce_pair *which;
    int Sb, Mb, Sr, Mr, tau;
    const double *pi_b, *A_b, *c_b, *pi_r, *A_r;
    double *ell;       /* [Sb][Mb][Sr][Mr]  log c_l + E_m[log p(y | l)] */
    double *ell_state; /* [Sb][Mb][Sr]      its log sum over l */
    double *L_gmm;     /* [Sb][Sr] */
    double *L, *U;     /* [tau+2][Sb][Sr]   L_t and U_t below; index 0 and 1 unused */
} hmm_pair;

enum { SLOT_ELL, SLOT_STATE, SLOT_GMM, SLOT_L, SLOT_U, SLOT_NU, SLOT_WORK, SLOT_TABLES };
enum { BLOCK = 64 }; /* base HMMs weighed together */

/* L_GMM(beta, rho) = sum_m c_m log sum_l c_l exp(E_m[log p(y | l)]): the bound for mixtures, eq. 40, at its
 * optimal eta, eq. 41.  The family computes E_m[log p(y | l)], eq. 42 for Gaussians. */
static vhem_status gmm_bounds(vhem_ctx *ctx, vh_scratch *scratch, hmm_pair *p)
{
    const vh_packed *b = p->which->base, *r = p->which->reduced;
    int Cb = p->Sb * p->Mb, Cr = p->Sr * p->Mr;
    double *work;

    VH_SCRATCH(p->ell, SLOT_ELL, Cb * Cr);
    VH_SCRATCH(p->ell_state, SLOT_STATE, Cb * p->Sr);
    VH_SCRATCH(p->L_gmm, SLOT_GMM, p->Sb * p->Sr);
    VH_SCRATCH(work, SLOT_WORK, vh_emission_room(b->family, &b->shape));
    memset(p->L_gmm, 0, sizeof *p->L_gmm * (size_t)(p->Sb * p->Sr));
    for (int l = 0; l < Cr; l++) {
        size_t b0 = (size_t)b->comp0[p->which->i], rl = (size_t)(r->comp0[p->which->j] + l);
        bool never = r->log_c[rl] == VH_NEVER;
        double more = r->log_c[rl] + vh_pack_shift(r, (int)rl, b, p->which->i);
        VH_CHECK(never
                     || b->family->expected_density(&b->shape, r->par + rl * VH_MAX_PARAM,
                                                    b->par + b0 * VH_MAX_PARAM, Cb, p->ell + l, Cr, work),
                 VHEM_ENUMERIC, "a covariance became singular; a floor (" VH_OPT("cov_floor") ") helps");
        for (int m = 0; m < Cb; m++)
            p->ell[m * Cr + l] = never ? VH_NEVER : p->ell[m * Cr + l] + more;
    }
    for (int m = 0; m < Cb; m++) {
        for (int rho = 0; rho < p->Sr; rho++) {
            double sum = vh_logsum(p->Mr, p->ell + m * Cr + rho * p->Mr, 1);
            p->ell_state[m * p->Sr + rho] = sum;
            p->L_gmm[m / p->Mb * p->Sr + rho] += p->c_b[m] * sum;
        }
    }
    return VHEM_OK;
}

/* log sum_q a_q exp(L_gmm_q + L_q), all [Sr]; skips zeros of a, which would give 0 * inf. */
static double mix(int Sr, const double *a, const double *L_gmm, const double *L)
{
    double top = -INFINITY, sum = 0;
    for (int q = 0; q < Sr; q++)
        if (a[q] > 0)
            top = fmax(top, L_gmm[q] + L[q]);
    for (int q = 0; q < Sr && !isinf(top); q++)
        if (a[q] > 0)
            sum += a[q] * exp(L_gmm[q] + L[q] - top);
    return isinf(top) ? top : top + log(sum);
}

/* L_HMM^{i,j}: lower bound, in nats, on E_{M_i^(b)}[ log p(y_1:tau | M_j^(r)) ].  Paper, Appendix A,
 * eqs. 70 and 72.
 *
 *   L_{tau+1}(beta, rho) = 0
 *   U_t(beta', rho) = log sum_rho' a^(r)_{rho,rho'} exp{ L_GMM(beta',rho') + L_{t+1}(beta',rho') }
 *   L_t(beta, rho)  = sum_beta' a^(b)_{beta,beta'} U_t(beta', rho)                    t = tau .. 2
 *   L_HMM = sum_beta pi^(b)_beta log sum_rho pi^(r)_rho exp{ L_GMM(beta,rho) + L_2(beta,rho) }
 *
 * U_t does not depend on beta, so it is tabulated before the sum over beta': a pair costs O(tau S^3), not
 * O(tau S^4). */
static double hmm_bound(const hmm_pair *p)
{
    int Sb = p->Sb, Sr = p->Sr, n = Sb * Sr;
    double L_hmm = 0;
    memset(p->L + vh_row(p->tau + 1, n), 0, sizeof *p->L * (size_t)n);
    for (int t = p->tau; t >= 2; t--) {
        const double *next = p->L + vh_row(t + 1, n);
        double *U = p->U + vh_row(t, n), *L = p->L + vh_row(t, n);
        for (int b = 0; b < Sb; b++)
            for (int rho = 0; rho < Sr; rho++)
                U[b * Sr + rho] = mix(Sr, p->A_r + rho * Sr, p->L_gmm + b * Sr, next + b * Sr);
        for (int b = 0; b < Sb; b++)
            for (int rho = 0; rho < Sr; rho++) {
                double sum = 0;
                for (int q = 0; q < Sb; q++)
                    if (p->A_b[b * Sb + q] > 0)
                        sum += p->A_b[b * Sb + q] * U[q * Sr + rho];
                L[b * Sr + rho] = sum;
            }
    }
    for (int b = 0; b < Sb; b++)
        if (p->pi_b[b] > 0)
            L_hmm += p->pi_b[b] * mix(Sr, p->pi_r, p->L_gmm + b * Sr, p->L + 2 * n + b * Sr);
    return L_hmm;
}

/* a exp(e), at most 1 up to rounding.  In logs: if a is below 1e-308, exp(e) alone overflows. */
static double share(double a, double e)
{
    return a > 0 ? exp(log(a) + e) : 0;
}

/* Forward pass with the optimal phi, eqs. 69 and 71: nu_t(rho, beta) and xi_t(rho, rho', beta),
 * eqs. 50 to 52, and their sums over t, eqs. 53 to 55.
 *
 *   phi_1(rho | beta)        = pi^(r)_rho exp{ L_GMM + L_2 } / sum_rho
 *   phi_t(rho' | rho, beta') = a^(r)_{rho,rho'} exp{ (L_GMM + L_{t+1})(beta',rho') - U_t(beta',rho) }
 *   xi_t(rho, rho', beta')   = (sum_beta nu_{t-1}(rho, beta) a^(b)_{beta,beta'}) phi_t(rho' | rho, beta')
 *   nu_t(rho', beta')        = sum_rho xi_t(rho, rho', beta')
 *
 * nu1 [Sr], sum_nu [Sr][Sb], xi [Sr][Sr] are overwritten; nu [2][Sr][Sb] is scratch. */
static void summary_statistics(const hmm_pair *p, double *nu, double *nu1, double *sum_nu, double *xi)
{
    int Sb = p->Sb, Sr = p->Sr, n = Sb * Sr;
    double *old = nu, *new = nu + n;
    memset(nu1, 0, sizeof *nu1 * (size_t)Sr);
    memset(xi, 0, sizeof *xi * (size_t)(Sr * Sr));
    for (int b = 0; b < Sb; b++) {
        const double *g = p->L_gmm + b * Sr, *next = p->L + 2 * n + b * Sr;
        double all = mix(Sr, p->pi_r, g, next);
        for (int rho = 0; rho < Sr; rho++) {
            double phi = share(p->pi_r[rho], g[rho] + next[rho] - all);
            old[rho * Sb + b] = p->pi_b[b] * phi;
            nu1[rho] += old[rho * Sb + b];
        }
    }
    memcpy(sum_nu, old, sizeof *old * (size_t)n);
    for (int t = 2; t <= p->tau; t++) {
        const double *next = p->L + vh_row(t + 1, n), *U = p->U + vh_row(t, n);
        memset(new, 0, sizeof *new *(size_t)n);
        for (int rho = 0; rho < Sr; rho++)
            for (int b = 0; b < Sb; b++) {
                double come = 0;
                for (int q = 0; q < Sb; q++)
                    come += old[rho * Sb + q] * p->A_b[q * Sb + b];
                for (int to = 0; to < Sr; to++) {
                    double e = p->L_gmm[b * Sr + to] + next[b * Sr + to] - U[b * Sr + rho];
                    double phi = share(p->A_r[rho * Sr + to], e);
                    xi[rho * Sr + to] += come * phi;
                    new[to * Sb + b] += come *phi;
                }
            }
        for (int k = 0; k < n; k++)
            sum_nu[k] += new[k];
        double *swap = old;
        old = new;
        new = swap;
    }
}

/* One pair's terms of Omega, eq. 61: T_l += w sum_beta nu(rho, beta) sum_m c_m eta(l | m) E_m[T(y)], eta(l |
 * m) = c_l exp(E_m[log p(y | l)]) / sum_l, eq. 41. */
static vhem_status add_component_sums(vhem_ctx *ctx, const hmm_pair *p, const double *nu, vh_scratch *scratch,
                                      double *sum)
{
    const vh_packed *b = p->which->base, *r = p->which->reduced;
    int Cr = p->Sr * p->Mr;
    double *stat;

    VH_SCRATCH(stat, SLOT_WORK, b->n_stat);
    for (int m = 0; m < p->Sb * p->Mb; m++)
        for (int l = 0; l < Cr; l++) {
            int rho = l / p->Mr;
            size_t bm = (size_t)(b->comp0[p->which->i] + m), rl = (size_t)(r->comp0[p->which->j] + l);
            double weight = p->which->w * nu[rho * p->Sb + m / p->Mb] * p->c_b[m]
                            * exp(p->ell[m * Cr + l] - p->ell_state[m * p->Sr + rho]);
            if (!(weight > 0))
                continue;
            b->family->stats_of_component(&r->about[rl], b->par + bm * VH_MAX_PARAM, stat);
            for (int e = 0; e < b->n_stat; e++)
                sum[rl * (size_t)b->n_stat + (size_t)e] += weight * stat[e];
        }
    return VHEM_OK;
}

vhem_status vh_ref_reduce_pair(vhem_ctx *ctx, const vh_reduce_pair *which, vh_scratch *scratch, double *L_hmm,
                               vh_stats *stats, double *nu_out)
{
    const vh_packed *b = which->base, *r = which->reduced;
    int i = which->i, j = which->j;
    hmm_pair p = { .which = which,
                   .Sb = b->S[i],
                   .Mb = b->M[i],
                   .Sr = r->S[j],
                   .Mr = r->M[j],
                   .tau = which->tau,
                   .pi_b = b->pi + b->state0[i],
                   .A_b = b->A + b->trans0[i],
                   .c_b = b->c + b->comp0[i],
                   .pi_r = r->pi + r->state0[j],
                   .A_r = r->A + r->trans0[j] };
    size_t n = (size_t)(p.Sb * p.Sr), Sr = (size_t)p.Sr;
    double *nu;

    VH_SCRATCH(p.L, SLOT_L, (size_t)(p.tau + 2) * n);
    VH_SCRATCH(p.U, SLOT_U, (size_t)(p.tau + 2) * n);
    VH_TRY(gmm_bounds(ctx, scratch, &p));
    *L_hmm = hmm_bound(&p);
    VH_CHECK(!isnan(*L_hmm), VHEM_ENUMERIC, "the bound L_hmm of HMM %d and centre %d is not a number", i, j);
    if (!stats && !nu_out)
        return VHEM_OK;

    VH_SCRATCH(nu, SLOT_NU, 3 * n + Sr + Sr * Sr);
    double *sum_nu = nu + 2 * n, *nu1 = sum_nu + n, *xi = nu1 + Sr;
    summary_statistics(&p, nu, nu1, sum_nu, xi);
    if (nu_out)
        memcpy(nu_out, sum_nu, sizeof *nu_out * n);
    if (stats) {
        for (size_t s = 0; s < Sr; s++)
            stats->nu1[(size_t)r->state0[j] + s] += which->w * nu1[s];
        for (size_t e = 0; e < Sr * Sr; e++)
            stats->xi[r->trans0[j] + e] += which->w * xi[e];
        VH_TRY(add_component_sums(ctx, &p, sum_nu, scratch, stats->T));
    }
    return VHEM_OK;
}

/* Scores and weighs HMMs first .. first+n-1 of the chunk; L [2][n][Kr] is scratch for bounds and weights. */
static vhem_status run_block(vhem_ctx *ctx, const vh_reduce_chunk *c, int first, int n, vh_scratch *scratch,
                             double *L, vh_reduce_sums *sums)
{
    const vh_reduce_step *step = c->step;
    int Kr = step->reduced->K, pairs = n * Kr;
    double *w = L + pairs, unused;

    for (int k = 0; k < pairs; k++) {
        const vh_reduce_pair which = { c->base, step->reduced, step->tau, first + k / Kr, k % Kr, 0 };
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        VH_TRY(vh_ref_reduce_pair(ctx, &which, scratch, &L[k], NULL, NULL));
    }
    VH_TRY(vh_reduce_weigh(ctx, c, first, n, L, w, sums));
    for (int k = 0; k < pairs && step->statistics; k++) {
        const vh_reduce_pair which = { c->base, step->reduced, step->tau, first + k / Kr, k % Kr, w[k] };
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        if (w[k] > 0)
            VH_TRY(vh_ref_reduce_pair(ctx, &which, scratch, &unused, &sums->stats, NULL));
    }
    return VHEM_OK;
}

static vhem_status bound_chunk(vhem_ctx *ctx, const vh_reduce_chunk *c, vh_scratch *scratch,
                               vh_reduce_sums *sums)
{
    size_t table = vh_cells(BLOCK, c->step->reduced->K);
    double *L;

    VH_SCRATCH(L, SLOT_TABLES, 2 * table);
    for (int first = 0; first < c->base->K; first += BLOCK)
        VH_TRY(run_block(ctx, c, first, c->base->K - first < BLOCK ? c->base->K - first : BLOCK, scratch, L,
                         sums));
    return VHEM_OK;
}

const vh_reduce_kernels vh_reduce_ref = { .kernel = bound_chunk };
