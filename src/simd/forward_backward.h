/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.h - the E-step of Baum-Welch and EM-H3M on vectors: what forward_backward.c and
 * forward_backward_lanes.c share. */
#ifndef VH_SIMD_FORWARD_BACKWARD_H
#define VH_SIMD_FORWARD_BACKWARD_H

#include "simd/lanes.h"

typedef struct {         /* an HMM and a sequence */
    int n, k, S;         /* sequence n of the batch, HMM k of the set, its states */
    int64_t f0, T;       /* first frame in the batch, length */
    double loglik, w;    /* w: what it counts */
    bool redo;           /* scaling was not safe: do it in logs */
    const double *dealt; /* its lane in the first groups, numbers `stride` apart */
    int stride;
} vh_fb_pair;

typedef struct { /* up to VH_LANES pairs with equally many states */
    int L, used, S;
    int64_t T;        /* of the longest */
    vh_fb_pair *lane; /* [used] */
    double *B;        /* [T][S][L] */
} vh_fb_group;

typedef struct {
    vhem_ctx *ctx;
    const vh_packed *pk;
    const vh_seq_chunk *batch;
    vh_scratch *scratch;
    int n_pair, n_group;
    vh_fb_pair *pairs;
    vh_fb_group *groups;
    int chunk;       /* frames of a chunk at most */
    size_t ld;       /* distance of rows of the tables below */
    const double *T; /* [chunk][n_stat]  statistics of the frames: those of the batch, or */
    double *made;    /* made here */
    double *E;       /* [n_comp][ld]     c p(y_t | r) over its largest in the HMM */
    double *B;       /* [n_state][ld]    sums of E over the components of a state */
    double *shift;   /* [K][ld]          log of that largest */
    double *work;
    vh_stats *stats;            /* NULL: only the log-likelihood is wanted */
    double *w;                  /* [n][K]  weights of the pairs; NULL: those of the sequences */
    bool scored;                /* the log-likelihoods are known */
    bool sparse;                /* so few pairs count that they are collected one by one */
    int comp_lo, comp_hi, col0; /* components and first column that part_about looks at */
} vh_fb;

/* Sequence n of the batch, its length and its frames. */
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

/* State probabilities of a chunk of n frames from c0 on, table B, to the lanes of all groups; the shifts are
 * part of the likelihood. */
void VH_NAME(vh_fb_scatter)(vh_fb *j, int64_t c0, int n);
/* The table of a group whose pairs were dealt before, to other lanes. */
void VH_NAME(vh_fb_scatter_again)(vh_fb_group *g);
/* Posterior over B from the lanes back into the table B of the chunk, times the weight of each pair. */
void VH_NAME(vh_fb_collect)(vh_fb *j, int64_t c0, int n);

#endif
