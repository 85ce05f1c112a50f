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
    int exact;           /* M if only the log-likelihood is wanted, and without scaling; else 0 */
    const double *dealt; /* its lane in the original groups, with stride `stride` */
    int stride;
} vh_fb_pair;

typedef struct { /* up to VH_LANES pairs with the same number of states */
    int L, used, S;
    int64_t T;        /* of the longest sequence */
    vh_fb_pair *lane; /* [used] */
    double *B;        /* [T][S][L] */
    /* For likelihoods without scaling (forward_backward_exact.c): pairs have the same M, L = VH_LANES.  Of
     * each number, m and e.  B [VH_LANES][S][2][L] is of a few frames; all groups share it. */
    bool begun;                  /* alpha is that of a frame, not still pi */
    int *first, *from;           /* [S+1] the first move to each state, [moves] its origin */
    double *alpha, *next, *move; /* [S][2][L] alpha_t(s) and a place for t+1, [moves][2][L] a_qs */
} vh_fb_group;

typedef struct {
    vhem_ctx *ctx;
    const vh_packed *pk;
    const vh_seq_chunk *batch;
    vh_scratch *scratch;
    int n_pair, n_group, n_exact;
    vh_fb_pair *pairs;   /* exact ones last, here and in groups */
    vh_fb_group *groups; /* [n_group + n_exact] */
    int *exact;          /* [K]  see vh_fb_pair */
    int *moves;          /* the lists of the exact groups */
    int chunk;           /* maximum number of frames per chunk */
    size_t ld;           /* row stride of the tables below */
    const double *T;     /* [chunk][n_stat]  statistics of the frames, from the batch or from `made` */
    double *made;        /* the statistics when computed here */
    double *E;     /* [n_comp][ld]     c p(y_t | r) divided by its maximum over the HMM; first its log */
    double *B;     /* [n_state][ld]    sums of E over the components of a state */
    double *shift; /* [K][ld]          log of that maximum */
    double *work;
    vh_stats *stats;            /* NULL: compute only the log-likelihood */
    double *w;                  /* [n][K]  weights of the pairs; NULL: use those of the sequences */
    bool scored;                /* the log-likelihoods are already known */
    bool sparse;                /* few pairs have weight: collect them one by one */
    bool spoilt;                /* parts of E have been made again */
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

/* How many of n pairs, from the first on, can share a group. */
static inline int vh_fb_alike(const vh_fb_pair *first, int n)
{
    int same = 1;
    while (same < VH_LANES && same < n && first[same].S == first->S && first[same].exact == first->exact)
        same++;
    return same;
}

/* Groups n pairs whose log-likelihoods are to be exact, after form_groups. */
vhem_status VH_NAME(vh_fb_exact_groups)(vh_fb *j, vh_fb_pair *pairs, int n, int slot);
/* Takes these groups through n frames from c0 on, whose E is the log yet.  Reads up to VH_LANES - 1 numbers
 * past the end of E. */
void VH_NAME(vh_fb_exact)(vh_fb *j, int64_t c0, int n);

/* Copies the state probabilities (table B) of n frames from c0 on to the lanes of all groups; adds the shifts
 * to the log-likelihoods. */
void VH_NAME(vh_fb_scatter)(vh_fb *j, int64_t c0, int n);
/* Refills the table of a group from the lanes that held its pairs before. */
void VH_NAME(vh_fb_scatter_again)(vh_fb_group *g);
/* Writes posterior / B from the lanes back to the chunk's table B, times the weight of each pair. */
void VH_NAME(vh_fb_collect)(vh_fb *j, int64_t c0, int n);

#endif
