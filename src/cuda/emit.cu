/* SPDX-License-Identifier: BSD-3-Clause */
/* emit.cu - see forward_backward_kernels.h: emissions of the frames and the final sums, as two matrix
 * products.
 *
 *   1. theta T(y), and its exps      2. sums of the chains      3. sums of T, weighted by posteriors */
#include "cuda/forward_backward_kernels.h"

#include "cuda/estep_kernels.h"
#include "cuda/launch.cuh"
#include "cuda/numbers.cuh"

enum { LANES = VH_CUDA_LANES, BLOCK = 128 };

/* ---- 1. emissions -------------------------------------------------------------------------------------- */

enum { SOME = 16, PIECE = 32, STEPS = 2 }; /* components, statistics and steps at a time */

/* Each thread has one lane of STEPS steps and SOME components.  Blocks of the same steps are neighbours, so
 * that T is read from memory once. */
static __global__ void __launch_bounds__(BLOCK) make_products(vh_cuda_hmms h, vh_cuda_frames x)
{
    __shared__ double theta[PIECE][SOME];
    const int me = (int)threadIdx.x, lane = me % LANES, tiles = (h.n_comp + SOME - 1) / SOME;
    const int c0 = (int)(blockIdx.x % (unsigned)tiles) * SOME;
    const size_t q0 = (size_t)(blockIdx.x / (unsigned)tiles) * (BLOCK / LANES * STEPS) + me / LANES * STEPS;
    const size_t n_stat = (size_t)h.n_stat;
    double sum[STEPS][SOME] = {};
    for (int e0 = 0; e0 < h.n_stat; e0 += PIECE) {
        __syncthreads();
        for (int k = me; k < PIECE * SOME; k += BLOCK) {
            int c = c0 + k / PIECE, e = e0 + k % PIECE;
            theta[k % PIECE][k / PIECE] =
                c < h.n_comp && e < h.n_stat ? h.theta[(size_t)c * n_stat + (size_t)e] : 0;
        }
        __syncthreads();
        for (int e = 0; e < min((int)PIECE, h.n_stat - e0); e++) {
            double t[STEPS];
#pragma unroll
            for (int u = 0; u < STEPS; u++)
                t[u] = x.T[(min(q0 + u, x.steps - 1) * n_stat + (size_t)(e0 + e)) * LANES + lane];
#pragma unroll
            for (int l = 0; l < SOME; l++)
#pragma unroll
                for (int u = 0; u < STEPS; u++)
                    sum[u][l] = fma(theta[e][l], t[u], sum[u][l]);
        }
    }
#pragma unroll
    for (int u = 0; u < STEPS; u++)
#pragma unroll
        for (int l = 0; l < SOME; l++)
            if (q0 + u < x.steps && c0 + l < h.n_comp)
                x.E[((q0 + u) * (size_t)h.n_comp + (size_t)(c0 + l)) * LANES + lane] = sum[u][l];
}

/* One thread per lane of a step, with separate blocks for each HMM. */
static __global__ void __launch_bounds__(BLOCK) make_exps(vh_cuda_hmms h, vh_cuda_frames x)
{
    const size_t q = (size_t)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    const int lane = (int)threadIdx.x % LANES, k = (int)blockIdx.y, S = h.S[k], M = h.M[k];
    if (q >= x.steps)
        return;
    const strided E{ x.E + (q * (size_t)h.n_comp + (size_t)h.comp0[k]) * LANES + lane, LANES };
    const strided B{ x.B + (q * (size_t)h.n_state + (size_t)h.state0[k]) * LANES + lane, LANES };
    double top = E[0];
    for (int c = 1; c < S * M; c++)
        top = fmax(top, E[c]);
    for (int s = 0; s < S; s++) {
        double sum = 0;
        for (int c = s * M; c < (s + 1) * M; c++) {
            double e = fast_exp_or_0(E[c] - top);
            E[c] = e;
            sum += e;
        }
        B[s] = sum;
    }
    x.shift[(q * (size_t)h.K + (size_t)k) * LANES + lane] = top;
}

const char *vh_cuda_fb_emit(const vh_cuda_hmms *h, const vh_cuda_frames *x)
{
    const size_t each = BLOCK / LANES * STEPS, rows = BLOCK / LANES;
    dim3 products((unsigned)((x->steps + each - 1) / each) * (unsigned)((h->n_comp + SOME - 1) / SOME)),
        exps((unsigned)((x->steps + rows - 1) / rows), (unsigned)h->K);
    const char *why = launch(make_products, products, BLOCK, *h, *x);
    return why ? why : launch(make_exps, exps, BLOCK, *h, *x);
}

/* ---- 2. chains ----------------------------------------------------------------------------------------- */

/* One row of `chain` in a chunk: a warp adds its lanes, each thread every 32nd. */
static __global__ void __launch_bounds__(LANES) add_chains(vh_cuda_frames x, unsigned rows)
{
    __shared__ double part[LANES];
    const int c = (int)(blockIdx.x / rows), me = (int)threadIdx.x;
    const size_t row = blockIdx.x % rows;
    double sum = 0;
    for (int b = x.chunk0[c] - x.block0; b < x.chunk0[c + 1] - x.block0; b++)
        sum += x.chain[row * (size_t)x.lanes + (size_t)(b * LANES + me)];
    part[me] = sum;
    for (int half = LANES / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            part[me] += part[me + half];
    }
    if (me == 0)
        x.sums[(size_t)c * x.n_sums + row] = part[0];
}

/* ---- 3. statistics ------------------------------------------------------------------------------------- */

enum { TILE = 32, WIDE = TILE + 1, SIDE = 8, OWN = TILE / SIDE, TEAM = SIDE * SIDE };

struct piece { /* shared data of a block of add_statistics for a step: TILE components and statistics */
    double weight[TILE][WIDE], T[TILE][WIDE];
};

static __device__ __forceinline__ void take_piece(const vh_cuda_hmms &h, const vh_cuda_frames &x,
                                                  const int *state, size_t q, int c0, int e0, piece &to)
{
    const double *E = x.E + q * (size_t)h.n_comp * LANES, *B = x.B + q * (size_t)h.n_state * LANES,
                 *T = x.T + q * (size_t)h.n_stat * LANES;
    for (int k = (int)threadIdx.x; k < TILE * LANES; k += TEAM) {
        int row = k / LANES, lane = k % LANES;
        to.weight[row][lane] =
            c0 + row < h.n_comp ? E[(size_t)(c0 + row) * LANES + lane] * B[(size_t)state[row] * LANES + lane]
                                : 0;
        to.T[row][lane] = e0 + row < h.n_stat ? T[(size_t)(e0 + row) * LANES + lane] : 0;
    }
}

/* One block per chunk and tile of components and statistics: T_r = sum of weight times T(y), OWN x OWN
 * entries per thread. */
static __global__ void __launch_bounds__(TEAM) add_statistics(vh_cuda_hmms h, vh_cuda_frames x)
{
    __shared__ piece now;
    __shared__ int state[TILE];
    const int me = (int)threadIdx.x, i = me / SIDE, j = me % SIDE;
    const int wide = (h.n_stat + TILE - 1) / TILE, tiles = (h.n_comp + TILE - 1) / TILE * wide;
    const int c = (int)(blockIdx.x / (unsigned)tiles), own = (int)(blockIdx.x % (unsigned)tiles),
              c0 = own / wide * TILE, e0 = own % wide * TILE;
    double sum[OWN][OWN] = {};
    for (int k = me; k < TILE; k += TEAM)
        state[k] = c0 + k < h.n_comp ? h.state_of[c0 + k] : 0;
    const size_t end = x.step0[x.chunk0[c + 1] - x.block0] - x.before;
    for (size_t q = x.step0[x.chunk0[c] - x.block0] - x.before; q < end; q++) {
        __syncthreads();
        take_piece(h, x, state, q, c0, e0, now);
        __syncthreads();
        for (int lane = 0; lane < LANES; lane++)
#pragma unroll
            for (int a = 0; a < OWN; a++)
#pragma unroll
                for (int b = 0; b < OWN; b++)
                    sum[a][b] = fma(now.weight[i + SIDE * a][lane], now.T[j + SIDE * b][lane], sum[a][b]);
    }
    double *out = x.sums + (size_t)c * x.n_sums + (size_t)h.n_state + h.n_trans;
#pragma unroll
    for (int a = 0; a < OWN; a++)
#pragma unroll
        for (int b = 0; b < OWN; b++) {
            int r = c0 + i + SIDE * a, e = e0 + j + SIDE * b;
            if (r < h.n_comp && e < h.n_stat)
                out[(size_t)r * (size_t)h.n_stat + (size_t)e] = sum[a][b];
        }
}

/* The same for few statistics, which would leave a tile almost empty.  A block has FEW_COMPS components and
 * all statistics of a chunk, a thread every fourth step of one lane. */
enum { FEW_COMPS = 4, FEW_STATS = 8, ENTRIES = FEW_COMPS * FEW_STATS, EACH = BLOCK / ENTRIES };

static __global__ void __launch_bounds__(BLOCK) add_few_statistics(vh_cuda_hmms h, vh_cuda_frames x)
{
    __shared__ double part[ENTRIES][BLOCK + 1];
    const int me = (int)threadIdx.x, lane = me % LANES, tiles = (h.n_comp + FEW_COMPS - 1) / FEW_COMPS;
    const int c = (int)(blockIdx.x / (unsigned)tiles), c0 = (int)(blockIdx.x % (unsigned)tiles) * FEW_COMPS;
    int state[FEW_COMPS];
    double sum[FEW_COMPS][FEW_STATS] = {};
#pragma unroll
    for (int a = 0; a < FEW_COMPS; a++)
        state[a] = h.state_of[min(c0 + a, h.n_comp - 1)];
    const size_t end = x.step0[x.chunk0[c + 1] - x.block0] - x.before;
    size_t q = x.step0[x.chunk0[c] - x.block0] - x.before + (size_t)(me / LANES);
    for (; q < end; q += BLOCK / LANES) {
        const double *E = x.E + q * (size_t)h.n_comp * LANES + lane,
                     *B = x.B + q * (size_t)h.n_state * LANES + lane,
                     *T = x.T + q * (size_t)h.n_stat * LANES + lane;
        double t[FEW_STATS];
#pragma unroll
        for (int e = 0; e < FEW_STATS; e++)
            t[e] = e < h.n_stat ? T[e * LANES] : 0;
#pragma unroll
        for (int a = 0; a < FEW_COMPS; a++) {
            double weight = E[min(c0 + a, h.n_comp - 1) * LANES] * B[state[a] * LANES];
#pragma unroll
            for (int e = 0; e < FEW_STATS; e++)
                sum[a][e] = fma(weight, t[e], sum[a][e]);
        }
    }
#pragma unroll
    for (int k = 0; k < ENTRIES; k++)
        part[k][me] = sum[k / FEW_STATS][k % FEW_STATS];
    __syncthreads();
    const int own = me / EACH; /* the entry of which this thread adds LANES numbers */
    double all = 0;
    for (int k = 0; k < LANES; k++)
        all += part[own][me % EACH * LANES + k];
    __syncthreads();
    part[own][me % EACH] = all;
    __syncthreads();
    const int r = c0 + me / FEW_STATS, e = me % FEW_STATS;
    if (me < ENTRIES && r < h.n_comp && e < h.n_stat) {
        double *out = x.sums + (size_t)c * x.n_sums + (size_t)h.n_state + h.n_trans;
        out[(size_t)r * (size_t)h.n_stat + (size_t)e] = part[me][0] + part[me][1] + part[me][2] + part[me][3];
    }
}

static const char *add_all_statistics(const vh_cuda_hmms *h, const vh_cuda_frames *x)
{
    const unsigned chunks = (unsigned)x->n_chunk, few = (unsigned)((h->n_comp + FEW_COMPS - 1) / FEW_COMPS),
                   tiles = (unsigned)((h->n_comp + TILE - 1) / TILE * ((h->n_stat + TILE - 1) / TILE));
    return h->n_stat <= FEW_STATS ? launch(add_few_statistics, dim3(chunks * few), BLOCK, *h, *x)
                                  : launch(add_statistics, dim3(chunks * tiles), TEAM, *h, *x);
}

const char *vh_cuda_fb_collect(const vh_cuda_hmms *h, const vh_cuda_frames *x)
{
    const unsigned chunks = (unsigned)x->n_chunk, rows = (unsigned)((size_t)h->n_state + h->n_trans);
    const char *why = launch(add_chains, dim3(chunks * rows), LANES, *x, rows);
    if (!why)
        why = add_all_statistics(h, x);
    return why ? why : vh_cuda_tree(x->sums, x->n_sums, x->n_chunk);
}
