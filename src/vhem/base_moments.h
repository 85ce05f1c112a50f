/* SPDX-License-Identifier: BSD-3-Clause */
/* base_moments.h - moments of all base HMMs, needed before the first E-step: sums over their components,
 * chunk by chunk, in memory as on disk, so that both give the same bits. */
#ifndef VH_VHEM_BASE_MOMENTS_H
#define VH_VHEM_BASE_MOMENTS_H

#include "files/shards.h"

enum { VH_READ_AHEAD = 8 }; /* chunks announced to the system before they are read */

typedef enum {
    VH_BASE_MEAN,       /* mean of the component means */
    VH_BASE_SPREAD,     /* mean square about the origin */
    VH_BASE_STATISTICS, /* mean statistics, in the coordinates of origin and scale */
} vh_base_moment;

typedef struct {
    vh_base_moment kind;
    const vh_h3m *h3m;       /* the base HMMs; only the first ones when they are on disk */
    const vh_shards *shards; /* source on disk; NULL: in memory */
    int64_t K;
    const double *origin, *scale; /* [d] */
    const int64_t *order;         /* [K]  HMM at each place; NULL: skip the weights */
    double *omega;                /* [K]  weights by place; output, except for VH_BASE_SPREAD */
} vh_base_moments;

/* Number of averaged values: d, or n_stat. */
int vh_base_moments_width(const vh_base_moments *s);
/* Size of a chunk's block: sums [width], each component weighted by omega c / S; sums of these weights
 * [width], without components that lack the column (hmm/missing_columns.h); number of HMMs with weight that
 * have each column [d]; number of HMMs that lack any [1]; and a fingerprint as two integers, 0 for
 * VH_BASE_SPREAD. */
size_t vh_base_moments_size(const vh_base_moments *s);
/* Adds chunk c of VH_REDUCE_CHUNK HMMs to block, which must be zero.  Thread-safe. */
vhem_status vh_base_moments_chunk(vhem_ctx *ctx, const vh_base_moments *s, int64_t c, double *block);

#endif
