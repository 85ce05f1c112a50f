/* SPDX-License-Identifier: BSD-3-Clause */
/* ppk.cu - the probability product kernel of HMMs with diagonal Gaussians.  distance/ppk_pair.c has the
 * equations; simd/ppk_gauss.c explains the use of one division and one log per pair of components.
 *
 *   1. the table of components: each thread has one component of an HMM of b and ROWS components of a
 *   2. chains: one thread per pair; F is divided by a power of two after every step
 *   3. careful chains, in logs: pairs where something became small enough to be lost */
#include "cuda/ppk.h"

#include "cuda/launch.cuh"
#include "cuda/numbers.cuh"

enum {
    BLOCK = 128,  /* threads */
    ROWS = 16,    /* components of a per thread */
    RESIDENT = 4, /* blocks that should share a multiprocessor; limits registers */
};

#define LOST 1e-180 /* a smaller entry of F may have lost terms that matter */
#define DEEP (-690.0)

/* The walk is a power iteration: once all entries of F grow by the same factor, the remaining steps are a
 * power of it.  Checked every few steps of long chains, as in simd/ppk_chain.c. */
#define WORTH_LOOKING 32
#define STRIDE        4
#define SETTLED       1e-14
#define SETTLED_ALL   5e-12

/* ---- 1. the table -------------------------------------------------------------------------------------- */

struct alignas(16) moments { /* mean and variance of a dimension, in one load */
    double mu, v;
};

struct fraction { /* sum u^2 / v = num / den, den = prod v */
    double num, den;
};

/* True if row i of this block is not needed for columns up to `last`. */
static __device__ __forceinline__ bool below(const vh_cuda_product &p, int i, int last)
{
    return p.upper && p.a.first + i > p.b.first + last;
}

/* Loads dimensions k0 .. k0+n-1 of ROWS components, transposed, for all threads of the block: own [n][ROWS].
 * The last block may have fewer: `rows`. */
static __device__ __forceinline__ void share_rows(const vh_cuda_product &p, const moments *from, int rows,
                                                  int k0, int n, moments *own)
{
    __syncthreads();
    for (int e = (int)threadIdx.x; e < ROWS * n; e += (int)blockDim.x) {
        int r = e / n, k = e % n;
        own[k * ROWS + r] = from[(size_t)min(r, rows - 1) * (size_t)p.d + (size_t)(k0 + k)];
    }
    __syncthreads();
}

/* Multiplies in n dimensions.  Prefetches the next numbers of b. */
static __device__ __forceinline__ void multiply(const vh_cuda_product &p, const moments *own, const double *b,
                                                int n, fraction (&f)[ROWS])
{
    size_t by = (size_t)p.b.n;
    double next_mu = b[0], next_v = b[by];
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        f[r] = fraction{ 0, 1 };
#pragma unroll 1
    for (int k = 0; k < n; k++, own += ROWS) {
        double mu = next_mu, v_b = next_v;
        if (k + 1 < n) {
            next_mu = b[(size_t)(2 * k + 2) * by];
            next_v = b[(size_t)(2 * k + 3) * by];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            double u = mu - own[r].mu, v = v_b + own[r].v;
            f[r].num = fma(f[r].num, v, u * f[r].den * u);
            f[r].den *= v;
        }
    }
}

/* log of prod v^(-1/2) exp(-lambda/2 sum u^2 / v) */
static __device__ __forceinline__ double log_of(const vh_cuda_product &p, const fraction &f)
{
    return -0.5 * fma(p.lambda * f.num, fast_reciprocal(f.den), fast_log(f.den));
}

/* The components of all HMMs of a form one list of rows; a block takes ROWS of it and component l of as many
 * HMMs of b as it has threads.  WHOLE: all dimensions share one division, the usual case. */
template <bool WHOLE>
static __global__ void __launch_bounds__(BLOCK, RESIDENT) product_table(vh_cuda_product p)
{
    __shared__ moments own[VH_CUDA_PRODUCT_BLOCK * ROWS];
    int Ca = p.a.S * p.a.M, Cb = p.b.S * p.b.M, l = (int)blockIdx.z, row0 = (int)blockIdx.y * ROWS;
    int j0 = (int)(blockIdx.x * blockDim.x), j = min(j0 + (int)threadIdx.x, p.nb - 1);
    int rows = min(p.na * Ca - row0, (int)ROWS);
    if (below(p, p.a0 + row0 / Ca, p.b0 + j0 + (int)blockDim.x - 1))
        return;
    size_t first = (size_t)p.a0 * (size_t)Ca + (size_t)row0, n = (size_t)p.b.n, at = (size_t)(p.b0 + j);
    const double *b = p.b.lane_par + (size_t)l * 2 * (size_t)p.d * n + at;
    fraction f[ROWS];
    held<ROWS> x = {};
    for (int k0 = 0; k0 < (WHOLE ? 1 : p.d); k0 += p.block) {
        int dims = WHOLE ? p.d : min(p.block, p.d - k0);
        share_rows(p, (const moments *)p.a.row_par + first * (size_t)p.d, rows, k0, dims, own);
        multiply(p, own, b + (size_t)(2 * k0) * n, dims, f);
#pragma unroll
        for (int r = 0; r < ROWS && !WHOLE; r++)
            x[r] += log_of(p, f[r]);
    }
    const double log_w = p.b.lane_log_w[(size_t)l * n + at];
    double *to = p.table + ((size_t)row0 * (size_t)Cb + (size_t)l) * (size_t)p.nb + (size_t)j;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (r < rows && j0 + (int)threadIdx.x < p.nb)
            to[(size_t)(r * Cb) * (size_t)p.nb] =
                (WHOLE ? log_of(p, f[r]) : x[r]) + log_w + p.a.row_log_w[first + (size_t)r];
}

/* ---- 2. chains ----------------------------------------------------------------------------------------- */

struct two { /* HMMs i and j, with the table of their components */
    int Sa, Ma, Sb, Mb, tau;
    const double *pi_a, *A_a;
    strided pi_b, A_b, x;
};

static __device__ __forceinline__ two two_of(const vh_cuda_product &p, int i, int j)
{
    size_t n = (size_t)p.b.n, S = (size_t)p.a.S, C = S * (size_t)p.a.M * (size_t)(p.b.S * p.b.M),
           at = (size_t)(p.a0 + i);
    return two{ p.a.S,
                p.a.M,
                p.b.S,
                p.b.M,
                p.tau,
                p.a.row_pi + at * S,
                p.a.row_A + at * S * S,
                strided{ p.b.lane_pi + (p.b0 + j), n },
                strided{ p.b.lane_A + (p.b0 + j), n },
                strided{ p.table + (size_t)i * C * (size_t)p.nb + (size_t)j, (size_t)p.nb } };
}

/* Largest and smallest entry of the table. */
static __device__ __forceinline__ double span(const two &t, double *low)
{
    int n = t.Sa * t.Ma * t.Sb * t.Mb;
    double top = t.x[0], least = t.x[0];
    for (int e = 1; e < n; e++) {
        top = fmax(top, t.x[e]);
        least = fmin(least, t.x[e]);
    }
    *low = least - top;
    return top;
}

/* Psi divided by exp(top). */
template <int S, class V> static __device__ __forceinline__ void emissions(const two &t, double top, V &Psi)
{
    const int Sa = S ? S : t.Sa, Sb = S ? S : t.Sb, Cb = Sb * t.Mb;
#pragma unroll
    for (int s = 0; s < Sa; s++)
#pragma unroll
        for (int r = 0; r < Sb; r++) {
            double sum = 0;
            for (int m = s * t.Ma; m < (s + 1) * t.Ma; m++)
                for (int l = r * t.Mb; l < (r + 1) * t.Mb; l++)
                    sum += fast_exp_or_0(t.x[m * Cb + l] - top);
            Psi[s * Sb + r] = sum;
        }
}

/* Scales F by a power of two so that its largest entry is in [1, 2); returns the exponent.  *low is lowered
 * to the smallest entry. */
template <class V> static __device__ __forceinline__ int rescale(V &F, int n, double *low)
{
    double top = F[0], least = F[0];
#pragma unroll
    for (int e = 1; e < n; e++) {
        top = fmax(top, F[e]);
        least = fmin(least, F[e]);
    }
    int exponent = (__double2hiint(top) >> 20) - 1023;
    double by = __hiloint2double((1023 - exponent) << 20, 0);
#pragma unroll
    for (int e = 0; e < n; e++)
        F[e] *= by;
    *low = fmin(*low, least * by);
    return exponent;
}

struct growth { /* range of growth factors of F's entries in a step; if F > 0, later ones lie within */
    double most, least;
};

template <class T, class V> struct rooms { /* transitions of b and working memory of a pair */
    T A_b;
    V Psi, F, H;
};

/* F(q, q') := Psi(q, q') sum_s a_{s q} sum_s' a'_{s' q'} F(s, s').  LOOK: returns its growth. */
template <int S, bool LOOK, class W> static __device__ __forceinline__ growth step(const two &t, W &x)
{
    const int Sa = S ? S : t.Sa, Sb = S ? S : t.Sb;
    growth by = { 0, 1e308 };
#pragma unroll
    for (int s = 0; s < Sa; s++)
#pragma unroll
        for (int r = 0; r < Sb; r++) {
            double sum = x.F[s * Sb] * x.A_b[r];
#pragma unroll
            for (int q = 1; q < Sb; q++)
                sum = fma(x.F[s * Sb + q], x.A_b[q * Sb + r], sum);
            x.H[s * Sb + r] = sum;
        }
#pragma unroll
    for (int s = 0; s < Sa; s++)
#pragma unroll
        for (int r = 0; r < Sb; r++) {
            double sum = t.A_a[s] * x.H[r];
#pragma unroll
            for (int q = 1; q < Sa; q++)
                sum = fma(t.A_a[q * Sa + s], x.H[q * Sb + r], sum);
            sum *= x.Psi[s * Sb + r];
            if (LOOK) {
                double ratio = sum * fast_reciprocal(x.F[s * Sb + r]);
                by.most = fmax(by.most, ratio);
                by.least = fmin(by.least, ratio);
            }
            x.F[s * Sb + r] = sum;
        }
    return by;
}

/* log k~ up to its constant; NaN if terms may have been lost. */
template <int S, class W> static __device__ __forceinline__ double walk(const two &t, W &x)
{
    const int Sa = S ? S : t.Sa, Sb = S ? S : t.Sb, n = Sa * Sb;
    double low = 1, deep, top = span(t, &deep), sum = 0, rest = 0;
    long long exponent = 0;
    emissions<S>(t, top, x.Psi);
#pragma unroll
    for (int s = 0; s < Sa; s++)
#pragma unroll
        for (int r = 0; r < Sb; r++)
            x.F[s * Sb + r] = t.pi_a[s] * t.pi_b[r] * x.Psi[s * Sb + r];
    exponent += rescale(x.F, n, &low);
#pragma unroll 1
    for (int left = t.tau - 1; left > 0;) {
        const bool look = t.tau > WORTH_LOOKING && left % STRIDE == 0 && low > LOST;
        left--;
        if (look) {
            growth by = step<S, true>(t, x);
            if (left > 0 && by.most - by.least <= (SETTLED + SETTLED_ALL / left) * by.least) {
                rest = left * (fast_log(by.least) + 0.5 * (by.most - by.least) / by.least);
                left = 0;
            }
        } else {
            step<S, false>(t, x);
        }
        exponent += rescale(x.F, n, &low);
    }
#pragma unroll
    for (int e = 0; e < n; e++)
        sum += x.F[e];
    double log_k = fast_log(sum) + rest + (double)exponent * 6.93147180559945309417e-01 + t.tau * top;
    return low > LOST && deep > DEEP && isfinite(log_k) ? log_k : NAN;
}

static __device__ __forceinline__ double *out_of(const vh_cuda_product &p, int i, int j)
{
    return p.out + (size_t)i * p.width + (size_t)j;
}

template <int S> static __global__ void __launch_bounds__(BLOCK, RESIDENT) walk_held(vh_cuda_product p)
{
    int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), i = (int)blockIdx.y;
    if (j >= p.nb || below(p, p.a0 + i, p.b0 + (int)(blockIdx.x + 1) * BLOCK - 1))
        return;
    two t = two_of(p, i, j);
    rooms<held<S * S>, held<S * S>> x;
#pragma unroll
    for (int e = 0; e < S * S; e++)
        x.A_b[e] = t.A_b[e];
    *out_of(p, i, j) = walk<S>(t, x) + p.tau * p.constant;
}

/* ---- 3. in memory, and careful chains ------------------------------------------------------------------ */

size_t vh_cuda_product_work(int Sa, int Sb)
{
    return 3 * (size_t)(Sa * Sb);
}

struct slot {
    strided Psi, F, H;
};

static __device__ slot slot_of(const vh_cuda_product &p, int at)
{
    strided x{ p.work + at, (size_t)p.slots };
    int n = p.a.S * p.b.S;
    return slot{ x, x.from(n), x.from(2 * n) };
}

static __global__ void __launch_bounds__(BLOCK) walk_in_memory(vh_cuda_product p)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    slot x = slot_of(p, at);
    for (long long k = at; k < (long long)p.na * p.nb; k += p.slots) {
        int i = (int)(k / p.nb), j = (int)(k % p.nb);
        if (below(p, p.a0 + i, p.b0 + j))
            continue;
        two t = two_of(p, i, j);
        rooms<strided, strided> y = { t.A_b, x.Psi, x.F, x.H };
        *out_of(p, i, j) = walk<0>(t, y) + p.tau * p.constant;
    }
}

/* log sum_e exp(x_e + log b_e) over n terms. */
static __device__ double log_dot(int n, const strided &x, const double *b, size_t by)
{
    double top = -INFINITY, sum = 0;
    for (int e = 0; e < n; e++)
        if (b[(size_t)e * by] > 0)
            top = fmax(top, x[e] + log(b[(size_t)e * by]));
    if (isinf(top))
        return top;
    for (int e = 0; e < n; e++)
        if (b[(size_t)e * by] > 0)
            sum += exp(x[e] + log(b[(size_t)e * by]) - top);
    return top + log(sum);
}

/* All in logs, like the reference. */
static __device__ double walk_carefully(const two &t, const slot &x)
{
    int Sa = t.Sa, Sb = t.Sb, n = Sa * Sb, Cb = Sb * t.Mb;
    const double one = 1;
    for (int e = 0; e < n; e++) {
        double top = -INFINITY, sum = 0;
        for (int k = 0; k < t.Ma * t.Mb; k++)
            top = fmax(top, t.x[(e / Sb * t.Ma + k / t.Mb) * Cb + e % Sb * t.Mb + k % t.Mb]);
        for (int k = 0; k < t.Ma * t.Mb && !isinf(top); k++)
            sum += exp(t.x[(e / Sb * t.Ma + k / t.Mb) * Cb + e % Sb * t.Mb + k % t.Mb] - top);
        x.Psi[e] = isinf(top) ? top : top + log(sum);
        x.F[e] = log(t.pi_a[e / Sb]) + log(t.pi_b[e % Sb]) + x.Psi[e];
    }
    for (int k = 1; k < t.tau; k++) {
        for (int e = 0; e < n; e++)
            x.H[e] = log_dot(Sb, x.F.from(e / Sb * Sb), &t.A_b[e % Sb], (size_t)Sb * t.A_b.by);
        for (int e = 0; e < n; e++)
            x.F[e] = log_dot(Sa, strided{ &x.H[e % Sb], x.H.by * (size_t)Sb }, t.A_a + e / Sb, (size_t)Sa)
                     + x.Psi[e];
    }
    return log_dot(n, x.F, &one, 0);
}

static __global__ void __launch_bounds__(BLOCK) again_carefully(vh_cuda_product p)
{
    int at = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    slot x = slot_of(p, at);
    for (long long k = at; k < (long long)p.na * p.nb; k += p.slots) {
        int i = (int)(k / p.nb), j = (int)(k % p.nb);
        double *out = out_of(p, i, j);
        if (below(p, p.a0 + i, p.b0 + j) || !isnan(*out))
            continue;
        *out = walk_carefully(two_of(p, i, j), x) + p.tau * p.constant;
        if (isnan(*out))
            *p.not_finite = 1;
    }
}

static const char *walk_all(const vh_cuda_product &p)
{
    dim3 blocks((unsigned)((p.nb + BLOCK - 1) / BLOCK), (unsigned)p.na);
    switch (p.a.S == p.b.S ? p.a.S : 0) {
    case 2: return launch(walk_held<2>, blocks, BLOCK, p);
    case 3: return launch(walk_held<3>, blocks, BLOCK, p);
    case 4: return launch(walk_held<4>, blocks, BLOCK, p);
    case 5: return launch(walk_held<5>, blocks, BLOCK, p);
    default: return launch(walk_in_memory, dim3((unsigned)(p.slots / BLOCK)), BLOCK, p);
    }
}

static __global__ void __launch_bounds__(BLOCK) turn(const double *row, double *lane, int n, size_t size)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t e = blockIdx.y; e < size && i < (size_t)n; e += gridDim.y)
        lane[e * (size_t)n + i] = row[i * size + e];
}

const char *vh_cuda_product_transpose(const double *row, double *lane, int n, size_t size)
{
    unsigned many = size < 1024 ? (unsigned)size : 1024;
    return launch(turn, dim3((unsigned)((n + BLOCK - 1) / BLOCK), many), BLOCK, row, lane, n, size);
}

const char *vh_cuda_product_run(const vh_cuda_product *p)
{
    unsigned rows = (unsigned)(p->na * p->a.S * p->a.M);
    int threads = p->nb < BLOCK ? (p->nb + 31) / 32 * 32 : (int)BLOCK;
    dim3 blocks((unsigned)((p->nb + threads - 1) / threads), (rows + ROWS - 1) / ROWS,
                (unsigned)(p->b.S * p->b.M));
    const char *why = p->block < p->d ? launch(product_table<false>, blocks, threads, *p)
                                      : launch(product_table<true>, blocks, threads, *p);
    if (!why)
        why = walk_all(*p);
    return why ? why : launch(again_carefully, dim3((unsigned)(p->slots / BLOCK)), BLOCK, *p);
}
