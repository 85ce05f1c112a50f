/* SPDX-License-Identifier: BSD-3-Clause */
/* score.cu - L_hmm of base HMMs of one shape and reduced HMMs of one shape, one thread per pair.
 *
 *   1. the product of all components      2. recursions in registers      3. in memory, and careful
 *
 * Pairs whose sums are too small for the fast recursion yield NaN and are recomputed.  The reference on the
 * host recomputes those that are still NaN. */
#include "cuda/estep_kernels.h"
#include "cuda/launch.cuh"
#include "cuda/recursion.cuh"

/* ---- 1. the product ------------------------------------------------------------------------------------ */

/* out [rows][cols] = a [rows][depth] . b [cols][depth]'.  A block computes 64 x 128 entries; a warp has 8
 * rows, and each of its threads every 32nd column: the whole warp reads the same entries of a. */
enum { TILE_ROWS = 64, TILE_COLS = 128, DEPTH = 8, OWN_ROWS = 8, OWN_COLS = 4, THREADS = 256 };

struct product {
    int rows, cols, depth;
    const double *a, *b;
    double *out;
};

/* Loads n rows of x from `first` on, columns k .. k+DEPTH-1, transposed; 0 past the end. */
template <int N>
static __device__ __forceinline__ void load_transposed(const double *x, int rows, int first, int depth, int k,
                                                   double (*to)[N + 1])
{
    for (int e = (int)threadIdx.x; e < N * DEPTH; e += THREADS) {
        int row = first + e / DEPTH, col = k + e % DEPTH;
        to[e % DEPTH][e / DEPTH] =
            row < rows && col < depth ? x[(size_t)row * (size_t)depth + (size_t)col] : 0;
    }
}

static __global__ void __launch_bounds__(THREADS) multiply(product p)
{
    __shared__ double a[DEPTH][TILE_ROWS + 1], b[DEPTH][TILE_COLS + 1];
    int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    int row0 = (int)blockIdx.y * TILE_ROWS, col0 = (int)blockIdx.x * TILE_COLS;
    double sum[OWN_ROWS][OWN_COLS] = {};
    for (int k = 0; k < p.depth; k += DEPTH) {
        load_transposed<TILE_ROWS>(p.a, p.rows, row0, p.depth, k, a);
        load_transposed<TILE_COLS>(p.b, p.cols, col0, p.depth, k, b);
        __syncthreads();
#pragma unroll
        for (int e = 0; e < DEPTH; e++)
#pragma unroll
            for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
                for (int j = 0; j < OWN_COLS; j++)
                    sum[i][j] = fma(a[e][warp * OWN_ROWS + i], b[e][lane + 32 * j], sum[i][j]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
        for (int j = 0; j < OWN_COLS; j++) {
            int row = row0 + warp * OWN_ROWS + i, col = col0 + lane + 32 * j;
            if (row < p.rows && col < p.cols)
                p.out[(size_t)row * (size_t)p.cols + (size_t)col] = sum[i][j];
        }
}

/* A grid has at most 65535 blocks in its second dimension. */
static const char *multiply_all(product p)
{
    const int most = 65535 * TILE_ROWS;
    for (int first = 0; first < p.rows; first += most) {
        product part = p;
        part.rows = p.rows - first < most ? p.rows - first : most;
        part.a += (size_t)first * (size_t)p.depth;
        part.out += (size_t)first * (size_t)p.cols;
        const char *why = launch(multiply,
                                 dim3((unsigned)((p.cols + TILE_COLS - 1) / TILE_COLS),
                                      (unsigned)((part.rows + TILE_ROWS - 1) / TILE_ROWS)),
                                 THREADS, part);
        if (why)
            return why;
    }
    return NULL;
}

/* ---- 2. recursions in registers ------------------------------------------------------------------------ */

enum { BLOCK = 128 };

struct scoring { /* arguments of all score kernels */
    vh_cuda_base b;
    vh_cuda_centers r;
    int rows, tau, slots;
    double *L;
    const double *table;
    double *work;
    int *not_finite;
};

static __device__ __forceinline__ pair pair_of(const scoring &s, int i, int j)
{
    size_t n = (size_t)s.b.n, Sr = (size_t)s.r.S;
    return pair{ s.b.S,
                 s.r.S,
                 s.tau,
                 strided{ (double *)s.b.pi + i, n },
                 strided{ (double *)s.b.A + i, n },
                 s.r.pi + (size_t)j * Sr,
                 s.r.A + (size_t)j * Sr * Sr };
}

static __device__ __forceinline__ mixtures mixtures_of(const scoring &s, int i, int j)
{
    size_t n = (size_t)s.b.n, size = (size_t)(s.b.S * s.b.M) * (size_t)(s.r.S * s.r.M) * n;
    return mixtures{ s.b.M, s.r.M, strided{ (double *)s.b.c + i, n },
                     strided{ (double *)s.table + (size_t)j * size + i, n } };
}

static __device__ __forceinline__ double *place_of(const scoring &s, int i, int j)
{
    return s.L + (size_t)s.r.number[j] * (size_t)s.rows + s.b.row[i];
}

static __device__ __forceinline__ double bound_or_nan(const bound &x)
{
    return good(x) ? x.L_hmm : NAN;
}

/* One centre per block; its threads share the centre's chain. */
template <int S> static __global__ void __launch_bounds__(BLOCK) score_held(scoring s)
{
    __shared__ double chain[S + S * S];
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), j = (int)blockIdx.y;
    for (int k = (int)threadIdx.x; k < S + S * S; k += BLOCK)
        chain[k] = k < S ? s.r.pi[(size_t)j * S + k] : s.r.A[(size_t)j * S * S + (k - S)];
    __syncthreads();
    if (i >= s.b.n)
        return;
    pair p = pair_of(s, i, j);
    p.pi_r = chain;
    p.A_r = chain + S;
    arrays<held<S * S>> a;
    mixture_bound<S>(p, mixtures_of(s, i, j), a.G);
    *place_of(s, i, j) = bound_or_nan(backward<S>(p, a, history{}, (held<S * S> *)NULL));
}

/* ---- 3. in memory, and careful ------------------------------------------------------------------------- */

size_t vh_cuda_score_work(int Sb, int Sr)
{
    return (size_t)(3 * Sb * Sr + Sr);
}

static __device__ __forceinline__ arrays<strided> arrays_of(const scoring &s, int slot)
{
    int n = s.b.S * s.r.S;
    strided at{ s.work + slot, (size_t)s.slots };
    return arrays<strided>{ at, at.from(n), at.from(2 * n), at.from(3 * n) };
}

static __global__ void __launch_bounds__(BLOCK) score_in_memory(scoring s)
{
    int slot = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    arrays<strided> a = arrays_of(s, slot);
    for (long long k = slot; k < (long long)s.b.n * s.r.n; k += s.slots) {
        int i = (int)(k % s.b.n), j = (int)(k / s.b.n);
        pair p = pair_of(s, i, j);
        mixture_bound<0>(p, mixtures_of(s, i, j), a.G);
        *place_of(s, i, j) = bound_or_nan(backward<0>(p, a, history{}, (strided *)NULL));
    }
}

/* Recomputes the pairs that yielded NaN. */
static __global__ void __launch_bounds__(BLOCK) score_carefully(scoring s)
{
    int slot = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    arrays<strided> a = arrays_of(s, slot);
    for (long long k = slot; k < (long long)s.b.n * s.r.n; k += s.slots) {
        int i = (int)(k % s.b.n), j = (int)(k / s.b.n);
        double *L = place_of(s, i, j);
        if (!isnan(*L))
            continue;
        pair p = pair_of(s, i, j);
        mixture_bound<0>(p, mixtures_of(s, i, j), a.G);
        *L = careful_backward(p, a, history{});
        if (!isfinite(*L))
            *s.not_finite = 1;
    }
}

static const char *score_quickly(const scoring &s)
{
    dim3 blocks((unsigned)((s.b.n + BLOCK - 1) / BLOCK), (unsigned)s.r.n);
    switch (s.b.S == s.r.S ? s.b.S : 0) {
    case 1: return launch(score_held<1>, blocks, BLOCK, s);
    case 2: return launch(score_held<2>, blocks, BLOCK, s);
    case 3: return launch(score_held<3>, blocks, BLOCK, s);
    case 4: return launch(score_held<4>, blocks, BLOCK, s);
    case 5: return launch(score_held<5>, blocks, BLOCK, s);
    case 6: return launch(score_held<6>, blocks, BLOCK, s);
    default: return launch(score_in_memory, dim3((unsigned)(s.slots / BLOCK)), BLOCK, s);
    }
}

const char *vh_cuda_score_run(const vh_cuda_tile *tile, const vh_cuda_score *job)
{
    const vh_cuda_base *b = &job->base;
    const vh_cuda_centers *r = &job->centers;
    const scoring s = { *b,      *r,         tile->rows, tile->tau,       job->slots,
                        tile->L, job->table, job->work,  tile->not_finite };
    const char *why = multiply_all(
        product{ r->n * r->S * r->M, b->n * b->S * b->M, tile->n_stat, r->theta, b->T, job->table });
    if (!why)
        why = score_quickly(s);
    return why ? why : launch(score_carefully, dim3((unsigned)(job->slots / BLOCK)), BLOCK, s);
}
