/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.cu - statistics of the pairs with weight: both recursions, one thread per pair, then the sums over
 * the pairs of each chunk and centre, in order.
 *
 *   1. listing pairs      2. tables and chains of each      3. sums */
#include "cuda/estep_kernels.h"
#include "cuda/launch.cuh"
#include "cuda/recursion.cuh"

enum { BLOCK = 128 };

static unsigned blocks_for(size_t n)
{
    return (unsigned)((n + BLOCK - 1) / BLOCK);
}

/* ---- 1. listing pairs ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ double weight_of(const vh_cuda_tile &t, const vh_cuda_base &b,
                                                   const vh_cuda_centers &r, int lane, int j)
{
    return t.w[(size_t)r.number[j] * (size_t)t.rows + b.row[lane]];
}

/* Counts the lanes with weight; each thread takes lanes lo + me, lo + me + BLOCK, ... */
static __global__ void __launch_bounds__(BLOCK)
    count_cells(vh_cuda_tile t, vh_cuda_base b, vh_cuda_centers r, int *cells)
{
    __shared__ int sum[BLOCK];
    int c = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
    sum[me] = 0;
    for (int lane = b.lane0[c] + me; lane < b.lane0[c + 1]; lane += BLOCK)
        sum[me] += weight_of(t, b, r, lane, j) > 0;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            sum[me] += sum[me + half];
    }
    if (me == 0)
        cells[j * t.n_chunk + c] = sum[0];
}

const char *vh_cuda_pairs_count(const vh_cuda_tile *tile, const vh_cuda_base *base, const vh_cuda_centers *r,
                                int *cells)
{
    return launch(count_cells, dim3((unsigned)tile->n_chunk, (unsigned)r->n), BLOCK, *tile, *base, *r, cells);
}

/* Block (chunk, centre): lists its pairs that belong to this batch, by lane. */
static __global__ void __launch_bounds__(BLOCK) list_pairs(vh_cuda_tile t, vh_cuda_pairs x)
{
    __shared__ int before[BLOCK + 1];
    int c = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
    int at = x.first[j * t.n_chunk + c] - x.begin, end = x.first[j * t.n_chunk + c + 1] - x.begin;
    if (end <= 0 || at >= x.n)
        return;
    for (int lane0 = x.base.lane0[c]; lane0 < x.base.lane0[c + 1]; lane0 += BLOCK) {
        int lane = lane0 + me;
        bool counts = lane < x.base.lane0[c + 1] && weight_of(t, x.base, x.centers, lane, j) > 0;
        before[me + 1] = counts;
        __syncthreads();
        if (me == 0) {
            before[0] = 0;
            for (int k = 1; k <= BLOCK; k++)
                before[k] += before[k - 1];
        }
        __syncthreads();
        int p = at + before[me];
        if (counts && p >= 0 && p < x.n) {
            x.lane[p] = lane;
            x.who[p] = j;
        }
        at += before[BLOCK];
        __syncthreads();
    }
}

/* ---- 2. tables and chains ------------------------------------------------------------------------------ */

static __device__ __forceinline__ pair pair_of(const vh_cuda_pairs &x, int tau, int p)
{
    size_t n = (size_t)x.base.n, Sr = (size_t)x.centers.S, j = (size_t)x.who[p];
    return pair{ x.base.S,
                 x.centers.S,
                 tau,
                 strided{ (double *)x.base.pi + x.lane[p], n },
                 strided{ (double *)x.base.A + x.lane[p], n },
                 x.centers.pi + j * Sr,
                 x.centers.A + j * Sr * Sr };
}

static __device__ __forceinline__ mixtures mixtures_of(const vh_cuda_pairs &x, int p)
{
    return mixtures{ x.base.M, x.centers.M, strided{ (double *)x.base.c + x.lane[p], (size_t)x.base.n },
                     strided{ x.table + p, (size_t)x.n } };
}

/* One thread per (base component m, pair): products with the components of the centre, eight at a time. */
static __global__ void __launch_bounds__(BLOCK) make_tables(vh_cuda_pairs x, int n_stat)
{
    enum { SOME = 8 };
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x), m = (int)blockIdx.y;
    if (p >= x.n)
        return;
    int Cb = x.base.S * x.base.M, Cr = x.centers.S * x.centers.M;
    const double *T = x.base.T + ((size_t)m * (size_t)x.base.n + (size_t)x.lane[p]) * (size_t)n_stat;
    const double *theta = x.centers.theta + (size_t)x.who[p] * (size_t)Cr * (size_t)n_stat;
    for (int l0 = 0; l0 < Cr; l0 += SOME) {
        double sum[SOME] = {};
        for (int e = 0; e < n_stat; e++) {
            const double t = T[e];
#pragma unroll
            for (int l = 0; l < SOME; l++)
                sum[l] = fma(theta[(size_t)min(l0 + l, Cr - 1) * (size_t)n_stat + (size_t)e], t, sum[l]);
        }
#pragma unroll
        for (int l = 0; l < SOME; l++)
            if (l0 + l < Cr)
                x.table[((size_t)(l0 + l) * (size_t)Cb + (size_t)m) * (size_t)x.n + p] = sum[l];
    }
}

/* table := w nu(rho, beta) c_m eta(l | m), the weight of each base component in each component of the centre;
 * also nu1 and xi times w. */
template <int S, class V>
static __device__ __forceinline__ void keep(const vh_cuda_pairs &x, const pair &q, int p, double w,
                                            const chains<V> &c)
{
    const int Sb = S ? S : q.Sb, Sr = S ? S : q.Sr;
    const mixtures mix = mixtures_of(x, p);
    const int Cb = Sb * mix.Mb;
    const strided out{ x.chain + p, (size_t)x.n };
#pragma unroll
    for (int r = 0; r < Sr; r++) {
        out[r] = w * c.nu1[r];
#pragma unroll
        for (int to = 0; to < Sr; to++)
            out[Sr + r * Sr + to] = w * c.xi[r * Sr + to];
#pragma unroll
        for (int b = 0; b < Sb; b++)
            for (int m = b * mix.Mb; m < (b + 1) * mix.Mb; m++) {
                double all = log_sum_of(mix, r, m, Cb), here = w * c.sum_nu[r * Sb + b] * mix.c[m];
                for (int l = r * mix.Mr; l < (r + 1) * mix.Mr; l++) {
                    double &g = mix.table[l * Cb + m];
                    g = here * (mix.Mr > 1 ? fast_exp_or_0(g - all) : 1);
                }
            }
    }
}

template <int S> static __global__ void __launch_bounds__(BLOCK) walk_held(vh_cuda_tile t, vh_cuda_pairs x)
{
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (p >= x.n)
        return;
    pair q = pair_of(x, t.tau, p);
    history h{ strided{ x.history + p, (size_t)x.n } };
    arrays<held<S * S>> a;
    held<S * S> first;
    chains<held<S * S>> c;
    mixture_bound<S>(q, mixtures_of(x, p), a.G);
    bound out = backward<S>(q, a, h, &first);
    x.careful[p] = !good(out);
    if (x.careful[p])
        return;
    forward<S>(q, a, first, h, out.steps, c);
    keep<S>(x, q, p, weight_of(t, x.base, x.centers, x.lane[p], x.who[p]), c);
}

size_t vh_cuda_pairs_work(int Sb, int Sr)
{
    return (size_t)(7 * Sb * Sr + 2 * Sr + Sr * Sr);
}

struct in_memory {
    arrays<strided> a;
    strided first;
    chains<strided> c;
};

static __device__ in_memory arrays_of(const vh_cuda_pairs &x, int p)
{
    int n = x.base.S * x.centers.S, Sr = x.centers.S;
    strided at{ x.work + p, (size_t)x.n };
    return in_memory{ { at, at.from(n), at.from(2 * n), at.from(7 * n) },
                      at.from(3 * n),
                      { at.from(4 * n), at.from(5 * n), at.from(6 * n), at.from(7 * n + Sr),
                        at.from(7 * n + 2 * Sr) } };
}

static __global__ void __launch_bounds__(BLOCK) walk_in_memory(vh_cuda_tile t, vh_cuda_pairs x)
{
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (p >= x.n)
        return;
    pair q = pair_of(x, t.tau, p);
    history h{ strided{ x.history + p, (size_t)x.n } };
    in_memory y = arrays_of(x, p);
    mixture_bound<0>(q, mixtures_of(x, p), y.a.G);
    bound out = backward<0>(q, y.a, h, &y.first);
    x.careful[p] = !good(out);
    if (x.careful[p])
        return;
    forward<0>(q, y.a, y.first, h, out.steps, y.c);
    keep<0>(x, q, p, weight_of(t, x.base, x.centers, x.lane[p], x.who[p]), y.c);
}

static __global__ void __launch_bounds__(BLOCK) walk_carefully(vh_cuda_tile t, vh_cuda_pairs x)
{
    int p = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (p >= x.n || !x.careful[p])
        return;
    pair q = pair_of(x, t.tau, p);
    history h{ strided{ x.history + p, (size_t)x.n } };
    in_memory y = arrays_of(x, p);
    mixture_bound<0>(q, mixtures_of(x, p), y.a.G);
    careful_backward(q, y.a, h);
    careful_forward(q, y.a, h, y.c);
    keep<0>(x, q, p, weight_of(t, x.base, x.centers, x.lane[p], x.who[p]), y.c);
}

static const char *walk(const vh_cuda_tile &t, const vh_cuda_pairs &x)
{
    dim3 blocks(blocks_for((size_t)x.n));
    switch (x.base.S == x.centers.S ? x.base.S : 0) {
    case 2: return launch(walk_held<2>, blocks, BLOCK, t, x);
    case 3: return launch(walk_held<3>, blocks, BLOCK, t, x);
    case 4: return launch(walk_held<4>, blocks, BLOCK, t, x);
    case 5: return launch(walk_held<5>, blocks, BLOCK, t, x);
    default: return launch(walk_in_memory, blocks, BLOCK, t, x);
    }
}

/* ---- 3. sums ------------------------------------------------------------------------------------------- */

/* Entry (l, e) of T: adds pairs lo .. hi-1 and their base components to `sum`. */
static __device__ double add_component(const vh_cuda_pairs &x, int n_stat, int l, int e, int lo, int hi,
                                       double sum)
{
    int Cb = x.base.S * x.base.M;
    size_t n = (size_t)x.n, lanes = (size_t)x.base.n;
    for (int p = lo; p < hi; p++)
        for (int m = 0; m < Cb; m++)
            sum = fma(x.table[(size_t)(l * Cb + m) * n + (size_t)p],
                      x.base.T[((size_t)m * lanes + (size_t)x.lane[p]) * (size_t)n_stat + (size_t)e], sum);
    return sum;
}

/* Block (chunk, centre).  Continues the sum of the previous batch, so batches do not affect the result. */
static __global__ void __launch_bounds__(BLOCK) add_pairs(vh_cuda_tile t, vh_cuda_pairs x)
{
    int c = (int)blockIdx.x, j = (int)blockIdx.y, Sr = x.centers.S, Cr = Sr * x.centers.M;
    int lo = max(x.first[j * t.n_chunk + c] - x.begin, 0),
        hi = min(x.first[j * t.n_chunk + c + 1] - x.begin, x.n);
    double *sums = t.sums + (size_t)c * t.n_sums;
    const size_t *at = x.centers.at + 3 * j;
    if (lo >= hi)
        return;
    for (int k = (int)threadIdx.x; k < Sr + Sr * Sr; k += BLOCK) {
        double &sum = sums[k < Sr ? at[0] + (size_t)k : at[1] + (size_t)(k - Sr)];
        for (int p = lo; p < hi; p++)
            sum += x.chain[(size_t)k * (size_t)x.n + (size_t)p];
    }
    for (int k = (int)threadIdx.x; k < Cr * t.n_stat; k += BLOCK) {
        double &sum = sums[at[2] + (size_t)k];
        sum = add_component(x, t.n_stat, k / t.n_stat, k % t.n_stat, lo, hi, sum);
    }
}

const char *vh_cuda_pairs_run(const vh_cuda_tile *t, const vh_cuda_pairs *x)
{
    dim3 cells((unsigned)t->n_chunk, (unsigned)x->centers.n),
        components(blocks_for((size_t)x->n), (unsigned)(x->base.S * x->base.M));
    const char *why = launch(list_pairs, cells, BLOCK, *t, *x);
    if (!why)
        why = launch(make_tables, components, BLOCK, *x, t->n_stat);
    if (!why)
        why = walk(*t, *x);
    if (!why)
        why = launch(walk_carefully, dim3(blocks_for((size_t)x->n)), BLOCK, *t, *x);
    return why ? why : launch(add_pairs, cells, BLOCK, *t, *x);
}

/* Adds block (2 k + 1) step to block 2 k step. */
static __global__ void __launch_bounds__(BLOCK) add_level(double *sums, size_t size, int n, int step)
{
    size_t e = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    int left = 2 * (int)blockIdx.y * step;
    if (e < size && left + step < n)
        sums[(size_t)left * size + e] += sums[(size_t)(left + step) * size + e];
}

const char *vh_cuda_tree(double *sums, size_t size, int n)
{
    const char *why = NULL;
    for (int step = 1; step < n && !why; step *= 2)
        why = launch(add_level, dim3(blocks_for(size), (unsigned)((n + 2 * step - 1) / (2 * step))), BLOCK,
                     sums, size, n, step);
    return why;
}
