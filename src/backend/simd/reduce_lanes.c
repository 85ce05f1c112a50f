/* reduce_lanes.c - see reduce_lanes.h; ref/reduce.c has the equations.  Paper, Appendices A and B.
 *
 * Backward, one exp and one log per (t, beta, rho):
 *   e(beta, q) = L_GMM + L_t+1,   top(beta) = max_q e,   E = exp(e - top)
 *   D(beta, rho) = sum_q a^r_{rho q} E(beta, q),   U = log D + top,   L_t = A^b U
 * Forward: phi_t(q | rho, beta) = a^r_{rho q} E / D, so with H(rho, beta) = (nu A^b)(rho, beta) / D(beta, rho)
 *   nu_t(q, beta) = E(beta, q) sum_rho a^r_{rho q} H(rho, beta),   xi += a^r_{rho q} sum_beta H(rho, beta) E(beta, q)
 *
 * If a^r is zero at the largest e, the sum D may be made of terms that underflowed.  exp stops at e^-700, so a D above
 * e^-644 is right to 1e-24; `low` is the smallest log D, and the caller redoes lanes below that.
 *
 * Long tau: when a step changes every L by the same amount, it changes E and D not at all, and so will all further
 * steps; the rest is added as a multiple.  The forward chain then has the same transitions at every t; once nu rests
 * too, the middle is added as a multiple, and only the end, where E and D differ, is walked. */
#include "backend/simd/reduce_lanes.h"

#include "backend/simd/vmath.h"

#include <string.h>

#define EXP_LEAST (-700.0)

enum { WORTH_LOOKING = 16 };             /* shorter recursions are just walked */

/* E = exp(L_gmm + L - top) over each row; n = Sb Sr. */
static void exponents(const vh_reduce_lanes *g, vec *restrict E)
{
    const int Sb = g->Sb, Sr = g->Sr;
    const vec *restrict G = g->L_gmm, *restrict L = g->L;
    for (int b = 0; b < Sb; b++) {
        vec top = G[b * Sr] + L[b * Sr];
        E[b * Sr] = top;
        for (int q = 1; q < Sr; q++) {
            vec e = G[b * Sr + q] + L[b * Sr + q];
            E[b * Sr + q] = e;
            top = vec_max(top, e);
        }
        g->top[b] = top;
        for (int q = 0; q < Sr; q++)
            E[b * Sr + q] -= top;
    }
    double *restrict x = (double *)E;
#pragma omp simd
    for (int k = 0; k < Sb * Sr * VH_LANES; k++)
        x[k] = exp(x[k] > EXP_LEAST ? x[k] : EXP_LEAST);
}

/* U = log D + top; low takes part. */
static void logs(vh_reduce_lanes *g, const vec *restrict D)
{
    const int Sb = g->Sb, Sr = g->Sr;
    const double *restrict x = (const double *)D;
    double *restrict u = (double *)g->U;
#pragma omp simd
    for (int k = 0; k < Sb * Sr * VH_LANES; k++)
        u[k] = log(x[k]);
    vec low = g->low;
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            vec v = g->U[b * Sr + r];
            low = vec_min(low, v);
            g->U[b * Sr + r] = v + g->top[b];
        }
    g->low = low;
}

static void sums(const vh_reduce_lanes *g, const vec *restrict E, vec *restrict D)
{
    const int Sb = g->Sb, Sr = g->Sr;
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            const double *restrict a = g->A_r + r * Sr;
            vec sum = a[0] * E[b * Sr];
            for (int q = 1; q < Sr; q++)
                sum += a[q] * E[b * Sr + q];
            D[b * Sr + r] = sum;
        }
}

/* L = A^b U.  Returns whether all entries of a lane changed by the same amount, up to rounding, in all lanes; change is
 * that amount. */
static bool step_back(vh_reduce_lanes *g, bool look, vec *change)
{
    const int Sb = g->Sb, Sr = g->Sr;
    vec most = vec_all(-1e308), least = vec_all(1e308), size = { 0 };
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            vec sum = g->A_b[b * Sb] * g->U[r];
            for (int q = 1; q < Sb; q++)
                sum += g->A_b[b * Sb + q] * g->U[q * Sr + r];
            if (look) {
                vec delta = sum - g->L[b * Sr + r];
                most = vec_max(most, delta);
                least = vec_min(least, delta);
                size = vec_max(size, vec_max(sum, -sum));
            }
            g->L[b * Sr + r] = sum;
        }
    if (!look)
        return false;
    *change = (most + least) * 0.5;
    for (int l = 0; l < VH_LANES; l++)
        if (!(most[l] - least[l] <= 4e-15 * size[l]))
            return false;
    return true;
}

void VH_NAME(vh_reduce_backward)(vh_reduce_lanes *g, bool keep)
{
    const int Sb = g->Sb, Sr = g->Sr, n = Sb * Sr;
    const bool look = g->tau > WORTH_LOOKING;
    g->steps = 0;
    g->low = (vec){ 0 };
    memset(g->L, 0, sizeof *g->L * (size_t)n);
    for (int t = g->tau; t >= 2; t--) {
        vec *E = g->E + (keep ? g->steps * n : 0), *D = g->D + (keep ? g->steps * n : 0), change;
        exponents(g, E);
        sums(g, E, D);
        logs(g, D);
        g->steps++;
        if (step_back(g, look, &change)) {
            for (int k = 0; k < n; k++)
                g->L[k] += change * (double)(t - 2);
            break;
        }
    }
    /* t = 1, with pi in the place of A */
    vec *E = g->nu, L_hmm = { 0 }, one[1];
    exponents(g, E);
    for (int b = 0; b < Sb; b++) {
        vec sum = { 0 };
        for (int r = 0; r < Sr; r++)
            sum += g->pi_r[r] * E[b * Sr + r];
        one[0] = sum;
        double *x = (double *)one;
        for (int l = 0; l < VH_LANES; l++)
            x[l] = log(x[l]);
        g->low = vec_min(g->low, one[0]);
        L_hmm += g->pi_b[b] * (one[0] + g->top[b]);
        g->U[b] = sum;
    }
    g->L_hmm = L_hmm;
}

/* One step of the forward chain with E and D: nu becomes that of the next frame, xi its transitions.  Returns the largest
 * change of nu. */
static double step_forward(vh_reduce_lanes *g, const vec *restrict E, const vec *restrict D, vec *restrict xi)
{
    const int Sb = g->Sb, Sr = g->Sr;
    vec *restrict nu = g->nu, *restrict H = g->H, most = { 0 };
    for (int r = 0; r < Sr; r++)
        for (int b = 0; b < Sb; b++) {
            vec sum = nu[r * Sb] * g->A_b[b];
            for (int q = 1; q < Sb; q++)
                sum += nu[r * Sb + q] * g->A_b[q * Sb + b];
            H[r * Sb + b] = sum / D[b * Sr + r];
        }
    for (int q = 0; q < Sr; q++)
        for (int b = 0; b < Sb; b++) {
            vec sum = g->A_r[q] * H[b];
            for (int r = 1; r < Sr; r++)
                sum += g->A_r[r * Sr + q] * H[r * Sb + b];
            sum *= E[b * Sr + q];
            vec change = sum - nu[q * Sb + b];
            most = vec_max(most, vec_max(change, -change));
            nu[q * Sb + b] = sum;
        }
    for (int r = 0; r < Sr; r++)
        for (int q = 0; q < Sr; q++) {
            vec sum = { 0 };
            for (int b = 0; b < Sb; b++)
                sum += H[r * Sb + b] * E[b * Sr + q];
            xi[r * Sr + q] = sum;
        }
    double top = 0;
    for (int l = 0; l < VH_LANES; l++)
        top = most[l] > top || most[l] != most[l] ? most[l] : top;
    return top;
}

void VH_NAME(vh_reduce_forward)(vh_reduce_lanes *g)
{
    const int Sb = g->Sb, Sr = g->Sr, n = Sb * Sr;
    memset(g->xi, 0, sizeof *g->xi * (size_t)(Sr * Sr));
    /* backward left E of frame 1 in nu, as [Sb][Sr], and its sums in U */
    memcpy(g->L, g->nu, sizeof *g->L * (size_t)n);
    for (int r = 0; r < Sr; r++) {
        g->nu1[r] = (vec){ 0 };
        for (int b = 0; b < Sb; b++) {
            vec nu = g->pi_b[b] * (g->pi_r[r] * g->L[b * Sr + r] / g->U[b]);
            g->nu[r * Sb + b] = g->sum_nu[r * Sb + b] = nu;
            g->nu1[r] += nu;
        }
    }
    for (int t = 2; t <= g->tau; t++) {
        int same = g->tau - t - (g->steps - 1);              /* this many further frames have the same E and D */
        int at = same >= 0 ? g->steps - 1 : g->tau - t;
        double times = 1, change = step_forward(g, g->E + at * n, g->D + at * n, g->step_xi);
        if (same > 0 && change < 4e-15) {
            times += same;
            t += same;
        }
        for (int k = 0; k < n; k++)
            g->sum_nu[k] += times * g->nu[k];
        for (int k = 0; k < Sr * Sr; k++)
            g->xi[k] += times * g->step_xi[k];
    }
}
