/* SPDX-License-Identifier: BSD-3-Clause */
/* forward_backward.c - forward-backward on a GPU: whole jobs of sequences.
 *
 *   1. tables of a tile      2. a tile: kernels and their results         3. responsibilities (mixtures)
 *   4. an E-step             5. opening and closing
 *
 * The frames stay on the device; each E-step sends HMMs and receives log-likelihoods and one block of sums.
 * A tile is 2^level chunks, as many as fit with the tables of an E-step; the sums of chunks are added in the
 * tree of parallel/tree_sum.h, so they do not depend on the tiles.
 *
 * In mixtures, the weight of a sequence depends on the log-likelihoods of its set: all tiles are scored, sets
 * are assigned on the host, and the backward pass follows.  With a single tile it reuses the tables of the
 * forward pass. */
#include "cuda/forward_backward.h"

#include "core/backend.h"
#include "cuda/device.h"
#include "cuda/gpu.h"
#include "cuda/hmms.h"
#include "cuda/lanes.h"
#include "cuda/arena.h"
#include "cuda/buffer.h"
#include "cuda/responsibilities.h"
#include "fit/forward_backward.h"
#include "fit/estep_cpu.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/ranks.h"
#include "parallel/map.h"
#include "parallel/parallel.h"
#include "parallel/tree_sum.h"

#include <math.h>
#include <string.h>

enum {
    LANES = VH_CUDA_LANES,
    MOST_HMMS = 65535,
    FEW_SEQUENCES = 8,        /* too few for a device, even if requested */
    MANY_PAIRS = 1000,        /* enough to keep it busy */
    LONGEST = 1 << 28,        /* most frames per sequence */
    MOST_SEQUENCES = 1 << 30, /* lanes are numbered by ints */
    MOST_LEVEL = 16
};
#define WORTH       3e5 /* (frame, state) pairs: above this it is faster than 16 cores (docs/gpu.md) */
#define TABLE_BYTES ((double)((size_t)16 << 30)) /* most bytes of tables per tile */
#define TABLE_SHARE 0.5                          /* share of the memory left beside the frames */

typedef struct {
    vh_cuda_lanes lanes;
    int64_t frames, longest;
    void *cpu;    /* the same job on the CPU driver; NULL until needed */
    bool refused; /* too many sequences, or no room on the device: the CPU runs it */
    vh_cuda_set set;
    double budget;          /* most bytes of tables */
    char *tables;           /* on the device */
    char *pinned, *weights; /* on the host: log-likelihoods and weights in transit */
    size_t tables_bytes, pinned_bytes, weights_bytes;
} device_sequences;

VH_OWNED(device_sequences, vh_cuda_sequences_close)

typedef enum { SCORE, COUNT, WEIGHED } way; /* log-likelihoods; with statistics; with given weights */

typedef struct { /* one E-step */
    vhem_ctx *ctx;
    device_sequences *opened;
    const vh_seq_step *step;
    vh_seq_sums *out;
    int level, n_tile;
    bool keep;      /* the tables of the forward pass are reused */
    double *loglik; /* [n][K]  by place; NULL: not needed */
    double *w;      /* [tiles][K][lanes of the tile]  weight of each pair, for mixtures; else NULL */
    double *sums;   /* [n_sums] */
    vh_tree_sum *tree;
    vh_tree_sum *redone; /* statistics of recomputed pairs, by lane block */
    int64_t n_redone;    /* number of recomputed lane blocks */
} sequence_run;

/* ---- 1. tables of a tile ------------------------------------------------------------------------------- */

static size_t sums_of(const vh_packed *pk)
{
    return (size_t)pk->n_state + pk->n_trans + vh_cells(pk->n_comp, pk->n_stat);
}

/* Lays out the tables of a tile as if their memory began at 0; returns their size in bytes. */
static size_t plan_tables(const sequence_run *x, vh_cuda_frames *f)
{
    const vh_packed *pk = x->step->pk;
    size_t bytes = 0, positions = f->steps * LANES, K = (size_t)pk->K, lanes = (size_t)f->lanes;
    VH_PLACE(bytes, f->E, positions * (size_t)pk->n_comp);
    VH_PLACE(bytes, f->B, positions * (size_t)pk->n_state);
    VH_PLACE(bytes, f->P, positions * (size_t)pk->n_state);
    VH_PLACE(bytes, f->shift, positions * K);
    VH_PLACE(bytes, f->r, positions * K);
    VH_PLACE(bytes, f->loglik, K * lanes);
    VH_PLACE(bytes, f->doubt, K * lanes);
    VH_PLACE(bytes, f->w, K * lanes);
    VH_PLACE(bytes, f->chain, ((size_t)pk->n_state + pk->n_trans) * lanes);
    int most = x->opened->set.most_states;
    VH_PLACE(bytes, f->work, most > VH_CUDA_FEW ? vh_cuda_fb_work(most) * K * lanes : 1);
    VH_PLACE(bytes, f->sums, (size_t)f->n_chunk * sums_of(pk));
    return bytes;
}

static void place_tables(const sequence_run *x, vh_cuda_frames *f)
{
    char *to = x->opened->tables;
    double **all[] = { &f->E,      &f->B,     &f->P,     &f->shift, &f->r,
                       &f->loglik, &f->doubt, &f->chain, &f->work,  &f->sums };
    plan_tables(x, f);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        *all[k] = vh_place_in(to, NULL, *all[k]);
    f->w = x->w ? vh_place_in(to, NULL, f->w) : NULL;
    f->n_sums = sums_of(x->step->pk);
}

static vh_cuda_frames tile_of(const sequence_run *x, int t)
{
    int first = t << x->level, left = x->opened->lanes.n_chunk - first;
    return vh_cuda_lanes_tile(&x->opened->lanes, first, left < 1 << x->level ? left : 1 << x->level);
}

/* Bytes of the largest tile, including its frames if they stream. */
static size_t largest_tile(sequence_run *x, int level)
{
    size_t most = 0;
    x->level = level;
    x->n_tile = (x->opened->lanes.n_chunk + (1 << level) - 1) >> level;
    for (int t = 0; t < x->n_tile; t++) {
        vh_cuda_frames f = tile_of(x, t);
        size_t bytes = plan_tables(x, &f), frames = f.steps * LANES * (size_t)x->step->pk->n_stat;
        bytes += x->opened->lanes.streams ? VH_CUDA_BUFFERS * sizeof(double) * frames : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Chooses the largest tiles that fit; false if not even a single chunk fits. */
static bool cut_tiles(sequence_run *x, size_t *bytes)
{
    int level = 0;
    while (1 << level < x->opened->lanes.n_chunk && level < MOST_LEVEL)
        level++;
    for (; level >= 0; level--) {
        *bytes = largest_tile(x, level);
        if ((double)*bytes <= x->opened->budget)
            return true;
    }
    return false;
}

/* ---- 2. a tile ----------------------------------------------------------------------------------------- */

static vhem_status launch(sequence_run *x, way how, const vh_cuda_frames *f)
{
    vhem_ctx *ctx = x->ctx;
    const vh_cuda_set *set = &x->opened->set;
    const vh_cuda_hmms *h = &set->h;
    size_t pairs = vh_cells(h->K, f->lanes);

    if (how == WEIGHED)
        VH_DEVICE(vh_device_put((double *)(uintptr_t)f->w, x->w + (size_t)h->K * LANES * (size_t)f->block0,
                                sizeof(double) * pairs));
    if (how != WEIGHED || !x->keep) {
        VH_DEVICE(vh_cuda_fb_emit(h, f));
        VH_DEVICE(vh_cuda_fb_forward(h, f, x->keep || how != SCORE));
    }
    if (how != SCORE || set->looks)
        VH_DEVICE(vh_cuda_fb_backward(h, f, how != SCORE));
    if (how != SCORE)
        VH_DEVICE(vh_cuda_fb_collect(h, f));
    return VHEM_OK;
}

typedef struct { /* pairs of a tile for which scaling was unsafe */
    const sequence_run *x;
    way how;
    int lane0, lanes;
    double *v;     /* [K][lanes]  NaN: to be recomputed */
    const int *at; /* lane blocks of the tile with such pairs, ascending */
    int64_t first; /* item number of at[0] */
} redoing;

/* Weight of lane l of the tile under HMM k. */
static double weight_at(const redoing *r, int k, int l)
{
    size_t K = (size_t)r->x->step->pk->K, at = vh_ij(k, r->lanes, l);
    return r->how == WEIGHED ? r->x->w[K * (size_t)r->lane0 + at] : r->x->opened->lanes.weight[r->lane0 + l];
}

/* Recomputes the pairs of one lane block by the reference; their statistics go to a separate block. */
static vhem_status redo_lane_block(vhem_ctx *ctx, void *arg, int64_t item, int worker, double *block)
{
    const redoing *r = arg;
    const vh_packed *pk = r->x->step->pk;
    const vh_cuda_lanes *on = &r->x->opened->lanes;
    const vh_sequences *in = &on->in;
    vh_stats stats = vh_stats_at(pk, block);
    int l0 = r->at[item - r->first] * LANES;

    for (int k = 0; k < pk->K; k++)
        for (int l = l0; l < l0 + LANES; l++) {
            double *v = &r->v[vh_ij(k, r->lanes, l)], w = weight_at(r, k, l);
            int place = on->place[r->lane0 + l];
            if (place < 0 || !isnan(*v))
                continue;
            int64_t seq = in->seq[place];
            const vh_seq_pair pair = { pk, k, vh_data_frames(in->data, seq), vh_data_length(in->data, seq),
                                       w };
            if (r->how != WEIGHED || w > 0)
                VH_TRY(vh_ref_pair(ctx, &pair, &in->workers->scratch[worker], v, block ? &stats : NULL));
            *v = r->how == WEIGHED ? 0 : *v; /* already added by the reference */
        }
    return VHEM_OK;
}

static bool has_doubt(const redoing *r, int lane_block)
{
    for (int k = 0; k < r->x->step->pk->K; k++)
        for (int l = lane_block * LANES; l < (lane_block + 1) * LANES; l++)
            if (isnan(r->v[vh_ij(k, r->lanes, l)]) && r->x->opened->lanes.place[r->lane0 + l] >= 0)
                return true;
    return false;
}

/* Recomputes all such pairs with all threads.  Lane blocks are numbered across tiles and summed in their own
 * tree, so the result depends on neither threads nor tiles. */
static vhem_status redo(sequence_run *x, way how, const vh_cuda_frames *f, double *v)
{
    vhem_ctx *ctx = x->ctx;
    redoing r = { x, how, f->block0 * LANES, f->lanes, v, NULL, x->n_redone };
    VH_AUTOFREE int *at = NULL;
    int n = 0;

    VH_NEW(at, f->lane_blocks);
    for (int b = 0; b < f->lane_blocks; b++)
        if (has_doubt(&r, b))
            at[n++] = b;
    r.at = at;
    const vh_chunks all = { .first = x->n_redone,
                            .n = n,
                            .threads = x->opened->lanes.in.workers->n,
                            .late = true,
                            .run = redo_lane_block,
                            .arg = &r };
    if (n > 0)
        VH_TRY(vh_tree_sum_run(ctx, &all, how == SCORE ? NULL : x->redone));
    x->n_redone += how == SCORE ? 0 : n;
    return VHEM_OK;
}

/* Adds the statistics of the recomputed pairs. */
static vhem_status add_redone(sequence_run *x)
{
    vhem_ctx *ctx = x->ctx;
    vh_stats *to = &x->out->stats;
    VH_AUTOFREE double *block = NULL;

    if (x->n_redone == 0)
        return VHEM_OK;
    VH_NEW(block, to->size);
    VH_TRY(vh_tree_sum_close(ctx, x->redone, x->n_redone, block));
    for (size_t i = (size_t)x->step->pk->K; i < to->size; i++) /* skips the scales */
        to->block[i] += block[i];
    return VHEM_OK;
}

/* Adds HMM k to the sums of log-likelihoods, lane by lane. */
static void total_column(sequence_run *x, way how, int lane0, int lanes, int k, const double *v,
                         const double *w)
{
    const double *by = how == WEIGHED ? w : x->opened->lanes.weight + lane0;
    double *to = how == WEIGHED ? &x->out->stats.loglik[k] : &x->out->total[k], sum = *to;
    for (int l = 0; l < lanes; l++)
        sum += by[l] > 0 ? by[l] * v[l] : 0;
    *to = sum;
}

typedef struct { /* copies the log-likelihoods of a tile to the table by place */
    const sequence_run *x;
    int lane0, lanes;
    const double *v; /* [K][lanes] */
} dealing;

static vhem_status scatter_lanes(vhem_ctx *ctx, void *arg, int64_t item, int worker)
{
    const dealing *d = arg;
    size_t K = (size_t)d->x->step->pk->K;
    (void)ctx;
    (void)worker;
    for (int l = (int)item * LANES; l < ((int)item + 1) * LANES; l++) {
        int place = d->x->opened->lanes.place[d->lane0 + l];
        for (size_t k = 0; k < K && place >= 0; k++)
            d->x->loglik[(size_t)place * K + k] = d->v[k * (size_t)d->lanes + (size_t)l];
    }
    return VHEM_OK;
}

static vhem_status finish_tile(sequence_run *x, way how, const vh_cuda_frames *f, int t)
{
    vhem_ctx *ctx = x->ctx;
    int K = x->step->pk->K, lane0 = f->block0 * LANES;
    size_t pairs = vh_cells(K, f->lanes);

    VH_TRY(vh_cuda_pinned_room(ctx, sizeof(double) * pairs, &x->opened->pinned_bytes, &x->opened->pinned));
    double *v = (double *)x->opened->pinned;
    VH_DEVICE(vh_device_get(v, f->loglik, sizeof *v * pairs));
    VH_TRY(redo(x, how, f, v));
    for (int k = 0; k < K; k++) {
        size_t at = vh_row(k, f->lanes);
        const double *w = x->w ? x->w + vh_row(lane0, K) + at : NULL;
        total_column(x, how, lane0, f->lanes, k, v + at, w);
    }
    if (how != WEIGHED && x->loglik) {
        dealing d = { x, lane0, f->lanes, v };
        const vh_work all = { .n = f->lane_blocks,
                              .threads = x->opened->lanes.in.workers->n,
                              .finishes = true,
                              .run = scatter_lanes,
                              .arg = &d };
        VH_TRY(vh_map(ctx, &all, NULL));
    }
    if (how != SCORE) {
        VH_DEVICE(vh_device_get(x->sums, f->sums, sizeof *x->sums * f->n_sums));
        VH_TRY(vh_tree_sum_put(ctx, x->tree, x->level, t, x->sums));
    }
    return VHEM_OK;
}

/* Runs all tiles; frames that stream are copied while the previous tile is processed. */
static vhem_status each_tile(sequence_run *x, way how)
{
    vhem_ctx *ctx = x->ctx;
    vh_cuda_lanes *lanes = &x->opened->lanes;
    vh_cuda_frames next = tile_of(x, 0);

    VH_TRY(vh_cuda_lanes_begin(ctx, lanes, 0, &next));
    for (int t = 0; t < x->n_tile; t++) {
        vh_cuda_frames now = next;
        VH_CHECK(!vh_overdue(ctx), VHEM_ESTOPPED, "stopped");
        VH_TRY(vh_cuda_lanes_wait(ctx, lanes));
        place_tables(x, &now);
        VH_TRY(launch(x, how, &now));
        if (t + 1 < x->n_tile) {
            next = tile_of(x, t + 1);
            VH_TRY(vh_cuda_lanes_begin(ctx, lanes, t + 1, &next));
        }
        VH_TRY(finish_tile(x, how, &now, t));
    }
    return VHEM_OK;
}

/* ---- 3. responsibilities ------------------------------------------------------------------------------- */

/* Assigns the sets; with statistics, also stores the weight of each pair for the tiles. */
static vhem_status assign(sequence_run *x, double *log_z)
{
    vhem_ctx *ctx = x->ctx;
    const vh_cuda_lanes *lanes = &x->opened->lanes;
    const vh_cuda_responsibilities shares = { &lanes->in, x->step, x->loglik, log_z };
    size_t K = (size_t)x->step->pk->K;
    VH_AUTOFREE double *scale = NULL;

    VH_NEW(scale, K);
    VH_TRY(vh_cuda_responsibilities_assign(ctx, &shares, x->out, scale));
    if (x->step->statistics) {
        VH_TRY(vh_cuda_pinned_room(ctx, sizeof *x->w * K * (size_t)lanes->n_lane, &x->opened->weights_bytes,
                                   &x->opened->weights));
        x->w = (double *)x->opened->weights;
        for (int t = 0; t < x->n_tile; t++) {
            vh_cuda_frames f = tile_of(x, t);
            int lane0 = f.block0 * LANES;
            VH_TRY(vh_cuda_responsibilities_weigh(ctx, &shares, lanes->place + lane0, f.lanes, scale,
                                                  x->w + K * (size_t)lane0));
        }
        memcpy(x->out->stats.scale, scale, sizeof *scale * K);
    }
    return VHEM_OK;
}

/* ---- 4. an E-step -------------------------------------------------------------------------------------- */

static vhem_status all_ways(sequence_run *x, double *log_z)
{
    vhem_ctx *ctx = x->ctx;
    const vh_seq_step *step = x->step;
    size_t size = sums_of(step->pk);

    memset(x->out->block, 0, sizeof(double) * (step->statistics ? x->out->size : x->out->head));
    VH_TRY(vh_tree_sum_new(ctx, size, NULL, NULL, &x->tree));
    VH_TRY(vh_tree_sum_new(ctx, x->out->stats.size, NULL, NULL, &x->redone));
    VH_NEW(x->sums, size);
    x->keep = step->statistics && step->mixtures > 0 && x->n_tile == 1;
    VH_TRY(each_tile(x, step->statistics && step->mixtures == 0 ? COUNT : SCORE));
    if (step->mixtures > 0)
        VH_TRY(assign(x, log_z));
    if (step->mixtures > 0 && step->statistics)
        VH_TRY(each_tile(x, WEIGHED));
    if (step->statistics) {
        double *to = x->out->stats.nu1; /* followed by xi and T */
        VH_TRY(vh_tree_sum_close(ctx, x->tree, (int64_t)x->n_tile << x->level, x->sums));
        for (size_t i = 0; i < size; i++)
            to[i] += x->sums[i];
        VH_TRY(add_redone(x));
        if (step->mixtures == 0)
            memcpy(x->out->stats.loglik, x->out->total, sizeof(double) * (size_t)step->pk->K);
    }
    return VHEM_OK;
}

static void release_pass(sequence_run *const *x)
{
    free((*x)->sums);
    vh_tree_sum_free((*x)->tree);
    vh_tree_sum_free((*x)->redone);
}

static vhem_status run_on_device(sequence_run *x)
{
    VH_CLEANUP(release_pass) sequence_run *used = x; /* frees what this E-step allocates */
    vhem_ctx *ctx = x->ctx;
    const vh_sequences *in = &x->opened->lanes.in;
    size_t K = (size_t)x->step->pk->K, n_z = (size_t)in->n_set * K;
    bool mixtures = x->step->mixtures > 0;
    VH_AUTOFREE double *loglik = NULL, *log_z = NULL;

    if (mixtures && !x->out->loglik)
        VH_NEW(loglik, (size_t)in->n * K);
    if (mixtures && !x->out->z)
        VH_NEW(log_z, n_z);
    x->loglik = x->out->loglik ? x->out->loglik : loglik;
    VH_TRY(all_ways(x, x->out->z ? x->out->z : log_z));
    for (size_t i = 0; mixtures && x->out->z && i < n_z; i++)
        x->out->z[i] = exp(x->out->z[i]);
    return VHEM_OK;
}

/* True if the device should run this step.  Likelihoods under HMMs with impossible transitions are for the
 * CPU, which does without scaling: here most would have to be done again in logs. */
static bool suits(const vhem_ctx *ctx, const device_sequences *opened, const vh_seq_step *step)
{
    const vh_packed *pk = step->pk;
    int64_t n = opened->lanes.in.n;
    for (int k = 0; k < pk->K && !step->statistics; k++)
        if (vh_cuda_looks(pk, k))
            return false;
    bool large = (double)opened->frames * pk->n_state >= WORTH && (double)n * pk->K >= MANY_PAIRS;
    return pk->n_direct == 0 && pk->K <= MOST_HMMS && opened->longest <= LONGEST
           && (large || (ctx->named && n >= FEW_SEQUENCES));
}

/* Copies frames and HMMs to the device; *fits: true if the tables fit too. */
static vhem_status load(sequence_run *x, bool *fits)
{
    vhem_ctx *ctx = x->ctx;
    device_sequences *opened = x->opened;
    size_t unused, whole, bytes = 0;

    VH_DEVICE(vh_device_enter());
    if (!opened->lanes.loaded) {
        VH_TRY(vh_cuda_lanes_load(ctx, &opened->lanes));
        VH_DEVICE(vh_device_memory(&unused, &whole));
        opened->budget = fmin(TABLE_BYTES, TABLE_SHARE * (double)unused);
    }
    VH_TRY(vh_cuda_set_put(ctx, x->step->pk, &opened->set));
    *fits = cut_tiles(x, &bytes);
    if (*fits)
        VH_TRY(vh_cuda_room(ctx, bytes, &opened->tables_bytes, &opened->tables));
    return VHEM_OK;
}

static void free_device(device_sequences *opened)
{
    vh_cuda_lanes_free(&opened->lanes);
    vh_cuda_set_free(&opened->set);
    vh_device_free(opened->tables);
    vh_device_free_pinned(opened->pinned);
    vh_device_free_pinned(opened->weights);
    opened->tables = opened->pinned = opened->weights = NULL;
}

/* Moves this job off the device and frees its memory there. */
static void leave_device(vhem_ctx *ctx, device_sequences *opened)
{
    const vh_sequences in = opened->lanes.in;
    vh_cuda_warn(ctx);
    free_device(opened);
    opened->lanes.in = in;
    opened->refused = true;
}

vhem_status vh_cuda_sequences_run(vhem_ctx *ctx, void *state, const vh_seq_step *step, vh_seq_sums *out)
{
    vhem_status st = VHEM_OK;
    device_sequences *opened = state;
    sequence_run x = { .ctx = ctx, .opened = opened, .step = step, .out = out };
    bool fits = !opened->refused && suits(ctx, opened, step);

    if (fits)
        st = load(&x, &fits);
    if (st == VHEM_OK && fits)
        st = run_on_device(&x);
    if (st == VHEM_EBACKEND) {
        leave_device(ctx, opened);
        fits = false;
        st = VHEM_OK;
    }
    if (fits || st != VHEM_OK)
        return st;
    if (!opened->cpu)
        VH_TRY(vh_cpu_sequences_open(ctx, &opened->lanes.in, &opened->cpu));
    return vh_cpu_sequences_run(ctx, opened->cpu, step, out);
}

/* ---- 5. opening and closing ---------------------------------------------------------------------------- */

vhem_status vh_cuda_sequences_open(vhem_ctx *ctx, const vh_sequences *in, void **state)
{
    VH_OWN(device_sequences) *opened = NULL;
    vh_sequences own = *in;

    VH_NEW(opened, 1);
    own.n_set = in->first ? in->n_set : in->n;
    for (int64_t i = 0; i < in->n; i++) {
        int64_t length = vh_data_length(in->data, in->seq[i]);
        opened->frames += length;
        opened->longest = length > opened->longest ? length : opened->longest;
    }
    /* Processes that share a job must take the same path in every step, whatever memory their devices
     * have. */
    opened->refused = in->n > MOST_SEQUENCES || (in->shared && vh_ranks(ctx) > 1);
    if (opened->refused)
        opened->lanes.in = own;
    else
        VH_TRY(vh_cuda_lanes_new(ctx, &own, &opened->lanes));
    *state = vh_take(opened);
    return VHEM_OK;
}

void vh_cuda_sequences_close(void *state)
{
    device_sequences *opened = state;
    if (!opened)
        return;
    free_device(opened);
    vh_cpu_sequences_close(opened->cpu);
    free(opened);
}
