/* SPDX-License-Identifier: BSD-3-Clause */
/* base.h - the prepared input of a reduction: base HMMs packed for the engine and opened by the backend. */
#ifndef VH_VHEM_BASE_H
#define VH_VHEM_BASE_H

#include "core/own.h"
#include "core/backend.h"
#include "vhem/estep.h"
#include "core/journal.h"
#include "parallel/tree_sum.h"
#include "vhem/base_moments.h"
#include "vhem/distributed.h"

enum { VH_BASE_SAMPLE = 1000 };

struct vh_base;

typedef struct { /* callbacks that compute sums over all base HMMs in other processes (remote_estep.h) */
    const vhem_executor *executor; /* NULL: this process computes the sums */
    /* Sums over all chunks: the base moments, sum [vh_base_moments_size]; */
    vhem_status (*moments)(vhem_ctx *ctx, const vhem_executor *executor, const vh_base_moments *s,
                           double *sum);
    /* and those of an E-step, as vh_reduce_run, with the tables the step requests. */
    vhem_status (*expect)(vhem_ctx *ctx, const struct vh_base *base, const vh_h3m *centers,
                          const vh_reduce_step *step, vh_reduce_sums *sums);
} vh_remote;

typedef struct vh_base_node vh_base_node; /* a part of a shared sum, in base.c */

typedef struct vh_base {
    const vh_h3m *h3m;       /* the base HMMs; only the first VH_BASE_SAMPLE when they are on disk */
    const vh_shards *shards; /* source on disk; NULL: in memory */
    vh_h3m *sample;          /* == h3m when on disk, else NULL */
    int64_t Kb;
    bool part;         /* true if this is part of a larger set */
    int64_t first;     /* index of its first HMM in that set; 0 if not a part */
    vh_remote remote;  /* callbacks for sums over all base HMMs */
    int64_t *order;    /* [Kb]  place in the packed set -> HMM; grouped by chunk, sorted by shape within it */
    double *omega;     /* [Kb]  weights, by place */
    vh_packed *packed; /* packed h3m */
    vh_opened_base *opened; /* NULL if only packed; a shared base has nodes */
    bool shared;            /* all processes compute the sums together */
    vh_base_node *node;     /* [n_node]  this process's share */
    int n_node;
    bool journalled;        /* cache E-steps over all base HMMs in the journal */
    vh_journal *journal;    /* on the first process, NULL on the others; not owned */
    uint64_t fingerprint;   /* hash of all numbers of the base HMMs */
    double *origin, *scale; /* [d]  pooled mean and deviation; 0: no location, 1: no unit */
    bool *still;            /* [d]  columns identical in all models (still.h); NULL for a part */
    int n_telling;          /* number of other columns */
    double rest;            /* contribution of the still columns to the bound, per frame */
    double *mean; /* [n_stat]  mean statistics of all base components, weighted by omega c / S; NULL if
                     the family has a location and no HMM lacks a column */
    double *whole[VH_MAX_PARAM]; /* pooled component, if some HMM lacks a column; else NULL */
} vh_base;

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
/* Same, without opening a job: the packed set only. */
vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out);
/* Same for HMMs on disk: chunks are read and packed on demand.  remote may be NULL.  shared: all processes
 * make this call, and each reads only its own chunks. */
vhem_status vh_base_stream(vhem_ctx *ctx, const vh_shards *shards, const vh_remote *remote, bool shared,
                           vh_base **out);
/* From here on, all processes compute the sums over these HMMs together. */
vhem_status vh_base_share(vhem_ctx *ctx, vh_base *base);

typedef struct {                  /* some chunks of a larger set, in given coordinates */
    const vh_h3m *h3m;            /* the whole set, or the first HMMs of one on disk */
    const vh_shards *shards;      /* NULL: in memory */
    int64_t first, n, all;        /* first HMM, number of HMMs, size of the whole set */
    const double *origin, *scale; /* [d] */
} vh_base_range;

/* Same for these chunks only; places and tables count from their first HMM. */
vhem_status vh_base_part(vhem_ctx *ctx, const vh_base_range *part, vh_base **out);
/* Copies n base HMMs, pick [n], with weights that sum to 1. */
vhem_status vh_base_pick(vhem_ctx *ctx, const vh_base *base, const int64_t *pick, int n, vh_h3m **out);
/* vh_pack_new for centres, or for the HMMs index [K] of them, in the coordinates and statistics of the
 * base. */
vhem_status vh_base_pack_centers(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                                 const int64_t *index, int64_t K, vh_packed **out);
void vh_base_free(vh_base *base);
VH_OWNED(vh_base, vh_base_free)

/* Number of chunks.  vh_base_block packs chunk c, from memory or disk; vh_base_release frees it.  Both are
 * thread-safe. */
int64_t vh_base_chunks(const vh_base *base);
/* Base HMMs *lo .. *hi-1 are those of chunks first .. end-1; arg is the base. */
void vh_base_rows(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi);
/* Level of the largest node that begins at chunk c and ends at or before `end`. */
int vh_base_largest_node(int64_t c, int64_t end);
vhem_status vh_base_block(vhem_ctx *ctx, const vh_base *base, int64_t c, vh_packed *out);
void vh_base_release(const vh_base *base, vh_packed *block); /* accepts a zeroed struct */
/* Number of states of base HMM i. */
int vh_base_states(const vh_base *base, int64_t i);

/* Adds the sums of a step over this process's part of a shared base to sum, node by node; one has the sizes
 * of the sums and is overwritten. */
vhem_status vh_base_add_nodes(vhem_ctx *ctx, const vh_base *base, const vh_reduce_step *step,
                              const vh_workers *workers, vh_reduce_sums *one, vh_tree_sum *sum);

#endif
