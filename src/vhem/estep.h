/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - base HMMs against reduced ones: the variational E-step.  Paper, Section 3.3 and Appendix A.
 *
 * The base HMMs of a job are opened once and gone through many times.  A backend either does all of it (open,
 * expect, close: a device, whose memory the models move into), or it only replaces the kernel that CPU
 * backends share a driver around (lay, chunk, discard).
 *
 *   1. base HMMs      2. an E-step and its sums      3. how callers run it      4. what a backend provides
 *
 * The base HMMs are cut into chunks of VH_REDUCE_CHUNK by number, which never changes; the sums of chunks are
 * added in a fixed tree (parallel/tree_sum.h), so that they depend neither on threads nor on where a chunk
 * was worked on. */
#ifndef VH_VHEM_ESTEP_H
#define VH_VHEM_ESTEP_H

#include "parallel/scratch.h"
#include "hmm/stats.h"

/* 16 cores are busy from 20,000 base HMMs on, and adding the sums of a chunk is little beside making them. */
enum { VH_REDUCE_CHUNK = 512 };

/* ---- 1. base HMMs -------------------------------------------------------------------------------------- */

typedef struct { /* where base HMMs come from; all of it stays the caller's until close */
    int64_t K;
    int64_t first,
        all; /* of a part of a larger set: the number of its first HMM there, and HMMs there; else 0, K */
    const double *omega; /* [K]  weights, by place */
    const int64_t
        *number; /* [K]  of the HMM at each place, in its own chunk; equal shapes stand side by side */
    /* Places first .. first+n-1, a chunk, as vh_pack_base makes them.  What *out points to stays the
     * source's, until close if the source is resident, else until release (NULL: nothing to do).  Called by
     * several threads. */
    vhem_status (*block)(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out);
    void (*release)(const void *arg, vh_packed *block);
    bool resident; /* blocks fit into memory all together: they are asked for once */
    const void *arg;
} vh_base_source;

typedef struct { /* one pair of sets, for virtual samples of tau frames */
    const vh_packed *base;
    const vh_packed *reduced;
    int tau;
} vh_estep;

/* ---- 2. an E-step and its sums ------------------------------------------------------------------------- */

typedef struct {
    const vh_packed *reduced; /* Kr HMMs */
    int tau;
    const double *log_omega; /* [Kr]  their weights; NULL: only L is wanted, nothing is assigned */
    double N;                /* virtual samples in all, N_i = N omega_i */
    bool statistics;         /* wanted? */
    bool weighted;           /* sum_z is sum_i Kb omega_i z_ij, not sum_i z_ij */
    bool soft;               /* a guess: most pairs will have weight */
    double *L, *z;           /* [Kb][Kr]  by number of the base HMM; NULL: not wanted */
    int *label;              /* [Kb]  argmax_j z_ij, ties to the lowest; likewise */
} vh_reduce_step;

typedef struct { /* in one block of doubles, of which the first `head` are always filled in */
    size_t size, head;
    double *block;
    double *J;               /* [1]   sum_i log sum_j omega_j exp(N_i L_ij) */
    double *used;            /* [1]   pairs that had weight in the statistics */
    double *sum_z, *scale_z; /* [Kr]  sum of z, at a scale of its own (math/scaled.h) */
    double *members;         /* [Kr]  base HMMs with weight of which the cluster has half or more, */
    double *worst_L, *worst; /* [Kr]  and the one it describes worst: its L and number; ties: the lowest */
    vh_stats stats;
} vh_reduce_sums;

vhem_status vh_reduce_sums_new(vhem_ctx *ctx, const vh_packed *reduced, vh_reduce_sums *out);
void vh_reduce_sums_free(vh_reduce_sums *sums); /* accepts a zeroed struct */
/* The sums that lie at block, which stays its owner's; block NULL: only their sizes are wanted. */
vh_reduce_sums vh_reduce_sums_at(const vh_packed *reduced, double *block);
/* Of sums that are all zero: no scale is known yet. */
void vh_reduce_sums_begin(const vh_reduce_step *step, vh_reduce_sums *sums);
/* left += right, both blocks of sums of a step: what a vh_tree_sum adds with. */
void vh_reduce_sums_merge(const void *step, double *left, const double *right);

/* ---- 3. how callers run it ----------------------------------------------------------------------------- */

typedef struct vh_opened_base vh_opened_base; /* may be used by several threads at once */

vhem_status vh_reduce_open(vhem_ctx *ctx, const vh_base_source *source, vh_opened_base **out);
/* Overwrites the sums (NULL without log_omega) and fills in the tables.  The answer does not depend on the
 * number of workers.  stops: a stop ends it soon, with
 * VHEM_ESTOPPED; otherwise only one that is overdue does, since the sums of an EM loop belong to its present
 * model: rows of the tables may then be of this step or as they were. */
vhem_status vh_reduce_run(vhem_ctx *ctx, const vh_opened_base *job, const vh_reduce_step *step,
                          const vh_workers *workers, bool stops, vh_reduce_sums *out);
void vh_reduce_close(vh_opened_base *job); /* NULL is allowed */
/* Are its base HMMs elsewhere, so that tables [Kb][Kr] have a long way?  A loop then asks for them at its
 * end, with one more step, and not in every one. */
bool vh_reduce_is_remote(const vh_opened_base *job);

/* ---- 4. what a backend provides ------------------------------------------------------------------------ */

typedef struct { /* a chunk of base HMMs, for the kernel of a CPU backend */
    const vh_base_source *source;
    const vh_reduce_step *step;
    int64_t place;         /* of its first HMM */
    const vh_packed *base; /* the chunk */
    const void *laid;      /* what `prepare` has made of it; NULL without one */
} vh_reduce_chunk;

/* The rule of assignment, for HMMs first .. first+n-1 of a chunk with bounds L [n][Kr]: fills in the tables,
 * adds J, z and members to the sums and, if statistics are wanted, makes w [n][Kr], what each pair counts
 * there. */
vhem_status vh_reduce_weigh(vhem_ctx *ctx, const vh_reduce_chunk *chunk, int first, int n, const double *L,
                            double *w, vh_reduce_sums *sums);
/* Row i of L [Kr] -> log z_i [Kr]; returns log sum_j omega_j exp(N_i L_ij). */
double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *log_z);

typedef struct vh_reduce_kernels {
    /* Whole jobs.  open NULL: the driver for CPUs, around the next three. */
    vhem_status (*open)(vhem_ctx *, const vh_base_source *, void **state);
    vhem_status (*run)(vhem_ctx *, const void *state, const vh_reduce_step *, const vh_workers *, bool stops,
                       vh_reduce_sums *);
    void (*close)(void *state);
    /* A chunk in the backend's own layout, made once; both may be NULL. */
    vhem_status (*prepare)(vhem_ctx *, const vh_packed *base, void **laid);
    void (*release)(void *laid);
    /* Scores a chunk, has it weighed, and adds the statistics of the pairs that count.  scratch belongs to
     * the calling thread.  NULL: that of `ref`, with its layout. */
    vhem_status (*kernel)(vhem_ctx *, const vh_reduce_chunk *, vh_scratch *, vh_reduce_sums *);
} vh_reduce_kernels;

#endif
