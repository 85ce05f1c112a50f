/* SPDX-License-Identifier: BSD-3-Clause */
/* base_moments.h - what has to be known of all base HMMs together before the first E-step: sums over their
 * components, made chunk by chunk, in memory as well as from disk, so that both give the same bits. */
#ifndef VH_VHEM_BASE_MOMENTS_H
#define VH_VHEM_BASE_MOMENTS_H

#include "files/shards.h"

enum { VH_READ_AHEAD = 8 }; /* chunks that the system is told of before they are read */

typedef enum {
    VH_BASE_MEAN,       /* of the means of components */
    VH_BASE_SPREAD,     /* of their squares about the origin */
    VH_BASE_STATISTICS, /* of their mean statistics, in the coordinates of origin and scale */
} vh_base_moment;

typedef struct {
    vh_base_moment kind;
    const vh_h3m *h3m;       /* the base HMMs; of those on disk the first */
    const vh_shards *shards; /* where they are; NULL: in memory */
    int64_t K;
    const double *origin, *scale; /* [d] */
    const int64_t *order;         /* [K]  HMM at each place; NULL: weights are not wanted */
    double *omega;                /* [K]  weights by place, filled in except by VH_BASE_SPREAD */
} vh_base_moments;

/* Numbers that are averaged: d, or n_stat. */
int vh_base_moments_width(const vh_base_moments *s);
/* Numbers of a chunk: those [width], each with the weight omega c / S of its component; the sums of these
 * weights [width], without components that lack the column (hmm/missing_columns.h); how many HMMs with a
 * weight have each column [d]; how many lack any [1]; and a fingerprint as two whole numbers, which
 * VH_BASE_SPREAD leaves at 0. */
size_t vh_base_moments_size(const vh_base_moments *s);
/* Chunk c of VH_REDUCE_CHUNK HMMs: adds to block, which is all zero.  May be called by several threads. */
vhem_status vh_base_moments_chunk(vhem_ctx *ctx, const vh_base_moments *s, int64_t c, double *block);

#endif
