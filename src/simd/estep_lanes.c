/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_lanes.c - see estep_lanes.h; vhem/pair_bound.c has the equations.  Paper, Section 3.3 and Appendix A.
 *
 * Backward, one exp and one log per (t, beta, rho):
 *   e(beta, q) = L_GMM + L_t+1,   top(beta) = max_q e,   E = exp(e - top)
 *   D(beta, rho) = sum_q a^r_{rho q} E(beta, q),   U = log D + top,   L_t = A^b U
 * Forward: phi_t(q | rho, beta) = a^r_{rho q} E / D, so with
 *   H(rho, beta)  = (nu A^b)(rho, beta) / D(beta, rho)
 *   nu_t(q, beta) = E(beta, q) sum_rho a^r_{rho q} H(rho, beta)
 *   xi(rho, q)   += a^r_{rho q} sum_beta H(rho, beta) E(beta, q)
 *
 * Underflow.  If a^r is zero at the largest e, all terms of D may have underflowed.  exp of less than -700 is
 * taken as 0, so a D above e^-644 is accurate to 1e-24.  `low` is the smallest log D; the caller recomputes
 * groups below that threshold with estep_careful.c.  Flushing numbers under 1e-308 to 0 is safe: they do not
 * matter next to a D above e^-644, and a D of 0 has a log of about -709, which is below the threshold.
 *
 * Long tau.  A step is monotone and commutes with shifts of L, so its changes lie between the smallest and
 * the largest change of the previous step, and `left` more steps differ by at most left times that spread.
 * Once this is negligible, the remaining steps are added as a multiple.  This holds for slow chains too; they
 * only take more steps.  If only the bound is needed, a final stretch in which the changes shrink
 * geometrically is extrapolated.  After L has settled, E and D are constant.  The forward chain then has the
 * same transitions at every t, and its changes do not grow either: once nu has settled too, the middle is
 * added as a multiple, and only the end, where E and D differ, is computed step by step.
 *
 * During this check L is kept relative to its largest entry, whose value accumulates in `offset`: L grows
 * with tau, and its rounding would hide the changes.  The largest entry is used because rows of base states
 * far from every centre can lie 1e24 below the others, which would lose all digits relative to such a row. */
#include "simd/estep_lanes.h"

#include "simd/vec.h"

#include <math.h>
#include <string.h>

enum { WORTH_LOOKING = 16 }; /* shorter recursions compute every step */

#define SETTLED_L  1e-11 /* nats: allowed error of the extrapolated steps */
#define SETTLED_NU 1e-11 /* the same for nu, which sums to 1 */
#define L_ROUNDING 2e-15 /* relative to a step: smaller differences between changes are rounding */
#define ROUNDING   2e-15 /* a smaller change of nu is rounding */
#define SUMS_TO_1  1e-14 /* if rows of A^b are further off, L does not shift and every step is computed */

/* Extrapolation by x is wrong by at most x^2 / 8 (1 - r^2): the curvature of log-sum-exp is at most 1/4. */
#define LEAP_ERROR 1e-11
#define LEAP_FROM  1e-5 /* nats: no extrapolation while changes differ by more */
enum { LEAP_REST = 3 }; /* steps until the factor can be estimated again */

/* Sb and Sr are arguments of all inlined functions: for small equal sizes they are compile-time constants,
 * and the loops are unrolled (see DISPATCH). */
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
            E[q] = G[q] + L[q] - top;
        vec_exp_or_0_all(Sr, E);
    }
}

/* D = E A', U = log D + top; updates low. */
VEC_INLINE
void sums(vh_reduce_lanes *g, const int Sb, const int Sr, const vec *restrict E, vec *restrict D)
{
    vec low = g->low;
    for (int b = 0; b < Sb; b++) {
        vec *restrict U = g->U + b * Sr;
        UNROLL
        for (int r = 0; r < Sr; r++) {
            const double *restrict a = g->A_r + r * Sr;
            vec sum = a[0] * E[b * Sr];
            UNROLL
            for (int q = 1; q < Sr; q++)
                sum += a[q] * E[b * Sr + q];
            D[b * Sr + r] = U[r] = sum;
        }
        vec_log_all(Sr, U);
        UNROLL
        for (int r = 0; r < Sr; r++) {
            low = vec_min(low, U[r]);
            U[r] += g->top[b];
        }
    }
    g->low = low;
}

/* How the last step changed L, over all entries of each lane. */
typedef struct {
    vec most, least, size; /* largest and smallest change; largest |L| before centring */
} progress;

/* L = A^b U.  With `look`, g->change receives the change of each entry and g->bend its difference from the
 * previous one, and L is shifted by the maximum of `top`, which is hardly above its largest entry. */
VEC_INLINE
void step_back(vh_reduce_lanes *g, const int Sb, const int Sr, bool look, progress *p)
{
    vec most = vec_all(-1e308), least = vec_all(1e308), size = { 0 }, centre = { 0 };
    if (look) {
        centre = vec_all(-1e300); /* finite even if no state is reachable */
        for (int b = 0; b < Sb; b++)
            centre = vec_max(centre, g->top[b]);
    }
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
                sum -= centre;
            }
            g->L[k] = sum;
        }
    g->offset += centre;
    g->centre = centre;
    *p = (progress){ most, least, size };
}

/* True if one change *rate fits all entries of lane l within their rounding, which is separate for each
 * entry: entries of 1e24 cannot resolve changes of 1e9, but their neighbours can, and the bound may depend
 * on those alone. */
static bool one_rate(const vh_reduce_lanes *g, int n, int l, double *rate)
{
    double lo = -1e308, hi = 1e308;
    for (int k = 0; k < n; k++) {
        double slack = L_ROUNDING / 2 * fmax(1, fabs(g->L[k][l] + g->centre[l]));
        lo = fmax(lo, g->change[k][l] - slack);
        hi = fmin(hi, g->change[k][l] + slack);
    }
    *rate = 0.5 * (lo + hi);
    return lo <= hi;
}

/* True if `left` more steps would change every entry of each lane by the same amount, *rate per step. */
VEC_INLINE
bool settled(const vh_reduce_lanes *g, const int n, const progress *p, int left, vec *rate)
{
    *rate = 0.5 * (p->most + p->least);
    for (int l = 0; l < VH_LANES; l++) {
        double spread = p->most[l] - p->least[l], own = (*rate)[l];
        if (spread * left <= SETTLED_L)
            continue;
        if (!(spread <= L_ROUNDING * p->size[l] && one_rate(g, n, l, &own)))
            return false;
        (*rate)[l] = own;
    }
    return true;
}

VEC_INLINE
double power(double r, int n)
{
    double x = 1;
    for (; n > 0; n /= 2, r *= r)
        x *= n % 2 ? r : 1;
    return x;
}

/* Near its limit the recursion converges by a constant factor r per step, positive or negative, so the
 * remaining changes can be summed: with c_k = g + a r^k, sum_{i > k} (c_i - g) = -(c_k - c_k-1) (r / (1 -
 * r))^2.  L jumps there in the lanes where one r explains both the changes and their differences, the
 * curvature is negligible, and enough steps are left for the infinite sum to be accurate.  A slower component
 * of the changes hardly affects the jump, since it hardly contributes to c_k - c_k-1.  True if any lane
 * jumped. */
VEC_INLINE
bool leap(vh_reduce_lanes *g, const int n, int left, const progress *now, const progress *before)
{
    vec f = { 0 }, most = g->bend[0], least = g->bend[0];
    bool any = false;
    for (int k = 1; k < n; k++) {
        most = vec_max(most, g->bend[k]);
        least = vec_min(least, g->bend[k]);
    }
    for (int l = 0; l < VH_LANES; l++) {
        double spread = now->most[l] - now->least[l], bend = most[l] - least[l];
        double r = spread / (before->most[l] - before->least[l]);
        r = bend > spread / r ? -r : r; /* for r > 0 it is smaller than the previous change */
        double x = spread * fabs(r) / (1 - r);
        bool clear = fabs(r) < 0.9 && spread > 20 * L_ROUNDING * now->size[l]
                     && fabs(bend * fabs(r) - spread * (1 - r)) < 0.1 * spread * (1 - r);
        if (clear && x * x <= 8 * LEAP_ERROR * (1 - r * r) && x * power(fabs(r), left) <= LEAP_ERROR) {
            f[l] = r / (1 - r) * (r / (1 - r));
            any = true;
        }
    }
    for (int k = 0; k < n && any; k++)
        g->L[k] -= g->bend[k] * f;
    return any;
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

/* True if the rows of A^b sum to 1 in each lane. */
VEC_INLINE
bool shifts(const vh_reduce_lanes *g, const int Sb)
{
    vec off = { 0 };
    for (int b = 0; b < Sb; b++) {
        vec sum = vec_all(-1);
        for (int q = 0; q < Sb; q++)
            sum += g->A_b[b * Sb + q];
        off = vec_max(off, vec_max(sum, -sum));
    }
    for (int l = 0; l < VH_LANES; l++)
        if (!(off[l] <= SUMS_TO_1))
            return false;
    return true;
}

VEC_INLINE
void backward_of(vh_reduce_lanes *g, const int Sb, const int Sr, bool keep)
{
    const int n = Sb * Sr;
    const bool look = g->tau > WORTH_LOOKING && shifts(g, Sb);
    vec L_hmm = { 0 }, rate;
    progress now = { 0 }, before;
    int rest = LEAP_REST; /* steps until extrapolation may be tried */
    g->steps = 0;
    g->offset = g->low = (vec){ 0 };
    memset(g->L, 0, sizeof *g->L * (size_t)n);
    memset(g->change, 0, sizeof *g->change * (size_t)n);
    for (int left = g->tau - 1; left > 0;) { /* steps left */
        before = now;
        one_step(g, Sb, Sr, keep, look, &now);
        left--;
        if (look && settled(g, n, &now, left, &rate)) {
            g->offset += rate * (double)left;
            break;
        }
        /* Extrapolation skips the E and D of its steps, which the forward pass needs. */
        if (look && !keep && --rest <= 0 && now.most[0] - now.least[0] < LEAP_FROM
            && leap(g, n, left, &now, &before))
            rest = LEAP_REST;
    }
    /* t = 1, with pi in place of A; nu receives E as [Sb][Sr] and U its sums, for the forward pass */
    exponents(g, Sb, Sr, g->nu);
    for (int b = 0; b < Sb; b++) {
        vec sum = { 0 };
        for (int r = 0; r < Sr; r++)
            sum += g->pi_r[r] * g->nu[b * Sr + r];
        g->U[b] = sum;
        vec v = vec_log(sum);
        g->low = vec_min(g->low, v);
        L_hmm += g->pi_b[b] * (v + g->top[b] + g->offset);
    }
    g->L_hmm = L_hmm;
}

/* One step of the forward chain: advances nu to the next frame with E and D, and sets xi to the transitions.
 * With look, returns the largest change of nu. */
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
    for (int t = 2; t <= g->tau; t++) {
        int same = g->tau - t - (g->steps - 1); /* number of further frames with the same E and D */
        int at = same >= 0 ? g->steps - 1 : g->tau - t;
        double times = 1,
               change = step_forward(g, Sb, Sr, g->E + at * n, g->D + at * n, same > 0, g->step_xi);
        if (same > 0 && (change * same <= SETTLED_NU || change <= ROUNDING)) {
            times += same;
            t += same;
        }
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
