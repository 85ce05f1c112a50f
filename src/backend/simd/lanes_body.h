/* lanes_body.h - the recursions of lanes.c, written once for LANE = double and LANE = eight doubles.
 *
 *   pred_t(s) = sum_q alpha_t-1(q) a_qs     (t = 1: pi_s)
 *   c_t = sum_s pred_t(s) B_t(s),   r_t = 1/c_t,   alpha_t(s) = pred_t(s) B_t(s) r_t
 *   v_t(q) = B_t(q) beta_t(q) r_t,   beta_t-1(s) = sum_q a_sq v_t(q),   beta_T = 1
 *   gamma_t(s) = alpha_t(s) beta_t(s),   xi_t(s,q) = alpha_t-1(s) a_sq v_t(q),   log p(y) = sum_t log c_t
 *
 * What is kept is pred_t, not alpha_t: gamma / B = pred r beta then needs no division, and that quotient is what the
 * mixture components want.  The division 1/c_t runs beside the next product with A instead of before it. */

static void BODY(forward)(vh_lanes *g)
{
    const int S = g->S;
    const LANE *restrict A = (const LANE *)g->A;
    LANE *restrict alpha = (LANE *)g->alpha, *restrict pred = (LANE *)g->v, *restrict rs = (LANE *)g->r;
    LANE r = (LANE){ 0 } + 1;
    memcpy(pred, g->pi, sizeof *pred * (size_t)S);
    for (int64_t t = 0; t < g->T; t++) {
        const LANE *restrict B = (const LANE *)g->B + t * S;
        LANE *restrict P = (LANE *)g->P + t * S, c = { 0 };
        for (int s = 0; s < S; s++) {
            LANE p = pred[s] * r;
            P[s] = p;
            p *= B[s];
            alpha[s] = p;
            c += p;
        }
        rs[t] = r = 1 / c;
        for (int q = 0; q < S; q++) {
            LANE sum = { 0 };
            for (int s = 0; s < S; s++)
                sum += alpha[s] * A[s * S + q];
            pred[q] = sum;
        }
    }
}

static void BODY(backward)(vh_lanes *g)
{
    const int S = g->S;
    const LANE *restrict A = (const LANE *)g->A;
    LANE *restrict beta = (LANE *)g->beta, *restrict v = (LANE *)g->v, *restrict X = (LANE *)g->X;
    LANE doubt = { 0 }, live = { 0 };
    memset(X, 0, sizeof *X * (size_t)(S * S));
    for (int s = 0; s < S; s++)
        beta[s] = (LANE){ 0 } + 1;
    for (int64_t t = g->T - 1; t >= 0; t--) {
        LANE *restrict B = (LANE *)g->B + t * S;
        const LANE *restrict P = (const LANE *)g->P + t * S, *restrict r = (const LANE *)g->r + t;
        for (int l = 0; l < LANE_COUNT; l++)
            ((double *)&live)[l] = t < g->length[l] ? 1 : 0;
        LANE ahead = { 0 };
        for (int s = 0; s < S; s++) {
            LANE br = beta[s] * r[0] * live;
            doubt += br;
            v[s] = B[s] * br;
            ahead += v[s];
            B[s] = P[s] * br;
        }
        if (t == 0)
            break;
        doubt += ahead * r[-1];
        for (int s = 0; s < S; s++) {
            LANE alpha = P[s - S] * B[s - S] * r[-1], sum = 1 - live;     /* past its end a lane stays at beta = 1 */
            for (int q = 0; q < S; q++) {
                X[s * S + q] += alpha * v[q];
                sum += A[s * S + q] * v[q];
            }
            beta[s] = sum;
        }
    }
    for (int l = 0; l < LANE_COUNT; l++)
        g->doubt[l] += ((double *)&doubt)[l];
}
