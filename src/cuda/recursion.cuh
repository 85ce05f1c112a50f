/* SPDX-License-Identifier: BSD-3-Clause */
/* recursion.cuh - the recursions of the variational E-step for one base and one reduced HMM, in one thread.
 * vhem/pair_bound.c has the equations; simd/estep_lanes.c explains the use of one exp and one log per
 * (t, beta, rho), and when the rest of a long recursion is added in closed form.
 *
 *   1. a pair and its arrays      2. L_gmm      3. backward      4. forward      5. the careful recursions
 *
 * S is the number of states of both HMMs; 0: the numbers are in the pair, and its arrays are in memory. */
#ifndef VH_CUDA_RECURSION_CUH
#define VH_CUDA_RECURSION_CUH

#include "cuda/numbers.cuh"

/* Upper half of e^-644: a smaller sum may have lost terms and needs the careful recursion. */
#define LOW 0x05ddf2b8u

/* ---- 1. a pair and its arrays -------------------------------------------------------------------------- */

struct pair {
    int Sb, Sr, tau;
    strided pi_b, A_b;        /* [Sb] [Sb][Sb] */
    const double *pi_r, *A_r; /* [Sr] [Sr][Sr] */
};

template <class V> struct arrays {
    /* [Sb][Sr]  L_gmm, L_t, U_t.  Adding a huge L_gmm to L would cost L digits. */
    V G, L, U;
    V E; /* [Sr]      one row of exponents; in the first step all of them, [Sb][Sr], see `first` */
};

/* E and D of each step, for the forward pass: [steps][2][Sb][Sr]; x NULL: not kept. */
struct history {
    strided at;
    /* E and D of a step, n = Sb Sr numbers each. */
    __device__ __forceinline__ strided of(int step, int n) const
    {
        return at.from(2 * (size_t)step * (size_t)n);
    }
};

/* ---- 2. L_gmm ------------------------------------------------------------------------------------------ */

struct mixtures { /* the tables of a pair */
    int Mb, Mr;
    strided c;     /* [Sb][Mb] */
    strided table; /* [Sr][Mr][Sb][Mb]  log c_l + E_m[log p(y | l)] */
};

/* log sum_l exp(x_l) over M numbers with stride `by`, eight at a time to overlap the loads.  Not inlined, to
 * reduce compile time. */
static __device__ __noinline__ double log_sum(const double *x, size_t by, int M)
{
    enum { SOME = 8 };
    double top = -1e308, sum = 0;
    for (int l0 = 0; l0 < M; l0 += SOME) {
        double own[SOME], high = top;
#pragma unroll
        for (int l = 0; l < SOME; l++)
            own[l] = x[(size_t)min(l0 + l, M - 1) * by];
#pragma unroll
        for (int l = 0; l < SOME; l++)
            high = fmax(high, own[l]);
        sum = l0 > 0 ? sum * fast_exp(top - high) : 0;
        top = high;
#pragma unroll
        for (int l = 0; l < SOME; l++)
            sum += l0 + l < M ? fast_exp(own[l] - top) : 0;
    }
    return top + fast_log(sum);
}

/* log(exp a + exp b); the larger term needs no exp. */
static __device__ __forceinline__ double log_add(double a, double b)
{
    double high = fmax(a, b);
    return high + fast_log(1 + fast_exp(fmin(a, b) - high));
}

/* The log-sum over the components of state rho, for base component m of Cb. */
static __device__ __forceinline__ double log_sum_of(const mixtures &x, int rho, int m, int Cb)
{
    const strided g = x.table.from(rho * x.Mr * Cb + m);
    return x.Mr == 1 ? g[0] : log_sum(&g[0], (size_t)Cb * g.by, x.Mr);
}

/* L_gmm of all states beta and rho; loops over base components, with all rho at once. */
template <int S, class V>
static __device__ __forceinline__ void mixture_bound(const pair &p, const mixtures &x, V &G)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr, Cb = Sb * x.Mb;
#pragma unroll
    for (int b = 0; b < Sb; b++) {
#pragma unroll
        for (int r = 0; r < Sr; r++)
            G[b * Sr + r] = 0;
        for (int m = b * x.Mb; m < (b + 1) * x.Mb; m++) {
            const double c = x.c[m];
            if (x.Mr == 2) {
                const strided g = x.table.from(m);
#pragma unroll
                for (int r = 0; r < Sr; r++)
                    G[b * Sr + r] = fma(c, log_add(g[2 * r * Cb], g[(2 * r + 1) * Cb]), G[b * Sr + r]);
            } else {
#pragma unroll
                for (int r = 0; r < Sr; r++)
                    G[b * Sr + r] = fma(c, log_sum_of(x, r, m, Cb), G[b * Sr + r]);
            }
        }
    }
}

/* ---- 3. backward --------------------------------------------------------------------------------------- */

#define WORTH_LOOKING 16
#define SETTLED_L     1e-11
#define SETTLED_NU    1e-11
#define L_ROUNDING    2e-15
#define NU_ROUNDING   2e-15
#define SUMS_TO_1     1e-14

struct progress {
    double least, most; /* changes that fit every entry within rounding; none if most < least */
    double top;         /* the largest entry */
};

/* U from L, one row of E at a time; low is the upper half of the smallest sum. */
template <int S, class V>
static __device__ __forceinline__ unsigned exponents(const pair &p, arrays<V> &a, const history &h, int step,
                                                     unsigned low)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr, n = Sb * Sr;
#pragma unroll
    for (int b = 0; b < Sb; b++) {
        double top = -1e308;
#pragma unroll
        for (int q = 0; q < Sr; q++) {
            a.E[q] = a.G[b * Sr + q] + a.L[b * Sr + q];
            top = fmax(top, a.E[q]);
        }
#pragma unroll
        for (int q = 0; q < Sr; q++)
            a.E[q] = fast_exp_or_0(a.E[q] - top);
#pragma unroll
        for (int r = 0; r < Sr; r++) {
            double sum = p.A_r[r * Sr] * a.E[0];
#pragma unroll
            for (int q = 1; q < Sr; q++)
                sum = fma(p.A_r[r * Sr + q], a.E[q], sum);
            low = min(low, upper_half(sum));
            a.U[b * Sr + r] = fast_log(sum) + top;
            if (h.at.x) {
                const strided own = h.of(step, n);
                own[b * Sr + r] = a.E[r];
                own[n + b * Sr + r] = sum;
            }
        }
    }
    return low;
}

/* L = A^b U; with `look`, relative to `centre`, the largest entry of the previous step, which is added to
 * offset.  Each remaining step may be off by `slack` per entry; entries of base states far from every centre
 * are large and tell little about how the others change. */
template <int S, class V>
static __device__ __forceinline__ progress step_back(const pair &p, arrays<V> &a, bool look, double centre,
                                                     double slack, double *offset)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr;
    progress now = { -1e308, 1e308, -1e308 };
#pragma unroll
    for (int b = 0; b < Sb; b++)
#pragma unroll
        for (int r = 0; r < Sr; r++) {
            double sum = p.A_b[b * Sb] * a.U[r];
#pragma unroll
            for (int q = 1; q < Sb; q++)
                sum = fma(p.A_b[b * Sb + q], a.U[q * Sr + r], sum);
            if (look) {
                double change = sum - a.L[b * Sr + r];
                double own = fmax(slack, L_ROUNDING / 2 * fmax(1.0, fabs(sum)));
                now.least = fmax(now.least, change - own);
                now.most = fmin(now.most, change + own);
                sum -= centre;
                now.top = fmax(now.top, sum);
            }
            a.L[b * Sr + r] = sum;
        }
    *offset += look ? centre : 0;
    return now;
}

/* True if the rows of A^b sum to 1.  Otherwise L does not shift, and every step is computed. */
template <int S> static __device__ __forceinline__ bool shifts(const pair &p)
{
    const int Sb = S ? S : p.Sb;
    double off = 0;
    for (int b = 0; b < Sb; b++) {
        double sum = -1;
        for (int q = 0; q < Sb; q++)
            sum += p.A_b[b * Sb + q];
        off = fmax(off, fabs(sum));
    }
    return off <= SUMS_TO_1;
}

struct bound {
    double L_hmm;
    unsigned low; /* upper half of the smallest sum */
    int steps;    /* steps computed; E and D are constant after the last */
};

/* t = 1, with pi in place of A.  U[b] := the sum of row b; first [Sb][Sr] := its exponents, unless NULL. */
template <int S, class V>
static __device__ __forceinline__ void first_step(const pair &p, arrays<V> &a, double offset, V *first,
                                                  bound *out)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr;
    out->L_hmm = 0;
#pragma unroll
    for (int b = 0; b < Sb; b++) {
        double top = -1e308, sum = 0;
#pragma unroll
        for (int q = 0; q < Sr; q++)
            top = fmax(top, a.G[b * Sr + q] + a.L[b * Sr + q]);
#pragma unroll
        for (int q = 0; q < Sr; q++) {
            double e = fast_exp_or_0(a.G[b * Sr + q] + a.L[b * Sr + q] - top);
            sum = fma(p.pi_r[q], e, sum);
            if (first)
                (*first)[b * Sr + q] = e;
        }
        out->low = min(out->low, upper_half(sum));
        out->L_hmm = fma(p.pi_b[b], fast_log(sum) + top + offset, out->L_hmm);
        a.U[b] = sum;
    }
}

template <int S, class V>
static __device__ __forceinline__ bound backward(const pair &p, arrays<V> &a, const history &h, V *first)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr;
    const bool look = p.tau > WORTH_LOOKING && shifts<S>(p);
    double offset = 0, top = 0;
    double wrong = 0; /* NaN if some L_gmm is NaN or infinite */
    bound out = { 0, 0x7fffffffu, 0 };
#pragma unroll
    for (int k = 0; k < Sb * Sr; k++) {
        a.L[k] = 0;
        wrong = fma(a.G[k], 0.0, wrong);
    }
#pragma unroll 1
    for (int left = p.tau - 1; left > 0;) { /* steps left */
        out.low = exponents<S>(p, a, h, out.steps, out.low);
        left--;
        progress now = step_back<S>(p, a, look, top, 0.5 * SETTLED_L / fmax((double)left, 1.0), &offset);
        top = now.top;
        out.steps++;
        if (look && now.least <= now.most) {
            offset += 0.5 * (now.most + now.least) * left;
            break;
        }
    }
    first_step<S>(p, a, offset, first, &out);
    out.L_hmm += wrong;
    return out;
}

/* True if the fast recursion found no sign of a wrong bound. */
static __device__ __forceinline__ bool good(const bound &x)
{
    return x.low > LOW && isfinite(x.L_hmm);
}

/* ---- 4. forward ---------------------------------------------------------------------------------------- */

template <class V> struct chains { /* results of the forward pass */
    V nu, H, sum_nu;               /* [Sr][Sb] */
    V nu1, xi;                     /* [Sr] [Sr][Sr] */
};

/* One step with E and D [Sb][Sr]: advances nu to the next frame.  same: number of further frames with the
 * same E and D.  Returns how many times the step counts: 1 + same if nu hardly changed, else 1. */
template <int S, class V>
static __device__ __forceinline__ int step_forward(const pair &p, chains<V> &c, const strided &E,
                                                   const strided &D, int same)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr;
    double most = 0;
#pragma unroll
    for (int r = 0; r < Sr; r++)
#pragma unroll
        for (int b = 0; b < Sb; b++) {
            double sum = c.nu[r * Sb] * p.A_b[b];
#pragma unroll
            for (int q = 1; q < Sb; q++)
                sum = fma(c.nu[r * Sb + q], p.A_b[q * Sb + b], sum);
            c.H[r * Sb + b] = sum * fast_reciprocal(D[b * Sr + r]);
        }
#pragma unroll
    for (int q = 0; q < Sr; q++)
#pragma unroll
        for (int b = 0; b < Sb; b++) {
            double sum = p.A_r[q] * c.H[b];
#pragma unroll
            for (int r = 1; r < Sr; r++)
                sum = fma(p.A_r[r * Sr + q], c.H[r * Sb + b], sum);
            sum *= E[b * Sr + q];
            most = fmax(most, fabs(sum - c.nu[q * Sb + b]));
            c.nu[q * Sb + b] = sum;
        }
    return same > 0 && (most * same <= SETTLED_NU || most <= NU_ROUNDING) ? 1 + same : 1;
}

/* xi += times H E, sum_nu += times nu. */
template <int S, class V>
static __device__ __forceinline__ void count(const pair &p, chains<V> &c, const strided &E, int times)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr;
#pragma unroll
    for (int r = 0; r < Sr; r++)
#pragma unroll
        for (int q = 0; q < Sr; q++) {
            double sum = c.H[r * Sb] * E[q];
#pragma unroll
            for (int b = 1; b < Sb; b++)
                sum = fma(c.H[r * Sb + b], E[b * Sr + q], sum);
            c.xi[r * Sr + q] += times * sum;
        }
#pragma unroll
    for (int k = 0; k < Sb * Sr; k++)
        c.sum_nu[k] += times * c.nu[k];
}

/* Call after backward, with its sums of the first step in a.U and their exponents in first [Sb][Sr]. */
template <int S, class V>
static __device__ __forceinline__ void forward(const pair &p, const arrays<V> &a, const V &first,
                                               const history &h, int steps, chains<V> &c)
{
    const int Sb = S ? S : p.Sb, Sr = S ? S : p.Sr, n = Sb * Sr;
#pragma unroll
    for (int r = 0; r < Sr; r++) {
        double all = 0;
#pragma unroll
        for (int b = 0; b < Sb; b++) {
            double nu = p.pi_b[b] * (p.pi_r[r] * first[b * Sr + r] / a.U[b]);
            c.nu[r * Sb + b] = c.sum_nu[r * Sb + b] = nu;
            all += nu;
        }
        c.nu1[r] = all;
    }
#pragma unroll
    for (int k = 0; k < Sr * Sr; k++)
        c.xi[k] = 0;
#pragma unroll 1
    for (int t = 2; t <= p.tau; t++) {
        int same = p.tau - t - (steps - 1), at = same >= 0 ? steps - 1 : p.tau - t;
        const strided E = h.of(at, n), D = E.from(n);
        int times = step_forward<S>(p, c, E, D, same);
        count<S>(p, c, E, times);
        t += times - 1;
    }
#pragma unroll
    for (int k = 0; k < Sr * Sr; k++)
        c.xi[k] *= p.A_r[k];
}

/* ---- 5. the careful recursions ------------------------------------------------------------------------- */

/* log sum_q a_q exp(G_q + L_q); skips zeros of a, which keeps -inf out. */
static __device__ double careful_mix(int Sr, const double *a, const strided &G, const strided &L)
{
    double top = -INFINITY, sum = 0;
    for (int q = 0; q < Sr; q++)
        if (a[q] > 0)
            top = fmax(top, G[q] + L[q]);
    if (isinf(top))
        return top;
    for (int q = 0; q < Sr; q++)
        if (a[q] > 0)
            sum += a[q] * exp(G[q] + L[q] - top);
    return top + log(sum);
}

/* As the reference computes it.  history holds L_t+1 and U_t in place of E and D. */
static __device__ double careful_backward(const pair &p, arrays<strided> &a, const history &h)
{
    const int Sb = p.Sb, Sr = p.Sr, n = Sb * Sr;
    double L_hmm = 0;
    for (int k = 0; k < n; k++)
        a.L[k] = 0;
    for (int step = 0; step < p.tau - 1; step++) {
        for (int k = 0; k < n; k++)
            a.U[k] = careful_mix(Sr, p.A_r + k % Sr * Sr, a.G.from(k / Sr * Sr), a.L.from(k / Sr * Sr));
        for (int k = 0; k < n; k++) {
            if (h.at.x) {
                const strided own = h.of(step, n);
                own[k] = a.L[k];
                own[n + k] = a.U[k];
            }
            double sum = 0;
            for (int q = 0; q < Sb; q++)
                if (p.A_b[k / Sr * Sb + q] > 0)
                    sum += p.A_b[k / Sr * Sb + q] * a.U[q * Sr + k % Sr];
            a.L[k] = sum;
        }
    }
    for (int b = 0; b < Sb; b++)
        if (p.pi_b[b] > 0)
            L_hmm += p.pi_b[b] * careful_mix(Sr, p.pi_r, a.G.from(b * Sr), a.L.from(b * Sr));
    return L_hmm;
}

/* a exp(e), at most 1 up to rounding. */
static __device__ double careful_share(double a, double e)
{
    return a > 0 ? exp(log(a) + e) : 0;
}

/* Call after careful_backward with a history; c.H is scratch. */
static __device__ void careful_forward(const pair &p, const arrays<strided> &a, const history &h,
                                       chains<strided> &c)
{
    const int Sb = p.Sb, Sr = p.Sr, n = Sb * Sr;
    for (int r = 0; r < Sr; r++)
        c.nu1[r] = 0;
    for (int k = 0; k < Sr * Sr; k++)
        c.xi[k] = 0;
    for (int b = 0; b < Sb; b++) {
        double all = careful_mix(Sr, p.pi_r, a.G.from(b * Sr), a.L.from(b * Sr));
        for (int r = 0; r < Sr; r++) {
            double nu = p.pi_b[b] * careful_share(p.pi_r[r], a.G[b * Sr + r] + a.L[b * Sr + r] - all);
            c.nu[r * Sb + b] = c.sum_nu[r * Sb + b] = nu;
            c.nu1[r] += nu;
        }
    }
    for (int step = p.tau - 2; step >= 0; step--) {
        const strided L = h.of(step, n), U = L.from(n);
        for (int k = 0; k < n; k++) {
            double come = 0;
            for (int q = 0; q < Sb; q++)
                come += c.nu[k / Sb * Sb + q] * p.A_b[q * Sb + k % Sb];
            c.H[k] = come;
        }
        for (int k = 0; k < n; k++)
            c.nu[k] = 0;
        for (int k = 0; k < n; k++)
            for (int q = 0, r = k / Sb, b = k % Sb; q < Sr; q++) {
                double e = a.G[b * Sr + q] + L[b * Sr + q] - U[b * Sr + r];
                double all = c.H[k] * careful_share(p.A_r[r * Sr + q], e);
                c.xi[r * Sr + q] += all;
                c.nu[q * Sb + b] += all;
            }
        for (int k = 0; k < n; k++)
            c.sum_nu[k] += c.nu[k];
    }
}

#endif
