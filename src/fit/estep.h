/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.h - HMMs against sequences: the E-step of Baum-Welch and of EM-H3M, and scores.
 *
 * The sequences of a job are opened once and processed many times.  A backend either does the whole job
 * (open, run, close: a device, into whose memory the frames move), or only replaces the kernel in the driver
 * that CPU backends share (kernel).
 *
 *   1. the job and its inputs and outputs      2. how callers run it      3. what a backend provides
 *
 * The driver cuts the sequences into chunks, the unit of its sums (parallel/tree_sum.h): a chunk takes whole
 * sets until it has VH_CHUNK_FRAMES frames or more; a set of more than VH_LARGE_SET frames has chunks of its
 * own, cut likewise by sequences.  The chunks depend only on the lengths of sequences and sets: not on
 * threads, on caches, or on where in a larger data set a shard begins, as long as it begins with a chunk.
 * These two numbers never change; the batch size of a kernel may. */
#ifndef VH_FIT_ESTEP_H
#define VH_FIT_ESTEP_H

#include "core/own.h"
#include "parallel/scratch.h"
#include "data/data.h"
#include "hmm/stats.h"

enum { VH_CHUNK_FRAMES = 2048, VH_LARGE_SET = 8 * VH_CHUNK_FRAMES };

/* ---- 1. the job and its inputs and outputs ------------------------------------------------------------- */

typedef struct { /* owned by the caller; must not change before close */
    const vhem_data *data;
    /* The sequences, grouped by set.  The place of a sequence is its index here. */
    const int64_t *seq; /* [n] */
    int64_t n;
    const int64_t *first; /* [n_set+1]  first place of each set; NULL: each sequence is a set, n_set = n */
    int64_t n_set;
    const vh_emission *family;
    vh_coords x;         /* coordinates of every set of HMMs to be run */
    vh_workers *workers; /* the threads and their scratch memory */
    bool shared;         /* all processes of the context open this job and make the same calls */
} vh_sequences;

typedef struct {
    const vh_packed *pk; /* K HMMs, in the coordinates of the job */
    bool statistics;     /* compute statistics; else only log-likelihoods and what goes with them */
    /* 0: each pair of a sequence and an HMM has the weight of the sequence.  Else the HMMs form this many
     * mixtures of K / mixtures HMMs each, one mixture after the other, and a set is assigned within each:
     *
     *   z_gk ~ omega_k prod_{n in g} p(y_n | k)^{w_n},     and its sequence n has weight z_gk w_n under k. */
    int mixtures;
    const double *log_omega; /* [K]  for mixtures */
} vh_seq_step;

typedef struct {
    /* sums over all sequences, in one block of `size` doubles; the first `head` are always filled in */
    size_t size, head;
    double *block;
    double *total; /* [K]         sum_n w_n log p(y_n | k) */
    double *J;     /* [mixtures]  sum_g log sum_k omega_k prod_{n in g} p(y_n | k)^{w_n} */
    /* for mixtures: sum_g z_gk over the sets that have sequences, 0 on underflow; its log, always finite */
    double *sum_z, *log_sum_z; /* [K] [K] */
    vh_stats stats;
    /* tables, filled in if not NULL */
    double *loglik; /* [n][K]      by place; NULL: skip */
    double *z;      /* [n_set][K]  NULL: skip.  A set without sequences has z = omega */
} vh_seq_sums;

/* Allocates the sums for this many mixtures of the HMMs in pk; the tables are NULL. */
vhem_status vh_seq_sums_new(vhem_ctx *ctx, const vh_packed *pk, int mixtures, vh_seq_sums *out);
void vh_seq_sums_free(vh_seq_sums *sums); /* not the tables; accepts a zeroed struct */

/* ---- 2. how callers run it ----------------------------------------------------------------------------- */

typedef struct vh_opened_sequences vh_opened_sequences;

vhem_status vh_sequences_open(vhem_ctx *ctx, const vh_sequences *in, vh_opened_sequences **out);
/* Overwrites the sums and fills in the tables.  Bit-identical for any number of workers.  A stop does not end
 * it: the sums of an EM loop belong to its current model. */
vhem_status vh_sequences_run(vhem_ctx *ctx, vh_opened_sequences *opened, const vh_seq_step *step,
                             vh_seq_sums *out);
void vh_sequences_close(vh_opened_sequences *opened); /* NULL is allowed */
VH_OWNED(vh_opened_sequences, vh_sequences_close)

/* ---- 3. what a backend provides ------------------------------------------------------------------------ */

typedef struct { /* a batch: places first .. first+n-1 of a job, for the kernel of a CPU backend */
    const vh_sequences *in;
    const vh_seq_step *step;
    int64_t first;
    int n;           /* at most VH_LARGE_SET, as each has a frame */
    int64_t frames;  /* total number of frames */
    const double *T; /* [frames][n_stat]  their statistics, if available; NULL */
    /* log_z is already known: pairs without weight are skipped, and their log-likelihoods stay unchanged.
     * Else the batch consists of whole sets, and the kernel computes log_z. */
    bool known;
    int64_t set0;  /* set of its first sequence */
    double *log_z; /* [sets of the batch][K]   for mixtures, from set0 on */
    double *J;     /* [sets of the batch][mixtures]; NULL if log_z is known */
} vh_seq_chunk;

/* The rule for mixtures, given the log-likelihoods of a batch, loglik [n][K]: computes its log_z and J,
 * unless known, and w [n][K], the weight of each pair in the statistics, at their scales (vh_stats_weigh). */
void vh_seq_weigh(const vh_seq_chunk *batch, const double *loglik, vh_stats *stats, double *w);

typedef struct vh_seq_kernels {
    /* Whole jobs.  open NULL: the CPU driver, with `kernel`. */
    vhem_status (*open)(vhem_ctx *, const vh_sequences *, void **state);
    vhem_status (*run)(vhem_ctx *, void *state, const vh_seq_step *, vh_seq_sums *);
    void (*close)(void *state);
    /* Runs every HMM against every sequence of the batch: loglik [n][K], in nats.  Adds the weighted expected
     * statistics of each pair to stats (NULL: only log-likelihoods); pairs of weight zero cost nothing
     * there.  scratch belongs to the calling thread.  NULL: the kernel of `ref`. */
    vhem_status (*kernel)(vhem_ctx *, const vh_seq_chunk *, vh_scratch *, double *loglik, vh_stats *stats);
} vh_seq_kernels;

/* Number of frames in a batch such that the tables of the kernel stay in the L2 cache. */
int vh_chunk_frames(const vh_packed *pk);

/* ---- one pass ------------------------------------------------------------------------------------------ */

/* One pass over sequences that are used only once; a loop opens them instead. */

/* Runs all HMMs of pk against the n sequences of `in`, whose family and coordinates are taken from pk: loglik
 * [n][K]; total (NULL: skip) is overwritten with the sum of the expected statistics.  The sum does not depend
 * on the number of workers. */
vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vh_sequences *in, double *loglik,
                      vh_stats *total);

#endif
