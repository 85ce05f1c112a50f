/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - data shared by forward_backward.c and forward_backward_lanes.c: the vectorized E-step
 * of Baum-Welch and EM-H3M. */
#ifndef VH_SIMD_FORWARD_BACKWARD_H
#define VH_SIMD_FORWARD_BACKWARD_H

#include "simd/lanes.h"

typedef struct {         /* one HMM and one sequence */
    int n, k, S;         /* sequence n of the batch, HMM k of the set, its number of states */
    int64_t f0, T;       /* first frame in the batch, number of frames */
    double loglik, w;    /* w: weight of the pair */
    bool redo;           /* scaling was unsafe: recompute in logs */
    int linear;          /* M of a linear HMM of which only the log-likelihood is wanted; else 0 */
    const double *dealt; /* its lane in the original groups, with stride `stride` */
    int stride;
} vh_fb_pair;

typedef struct { /* up to VH_LANES pairs with the same number of states */
    int L, used, S;
    int64_t T;        /* of the longest sequence */
    vh_fb_pair *lane; /* [used] */
    double *B;        /* [T][S][L] */
    /* Linear pairs have the same M, and L = VH_LANES.  Of each number, m and e (forward_backward_linear.c).
     * Their B [VH_LANES][S][2][L] is of a few frames; all groups share it. */
    bool begun;           /* alpha is that of a frame, not still pi */
    double *alpha, *move; /* [S][2][L] alpha_t(s), [S][4][L] a_ss and a_s-1,s */
} vh_fb_group;

typedef struct {
    vhem_ctx *ctx;
    const vh_packed *pk;
    const vh_seq_chunk *batch;
    vh_scratch *scratch;
    int n_pair, n_group, n_linear;
    vh_fb_pair *pairs; /* linear ones last, here and in groups [n_group + n_linear] */
    vh_fb_group *groups;
    int *linear;     /* [K]  see vh_fb_pair */
    int chunk;       /* maximum number of frames per chunk */
    size_t ld;       /* row stride of the tables below */
    const double *T; /* [chunk][n_stat]  statistics of the frames, from the batch or from `made` */
    double *made;    /* the statistics when computed here */
    double *E;       /* [n_comp][ld]     c p(y_t | r) divided by its maximum over the HMM; linear: its log */
    double *B;       /* [n_state][ld]    sums of E over the components of a state */
    double *shift;   /* [K][ld]          log of that maximum */
    double *work;
    vh_stats *stats;            /* NULL: compute only the log-likelihood */
    double *w;                  /* [n][K]  weights of the pairs; NULL: use those of the sequences */
    bool scored;                /* the log-likelihoods are already known */
    bool sparse;                /* few pairs have weight: collect them one by one */
    int comp_lo, comp_hi, col0; /* component range and first column for part_about */
} vh_fb;

/* Index in the data of sequence n of the batch, its length and its frames. */
static inline int64_t vh_fb_seq(const vh_fb *j, int n)
{
    return j->batch->in->seq[j->batch->first + n];
}
static inline int64_t vh_fb_length(const vh_fb *j, int n)
{
    return vh_data_length(j->batch->in->data, vh_fb_seq(j, n));
}
static inline const double *vh_fb_frames(const vh_fb *j, int n)
{
    return vh_data_frames(j->batch->in->data, vh_fb_seq(j, n));
}

/* Number of pairs from p on that can share a group. */
static inline int vh_fb_alike(const vh_fb *j, int p)
{
    const vh_fb_pair *first = &j->pairs[p];
    int n = 1;
    while (n < VH_LANES && p + n < j->n_pair && first[n].S == first->S && first[n].linear == first->linear)
        n++;
    return n;
}

/* Groups the linear pairs, once all others are. */
vhem_status VH_NAME(vh_fb_linear_groups)(vh_fb *j, int slot);
/* Takes these groups through n frames from c0 on, whose E is known.  Reads up to VH_LANES - 1 numbers past
 * the end of E. */
void VH_NAME(vh_fb_linear)(vh_fb *j, int64_t c0, int n);

/* Copies the state probabilities (table B) of n frames from c0 on to the lanes of all groups; adds the shifts
 * to the log-likelihoods. */
void VH_NAME(vh_fb_scatter)(vh_fb *j, int64_t c0, int n);
/* Refills the table of a group from the lanes that held its pairs before. */
void VH_NAME(vh_fb_scatter_again)(vh_fb_group *g);
/* Writes posterior / B from the lanes back to the chunk's table B, times the weight of each pair. */
void VH_NAME(vh_fb_collect)(vh_fb *j, int64_t c0, int n);

#endif
