/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.c - see estep_cpu.h.
 *
 *   1. opening:  chunks of sequences, which never change (estep.h); statistics of a few frames
 *   2. batches:  what the kernel gets at a time, as much of a chunk as suits the cache and the HMMs
 *   3. a chunk   4. the whole
 *
 * The weight of a sequence depends on the log-likelihoods of its whole set.  If a set fits into a batch, the
 * kernel weighs it between the forward and the backward pass.  If it only fits into a chunk, it is scored
 * first and then processed again with known weights; so are large sets, which span several chunks: all of
 * these are scored before the sums begin.
 *
 * The statistics of a cluster have their own scale (hmm/stats.h).  With hard assignments most chunks hold
 * little of most clusters, and starting without a scale would waste time on negligible weights.  So sums
 * start at the scale of ordinary weights, and only if nothing is left for a cluster are they repeated, for
 * that cluster without a scale.
 *
 * T(y) of a frame is the same in every iteration.  It is stored if the whole job needs at most KEPT_T bytes
 * per thread, which a cache may hold: an E-step then takes up to a quarter less time.  Beyond that, loading
 * it from memory takes as long as recomputing it from y; the shares of a background take longer, so COSTLY
 * times as much is stored.
 *
 * Several processes that share a job divide its chunks (parallel/sum.h); all get all sums and tables. */
#include "fit/estep_cpu.h"

#include "core/backend.h"
#include "fit/forward_backward.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "parallel/sum.h"
#include "math/scaled.h"

#include <math.h>
#include <string.h>

#define FAINT (-60.0) /* log omega of a cluster that already was nearly empty */

enum {
    HELD = 8,         /* a set is one batch up to this multiple of what fits the cache */
    KEPT_T = 8 << 20, /* bytes of statistics of frames, per thread */
    COSTLY = 8,       /* a multiple of it, where computing them takes longer than loading them */
    KEPT = 1 << 21,   /* values of a file-based job that stay in memory between passes, and */
    KEPT_SEQ = 32,    /* number of sequences: reading one brings in its surroundings in the file */
    TABLE = 1 << 16,  /* log-likelihoods not requested share one table up to this size, else one per chunk */
};

enum { OWN_LOGLIK, OWN_Z, OWN_J, OWN_SCALE, OWNS };

typedef struct {
    vh_sequences in;
    int n_chunk;
    int64_t *chunk;  /* [n_chunk+1]  first place of each chunk */
    bool *part;      /* [n_chunk]    true if it is part of a large set */
    bool large;      /* true if there are any */
    int64_t *set_of; /* [n]    set of each place; NULL: the place itself */
    int64_t *frame;  /* [n+1]  frames before each place */
    double *T;       /* [frames][n_stat]; NULL: not stored */
    int n_stat;
    bool lets_go; /* releases used frames that are in a file */
    vh_tree_sum *tree;
    vh_seq_step adding;    /* the step whose sums the blocks of the tree are */
    double *own[OWNS];     /* tables the caller did not request, reused between steps */
    size_t own_size[OWNS]; /* capacity of each */
} cpu_sequences;

VH_OWNED(cpu_sequences, vh_cpu_sequences_close)

typedef struct { /* one step */
    cpu_sequences *opened;
    const vh_seq_step *step;
    vhem_status (*batch)(vhem_ctx *, const vh_seq_chunk *, vh_scratch *, double *, vh_stats *);
    double *loglik, *log_z, *J; /* [n][K] [n_set][K] [n_set][mixtures]; loglik NULL: one per chunk */
    double *scale;              /* [K]  initial scale of the statistics of each HMM, for mixtures */
    int64_t fit;                /* number of frames in a batch */
} sequence_estep;

/* ---- 1. opening ---------------------------------------------------------------------------------------- */

static int64_t set_of(const cpu_sequences *opened, int64_t place)
{
    return opened->set_of ? opened->set_of[place] : place;
}

/* Ends the current chunk before this place, unless it is empty. */
static void end_chunk(cpu_sequences *opened, int64_t place, bool part)
{
    if (place > opened->chunk[opened->n_chunk]) {
        opened->part[opened->n_chunk] = part;
        opened->large |= part;
        opened->chunk[++opened->n_chunk] = place;
    }
}

static vhem_status cut_chunks(vhem_ctx *ctx, cpu_sequences *opened)
{
    const vh_sequences *in = &opened->in;

    VH_NEW(opened->chunk, in->n + 1);
    VH_NEW(opened->part, in->n);
    VH_NEW(opened->frame, in->n + 1);
    if (in->first)
        VH_NEW(opened->set_of, in->n);
    for (int64_t i = 0; i < in->n; i++)
        opened->frame[i + 1] = opened->frame[i] + vh_data_length(in->data, in->seq[i]);
    for (int64_t g = 0; g < in->n_set; g++) {
        int64_t lo = vh_seq_place(in, g), hi = vh_seq_place(in, g + 1);
        bool large = hi - lo > 1 && opened->frame[hi] - opened->frame[lo] > VH_LARGE_SET;
        for (int64_t i = lo; in->first && i < hi; i++)
            opened->set_of[i] = g;
        if (large)
            end_chunk(opened, lo, false);
        for (int64_t i = lo + 1; i <= hi; i++) {
            bool full = opened->frame[i] - opened->frame[opened->chunk[opened->n_chunk]] >= VH_CHUNK_FRAMES;
            if (large ? full || i == hi : full && i == hi)
                end_chunk(opened, i, large);
        }
    }
    end_chunk(opened, in->n, false);
    return VHEM_OK;
}

static vhem_status keep_statistics(vhem_ctx *ctx, cpu_sequences *opened)
{
    const vh_sequences *in = &opened->in;
    size_t n_stat = (size_t)in->family->n_stat(&in->x.shape), frames = (size_t)opened->frame[in->n];

    size_t kept = (size_t)in->workers->n * KEPT_T * (in->family->gather_known ? COSTLY : 1);

    if (in->family->hot || frames * n_stat * sizeof(double) > kept)
        return VHEM_OK;
    VH_NEW(opened->T, frames * n_stat);
    opened->n_stat = (int)n_stat;
    for (int64_t i = 0; i < in->n; i++)
        in->family->stats_of_obs(&in->x, vh_data_frames(in->data, in->seq[i]),
                                 vh_data_length(in->data, in->seq[i]),
                                 opened->T + (size_t)opened->frame[i] * n_stat);
    return VHEM_OK;
}

vhem_status vh_cpu_sequences_open(vhem_ctx *ctx, const vh_sequences *in, void **state)
{
    VH_OWN(cpu_sequences) *opened = NULL;

    VH_NEW(opened, 1);
    opened->in = *in;
    if (!in->first)
        opened->in.n_set = in->n;
    VH_TRY(cut_chunks(ctx, opened));
    VH_TRY(keep_statistics(ctx, opened));
    opened->lets_go = opened->frame[in->n] * in->data->d > KEPT || in->n > KEPT_SEQ;
    *state = vh_take(opened);
    return VHEM_OK;
}

void vh_cpu_sequences_close(void *state)
{
    cpu_sequences *opened = state;
    if (!opened)
        return;
    free(opened->chunk);
    free(opened->part);
    free(opened->frame);
    free(opened->set_of);
    free(opened->T);
    vh_tree_sum_free(opened->tree);
    for (int i = 0; i < OWNS; i++)
        free(opened->own[i]);
    free(opened);
}

/* ---- 2. batches ---------------------------------------------------------------------------------------- */

typedef struct { /* places lo .. hi-1 of a job */
    int64_t lo, hi;
    bool known; /* log_z of their sets is known */
} place_range;

/* Runs the kernel on some sequences. */
static vhem_status run_frames(vhem_ctx *ctx, const sequence_estep *p, place_range at, vh_scratch *scratch,
                              double *loglik, vh_stats *stats)
{
    const cpu_sequences *opened = p->opened;
    int64_t lo = at.lo, hi = at.hi;
    const vh_sequences *in = &opened->in;
    int64_t set0 = set_of(opened, lo);
    size_t K = (size_t)p->step->pk->K;
    const vh_seq_chunk batch = {
        .in = in,
        .step = p->step,
        .first = lo,
        .n = hi - lo,
        .frames = opened->frame[hi] - opened->frame[lo],
        .T = opened->T ? opened->T + vh_row(opened->frame[lo], opened->n_stat) : NULL,
        .known = at.known,
        .set0 = set0,
        .log_z = p->log_z ? p->log_z + (size_t)set0 * K : NULL,
        .J = p->J ? p->J + vh_row(set0, p->step->mixtures) : NULL,
    };
    vhem_status st = p->batch(ctx, &batch, scratch, loglik, stats);
    if (opened->lets_go)
        vh_data_release(in->data, in->seq + lo, hi - lo);
    return st;
}

/* The end of the batch that begins at lo: as many units, whole sets or sequences, as fit; at least one. */
static int64_t chunk_end(const sequence_estep *p, int64_t lo, int64_t end, bool sets)
{
    const cpu_sequences *opened = p->opened;
    int64_t hi = lo;
    while (hi < end) {
        int64_t next = sets ? vh_seq_place(&opened->in, set_of(opened, hi) + 1) : hi + 1;
        if (hi > lo && opened->frame[next] - opened->frame[lo] > p->fit)
            break;
        hi = next;
    }
    return hi;
}

/* Processes places lo .. hi-1 in batches that may cut sets; with statistics, their log_z must be known.
 * loglik starts at lo. */
static vhem_status run_cut(vhem_ctx *ctx, const sequence_estep *p, int64_t lo, int64_t hi,
                           vh_scratch *scratch, double *loglik, vh_stats *stats)
{
    size_t K = (size_t)p->step->pk->K;
    for (int64_t i = lo, end; i < hi; i = end) {
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        end = chunk_end(p, i, hi, false);
        VH_TRY(run_frames(ctx, p, (place_range){ i, end, stats && p->step->mixtures > 0 }, scratch,
                          loglik + (size_t)(i - lo) * K, stats));
    }
    return VHEM_OK;
}

static void assign_sets(const sequence_estep *p, int64_t lo, int64_t hi, const double *loglik)
{
    const cpu_sequences *opened = p->opened;
    size_t K = (size_t)p->step->pk->K;
    for (int64_t i = lo; i < hi;) {
        int64_t g = set_of(opened, i);
        vh_seq_assign(&opened->in, p->step, g, loglik + (size_t)(i - lo) * K, p->log_z + (size_t)g * K,
                      p->J + vh_row(g, p->step->mixtures));
        i = vh_seq_place(&opened->in, g + 1);
    }
}

/* ---- 3. a chunk ---------------------------------------------------------------------------------------- */

/* Processes whole sets with statistics: weighs them inside their batch, or scores a set first if it exceeds a
 * batch. */
static vhem_status run_sets(vhem_ctx *ctx, const sequence_estep *p, int64_t lo, int64_t hi,
                            vh_scratch *scratch, double *loglik, vh_stats *stats)
{
    const cpu_sequences *opened = p->opened;
    size_t K = (size_t)p->step->pk->K;
    for (int64_t i = lo, end; i < hi; i = end) {
        double *own = loglik + (size_t)(i - lo) * K;
        end = chunk_end(p, i, hi, true);
        if (end - i > 1 && opened->frame[end] - opened->frame[i] > HELD * p->fit) { /* one set */
            VH_TRY(run_cut(ctx, p, i, end, scratch, own, NULL));
            assign_sets(p, i, end, own);
            VH_TRY(run_cut(ctx, p, i, end, scratch, own, stats));
        } else {
            VH_TRY(run_frames(ctx, p, (place_range){ i, end, false }, scratch, own, stats));
        }
    }
    return VHEM_OK;
}

/* In the block of a chunk each sum_z has its own scale (math/scaled.h), stored in log_sum_z. */
static void begin_sums(const sequence_estep *p, vh_seq_sums *sums)
{
    for (int k = 0; k < p->step->pk->K && p->step->mixtures > 0; k++) {
        sums->log_sum_z[k] = VH_NO_SCALE;
        if (p->step->statistics)
            sums->stats.scale[k] = p->scale[k];
    }
}

static void add_sums(const void *arg, double *left, const double *right)
{
    const vh_seq_step *step = arg;
    int K = step->pk->K;
    vh_seq_sums to = vh_seq_sums_at(step->pk, step->mixtures, left);
    const double *total = right, *sum_z = right + K, *scale = sum_z + K, *J = scale + K;
    for (int k = 0; k < K; k++) {
        to.total[k] += total[k];
        if (step->mixtures > 0)
            vh_scaled_merge(&to.sum_z[k], &to.log_sum_z[k], sum_z[k], scale[k]);
    }
    for (int a = 0; a < step->mixtures; a++)
        to.J[a] += J[a];
    if (step->statistics)
        vh_stats_merge(step->pk, to.stats.block, right + to.head);
}

static void end(const vh_seq_step *step, vh_seq_sums *sums)
{
    for (int k = 0; k < step->pk->K && step->mixtures > 0; k++) {
        double sum = sums->sum_z[k], scale = sums->log_sum_z[k];
        sums->sum_z[k] = vh_scaled_value(sum, scale);
        sums->log_sum_z[k] = vh_scaled_log(sum, scale);
    }
}

/* Adds all sums of a chunk except the statistics.  A large set counts where it begins. */
static void add_head(const sequence_estep *p, int64_t lo, int64_t hi, const double *loglik, vh_seq_sums *out)
{
    const cpu_sequences *opened = p->opened;
    int K = p->step->pk->K, mixtures = p->step->mixtures;
    for (int64_t i = lo; i < hi; i++, loglik += K) {
        int64_t g = set_of(opened, i);
        double w = vh_data_weight(opened->in.data, opened->in.seq[i]);
        for (int k = 0; k < K; k++)
            out->total[k] += w > 0 ? w * loglik[k] : 0;
        if (mixtures == 0 || i != vh_seq_place(&opened->in, g))
            continue;
        for (int k = 0; k < K; k++)
            vh_scaled_add(&out->sum_z[k], &out->log_sum_z[k], p->log_z[vh_ij(g, K, k)]);
        for (int a = 0; a < mixtures; a++)
            out->J[a] += p->J[vh_ij(g, mixtures, a)];
    }
}

static vhem_status run_sequence_chunk(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block)
{
    const sequence_estep *p = arg;
    const vh_seq_step *step = p->step;
    int64_t lo = p->opened->chunk[chunk], hi = p->opened->chunk[chunk + 1];
    size_t K = (size_t)step->pk->K;
    vh_scratch *scratch = &p->opened->in.workers->scratch[worker];
    vh_seq_sums sums = vh_seq_sums_at(step->pk, step->mixtures, block);
    vh_stats *stats = step->statistics ? &sums.stats : NULL;
    VH_AUTOFREE double *own = NULL;
    double *loglik = p->loglik ? p->loglik + (size_t)lo * K : NULL;

    if (!loglik)
        VH_NEW(own, (size_t)(hi - lo) * K);
    loglik = loglik ? loglik : own;
    begin_sums(p, &sums);
    if (step->mixtures == 0) {
        VH_TRY(run_cut(ctx, p, lo, hi, scratch, loglik, stats));
    } else if (p->opened->part[chunk]) { /* scored before */
        if (stats)
            VH_TRY(run_cut(ctx, p, lo, hi, scratch, loglik, stats));
    } else if (stats) {
        VH_TRY(run_sets(ctx, p, lo, hi, scratch, loglik, stats));
    } else {
        VH_TRY(run_cut(ctx, p, lo, hi, scratch, loglik, NULL));
        assign_sets(p, lo, hi, loglik);
    }
    add_head(p, lo, hi, loglik, &sums);
    return VHEM_OK;
}

/* Scores a chunk of a large set: only log-likelihoods. */
static vhem_status score_part(vhem_ctx *ctx, void *arg, int64_t chunk, int worker, double *block)
{
    const sequence_estep *p = arg;
    int64_t lo = p->opened->chunk[chunk], hi = p->opened->chunk[chunk + 1];
    (void)block;
    if (!p->opened->part[chunk])
        return VHEM_OK;
    return run_cut(ctx, p, lo, hi, &p->opened->in.workers->scratch[worker],
                   p->loglik + vh_row(lo, p->step->pk->K), NULL);
}

/* ---- 4. the whole -------------------------------------------------------------------------------------- */

/* Gets a table that the caller did not request. */
static vhem_status own_table(vhem_ctx *ctx, cpu_sequences *opened, int which, size_t n, double **out)
{
    if (opened->own_size[which] < n) {
        free(opened->own[which]);
        opened->own_size[which] = 0;
        VH_NEW(opened->own[which], n);
        opened->own_size[which] = n;
    }
    *out = opened->own[which];
    return VHEM_OK;
}

static vhem_status prepare_pass(vhem_ctx *ctx, sequence_estep *p, const vh_seq_sums *out)
{
    cpu_sequences *opened = p->opened;
    size_t K = (size_t)p->step->pk->K, n_set = (size_t)opened->in.n_set, mixtures = (size_t)p->step->mixtures;

    p->loglik = out->loglik;
    p->log_z = mixtures > 0 ? out->z : NULL;
    size_t pairs = (size_t)opened->in.n * K;
    if (!p->loglik && ((mixtures > 0 && opened->large) || pairs <= TABLE))
        VH_TRY(own_table(ctx, opened, OWN_LOGLIK, pairs, &p->loglik));
    if (!p->log_z && mixtures > 0)
        VH_TRY(own_table(ctx, opened, OWN_Z, n_set * K, &p->log_z));
    if (mixtures > 0)
        VH_TRY(own_table(ctx, opened, OWN_J, n_set * mixtures, &p->J));
    if (mixtures > 0)
        VH_TRY(own_table(ctx, opened, OWN_SCALE, K, &p->scale));
    for (size_t k = 0; mixtures > 0 && k < K; k++)
        p->scale[k] = p->step->log_omega[k] < FAINT ? VH_NO_SCALE : 0;
    return VHEM_OK;
}

/* True if some HMMs got no weight at the scale of ordinary weights; these must start without a scale. */
static bool starved(sequence_estep *p, const vh_seq_sums *out)
{
    const vh_packed *pk = p->step->pk;
    bool any = false;
    for (int k = 0; p->step->statistics && p->step->mixtures > 0 && k < pk->K; k++) {
        double sum = 0;
        for (int s = pk->state0[k]; s < pk->state0[k + 1]; s++)
            sum += out->stats.nu1[s];
        if (sum > 0 || p->scale[k] != 0)
            continue;
        p->scale[k] = VH_NO_SCALE;
        any = true;
    }
    return any;
}

static void rows_of_places(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
    const cpu_sequences *opened = arg;
    *lo = opened->chunk[first];
    *hi = opened->chunk[end];
}

static void rows_of_sets(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
    const cpu_sequences *opened = arg;
    *lo = set_of(opened, opened->chunk[first]);
    *hi = set_of(opened, opened->chunk[end] - 1) + 1;
}

/* Fingerprint of the HMMs of a step, for processes that share its chunks. */
static uint64_t fingerprint_of(const vhem_ctx *ctx, const vh_packed *pk)
{
    if (vh_ranks(ctx) == 1)
        return 0;
    uint64_t h = vh_hash_chain(0, pk->pi, sizeof *pk->pi * (size_t)pk->n_state);
    h = vh_hash_chain(h, pk->A, sizeof *pk->A * pk->n_trans);
    return vh_hash_chain(h, pk->theta, sizeof *pk->theta * (size_t)pk->n_comp * (size_t)pk->n_stat);
}

/* Adds the blocks of `size` numbers of all chunks into total. */
static vhem_status sum_chunks(vhem_ctx *ctx, sequence_estep *p, size_t size, double *total)
{
    cpu_sequences *opened = p->opened;
    const vh_chunks chunks = { .n = opened->n_chunk,
                               .threads = opened->in.workers->n,
                               .late = true,
                               .run = run_sequence_chunk,
                               .arg = p };
    size_t row = sizeof(double) * (size_t)p->step->pk->K;
    const vh_sum_table tables[] = { { p->loglik, row, rows_of_places, opened },
                                    { p->log_z, row, rows_of_sets, opened } };
    const vh_shared shared = { .table = tables,
                               .tables = 2,
                               .fingerprint = fingerprint_of(ctx, p->step->pk) };

    if (opened->tree && vh_tree_sum_size(opened->tree) != size) {
        vh_tree_sum_free(opened->tree);
        opened->tree = NULL;
    }
    if (!opened->tree)
        VH_TRY(vh_tree_sum_new(ctx, size, add_sums, &opened->adding, &opened->tree));
    opened->adding = *p->step;
    return vh_sum(ctx, &chunks, opened->in.shared ? &shared : NULL, opened->tree, total);
}

/* Scores and then assigns large sets, which span several chunks. */
static vhem_status score_large(vhem_ctx *ctx, sequence_estep *p)
{
    const cpu_sequences *opened = p->opened;
    const vh_sequences *in = &opened->in;
    const vh_chunks all = {
        .n = opened->n_chunk, .threads = in->workers->n, .late = true, .run = score_part, .arg = p
    };
    const vh_sum_table table = { p->loglik, sizeof(double) * (size_t)p->step->pk->K, rows_of_places, opened };
    const vh_shared shared = { .table = &table,
                               .tables = 1,
                               .fingerprint = fingerprint_of(ctx, p->step->pk) };

    VH_TRY(vh_sum(ctx, &all, in->shared ? &shared : NULL, NULL, NULL));
    for (int c = 0; c < opened->n_chunk; c++) {
        int64_t lo = opened->chunk[c], g = set_of(opened, lo);
        if (opened->part[c] && lo == vh_seq_place(in, g))
            assign_sets(p, lo, vh_seq_place(in, g + 1), p->loglik + vh_row(lo, p->step->pk->K));
    }
    return VHEM_OK;
}

vhem_status vh_cpu_sequences_run(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out)
{
    cpu_sequences *opened = state;
    const vh_sequences *in = &opened->in;
    const vh_seq_kernels *of = ctx->backend->sequences;
    sequence_estep p = { .opened = opened, .step = step, .fit = vh_chunk_frames(step->pk) };

    p.batch = of && of->kernel ? of->kernel : vh_seq_ref.kernel;
    VH_TRY(prepare_pass(ctx, &p, out));
    if (opened->large && step->mixtures > 0)
        VH_TRY(score_large(ctx, &p));
    do
        VH_TRY(sum_chunks(ctx, &p, step->statistics ? out->size : out->head, out->block));
    while (starved(&p, out));
    end(step, out);
    for (int64_t g = 0; out->z && step->mixtures > 0 && g < in->n_set; g++) /* empty sets are in no chunk */
        if (vh_seq_place(in, g) == vh_seq_place(in, g + 1))
            vh_seq_assign(in, step, g, NULL, p.log_z + vh_row(g, step->pk->K),
                          p.J + vh_row(g, step->mixtures));
    for (size_t i = 0; out->z && step->mixtures > 0 && i < vh_cells(in->n_set, step->pk->K); i++)
        out->z[i] = exp(out->z[i]);
    return VHEM_OK;
}
