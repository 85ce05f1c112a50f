/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes_body.h - the recursions of lanes.c, written once for LANE = double and LANE = a register of doubles.
 *
 *   pred_t(s) = sum_q alpha_t-1(q) a_qs     (t = 1: pi_s)
 *   c_t = sum_s pred_t(s) B_t(s),   r_t = 1/c_t,   alpha_t(s) = pred_t(s) B_t(s) r_t
 *   v_t(q) = B_t(q) beta_t(q) r_t,   beta_t-1(s) = sum_q a_sq v_t(q),   beta_T = 1
 *   gamma_t(s) = alpha_t(s) beta_t(s),   xi_t(s,q) = alpha_t-1(s) a_sq v_t(q),   log p(y) = sum_t log c_t
 *
 * pred_t is stored instead of alpha_t: gamma / B = pred r beta, which the mixture components need, then takes
 * no division.  The division 1/c_t overlaps the next product with A instead of preceding it.
 *
 * xi is accumulated over VH_BLOCK frames at a time, with one load and one store of each sum.  For S up to
 * WRITTEN_OUT, S is a compile-time constant: the loops are unrolled and alpha, pred and v stay in registers.
 * A stop is checked for every STRETCH frames. */

INLINE void BODY(forward_of)(vh_lanes *g, const int S)
{
    const LANE *restrict A = (const LANE *)g->A;
    LANE small[2 * WRITTEN_OUT], r = (LANE){ 0 } + 1;
    LANE *alpha = S <= WRITTEN_OUT ? small : (LANE *)g->alpha;
    LANE *pred = S <= WRITTEN_OUT ? small + WRITTEN_OUT : (LANE *)g->v;
    LANE *restrict rs = (LANE *)g->r;
#pragma GCC unroll 10
    for (int s = 0; s < S; s++)
        pred[s] = ((const LANE *)g->pi)[s];
    for (int64_t t = 0; t < g->T && !is_late(g);)
        for (int64_t end = g->T - t < STRETCH ? g->T : t + STRETCH; t < end; t++) {
            const LANE *restrict B = (const LANE *)g->B + t * S;
            LANE *restrict P = (LANE *)g->P + t * S, zero = { 0 }, c[2] = { zero, zero };
#pragma GCC unroll 10
            for (int s = 0; s < S; s++) {
                LANE p = pred[s] * r;
                P[s] = p;
                p *= B[s];
                alpha[s] = p;
                c[s % 2] += p;
            }
            rs[t] = r = 1 / (c[0] + c[1]);
#pragma GCC unroll 10
            for (int q = 0; q < S; q++) {
                LANE sum = { 0 };
#pragma GCC unroll 10
                for (int s = 0; s < S; s++)
                    sum += alpha[s] * A[s * S + q];
                pred[q] = sum;
            }
        }
}

/* X += sum over n frames of alpha v'. */
INLINE void BODY(add_transitions)(const int S, int n, const LANE *restrict alpha, const LANE *restrict v,
                                  LANE *restrict X)
{
    if (n == VH_BLOCK) {
        for (int s = 0; s < S; s++) {
            LANE a0 = alpha[s], a1 = alpha[S + s], a2 = alpha[2 * S + s], a3 = alpha[3 * S + s];
            for (int q = 0; q < S; q++)
                X[s * S + q] += (a0 * v[q] + a1 * v[S + q]) + (a2 * v[2 * S + q] + a3 * v[3 * S + q]);
        }
        return;
    }
    for (int f = 0; f < n; f++)
        for (int s = 0; s < S; s++)
            for (int q = 0; q < S; q++)
                X[s * S + q] += alpha[f * S + s] * v[f * S + q];
}

INLINE void BODY(backward_of)(vh_lanes *g, const int S)
{
    const LANE *restrict A = (const LANE *)g->A;
    LANE *restrict beta = (LANE *)g->beta, *restrict alphas = (LANE *)g->alpha, *restrict vs = (LANE *)g->v;
    LANE doubt = { 0 }, live = { 0 }, small[WRITTEN_OUT];
    int64_t shortest = g->T;
    int n = 0;
    for (int l = 0; l < LANE_COUNT; l++)
        shortest = g->length[l] < shortest ? g->length[l] : shortest;
    memset(g->X, 0, sizeof(LANE) * (size_t)(S * S));
    for (int s = 0; s < S; s++)
        beta[s] = (LANE){ 0 } + 1;
    for (int64_t t = g->T - 1; t >= 0; t--) {
        if (t % STRETCH == 0 && is_late(g))
            return;
        LANE *restrict B = (LANE *)g->B + t * S, *restrict v = vs + n * S, *restrict alpha = alphas + n * S;
        const LANE *restrict P = (const LANE *)g->P + t * S, *restrict r = (const LANE *)g->r + t;
        for (int l = 0; l < LANE_COUNT && t >= shortest - 1; l++)
            ((double *)&live)[l] = t < g->length[l] ? 1 : 0;
        LANE ahead = { 0 }, *w = S <= WRITTEN_OUT ? small : v;
#pragma GCC unroll 10
        for (int s = 0; s < S; s++) {
            LANE br = beta[s] * r[0] * live;
            doubt += br;
            v[s] = w[s] = B[s] * br;
            ahead += w[s];
            B[s] = P[s] * br;
        }
        if (t == 0)
            break;
        doubt += ahead * r[-1];
#pragma GCC unroll 10
        for (int s = 0; s < S; s++) {
            LANE sum = 1 - live; /* past its end, a lane keeps beta = 1 */
#pragma GCC unroll 10
            for (int q = 0; q < S; q++)
                sum += A[s * S + q] * w[q];
            beta[s] = sum;
            alpha[s] = P[s - S] * B[s - S] * r[-1];
        }
        if (++n == VH_BLOCK) {
            BODY(add_transitions)(S, n, alphas, vs, (LANE *)g->X);
            n = 0;
        }
    }
    BODY(add_transitions)(S, n, alphas, vs, (LANE *)g->X);
    for (int l = 0; l < LANE_COUNT; l++)
        g->doubt[l] += ((double *)&doubt)[l];
}

#define FOR_S(f)              \
    switch (g->S) {           \
    case 1: f(g, 1); break;   \
    case 2: f(g, 2); break;   \
    case 3: f(g, 3); break;   \
    case 4: f(g, 4); break;   \
    case 5: f(g, 5); break;   \
    case 6: f(g, 6); break;   \
    case 7: f(g, 7); break;   \
    case 8: f(g, 8); break;   \
    case 9: f(g, 9); break;   \
    case 10: f(g, 10); break; \
    default: f(g, g->S);      \
    }

static void BODY(forward)(vh_lanes *g)
{
    FOR_S(BODY(forward_of))
}

static void BODY(backward)(vh_lanes *g)
{
    FOR_S(BODY(backward_of))
}
#undef FOR_S
