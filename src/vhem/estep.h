/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - the variational E-step of base HMMs against reduced ones.  Paper, Section 3.3 and Appendix A.
 *
 * The base HMMs of a job are opened once and scored many times.  A backend either implements whole jobs
 * (open, run, close: a device that moves the models into its memory), or only the kernel inside the shared
 * CPU driver (prepare, kernel, release).
 *
 *   1. base HMMs      2. an E-step and its sums      3. how callers run it      4. what a backend provides
 *
 * The base HMMs are cut into chunks of VH_REDUCE_CHUNK by index, always the same way.  The sums of chunks are
 * added in a fixed tree (parallel/tree_sum.h), so they depend neither on threads nor on where a chunk is
 * computed. */
#ifndef VH_VHEM_ESTEP_H
#define VH_VHEM_ESTEP_H

#include "parallel/scratch.h"
#include "hmm/stats.h"

/* Keeps 16 cores busy from 20,000 base HMMs on; adding a chunk's sums is cheap compared with computing
 * them. */
enum { VH_REDUCE_CHUNK = 512 };

/* ---- 1. base HMMs -------------------------------------------------------------------------------------- */

typedef struct { /* source of base HMMs; owned by the caller, unchanged until close */
    int64_t K;
    int64_t first,
        all; /* if part of a larger set: index of its first HMM there, and the set's size; else 0, K */
    const double *omega; /* [K]  weights, by place */
    const int64_t
        *number; /* [K]  index of the HMM at each place, within its chunk; equal shapes are adjacent */
    /* Packs places first .. first+n-1, a chunk, as vh_pack_base does.  The source owns what *out points to:
     * until close if the source is resident, else until release (NULL: nothing to free).  Must be
     * thread-safe. */
    vhem_status (*block)(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out);
    void (*release)(const void *arg, vh_packed *block);
    bool resident; /* all blocks fit into memory: each is requested once */
    const void *arg;
} vh_base_source;

/* ---- 2. an E-step and its sums ------------------------------------------------------------------------- */

typedef struct {
    const vh_packed *reduced; /* Kr HMMs */
    int tau;
    const double *log_omega; /* [Kr]  log weights; NULL: compute L only, assign nothing */
    double N;                /* total number of virtual samples, N_i = N omega_i */
    bool statistics;         /* compute the summary statistics */
    bool weighted;           /* sum_z is sum_i Kb omega_i z_ij, not sum_i z_ij */
    bool soft;               /* a hint: most pairs will have weight */
    double *L, *z;           /* [Kb][Kr]  output, by index of the base HMM, or NULL */
    int *label;              /* [Kb]  output, argmax_j z_ij, ties to the lowest, or NULL */
} vh_reduce_step;

typedef struct { /* one block of doubles; the first `head` are always filled */
    size_t size, head;
    double *block;
    double *J;               /* [1]   sum_i log sum_j omega_j exp(N_i L_ij) */
    double *used;            /* [1]   pairs with weight in the statistics */
    double *sum_z, *scale_z; /* [Kr]  sum of z, with its scale (math/scaled.h) */
    double *members;         /* [Kr]  base HMMs with weight and z_ij >= 1/2 */
    double *worst_L, *worst; /* [Kr]  its worst-described member: L and index, ties to the lowest */
    vh_stats stats;
} vh_reduce_sums;

vhem_status vh_reduce_sums_new(vhem_ctx *ctx, const vh_packed *reduced, vh_reduce_sums *out);
void vh_reduce_sums_free(vh_reduce_sums *sums); /* accepts a zeroed struct */
/* Maps the sums onto block, which stays the caller's; block NULL: computes the sizes only. */
vh_reduce_sums vh_reduce_sums_at(const vh_packed *reduced, double *block);
/* Initialises zeroed sums: sets the scales to "none". */
void vh_reduce_sums_begin(const vh_reduce_step *step, vh_reduce_sums *sums);
/* left += right, both blocks of sums of a step; merge function of a vh_tree_sum. */
void vh_reduce_sums_merge(const void *step, double *left, const double *right);

/* ---- 3. how callers run it ----------------------------------------------------------------------------- */

typedef struct vh_opened_base vh_opened_base; /* thread-safe */

vhem_status vh_reduce_open(vhem_ctx *ctx, const vh_base_source *source, vh_opened_base **out);
/* Overwrites the sums (NULL if log_omega is NULL) and fills the tables.  The result does not depend on the
 * number of workers.  stops: a stop ends it soon, with VHEM_ESTOPPED.  Otherwise only an overdue stop does,
 * because the sums of an EM loop belong to its current model; some rows of the tables may then still be of an
 * earlier step. */
vhem_status vh_reduce_run(vhem_ctx *ctx, const vh_opened_base *opened, const vh_reduce_step *step,
                          const vh_workers *workers, bool stops, vh_reduce_sums *out);
void vh_reduce_close(vh_opened_base *opened); /* accepts NULL */
/* True if the base HMMs are on a device, so that copying tables [Kb][Kr] is expensive.  A loop then requests
 * them once, in an extra step at its end. */
bool vh_reduce_is_remote(const vh_opened_base *opened);

/* ---- 4. what a backend provides ------------------------------------------------------------------------ */

typedef struct { /* a chunk of base HMMs, input of a CPU kernel */
    const vh_base_source *source;
    const vh_reduce_step *step;
    int64_t place;         /* place of its first HMM */
    const vh_packed *base; /* the chunk */
    const void *prepared;  /* output of `prepare`; NULL without one */
} vh_reduce_chunk;

/* Assigns HMMs first .. first+n-1 of a chunk, given bounds L [n][Kr]: fills the tables, adds J, z and members
 * to the sums and, if statistics are requested, computes w [n][Kr], the weight of each pair in them. */
vhem_status vh_reduce_weigh(vhem_ctx *ctx, const vh_reduce_chunk *chunk, int first, int n, const double *L,
                            double *w, vh_reduce_sums *sums);
/* Computes log z_i [Kr] from row i of L [Kr]; returns log sum_j omega_j exp(N_i L_ij). */
double vh_reduce_assign(int Kr, const double *log_omega, double Ni, const double *L, double *log_z);

typedef struct vh_reduce_kernels {
    /* Whole jobs.  open NULL: the CPU driver, which calls the next three. */
    vhem_status (*open)(vhem_ctx *, const vh_base_source *, void **state);
    vhem_status (*run)(vhem_ctx *, const void *state, const vh_reduce_step *, const vh_workers *, bool stops,
                       vh_reduce_sums *);
    void (*close)(void *state);
    /* Converts a chunk to the backend's own layout, once; both may be NULL. */
    vhem_status (*prepare)(vhem_ctx *, const vh_packed *base, void **prepared);
    void (*release)(void *prepared);
    /* Scores a chunk, calls vh_reduce_weigh, and adds the statistics of pairs with weight.  scratch belongs
     * to the calling thread.  NULL: the kernel of `ref`, with its layout. */
    vhem_status (*kernel)(vhem_ctx *, const vh_reduce_chunk *, vh_scratch *, vh_reduce_sums *);
} vh_reduce_kernels;

#endif
