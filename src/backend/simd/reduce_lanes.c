/* reduce_lanes.c - see reduce_lanes.h; ref/reduce.c has the equations.  Paper, Appendices A and B.
 *
 * Backward, one exp and one log per (t, beta, rho):
 *   e(beta, q) = L_GMM + L_t+1,   top(beta) = max_q e,   E = exp(e - top)
 *   D(beta, rho) = sum_q a^r_{rho q} E(beta, q),   U = log D + top,   L_t = A^b U
 * Forward: phi_t(q | rho, beta) = a^r_{rho q} E / D, so with H(rho, beta) = (nu A^b)(rho, beta) / D(beta, rho)
 *   nu_t(q, beta) = E(beta, q) sum_rho a^r_{rho q} H(rho, beta),   xi += a^r_{rho q} sum_beta H(rho, beta) E(beta, q)
 *
 * If a^r is zero at the largest e, the sum D may be made of terms that underflowed.  vec_exp stops at e^-700, so a D above
 * e^-644 is right to 1e-24; `low` is the smallest log D, and the caller redoes lanes below that.
 *
 * Long tau: when a step changes every L by the same amount, it changes E and D not at all, and so will all further
 * steps; the rest is added as a multiple.  The forward chain then has the same transitions at every t; once nu rests
 * too, the middle is added as a multiple, and only the end, where E and D differ, is walked. */
#include "backend/simd/reduce_lanes.h"

#include "backend/simd/vec.h"

#include <string.h>

enum { WORTH_LOOKING = 16 };             /* shorter recursions are just walked */

/* What counts as settled.  Deviations shrink by a constant factor per step, so what is left out is of the same order. */
#define SETTLED_L  1e-10                 /* nats, plus the rounding of L */
#define SETTLED_NU 1e-12                 /* of 1, the sum of nu */

/* Sb and Sr are arguments of all inlined functions: for small equal sizes they are constants, and the loops are written
 * out (see DISPATCH). */
#define UNROLL _Pragma("GCC unroll 8")

/* E = exp(L_gmm + L - top) over each row. */
VEC_INLINE void exponents(const vh_reduce_lanes *g, const int Sb, const int Sr, vec *restrict E)
{
    const vec *restrict G = g->L_gmm, *restrict L = g->L;
    for (int b = 0; b < Sb; b++, G += Sr, L += Sr, E += Sr) {
        vec top = G[0] + L[0];
        UNROLL for (int q = 1; q < Sr; q++)
            top = vec_max(top, G[q] + L[q]);
        g->top[b] = top;
        UNROLL for (int q = 0; q < Sr; q++)
            E[q] = vec_exp(G[q] + L[q] - top);
    }
}

/* D = E A', U = log D + top; low takes part. */
VEC_INLINE void sums(vh_reduce_lanes *g, const int Sb, const int Sr, const vec *restrict E, vec *restrict D)
{
    vec low = g->low;
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            const double *restrict a = g->A_r + r * Sr;
            vec sum = a[0] * E[b * Sr];
            UNROLL for (int q = 1; q < Sr; q++)
                sum += a[q] * E[b * Sr + q];
            D[b * Sr + r] = sum;
            vec v = vec_log(sum);
            low = vec_min(low, v);
            g->U[b * Sr + r] = v + g->top[b];
        }
    g->low = low;
}

/* L = A^b U.  Returns whether all entries of a lane changed by the same amount, up to rounding, in all lanes; change is
 * that amount. */
VEC_INLINE bool step_back(vh_reduce_lanes *g, const int Sb, const int Sr, bool look, vec *change)
{
    vec most = vec_all(-1e308), least = vec_all(1e308), size = { 0 };
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            vec sum = g->A_b[b * Sb] * g->U[r];
            UNROLL for (int q = 1; q < Sb; q++)
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
        if (!(most[l] - least[l] <= SETTLED_L + 4e-15 * size[l]))
            return false;
    return true;
}

VEC_INLINE void backward_of(vh_reduce_lanes *g, const int Sb, const int Sr, bool keep)
{
    const int n = Sb * Sr;
    const bool look = g->tau > WORTH_LOOKING;
    vec L_hmm = { 0 };
    g->steps = 0;
    g->low = (vec){ 0 };
    memset(g->L, 0, sizeof *g->L * (size_t)n);
    for (int t = g->tau; t >= 2; t--) {
        vec *E = g->E + (keep ? g->steps * n : 0), *D = g->D + (keep ? g->steps * n : 0), change;
        exponents(g, Sb, Sr, E);
        sums(g, Sb, Sr, E, D);
        g->steps++;
        if (step_back(g, Sb, Sr, look, &change)) {
            for (int k = 0; k < n; k++)
                g->L[k] += change * (double)(t - 2);
            break;
        }
    }
    /* t = 1, with pi in the place of A; the forward pass finds E in nu, as [Sb][Sr], and its sums in U */
    exponents(g, Sb, Sr, g->nu);
    for (int b = 0; b < Sb; b++) {
        vec sum = { 0 };
        for (int r = 0; r < Sr; r++)
            sum += g->pi_r[r] * g->nu[b * Sr + r];
        g->U[b] = sum;
        vec v = vec_log(sum);
        g->low = vec_min(g->low, v);
        L_hmm += g->pi_b[b] * (v + g->top[b]);
    }
    g->L_hmm = L_hmm;
}

/* One step of the forward chain with E and D: nu becomes that of the next frame, xi its transitions.  Returns the largest
 * change of nu when it is looked for. */
VEC_INLINE double step_forward(vh_reduce_lanes *g, const int Sb, const int Sr, const vec *restrict E,
                               const vec *restrict D, bool look, vec *restrict xi)
{
    vec *restrict nu = g->nu, *restrict H = g->H, most = { 0 };
    for (int r = 0; r < Sr; r++)
        for (int b = 0; b < Sb; b++) {
            vec sum = nu[r * Sb] * g->A_b[b];
            UNROLL for (int q = 1; q < Sb; q++)
                sum += nu[r * Sb + q] * g->A_b[q * Sb + b];
            H[r * Sb + b] = sum / D[b * Sr + r];
        }
    for (int q = 0; q < Sr; q++)
        for (int b = 0; b < Sb; b++) {
            vec sum = g->A_r[q] * H[b];
            UNROLL for (int r = 1; r < Sr; r++)
                sum += g->A_r[r * Sr + q] * H[r * Sb + b];
            sum *= E[b * Sr + q];
            if (look) {
                vec change = sum - nu[q * Sb + b];
                most = vec_max(most, vec_max(change, -change));
            }
            nu[q * Sb + b] = sum;
        }
    for (int r = 0; r < Sr; r++)
        for (int q = 0; q < Sr; q++) {
            vec sum = H[r * Sb] * E[q];
            UNROLL for (int b = 1; b < Sb; b++)
                sum += H[r * Sb + b] * E[b * Sr + q];
            xi[r * Sr + q] = sum;
        }
    double top = 0;
    for (int l = 0; look && l < VH_LANES; l++)
        top = most[l] > top || most[l] != most[l] ? most[l] : top;
    return top;
}

VEC_INLINE void forward_of(vh_reduce_lanes *g, const int Sb, const int Sr)
{
    const int n = Sb * Sr;
    memset(g->xi, 0, sizeof *g->xi * (size_t)(Sr * Sr));
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
        double times = 1, change = step_forward(g, Sb, Sr, g->E + at * n, g->D + at * n, same > 0, g->step_xi);
        if (same > 0 && change < SETTLED_NU) {
            times += same;
            t += same;
        }
        for (int k = 0; k < n; k++)
            g->sum_nu[k] += times * g->nu[k];
        for (int k = 0; k < Sr * Sr; k++)
            g->xi[k] += times * g->step_xi[k];
    }
}

#define DISPATCH(f, ...)                                                    \
    switch (g->Sb == g->Sr ? g->Sb : 0) {                                   \
    case 2:  f(g, 2, 2 __VA_ARGS__); break;                                 \
    case 3:  f(g, 3, 3 __VA_ARGS__); break;                                 \
    case 4:  f(g, 4, 4 __VA_ARGS__); break;                                 \
    case 5:  f(g, 5, 5 __VA_ARGS__); break;                                 \
    case 6:  f(g, 6, 6 __VA_ARGS__); break;                                 \
    default: f(g, g->Sb, g->Sr __VA_ARGS__);                                \
    }

#define AND_KEEP , keep
void VH_NAME(vh_reduce_backward)(vh_reduce_lanes *g, bool keep)
{
    DISPATCH(backward_of, AND_KEEP)
}

void VH_NAME(vh_reduce_forward)(vh_reduce_lanes *g)
{
    DISPATCH(forward_of)
}
