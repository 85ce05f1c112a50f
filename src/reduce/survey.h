/* SPDX-License-Identifier: BSD-3-Clause */
/* survey.h - what has to be known of all base HMMs together before the first E-step: sums over their
 * components, made chunk by chunk, in memory as well as from disk, so that both give the same bits. */
#ifndef VH_REDUCE_SURVEY_H
#define VH_REDUCE_SURVEY_H

#include "model/shards.h"

enum { VH_SURVEY_AHEAD = 8 }; /* chunks that the system is told of before they are read */

typedef enum {
    VH_SURVEY_MEAN,       /* of the means of components */
    VH_SURVEY_SPREAD,     /* of their squares about the origin */
    VH_SURVEY_STATISTICS, /* of their mean statistics, in the coordinates of origin and scale */
} vh_survey_kind;

typedef struct {
    vh_survey_kind kind;
    const vh_h3m *h3m;       /* the base HMMs; of those on disk the first */
    const vh_shards *shards; /* where they are; NULL: in memory */
    int64_t K;
    const double *origin, *scale; /* [d] */
    const int64_t *order;         /* [K]  HMM at each place; NULL: weights are not wanted */
    double *omega;                /* [K]  weights by place, filled in except by VH_SURVEY_SPREAD */
} vh_survey;

/* Numbers that are averaged: d, or n_stat. */
int vh_survey_width(const vh_survey *s);
/* Numbers of a chunk: those [width], each with the weight omega c / S of its component; the sums of these
 * weights [width], without components that lack the column (masked.h); how many HMMs with a weight have each
 * column [d]; how many lack any [1]; and a fingerprint as two whole numbers, which VH_SURVEY_SPREAD leaves at
 * 0. */
size_t vh_survey_size(const vh_survey *s);
/* Chunk c of VH_REDUCE_CHUNK HMMs: adds to block, which is all zero.  May be called by several threads. */
vhem_status vh_survey_chunk(vhem_ctx *ctx, const vh_survey *s, int64_t c, double *block);

#endif
