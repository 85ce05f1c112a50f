/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_kernels.h - kernels of the variational E-step and their data.  Plain C; every pointer in these
 * records is a device pointer.
 *
 *   1. base HMMs, centres, a tile      2. score      3. assign      4. statistics
 *
 * A tile is the base HMMs of some chunks (vhem/estep.h), in the order of their places; row i of its tables
 * belongs to place i.  HMMs of one shape are arranged in lanes, so that memory accesses coalesce. */
#ifndef VH_CUDA_ESTEP_KERNELS_H
#define VH_CUDA_ESTEP_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. base HMMs, centres, a tile --------------------------------------------------------------------- */

typedef struct { /* base HMMs of one shape in a tile, one per lane */
    int n, S, M;
    const int *row;           /* [n]          row in the tile; ascending */
    const int *lane0;         /* [n_chunk+1]  first lane of each chunk */
    const double *pi, *A, *c; /* [S][n] [S][S][n] [S][M][n] */
    const double *T;          /* [S][M][n][n_stat]  mean statistics of the components */
} vh_cuda_base;

typedef struct { /* reduced HMMs of one shape */
    int n, S, M;
    const int *number;    /* [n] */
    const double *pi, *A; /* [n][S] [n][S][S] */
    const double *theta;  /* [n][S][M][n_stat] */
    const size_t *at;     /* [n][3]  offsets of nu1, xi and T in a block of statistics */
} vh_cuda_centers;

typedef struct {
    int rows, n_chunk, chunk; /* chunk: rows of each chunk but the last */
    int Kr, n_stat, tau;
    const double *omega;   /* [rows]  weights of the base HMMs */
    const int64_t *number; /* [rows]  indices of the base HMMs */
    double *L;             /* [Kr][rows] */
    double *w;             /* [Kr][rows]  log z, then the weight of each pair in the statistics */
    double *z;             /* [Kr][rows]  NULL: not needed */
    int *label;            /* [rows]  argmax_j z_ij, ties to the lowest; NULL: not needed */
    double *J, *log_w;     /* [rows] each  log sum_j omega_j exp(N_i L_ij); log omega_i */
    double *top;           /* [2][n_chunk][Kr]  largest log-weight and log-share */
    double *scale;         /* [Kr]  of the statistics */
    double *head;          /* [n_chunk][2 + 5 Kr]  the leading numbers of vh_reduce_sums */
    int *count;            /* [n_chunk][Kr]  number of pairs with weight */
    double *sums;          /* [n_chunk][n_sums]  nu1, xi and T of all centres */
    size_t n_sums;
    int *not_finite; /* [1]  number of bounds that are not finite */
} vh_cuda_tile;

/* ---- 2. score ------------------------------------------------------------------------------------------ */

typedef struct {
    vh_cuda_base base;
    vh_cuda_centers centers;
    double *table; /* [centers.n][S][M of a centre][S][M of a base HMM][base.n]  scratch */
    double *work;  /* [vh_cuda_score_work][slots]  scratch */
    int slots;     /* a multiple of 128 */
} vh_cuda_score;

size_t vh_cuda_score_work(int Sb, int Sr);
/* Computes L of all these pairs.  Raises not_finite for pairs without a bound. */
const char *vh_cuda_score_run(const vh_cuda_tile *tile, const vh_cuda_score *job);

/* ---- 3. assign ----------------------------------------------------------------------------------------- */

typedef struct {
    double N, log_K;         /* log_K: log of the number of base HMMs */
    const double *log_omega; /* [Kr] */
    bool weighted, statistics;
} vh_cuda_assign;

/* Computes log z, J, label and head from the rows of L; with statistics also weights and counts. */
const char *vh_cuda_assign_run(const vh_cuda_tile *tile, const vh_cuda_assign *job);

/* ---- 4. statistics ------------------------------------------------------------------------------------- */

typedef struct {
    vh_cuda_base base;
    vh_cuda_centers centers;
    /* Offsets of the pairs, ordered by centre, then chunk: first [centers.n n_chunk + 1]. */
    const int *first;
    int begin, n;    /* this batch: pairs begin .. begin+n-1, stored from index 0 */
    int *lane, *who; /* [n]  base HMM and centre of each pair */
    double *table;   /* [S][M of a centre][S][M of a base HMM][n] */
    double *history; /* [tau-1][2][Sb][Sr][n] */
    double *work;    /* [vh_cuda_pairs_work][n] */
    double *chain;   /* [Sr + Sr Sr][n]  nu1 and xi of each pair, times its weight */
    int *careful;    /* [n]  nonzero: recompute with the careful recursion */
} vh_cuda_pairs;

size_t vh_cuda_pairs_work(int Sb, int Sr);
/* cells [centers.n][n_chunk] := number of pairs of this shape for each centre and chunk. */
const char *vh_cuda_pairs_count(const vh_cuda_tile *tile, const vh_cuda_base *base, const vh_cuda_centers *r,
                                int *cells);
/* Adds the statistics of the pairs to the sums of their chunks. */
const char *vh_cuda_pairs_run(const vh_cuda_tile *tile, const vh_cuda_pairs *job);
/* sums [n][size]: adds all n in the order of parallel/tree_sum.h, into the first. */
const char *vh_cuda_tree(double *sums, size_t size, int n);

#ifdef __cplusplus
}
#endif

#endif
