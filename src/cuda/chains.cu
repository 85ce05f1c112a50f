/* SPDX-License-Identifier: BSD-3-Clause */
/* chains.cu - see forward_backward_kernels.h: forward and backward, one thread per pair of an HMM and a
 * sequence.  simd/lanes_body.h has the equations, simd/lanes.c explains when scaling is safe.
 *
 *   1. a pair      2. forward      3. backward      4. kernels
 *
 * S is the number of states; 0: it is in the pair, and its arrays are in memory.  Values of the next step are
 * prefetched. */
#include "cuda/forward_backward_kernels.h"

#include "cuda/launch.cuh"
#include "cuda/numbers.cuh"

enum { LANES = VH_CUDA_LANES, BLOCK = 128 };

#define DOUBT  1e280
#define MIXING 1e-100 /* if no transition is less likely, c_t alone bounds the doubt */
#define MOST_GAIN 600 /* else no path may have been lost: is_sure of simd/forward_backward.c */
#define LN_2   6.93147180559945309417e-01

/* ---- 1. a pair ----------------------------------------------------------------------------------------- */

struct walk {        /* HMM k and the sequence of a lane */
    int S, T, steps; /* states; frames; steps of its lane block */
    const double *pi, *A;
    double *B, *P, *shift, *r; /* at the first step */
    size_t by_state, by_hmm;   /* strides */

    __device__ __forceinline__ double &b(int t, int s) const
    {
        return B[(size_t)t * by_state + (size_t)(s * LANES)];
    }
    __device__ __forceinline__ double &p(int t, int s) const
    {
        return P[(size_t)t * by_state + (size_t)(s * LANES)];
    }
    __device__ __forceinline__ double &r_of(int t) const
    {
        return r[(size_t)t * by_hmm];
    }
};

static __device__ __forceinline__ walk walk_of(const vh_cuda_hmms &h, const vh_cuda_frames &x, int k, int at)
{
    const int lane_block = at / LANES, lane = at % LANES;
    const size_t q = x.step0[lane_block] - x.before,
                 state = (q * (size_t)h.n_state + (size_t)h.state0[k]) * LANES,
                 hmm = (q * (size_t)h.K + (size_t)k) * LANES;
    return walk{ h.S[k],
                 x.length[at],
                 (int)(x.step0[lane_block + 1] - x.step0[lane_block]),
                 h.pi + h.state0[k],
                 h.A + h.trans0[k],
                 x.B + state + lane,
                 x.P + state + lane,
                 x.shift + hmm + lane,
                 x.r + hmm + lane,
                 (size_t)h.n_state * LANES,
                 (size_t)h.K * LANES };
}

/* Arrays of a thread: S numbers each; X has S x S. */
template <class V, class W> struct arrays {
    V now, next, alpha, v, beta;
    W X;
};

/* A product of positive numbers, for its logarithm. */
struct big_product {
    double x; /* in [1, 2) */
    long long exponent;
    __device__ __forceinline__ void times(double c)
    {
        x *= c;
        int high = __double2hiint(x);
        exponent += (high >> 20) - 1023;
        x = __hiloint2double((high & 0xfffff) | 0x3ff00000, __double2loint(x));
    }
    __device__ __forceinline__ double log_of() const
    {
        return fast_log(x) + (double)exponent * LN_2;
    }
};

/* ---- 2. forward ---------------------------------------------------------------------------------------- */

/* Returns log p(y), and *scaled, what it is without the shifts; *doubt: the doubt so far.  keep: stores P and
 * r. */
template <int S, class V, class W>
static __device__ __forceinline__ double forward(const walk &c, arrays<V, W> &a, bool keep, double *doubt,
                                                double *scaled)
{
    const int n = S ? S : c.S;
    big_product likelihood = { 1, 0 };
    double r = 1, shifts = 0, sum_r = 0;
#pragma unroll
    for (int s = 0; s < n; s++) {
        a.v[s] = c.pi[s]; /* the prediction */
        a.next[s] = c.b(0, s);
    }
#pragma unroll 1
    for (int t = 0; t < c.T; t++) {
        double all = 0;
#pragma unroll
        for (int s = 0; s < n; s++) {
            a.now[s] = a.next[s];
            a.next[s] = c.b(min(t + 1, c.T - 1), s);
        }
        shifts += c.shift[(size_t)t * c.by_hmm];
#pragma unroll
        for (int s = 0; s < n; s++) {
            double p = a.v[s] * r;
            if (keep)
                c.p(t, s) = p;
            a.alpha[s] = p * a.now[s];
            all += a.alpha[s];
        }
        r = fast_reciprocal(all);
        if (keep)
            c.r_of(t) = r;
        sum_r += r;
        likelihood.times(all);
#pragma unroll
        for (int q = 0; q < n; q++) {
            double sum = a.alpha[0] * c.A[q];
#pragma unroll
            for (int s = 1; s < n; s++)
                sum = fma(a.alpha[s], c.A[s * n + q], sum);
            a.v[q] = sum;
        }
    }
    *doubt = sum_r;
    *scaled = likelihood.log_of();
    return *scaled + shifts;
}

/* ---- 3. backward --------------------------------------------------------------------------------------- */

/* Steps from a frame to the previous one, whose prediction is in a.alpha and B in a.next: updates beta and
 * the sums of transitions. */
template <int S, class V, class W>
static __device__ __forceinline__ void step_back(const walk &c, arrays<V, W> &a, double r_before)
{
    const int n = S ? S : c.S;
#pragma unroll
    for (int s = 0; s < n; s++) {
        double sum = c.A[s * n] * a.v[0];
#pragma unroll
        for (int q = 1; q < n; q++)
            sum = fma(c.A[s * n + q], a.v[q], sum);
        a.beta[s] = sum;
        double alpha = a.alpha[s] * a.next[s] * r_before;
#pragma unroll
        for (int q = 0; q < n; q++)
            a.X[s * n + q] = fma(alpha, a.v[q], a.X[s * n + q]);
        a.now[s] = a.next[s];
    }
}

/* Call after forward.  collect: B becomes w p(state | y) / B.  Returns the rest of the doubt; leaves B of the
 * first frame in a.now and w p(state | y) / B there in a.beta. */
template <int S, class V, class W>
static __device__ __forceinline__ double backward(const walk &c, arrays<V, W> &a, bool collect, double w)
{
    const int n = S ? S : c.S;
    double doubt = 0, r = c.r_of(c.T - 1);
#pragma unroll
    for (int s = 0; s < n; s++) {
        a.beta[s] = 1;
        a.now[s] = c.b(c.T - 1, s);
        a.alpha[s] = c.p(c.T - 1, s);
    }
#pragma unroll
    for (int e = 0; e < n * n; e++)
        a.X[e] = 0;
#pragma unroll 1
    for (int t = c.T - 1; t >= 0; t--) {
        const int before = max(t - 1, 0);
        double ahead = 0, r_before = c.r_of(before);
#pragma unroll
        for (int s = 0; s < n; s++)
            a.next[s] = c.b(before, s);
#pragma unroll
        for (int s = 0; s < n; s++) {
            double br = a.beta[s] * r, p = a.alpha[s];
            a.alpha[s] = c.p(before, s); /* from now on the previous prediction */
            doubt += br;
            a.v[s] = a.now[s] * br;
            ahead += a.v[s];
            a.beta[s] = w * p * br;
            if (collect)
                c.b(t, s) = a.beta[s];
        }
        if (t == 0)
            break;
        doubt = fma(ahead, r_before, doubt);
        step_back<S>(c, a, r_before);
        r = r_before;
    }
    return doubt;
}

/* Writes the sums of a pair to its rows of chain; zeros if w = 0. */
template <int S, class V, class W>
static __device__ __forceinline__ void leave(const vh_cuda_hmms &h, const vh_cuda_frames &x, const walk &c,
                                             int k, int at, const arrays<V, W> &a, double w)
{
    const int n = S ? S : c.S;
    const strided nu1{ x.chain + (size_t)h.state0[k] * (size_t)x.lanes + at, (size_t)x.lanes };
    const strided xi{ x.chain + ((size_t)h.n_state + h.trans0[k]) * (size_t)x.lanes + at, (size_t)x.lanes };
#pragma unroll
    for (int s = 0; s < n; s++)
        nu1[s] = w > 0 ? a.now[s] * a.beta[s] : 0;
#pragma unroll
    for (int e = 0; e < n * n; e++)
        xi[e] = w > 0 ? w * c.A[e] * a.X[e] : 0;
}

/* Clears a pair that must not contribute, from step t on. */
static __device__ void wipe(const walk &c, int t)
{
    for (; t < c.steps; t++)
        for (int s = 0; s < c.S; s++)
            c.b(t, s) = 0;
}

/* ---- 4. kernels ---------------------------------------------------------------------------------------- */

template <int S, class V, class W>
static __device__ __forceinline__ void forward_pair(const vh_cuda_hmms &h, const vh_cuda_frames &x, int k,
                                                    int at, bool keep, arrays<V, W> &a)
{
    const walk c = walk_of(h, x, k, at);
    const size_t out = (size_t)k * (size_t)x.lanes + at;
    double doubt = 0, loglik = 0, scaled = 0;
    if (c.T > 0)
        loglik = forward<S>(c, a, keep || h.look[k], &doubt, &scaled);
    bool sure = !h.look[k] || scaled - c.T * log((double)h.M[k]) > -MOST_GAIN;
    x.doubt[out] = doubt;
    x.loglik[out] = sure && doubt < (h.look[k] ? DOUBT : DOUBT * MIXING) ? loglik : NAN;
}

template <int S, class V, class W>
static __device__ __forceinline__ void backward_pair(const vh_cuda_hmms &h, const vh_cuda_frames &x, int k,
                                                     int at, bool collect, arrays<V, W> &a)
{
    const walk c = walk_of(h, x, k, at);
    const size_t out = (size_t)k * (size_t)x.lanes + at;
    double w = x.w ? x.w[out] : x.weight[at];
    bool idle = c.T == 0 || (collect && x.w && !(w > 0)) || isnan(x.loglik[out]);
    if (!idle) {
        double doubt = x.doubt[out] + backward<S>(c, a, collect, w);
        if (!(doubt < DOUBT)) {
            x.loglik[out] = NAN;
            idle = true;
        }
    }
    if (!collect)
        return;
    wipe(c, idle ? 0 : c.T);
    leave<S>(h, x, c, k, at, a, idle ? 0 : w);
}

/* True if another kernel handles this HMM. */
template <int S> static __device__ __forceinline__ bool elsewhere(const vh_cuda_hmms &h, int k)
{
    return S ? h.S[k] != S : h.S[k] <= VH_CUDA_FEW;
}

template <int S>
static __global__ void __launch_bounds__(BLOCK) forward_held(vh_cuda_hmms h, vh_cuda_frames x, bool keep)
{
    const int at = (int)(blockIdx.x * BLOCK + threadIdx.x), k = (int)blockIdx.y;
    arrays<held<S>, held<S * S>> a;
    if (at < x.lanes && !elsewhere<S>(h, k))
        forward_pair<S>(h, x, k, at, keep, a);
}

template <int S>
static __global__ void __launch_bounds__(BLOCK) backward_held(vh_cuda_hmms h, vh_cuda_frames x, bool collect)
{
    const int at = (int)(blockIdx.x * BLOCK + threadIdx.x), k = (int)blockIdx.y;
    arrays<held<S>, held<S * S>> a;
    if (at < x.lanes && !elsewhere<S>(h, k) && (collect || h.look[k]))
        backward_pair<S>(h, x, k, at, collect, a);
}

size_t vh_cuda_fb_work(int S)
{
    return (size_t)(5 * S) + (size_t)S * (size_t)S;
}

static __device__ arrays<strided, strided> in_memory(const vh_cuda_hmms &h, const vh_cuda_frames &x, int k,
                                                     int at)
{
    const size_t S = (size_t)h.S[k];
    const strided all{ x.work + (size_t)k * (size_t)x.lanes + at, (size_t)h.K * (size_t)x.lanes };
    return arrays<strided, strided>{
        all, all.from(S), all.from(2 * S), all.from(3 * S), all.from(4 * S), all.from(5 * S)
    };
}

static __global__ void __launch_bounds__(BLOCK) forward_any(vh_cuda_hmms h, vh_cuda_frames x, bool keep)
{
    const int at = (int)(blockIdx.x * BLOCK + threadIdx.x), k = (int)blockIdx.y;
    if (at >= x.lanes || elsewhere<0>(h, k))
        return;
    arrays<strided, strided> a = in_memory(h, x, k, at);
    forward_pair<0>(h, x, k, at, keep, a);
}

static __global__ void __launch_bounds__(BLOCK) backward_any(vh_cuda_hmms h, vh_cuda_frames x, bool collect)
{
    const int at = (int)(blockIdx.x * BLOCK + threadIdx.x), k = (int)blockIdx.y;
    if (at >= x.lanes || elsewhere<0>(h, k) || !(collect || h.look[k]))
        return;
    arrays<strided, strided> a = in_memory(h, x, k, at);
    backward_pair<0>(h, x, k, at, collect, a);
}

typedef void (*pair_kernel)(vh_cuda_hmms, vh_cuda_frames, bool);

/* kernel [VH_CUDA_FEW + 1]: one per number of states; 0 is for all larger ones. */
static const char *launch_sizes(const pair_kernel *kernel, const vh_cuda_hmms &h, const vh_cuda_frames &x,
                                bool flag)
{
    const char *why = NULL;
    dim3 blocks((unsigned)((x.lanes + BLOCK - 1) / BLOCK), (unsigned)h.K);
    for (int S = 0; S <= VH_CUDA_FEW && !why; S++)
        if (h.sizes >> S & 1)
            why = launch(kernel[S], blocks, BLOCK, h, x, flag);
    return why;
}

const char *vh_cuda_fb_forward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool keep)
{
    static const pair_kernel all[] = { forward_any,     forward_held<1>, forward_held<2>, forward_held<3>,
                                       forward_held<4>, forward_held<5>, forward_held<6> };
    return launch_sizes(all, *h, *x, keep);
}

const char *vh_cuda_fb_backward(const vh_cuda_hmms *h, const vh_cuda_frames *x, bool collect)
{
    static const pair_kernel all[] = { backward_any,     backward_held<1>, backward_held<2>, backward_held<3>,
                                       backward_held<4>, backward_held<5>, backward_held<6> };
    return launch_sizes(all, *h, *x, collect);
}
