/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.cu - from bounds to assignments: z_ij ~ omega_j exp(N_i L_ij), and the sums over the base HMMs of
 * each chunk.  vhem/estep.c has the rule, math/scaled.c the scales.
 *
 * Rows take one thread each; columns take one block per chunk, whose threads are added in a fixed tree. */
#include "cuda/estep_kernels.h"
#include "cuda/launch.cuh"

#include <math.h>

enum { BLOCK = 128 };

#define LN_2     0.69314718055994530942
#define BITS     256
#define NO_SCALE (-1e300)
#define NOTHING  (-1e15)
#define NO_SHARE 1e-100

static __device__ double scale_of(double log_x)
{
    return log_x < NOTHING ? NO_SCALE : floor(log_x / (BITS * LN_2) + 0.5);
}

static __device__ double at_scale(double log_x, double scale)
{
    double at = log_x - scale * (BITS * LN_2), x = at < -231 || log_x < NOTHING ? 0 : exp(at);
    return x > NO_SHARE ? x : 0;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(BLOCK) assign_rows(vh_cuda_tile t, vh_cuda_assign a)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    size_t rows = (size_t)t.rows;
    if (i >= t.rows)
        return;
    double Ni = a.N * t.omega[i], top = -INFINITY, sum = 0;
    for (int j = 0; j < t.Kr; j++) {
        double x = a.log_omega[j] + (Ni > 0 ? Ni * t.L[(size_t)j * rows + i] : 0);
        t.w[(size_t)j * rows + i] = x;
        top = fmax(top, x);
    }
    for (int j = 0; j < t.Kr; j++) {
        double x = t.w[(size_t)j * rows + i] - top;
        sum += x < -746 ? 0 : exp(x); /* NaN propagates */
    }
    sum = log(sum);
    double most = -1;
    int best = 0;
    for (int j = 0; j < t.Kr; j++) {
        double log_z = t.w[(size_t)j * rows + i] - top - sum, z = t.label ? exp(log_z) : 0;
        t.w[(size_t)j * rows + i] = log_z;
        best = z > most ? j : best;
        most = fmax(most, z);
    }
    if (t.label)
        t.label[i] = best;
    t.J[i] = top + sum;
    t.log_w[i] = log(t.omega[i]);
}

/* ---- columns ------------------------------------------------------------------------------------------- */

/* Adds the values of all threads of a block, in a tree; the result is in x[0]. */
static __device__ void add_up(double *x)
{
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            x[threadIdx.x] += x[threadIdx.x + half];
    }
    __syncthreads();
}

static __device__ void largest(double *x)
{
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            x[threadIdx.x] = fmax(x[threadIdx.x], x[threadIdx.x + half]);
    }
    __syncthreads();
}

static __device__ int end_of(const vh_cuda_tile &t, int chunk)
{
    int end = (chunk + 1) * t.chunk;
    return end < t.rows ? end : t.rows;
}

/* Block (chunk, j). */
static __global__ void __launch_bounds__(BLOCK) find_tops(vh_cuda_tile t, vh_cuda_assign a)
{
    __shared__ double weight[BLOCK], share[BLOCK];
    int c = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
    weight[me] = share[me] = -INFINITY;
    for (int i = c * t.chunk + me; i < end_of(t, c); i += BLOCK) {
        double log_z = t.w[(size_t)j * (size_t)t.rows + i];
        weight[me] = fmax(weight[me], log_z + t.log_w[i]);
        share[me] = fmax(share[me], log_z + (a.weighted ? a.log_K + t.log_w[i] : 0));
    }
    largest(weight);
    largest(share);
    if (me == 0) {
        t.top[c * t.Kr + j] = weight[0];
        t.top[(t.n_chunk + c) * t.Kr + j] = share[0];
    }
}

/* One scale for all chunks of the tile; top [n_chunk][Kr]. */
static __device__ double common_scale(const vh_cuda_tile &t, const double *top, int j)
{
    double most = -INFINITY;
    for (int c = 0; c < t.n_chunk; c++)
        most = fmax(most, top[c * t.Kr + j]);
    return scale_of(most);
}

/* The member that cluster j describes worst: its L and index, ties to the lowest; number < 0: none. */
struct worst {
    double L, number;
};

static __device__ worst worse(const worst &a, const worst &b)
{
    bool other = b.number >= 0 && (a.number < 0 || b.L < a.L || (b.L == a.L && b.number < a.number));
    return other ? b : a;
}

static __device__ void find_worst(worst *x)
{
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            x[threadIdx.x] = worse(x[threadIdx.x], x[threadIdx.x + half]);
    }
    __syncthreads();
}

struct column { /* destination of the sums of (chunk, j) */
    double *sum_z, *scale_z, *members, *worst_L, *worst;
};

static __device__ column column_of(const vh_cuda_tile &t, int c, int j)
{
    double *head = t.head + (size_t)c * (size_t)(2 + 5 * t.Kr) + 2 + j;
    return column{ head, head + t.Kr, head + 2 * t.Kr, head + 3 * t.Kr, head + 4 * t.Kr };
}

/* Block (chunk, j): sums of z and members; replaces log z by the weights. */
static __global__ void __launch_bounds__(BLOCK) sum_columns(vh_cuda_tile t, vh_cuda_assign a)
{
    __shared__ double sum[BLOCK], members[BLOCK], used[BLOCK];
    __shared__ worst last[BLOCK];
    int c = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
    double scale = common_scale(t, t.top, j), scale_z = common_scale(t, t.top + t.n_chunk * t.Kr, j);
    sum[me] = members[me] = used[me] = 0;
    last[me] = worst{ 0, -1 };
    for (int i = c * t.chunk + me; i < end_of(t, c); i += BLOCK) {
        size_t at = (size_t)j * (size_t)t.rows + i;
        double log_z = t.w[at], w = a.statistics ? at_scale(log_z + t.log_w[i], scale) : 0;
        sum[me] += at_scale(log_z + (a.weighted ? a.log_K + t.log_w[i] : 0), scale_z);
        if (log_z >= -LN_2 && t.omega[i] > 0) {
            members[me]++;
            last[me] = worse(last[me], worst{ t.L[at], (double)t.number[i] });
        }
        if (t.z)
            t.z[at] = exp(log_z);
        t.w[at] = w;
        used[me] += w > 0;
    }
    add_up(sum);
    add_up(members);
    add_up(used);
    find_worst(last);
    if (me == 0) {
        column out = column_of(t, c, j);
        *out.sum_z = sum[0];
        *out.scale_z = scale_z;
        *out.members = members[0];
        *out.worst_L = members[0] > 0 ? last[0].L : 0;
        *out.worst = members[0] > 0 ? last[0].number : 0;
        t.count[c * t.Kr + j] = (int)used[0];
        t.scale[j] = scale; /* the same value from every chunk */
    }
}

/* Block (chunk): J, and the number of pairs with weight. */
static __global__ void __launch_bounds__(BLOCK) sum_chunks(vh_cuda_tile t)
{
    __shared__ double J[BLOCK], used[BLOCK];
    int c = (int)blockIdx.x, me = (int)threadIdx.x;
    J[me] = used[me] = 0;
    for (int i = c * t.chunk + me; i < end_of(t, c); i += BLOCK)
        J[me] += t.J[i];
    for (int j = me; j < t.Kr; j += BLOCK)
        used[me] += t.count[c * t.Kr + j];
    add_up(J);
    add_up(used);
    if (me == 0) {
        t.head[(size_t)c * (size_t)(2 + 5 * t.Kr)] = J[0];
        t.head[(size_t)c * (size_t)(2 + 5 * t.Kr) + 1] = used[0];
    }
}

const char *vh_cuda_assign_run(const vh_cuda_tile *t, const vh_cuda_assign *job)
{
    dim3 cells((unsigned)t->n_chunk, (unsigned)t->Kr);
    const char *why = launch(assign_rows, dim3((unsigned)((t->rows + BLOCK - 1) / BLOCK)), BLOCK, *t, *job);
    if (!why)
        why = launch(find_tops, cells, BLOCK, *t, *job);
    if (!why)
        why = launch(sum_columns, cells, BLOCK, *t, *job);
    return why ? why : launch(sum_chunks, dim3((unsigned)t->n_chunk), BLOCK, *t);
}
