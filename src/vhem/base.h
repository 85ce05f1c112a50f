/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h - the input of a reduction, prepared once: base HMMs packed for the engine and opened by the
 * backend. */
#ifndef VH_VHEM_BASE_H
#define VH_VHEM_BASE_H

#include "core/own.h"
#include "core/backend.h"
#include "vhem/estep.h"
#include "core/journal.h"
#include "vhem/base_moments.h"
#include "vhem/distributed.h"

enum { VH_BASE_SAMPLE = 1000 };

struct vh_base;

typedef struct { /* chunks that one node of the tree which adds them stands for, as a job of their own */
    const struct vh_base *base;
    int64_t first; /* HMM */
    int level;
    int64_t index; /* of the node */
    vh_opened_base *job;
} vh_base_node;

typedef struct { /* who makes sums over all base HMMs, where this process does not (remote_estep.h) */
    const vhem_executor *executor; /* NULL: this process does */
    /* The sums over all chunks: of what must be known before the first E-step, sum [vh_base_moments_size]; */
    vhem_status (*moments)(vhem_ctx *ctx, const vhem_executor *executor, const vh_base_moments *s,
                           double *sum);
    /* and of an E-step, as vh_reduce_run makes it, with the tables that the step wants. */
    vhem_status (*expect)(vhem_ctx *ctx, const struct vh_base *base, const vh_h3m *centers,
                          const vh_reduce_step *step, vh_reduce_sums *sums);
} vh_remote;

typedef struct vh_base {
    const vh_h3m *h3m;       /* the base HMMs; of those on disk only the first VH_BASE_SAMPLE */
    const vh_shards *shards; /* where they are; NULL: in memory */
    vh_h3m *sample;          /* == h3m when they are on disk, else NULL */
    int64_t Kb;
    bool part;           /* of a larger set: */
    int64_t first;       /* the number of its first HMM there; else 0 */
    vh_remote remote;    /* who makes sums over all base HMMs */
    int64_t *order;      /* [Kb]  place in the packed set -> HMM: by chunk, and within a chunk by shape */
    double *omega;       /* [Kb]  weights, by place */
    vh_packed *packed;   /* h3m */
    vh_opened_base *job; /* NULL when only packed, and of a shared set on disk */
    bool shared;         /* all processes make sums over all base HMMs together: */
    vh_base_node *node;  /* [n_node]  the part of this one */
    int n_node;
    bool journalled;        /* E-steps over all base HMMs are remembered: */
    vh_journal *journal;    /* by the first process; NULL on the others.  Not released here */
    uint64_t fingerprint;   /* follows from all numbers of the base HMMs */
    double *origin, *scale; /* [d]  mean and deviation of the base models together; 0: no location,
                               1: no unit */
    bool *still;            /* [d]  columns that are the same in all models (still.h); NULL for a part */
    int n_telling;          /* the others */
    double rest;            /* what a frame adds to bounds for those that are still */
    double *mean; /* [n_stat]  mean statistics of all base components, each counted with omega c / S; NULL for
                     families with a location whose HMMs have every column */
    double *whole
        [VH_MAX_PARAM]; /* where an HMM lacks a column: the component of all base components; else NULL */
} vh_base;

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
/* The same without a job, for those who want the packed set alone. */
vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
/* Of HMMs on disk: chunks are read and packed whenever their turn comes.  remote may be NULL.  shared: all
 * processes make this call, and each reads only its own chunks. */
vhem_status vh_base_stream(vhem_ctx *ctx, const vh_shards *shards, const vh_remote *remote, bool shared,
                           vh_base **out);
/* All processes make the sums over these HMMs together from here on. */
vhem_status vh_base_share(vhem_ctx *ctx, vh_base *base);

typedef struct {                  /* some chunks of a larger set, for coordinates that are known already */
    const vh_h3m *h3m;            /* the set, or of one on disk the first of its HMMs */
    const vh_shards *shards;      /* NULL: in memory */
    int64_t first, n, all;        /* HMMs: the first, how many, and those of the whole set */
    const double *origin, *scale; /* [d] */
} vh_base_range;

/* The same, for these alone; places and tables count from the first. */
vhem_status vh_base_part(vhem_ctx *ctx, const vh_base_range *part, vh_base **out);
/* A copy of n of the base HMMs, pick [n], with weights that sum to 1. */
vhem_status vh_base_pick(vhem_ctx *ctx, const vh_base *base, const int64_t *pick, int n, vh_h3m **out);
/* vh_pack_new for centres, or the HMMs index [K] of them, in the coordinates of the base and with its
 * statistics. */
vhem_status vh_base_pack_centers(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                                 const int64_t *index, int64_t K, vh_packed **out);
void vh_base_free(vh_base *base);
VH_OWNED(vh_base, vh_base_free)

/* Chunk c of the base HMMs, packed, wherever they are; it is released afterwards.  May be called by several
 * threads. */
int64_t vh_base_chunks(const vh_base *base);
/* Base HMMs *lo .. *hi-1 are those of chunks first .. end-1; arg is the base. */
void vh_base_rows(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
/* The level of the largest node that begins at chunk c and ends before or at `end`. */
int vh_base_largest_node(int64_t c, int64_t end);
vhem_status vh_base_block(vhem_ctx *ctx, const vh_base *base, int64_t c, vh_packed *out);
void vh_base_release(const vh_base *base, vh_packed *block); /* accepts a zeroed struct */
/* States of base HMM i. */
int vh_base_states(const vh_base *base, int64_t i);

#endif
