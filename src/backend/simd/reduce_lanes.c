/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce_lanes.c - see reduce_lanes.h; ref/reduce.c has the equations.  Paper, Section 3.3 and Appendix A.
 *
 * Backward, one exp and one log per (t, beta, rho):
 *   e(beta, q) = L_GMM + L_t+1,   top(beta) = max_q e,   E = exp(e - top)
 *   D(beta, rho) = sum_q a^r_{rho q} E(beta, q),   U = log D + top,   L_t = A^b U
 * Forward: phi_t(q | rho, beta) = a^r_{rho q} E / D, so with
 *   H(rho, beta)  = (nu A^b)(rho, beta) / D(beta, rho)
 *   nu_t(q, beta) = E(beta, q) sum_rho a^r_{rho q} H(rho, beta)
 *   xi(rho, q)   += a^r_{rho q} sum_beta H(rho, beta) E(beta, q)
 *
 * If a^r is zero at the largest e, the sum D may be made of terms that underflowed.  vec_exp stops at e^-700,
 * so a D above e^-644 is right to 1e-24; `low` is the smallest log D, and where one is below that the caller
 * has the group redone by reduce_careful.c.  Numbers under 1e-308 may be flushed to 0: next to a D above
 * e^-644 they are nothing, and a D of 0 has a log of about -709, which is low.
 *
 * Long tau: when a step changes every L by the same amount, it changes E and D not at all, and so will all
 * further steps; the rest is added as a multiple, and when only the bound is wanted, the last stretch before
 * that is leapt over.  The forward chain then has the same transitions at every t; once nu rests too, the
 * middle is added as a multiple, and only the end, where E and D differ, is walked. */
#include "backend/simd/reduce_lanes.h"

#include "backend/simd/vec.h"

#include <string.h>

enum { WORTH_LOOKING = 16 }; /* shorter recursions are just walked */

/* What counts as settled.  Deviations shrink by a constant factor per step, so what
 * is left out is of the same order. */
#define SETTLED_L  1e-10 /* nats, plus the rounding of L */
#define L_ROUNDING 4e-15 /* of the size of L */
#define SETTLED_NU 1e-12 /* of 1, the sum of nu */
#define ROUNDING   2e-15 /* a change of nu this small is no change */
#define LEAP_FROM  1e-3  /* nats: changes differ by less than this where the rest is extrapolated */

/* Sb and Sr are arguments of all inlined functions: for small equal sizes they are constants, and the
 * loops are written out (see DISPATCH). */
#define UNROLL _Pragma("GCC unroll 8")

/* E = exp(L_gmm + L - top) over each row. */
VEC_INLINE
void exponents(const vh_reduce_lanes *g, const int Sb, const int Sr, vec *restrict E)
{
    const vec *restrict G = g->L_gmm, *restrict L = g->L;
    for (int b = 0; b < Sb; b++, G += Sr, L += Sr, E += Sr) {
        vec top = G[0] + L[0];
        UNROLL
        for (int q = 1; q < Sr; q++)
            top = vec_max(top, G[q] + L[q]);
        g->top[b] = top;
        UNROLL
        for (int q = 0; q < Sr; q++)
            E[q] = vec_exp(G[q] + L[q] - top);
    }
}

/* D = E A', U = log D + top; low takes part. */
VEC_INLINE
void sums(vh_reduce_lanes *g, const int Sb, const int Sr, const vec *restrict E, vec *restrict D)
{
    vec low = g->low;
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            const double *restrict a = g->A_r + r * Sr;
            vec sum = a[0] * E[b * Sr];
            UNROLL
            for (int q = 1; q < Sr; q++)
                sum += a[q] * E[b * Sr + q];
            D[b * Sr + r] = sum;
            vec v = vec_log(sum);
            low = vec_min(low, v);
            g->U[b * Sr + r] = v + g->top[b];
        }
    g->low = low;
}

/* How the last step changed L, over all entries of each lane. */
typedef struct {
    vec most, least, size; /* largest and smallest change; largest |L| */
} progress;

/* L = A^b U.  With `look`, g->change holds the change of each entry and g->bend how much
 * that differs from the one before. */
VEC_INLINE
void step_back(vh_reduce_lanes *g, const int Sb, const int Sr, bool look, progress *p)
{
    vec most = vec_all(-1e308), least = vec_all(1e308), size = { 0 };
    for (int b = 0; b < Sb; b++)
        for (int r = 0; r < Sr; r++) {
            const int k = b * Sr + r;
            vec sum = g->A_b[b * Sb] * g->U[r];
            UNROLL
            for (int q = 1; q < Sb; q++)
                sum += g->A_b[b * Sb + q] * g->U[q * Sr + r];
            if (look) {
                vec change = sum - g->L[k];
                most = vec_max(most, change);
                least = vec_min(least, change);
                size = vec_max(size, vec_max(sum, -sum));
                g->bend[k] = change - g->change[k];
                g->change[k] = change;
            }
            g->L[k] = sum;
        }
    *p = (progress){ most, least, size };
}

/* Did every entry of each lane change by the same amount, up to rounding?  Differences shrink by a
 * factor r per step and shift what comes after by 1 / (1 - r) of themselves, L once and nu once
 * more; a slow chain must come closer. */
VEC_INLINE
bool settled(const progress *p, const progress *before, bool keep)
{
    for (int l = 0; l < VH_LANES; l++) {
        double spread = p->most[l] - p->least[l], last = before->most[l] - before->least[l];
        double slack = keep && spread < last ? 1 - spread / last : 1;
        if (!(spread <= SETTLED_L * slack * slack + L_ROUNDING * p->size[l]))
            return false;
    }
    return true;
}

/* Near its end the recursion closes in by a constant factor r per step, so the changes still to come can be
 * summed: with changes c_k = g + a r^k, sum_{i > k} (c_i - g) = -(c_k - c_k-1) (r / (1 - r))^2.  L goes there
 * at once.  False, and nothing done, while r is not yet clear. */
VEC_INLINE
bool leap(vh_reduce_lanes *g, const int n, const progress *now, const progress *before)
{
    vec spread = now->most - now->least, f = { 0 };
    for (int l = 0; l < VH_LANES; l++) {
        double r = spread[l] / (before->most[l] - before->least[l]);
        if (spread[l] <= SETTLED_L + L_ROUNDING * now->size[l])
            continue; /* this lane is there: its r is noise */
        if (!(spread[l] < LEAP_FROM && r < 0.9))
            return false;
        f[l] = r / (1 - r) * (r / (1 - r));
    }
    for (int k = 0; k < n; k++) {
        g->saved[k] = g->L[k];
        g->L[k] -= g->bend[k] * f;
    }
    return true;
}

VEC_INLINE
void one_step(vh_reduce_lanes *g, const int Sb, const int Sr, bool keep, bool look, progress *p)
{
    const int at = keep ? g->steps * Sb * Sr : 0;
    exponents(g, Sb, Sr, g->E + at);
    sums(g, Sb, Sr, g->E + at, g->D + at);
    step_back(g, Sb, Sr, look, p);
    g->steps++;
}

VEC_INLINE
void backward_of(vh_reduce_lanes *g, const int Sb, const int Sr, bool keep)
{
    const int n = Sb * Sr;
    const bool look = g->tau > WORTH_LOOKING;
    vec L_hmm = { 0 };
    progress now = { 0 }, before;
    double from = LEAP_FROM; /* a leap that failed is tried again much later */
    g->steps = 0;
    g->low = (vec){ 0 };
    memset(g->L, 0, sizeof *g->L * (size_t)n);
    memset(g->change, 0, sizeof *g->change * (size_t)n);
    for (int left = g->tau - 1; left > 0;) { /* steps still to be made */
        before = now;
        one_step(g, Sb, Sr, keep, look, &now);
        left--;
        bool there = look && settled(&now, &before, keep);
        /* A leap saves steps, not their E and D: the forward pass needs those.
         * One step from there tells if it hit. */
        if (!there && look && !keep && left > 1 && now.most[0] - now.least[0] < from
            && leap(g, n, &now, &before)) {
            one_step(g, Sb, Sr, keep, look, &now);
            there = settled(&now, &before, keep);
            left -= there;
            from = 1e-2 * (now.most[0] - now.least[0]);
            if (!there)
                memcpy(g->L, g->saved, sizeof *g->L * (size_t)n);
        }
        if (there) {
            for (int k = 0; k < n; k++)
                g->L[k] += 0.5 * (now.most + now.least) * (double)left;
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

/* One step of the forward chain with E and D: nu becomes that of the next frame, xi its transitions.  Returns
 * the largest change of nu when it is looked for. */
VEC_INLINE
double step_forward(vh_reduce_lanes *g, const int Sb, const int Sr, const vec *restrict E,
                    const vec *restrict D, bool look, vec *restrict xi)
{
    vec *restrict nu = g->nu, *restrict H = g->H, most = { 0 };
    for (int r = 0; r < Sr; r++)
        for (int b = 0; b < Sb; b++) {
            vec sum = nu[r * Sb] * g->A_b[b];
            UNROLL
            for (int q = 1; q < Sb; q++)
                sum += nu[r * Sb + q] * g->A_b[q * Sb + b];
            H[r * Sb + b] = sum / D[b * Sr + r];
        }
    for (int q = 0; q < Sr; q++)
        for (int b = 0; b < Sb; b++) {
            vec sum = g->A_r[q] * H[b];
            UNROLL
            for (int r = 1; r < Sr; r++)
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
            UNROLL
            for (int b = 1; b < Sb; b++)
                sum += H[r * Sb + b] * E[b * Sr + q];
            xi[r * Sr + q] = sum;
        }
    double top = 0;
    for (int l = 0; look && l < VH_LANES; l++)
        top = most[l] > top || most[l] != most[l] ? most[l] : top;
    return top;
}

VEC_INLINE
void forward_of(vh_reduce_lanes *g, const int Sb, const int Sr)
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
    double last = 1;
    for (int t = 2; t <= g->tau; t++) {
        int same = g->tau - t - (g->steps - 1); /* this many further frames have the same E and D */
        int at = same >= 0 ? g->steps - 1 : g->tau - t;
        double times = 1,
               change = step_forward(g, Sb, Sr, g->E + at * n, g->D + at * n, same > 0, g->step_xi);
        if (same > 0 && (change < SETTLED_NU * (1 - change / last) || change < ROUNDING)) {
            times += same;
            t += same;
        }
        last = change;
        for (int k = 0; k < n; k++)
            g->sum_nu[k] += times * g->nu[k];
        for (int k = 0; k < Sr * Sr; k++)
            g->xi[k] += times * g->step_xi[k];
    }
    for (int k = 0; k < Sr * Sr; k++)
        g->xi[k] *= g->A_r[k];
}

#define DISPATCH(f, ...)                     \
    switch (g->Sb == g->Sr ? g->Sb : 0) {    \
    case 2: f(g, 2, 2 __VA_ARGS__); break;   \
    case 3: f(g, 3, 3 __VA_ARGS__); break;   \
    case 4: f(g, 4, 4 __VA_ARGS__); break;   \
    case 5: f(g, 5, 5 __VA_ARGS__); break;   \
    case 6: f(g, 6, 6 __VA_ARGS__); break;   \
    default: f(g, g->Sb, g->Sr __VA_ARGS__); \
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
