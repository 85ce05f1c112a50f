/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - HMMs against sequences: the E-step of Baum-Welch and of EM-H3M, and scores.
 *
 * The sequences of a job are opened once and gone through many times.  A backend either does all of it
 * (open, expect, close: a device, whose memory the frames move into), or it only replaces the kernel that
 * CPU backends share a driver around (batch).
 *
 *   1. the job and what is asked of it      2. how callers run it      3. what a backend provides
 *
 * The driver cuts the sequences into chunks, the unit of its sums (parallel/tree_sum.h): a chunk takes sets
 * one after the other until it has VH_CHUNK_FRAMES frames or more, and a set of more than VH_LARGE_SET frames
 * has chunks of its own, cut likewise by its sequences.  The chunks depend on nothing but the lengths of
 * sequences and sets: not on threads, on caches, or on where in a larger set of data a shard begins, as long
 * as it begins with a chunk.  These two numbers never change; what a kernel gets at a time is not. */
#ifndef VH_FIT_ESTEP_H
#define VH_FIT_ESTEP_H

#include "core/own.h"
#include "parallel/scratch.h"
#include "data/data.h"
#include "hmm/stats.h"

enum { VH_CHUNK_FRAMES = 2048, VH_LARGE_SET = 8 * VH_CHUNK_FRAMES };

/* ---- 1. the job and what is asked of it ---------------------------------------------------------------- */

typedef struct { /* all of it stays the caller's, and must not change before close */
    const vhem_data *data;
    /* The sequences, those of one set together.  The place of a sequence is where it stands here. */
    const int64_t *seq; /* [n] */
    int64_t n;
    const int64_t *first; /* [n_set+1]  place where a set begins; NULL: each sequence is a set, n_set = n */
    int64_t n_set;
    const vh_emission *family;
    vh_coords x;         /* coordinates of every set of HMMs that will come */
    vh_workers *workers; /* the threads that may work, and their scratch memory */
    bool shared;         /* by all processes of the context, which open the same job and ask the same of it */
} vh_sequences;

typedef struct {
    const vh_packed *pk; /* K HMMs, in the coordinates of the job */
    bool statistics;     /* wanted?  otherwise only what goes with the log-likelihoods */
    /* 0: a pair of a sequence and an HMM counts with the weight of the sequence.  Otherwise the HMMs are so
     * many mixtures of K / mixtures HMMs each, one mixture after the other, and a set is assigned within
     * each:
     *   z_gk ~ omega_k prod_{n in g} p(y_n | k)^{w_n},     and sequence n of it counts z_gk w_n under k. */
    int mixtures;
    const double *log_omega; /* [K]  of mixtures */
} vh_seq_step;

typedef struct {
    /* sums over all sequences, in one block of `size` doubles, of which the first `head` are always filled
     * in */
    size_t size, head;
    double *block;
    double *total; /* [K]         sum_n w_n log p(y_n | k) */
    double *J;     /* [mixtures]  sum_g log sum_k omega_k prod_{n in g} p(y_n | k)^{w_n} */
    /* of mixtures: sum_g z_gk over the sets that have sequences, 0 when a double cannot hold it; its
     * logarithm, which always can be held */
    double *sum_z, *log_sum_z; /* [K] [K] */
    vh_stats stats;
    /* tables, filled in where the caller has put memory */
    double *loglik; /* [n][K]      by place; NULL: not wanted */
    double *z;      /* [n_set][K]  NULL: not wanted.  A set without sequences has z = omega */
} vh_seq_sums;

/* Memory for the sums of so many mixtures of the HMMs in pk; the tables are NULL. */
vhem_status vh_seq_sums_new(vhem_ctx *ctx, const vh_packed *pk, int mixtures, vh_seq_sums *out);
void vh_seq_sums_free(vh_seq_sums *sums); /* not the tables; accepts a zeroed struct */

/* ---- 2. how callers run it ----------------------------------------------------------------------------- */

typedef struct vh_opened_sequences vh_opened_sequences;

vhem_status vh_sequences_open(vhem_ctx *ctx, const vh_sequences *in, vh_opened_sequences **out);
/* Overwrites the sums and fills in the tables.  The same bits at any number of workers.  A stop does not end
 * it: the sums of an EM loop belong to its present model. */
vhem_status vh_sequences_run(vhem_ctx *ctx, vh_opened_sequences *job, const vh_seq_step *step,
                             vh_seq_sums *out);
void vh_sequences_close(vh_opened_sequences *job); /* NULL is allowed */
VH_OWNED(vh_opened_sequences, vh_sequences_close)

/* ---- 3. what a backend provides ------------------------------------------------------------------------ */

typedef struct { /* places first .. first+n-1 of a job, for the kernel of a CPU backend */
    const vh_sequences *in;
    const vh_seq_step *step;
    int64_t first;
    int n;           /* at most VH_LARGE_SET, as each has a frame */
    int64_t frames;  /* all together */
    const double *T; /* [frames][n_stat]  their statistics, if they are at hand; NULL */
    /* log_z is there already: pairs of no weight are left out altogether, and their log-likelihoods stay as
     * they were.  Otherwise the batch consists of whole sets, and makes log_z. */
    bool known;
    int64_t set0;  /* the set of its first sequence */
    double *log_z; /* [sets of the batch][K]   of mixtures, from set0 on */
    double *J;     /* [sets of the batch][mixtures]; NULL when log_z is known */
} vh_seq_chunk;

/* The rule for mixtures, once the log-likelihoods of a batch are known, loglik [n][K]: fills in its log_z and
 * J, unless they are known, and w [n][K], what each pair counts in the statistics, at their scales
 * (vh_stats_weigh). */
void vh_seq_weigh(const vh_seq_chunk *batch, const double *loglik, vh_stats *stats, double *w);

typedef struct vh_seq_kernels {
    /* Whole jobs.  open NULL: the driver for CPUs, around `kernel`. */
    vhem_status (*open)(vhem_ctx *, const vh_sequences *, void **state);
    vhem_status (*run)(vhem_ctx *, void *state, const vh_seq_step *, vh_seq_sums *);
    void (*close)(void *state);
    /* Every HMM against every sequence of the batch: loglik [n][K], in nats.  With stats (NULL: only the
     * log-likelihood is wanted) the expected statistics of each pair times its weight are added; pairs of
     * weight zero cost nothing there.  scratch belongs to the calling thread.  NULL: that of `ref`. */
    vhem_status (*kernel)(vhem_ctx *, const vh_seq_chunk *, vh_scratch *, double *loglik, vh_stats *stats);
} vh_seq_kernels;

/* Frames a batch should have so that the tables of the kernel stay in the second-level cache. */
int vh_chunk_frames(const vh_packed *pk);

/* ---- one pass ------------------------------------------------------------------------------------------ */

/* One pass over sequences that are gone through once only; a loop opens them
 * (fit/estep.h). */

/* All HMMs of the set against the n sequences of `in`, whose family and coordinates are those of the set:
 * loglik [n][K]; total (NULL: not wanted) is overwritten with the sum of the expected statistics.  The sum
 * does not depend on the number of workers. */
vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vh_sequences *in, double *loglik,
                      vh_stats *total);

#endif
