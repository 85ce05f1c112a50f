/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_kernels.h - the kernels of the variational E-step and what they work on.  Plain C; every pointer in
 * these records points into the memory of the device.
 *
 *   1. base HMMs, centres, a tile      2. score      3. assign      4. statistics
 *
 * A tile is the base HMMs of some chunks (vhem/estep.h), in the order of their places; row i of its
 * tables belongs to place i.  HMMs of one shape stand side by side in lanes, so that neighbouring threads
 * read neighbouring numbers. */
#ifndef VH_CUDA_ESTEP_KERNELS_H
#define VH_CUDA_ESTEP_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- 1. base HMMs, centres, a tile --------------------------------------------------------------------- */

typedef struct { /* base HMMs of one shape in a tile, one in each lane */
    int n, S, M;
    const int *row;           /* [n]          of the tile; ascending */
    const int *lane0;         /* [n_chunk+1]  where the lanes of a chunk begin */
    const double *pi, *A, *c; /* [S][n] [S][S][n] [S][M][n] */
    const double *T;          /* [S][M][n][n_stat]  mean statistics of the components */
} vh_cuda_base;

typedef struct { /* reduced HMMs of one shape */
    int n, S, M;
    const int *number;    /* [n] */
    const double *pi, *A; /* [n][S] [n][S][S] */
    const double *theta;  /* [n][S][M][n_stat] */
    const size_t *at;     /* [n][3]  where their nu1, xi and T begin in a block of statistics */
} vh_cuda_centers;

typedef struct {
    int rows, n_chunk, chunk; /* chunk: rows of each but the last */
    int Kr, n_stat, tau;
    const double *omega;   /* [rows]  weights of the base HMMs */
    const int64_t *number; /* [rows]  their numbers */
    double *L;             /* [Kr][rows] */
    double *w;             /* [Kr][rows]  log z, then what each pair counts in the statistics */
    double *z;             /* [Kr][rows]  NULL: not wanted */
    int *label;            /* [rows]  argmax_j z_ij, ties to the lowest; NULL: not wanted */
    double *J, *log_w;     /* [rows] each  log sum_j omega_j exp(N_i L_ij); log omega_i */
    double *top;           /* [2][n_chunk][Kr]  largest log of a weight, of a share */
    double *scale;         /* [Kr]  of the statistics */
    double *head;          /* [n_chunk][2 + 5 Kr]  the first numbers of vh_reduce_sums */
    int *count;            /* [n_chunk][Kr]  pairs that count */
    double *sums;          /* [n_chunk][n_sums]  nu1, xi and T of all centres */
    size_t n_sums;
    int *not_finite; /* [1]  bounds that are no numbers */
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
/* L of all these pairs.  Where no bound was found, not_finite is raised. */
const char *vh_cuda_score_run(const vh_cuda_tile *tile, const vh_cuda_score *job);

/* ---- 3. assign ----------------------------------------------------------------------------------------- */

typedef struct {
    double N, log_K;         /* log_K: log of the number of base HMMs */
    const double *log_omega; /* [Kr] */
    bool weighted, statistics;
} vh_cuda_assign;

/* Rows of L -> log z, J, label, head; with statistics also weights and counts. */
const char *vh_cuda_assign_run(const vh_cuda_tile *tile, const vh_cuda_assign *job);

/* ---- 4. statistics ------------------------------------------------------------------------------------- */

typedef struct {
    vh_cuda_base base;
    vh_cuda_centers centers;
    /* The pairs of all centres, chunk by chunk for each centre: first [centers.n n_chunk + 1]. */
    const int *first;
    int begin, n;    /* pairs begin .. begin+n-1 are worked on; their place in the arrays begins at 0 */
    int *lane, *who; /* [n]  base HMM and centre of each pair */
    double *table;   /* [S][M of a centre][S][M of a base HMM][n] */
    double *history; /* [tau-1][2][Sb][Sr][n] */
    double *work;    /* [vh_cuda_pairs_work][n] */
    double *chain;   /* [Sr + Sr Sr][n]  nu1 and xi of each pair, times its weight */
    int *careful;    /* [n]  whether it has to be done again, carefully */
} vh_cuda_pairs;

size_t vh_cuda_pairs_work(int Sb, int Sr);
/* Cell (centre, chunk) -> how many pairs of this shape it has: cells [centers.n][n_chunk]. */
const char *vh_cuda_pairs_count(const vh_cuda_tile *tile, const vh_cuda_base *base, const vh_cuda_centers *r,
                                int *cells);
/* Adds the statistics of the pairs to the sums of their chunks. */
const char *vh_cuda_pairs_run(const vh_cuda_tile *tile, const vh_cuda_pairs *job);
/* sums [n][size]: the sum of all n, added as parallel/tree_sum.h says, goes to the first. */
const char *vh_cuda_tree(double *sums, size_t size, int n);

#ifdef __cplusplus
}
#endif

#endif
