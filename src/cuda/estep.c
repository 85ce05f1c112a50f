/* SPDX-License-Identifier: BSD-3-Clause */
/* estep.c - the variational E-step on a GPU: whole jobs.
 *
 *   1. scratch memory      2. bounds      3. statistics
 *   4. a tile              5. an E-step   6. opening and closing
 *
 * The base HMMs are cut into tiles of a power of two of chunks.  Sums of chunks are added in the tree of
 * parallel/tree_sum.h, on the device within a tile and on the host between tiles, so they do not depend on
 * the tile size.  Work without a kernel for the device (components in the direct form), and jobs too small to
 * benefit, go to the CPU driver. */
#include "cuda/estep.h"

#include "core/backend.h"
#include "cuda/device.h"
#include "cuda/estep_kernels.h"
#include "cuda/gpu.h"
#include "cuda/groups.h"
#include "cuda/buffer.h"
#include "cuda/base_store.h"
#include "vhem/estep_cpu.h"
#include "vhem/pair_bound.h"
#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/parallel.h"
#include "parallel/tree_sum.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_CENTERS = 65535, SLOTS = 32768 };
#define TABLE_BYTES   ((double)(256 << 20)) /* most bytes of component tables at a time */
#define PAIR_BYTES    ((double)(1 << 30))   /* most bytes of pairs at a time, for their statistics */
#define LEAST_BYTES   ((double)(1 << 20))   /* minimum of both, however little memory there is */
#define LONGEST_BYTES ((double)(4 << 20))   /* most bytes for the steps of one pair */

typedef enum {
    ROOM_L,
    ROOM_W,
    ROOM_Z,
    ROOM_LABEL,
    ROOM_ROWS,
    ROOM_TOP,
    ROOM_HEAD,
    ROOM_COUNT,
    ROOM_SUMS,
    ROOM_TABLE,
    ROOM_WORK,
    ROOM_FIRST,
    ROOM_PAIRS,
    ROOM_LISTS,
    ROOMS
} room;

typedef struct {
    vh_cuda_store store;
    pthread_mutex_t lock; /* one E-step at a time */
    void *cpu;            /* the same job on the CPU driver; NULL until needed */
    atomic_bool refused;  /* did not fit on the device: the CPU runs it from now on */
    void *room[ROOMS];    /* scratch on the device; grows as needed */
    size_t room_bytes[ROOMS];
} device_base;

typedef struct { /* one E-step */
    vhem_ctx *ctx;
    device_base *opened;
    const vh_reduce_step *step;
    const vh_workers *workers;
    vh_cuda_groups groups;
    vh_tree_sum *tree;
    double *host; /* [head of each chunk, then one block of sums], scratch */
} estep_run;

static void free_device(device_base *opened)
{
    vh_cuda_store_free(&opened->store);
    for (int r = 0; r < ROOMS; r++) {
        vh_device_free(opened->room[r]);
        opened->room[r] = NULL;
        opened->room_bytes[r] = 0;
    }
}

/* ---- 1. scratch memory --------------------------------------------------------------------------------- */

static vhem_status get_room(vhem_ctx *ctx, device_base *opened, room r, size_t bytes, void *out)
{
    VH_TRY(vh_cuda_room(ctx, bytes, &opened->room_bytes[r], &opened->room[r]));
    memcpy(out, &opened->room[r], sizeof opened->room[r]);
    return VHEM_OK;
}

#define ROOM(r, p, n) VH_TRY(get_room(ctx, x->opened, (r), (size_t)(n) * sizeof *(p), &(p)))

static size_t sums_of(const vh_packed *r)
{
    return (size_t)r->n_state + r->n_trans + vh_cells(r->n_comp, r->n_stat);
}

static vhem_status tile_rooms(estep_run *x, const vh_cuda_lay *lay, vh_cuda_tile *t)
{
    vhem_ctx *ctx = x->ctx;
    const vh_packed *r = x->step->reduced;
    size_t Kr = (size_t)r->K, rows = (size_t)lay->rows, chunks = (size_t)lay->n_chunk;

    *t = (vh_cuda_tile){ .rows = lay->rows,
                         .n_chunk = lay->n_chunk,
                         .chunk = VH_REDUCE_CHUNK,
                         .Kr = r->K,
                         .n_stat = r->n_stat,
                         .tau = x->step->tau,
                         .omega = lay->omega,
                         .number = lay->number,
                         .n_sums = sums_of(r) };
    ROOM(ROOM_L, t->L, Kr * rows);
    ROOM(ROOM_COUNT, t->count, Kr * chunks + 1);
    t->not_finite = t->count + Kr * chunks;
    if (!x->step->log_omega)
        return VHEM_OK;
    ROOM(ROOM_W, t->w, Kr * rows);
    if (x->step->z)
        ROOM(ROOM_Z, t->z, Kr * rows);
    if (x->step->label)
        ROOM(ROOM_LABEL, t->label, rows);
    ROOM(ROOM_ROWS, t->J, 2 * rows);
    t->log_w = t->J + rows;
    ROOM(ROOM_TOP, t->top, 2 * Kr * chunks + Kr);
    t->scale = t->top + 2 * Kr * chunks;
    ROOM(ROOM_HEAD, t->head, chunks * (2 + 5 * Kr));
    if (x->step->statistics)
        ROOM(ROOM_SUMS, t->sums, chunks * t->n_sums);
    return VHEM_OK;
}

/* ---- 2. bounds ----------------------------------------------------------------------------------------- */

static int at_most(double n, int most)
{
    return n < 1 ? 1 : n > most ? most : (int)n;
}

/* Bytes of scratch memory for tables, at most `most`. */
static double scratch_bytes(const estep_run *x, double most)
{
    return fmin(most, fmax(LEAST_BYTES, x->opened->store.table));
}

static vhem_status score_shape(estep_run *x, const vh_cuda_tile *t, const vh_cuda_base *b,
                               const vh_cuda_centers *g)
{
    vhem_ctx *ctx = x->ctx;
    vh_cuda_score opened = { .base = *b };
    double table = (double)b->n * (b->S * b->M) * (g->S * g->M),
           work = (double)vh_cuda_score_work(b->S, g->S) * sizeof(double);
    int n = at_most(scratch_bytes(x, TABLE_BYTES) / sizeof(double) / table, g->n);

    double pairs = (double)b->n * n;
    opened.slots =
        (at_most(scratch_bytes(x, PAIR_BYTES) / work, pairs < SLOTS ? (int)pairs : SLOTS) + 127) / 128 * 128;
    ROOM(ROOM_TABLE, opened.table, (size_t)(n * table));
    ROOM(ROOM_WORK, opened.work, vh_cuda_score_work(b->S, g->S) * (size_t)opened.slots);
    for (int first = 0; first < g->n; first += n) {
        opened.centers = vh_cuda_part(g, first, g->n - first < n ? g->n - first : n, t->n_stat);
        VH_DEVICE(vh_cuda_score_run(t, &opened));
    }
    return VHEM_OK;
}

/* Recomputes bounds that are NaN by the reference: L [Kr][rows] on the host. */
static vhem_status by_reference(estep_run *x, const vh_cuda_lay *lay, double *L)
{
    vhem_ctx *ctx = x->ctx;
    const vh_cuda_store *store = &x->opened->store;
    int n = lay->n_chunk;
    VH_CLEANUP(vh_cuda_chunks_end) vh_cuda_chunks chunks = { store, n, NULL };
    vh_scratch *own = &x->workers->scratch[vh_worker(ctx, x->workers->n)];

    VH_NEW(chunks.chunk, n);
    VH_TRY(vh_cuda_store_take(ctx, store, (int)(lay->first / VH_REDUCE_CHUNK >> store->level), chunks.chunk));
    for (int j = 0; j < x->step->reduced->K; j++)
        for (int i = 0; i < lay->rows; i++) {
            double *at = &L[vh_ij(j, lay->rows, i)];
            const vh_reduce_pair pair = {
                &chunks.chunk[i / VH_REDUCE_CHUNK], x->step->reduced, x->step->tau, i % VH_REDUCE_CHUNK, j, 0
            };
            if (!isfinite(*at))
                VH_TRY(vh_ref_reduce_pair(ctx, &pair, own, at, NULL, NULL));
        }
    return VHEM_OK;
}

static vhem_status score(estep_run *x, const vh_cuda_lay *lay, const vh_cuda_tile *t)
{
    vhem_ctx *ctx = x->ctx;
    size_t size = vh_cells(t->Kr, t->rows);
    int not_finite = 0;
    VH_AUTOFREE double *L = NULL;

    VH_DEVICE(vh_device_zero(t->not_finite, sizeof *t->not_finite));
    for (int q = 0; q < lay->n_shape; q++)
        for (int g = 0; g < x->groups.n; g++)
            VH_TRY(score_shape(x, t, &lay->shape[q], &x->groups.group[g]));
    VH_DEVICE(vh_device_get(&not_finite, t->not_finite, sizeof not_finite));
    if (not_finite) {
        VH_NEW(L, size);
        VH_DEVICE(vh_device_get(L, t->L, sizeof *L * size));
        VH_TRY(by_reference(x, lay, L));
        VH_DEVICE(vh_device_put(t->L, L, sizeof *L * size));
    }
    return VHEM_OK;
}

/* ---- 3. statistics ------------------------------------------------------------------------------------- */

/* Allocates memory for the statistics of n pairs. */
static vhem_status pair_rooms(estep_run *x, int tau, size_t n, vh_cuda_pairs *opened)
{
    vhem_ctx *ctx = x->ctx;
    size_t Sb = (size_t)opened->base.S, Sr = (size_t)opened->centers.S,
           table = Sb * (size_t)opened->base.M * Sr * (size_t)opened->centers.M,
           walk = 2 * Sb * Sr * (size_t)(tau - 1),
           work = vh_cuda_pairs_work(opened->base.S, opened->centers.S);

    ROOM(ROOM_PAIRS, opened->table, n * (table + walk + work + Sr + Sr * Sr));
    opened->history = opened->table + n * table;
    opened->work = opened->history + n * walk;
    opened->chain = opened->work + n * work;
    ROOM(ROOM_LISTS, opened->lane, 3 * n);
    opened->who = opened->lane + n;
    opened->careful = opened->who + n;
    return VHEM_OK;
}

/* Bytes that each pair takes there. */
static double pair_bytes(const vh_cuda_pairs *opened, int tau)
{
    double n = opened->base.S * opened->centers.S;
    return sizeof(double)
               * (n * opened->base.M * opened->centers.M + 2 * n * (tau - 1)
                  + (double)vh_cuda_pairs_work(opened->base.S, opened->centers.S)
                  + opened->centers.S * (1 + opened->centers.S))
           + 3 * sizeof(int);
}

static vhem_status add_shape(estep_run *x, const vh_cuda_tile *t, const vh_cuda_base *b,
                             const vh_cuda_centers *g)
{
    vhem_ctx *ctx = x->ctx;
    vh_cuda_pairs opened = { .base = *b, .centers = *g };
    size_t cells = vh_cells(g->n, t->n_chunk);
    VH_AUTOFREE int *first = NULL;
    int *on_device, all = 0; /* fits an int: many centres mean few rows per tile (base_store.c) */

    VH_NEW(first, cells + 1);
    ROOM(ROOM_FIRST, on_device, cells + 1);
    VH_DEVICE(vh_cuda_pairs_count(t, b, g, on_device));
    VH_DEVICE(vh_device_get(first, on_device, sizeof *first * cells));
    for (size_t k = 0; k <= cells; k++) { /* counts become offsets */
        int n = first[k];
        first[k] = all;
        all += n;
    }
    VH_DEVICE(vh_device_put(on_device, first, sizeof *first * (cells + 1)));
    opened.first = on_device;
    int most = at_most(scratch_bytes(x, PAIR_BYTES) / pair_bytes(&opened, t->tau), all > 0 ? all : 1);
    VH_TRY(pair_rooms(x, t->tau, (size_t)most, &opened));
    for (opened.begin = 0; opened.begin < all; opened.begin += most) {
        opened.n = all - opened.begin < most ? all - opened.begin : most;
        VH_DEVICE(vh_cuda_pairs_run(t, &opened));
    }
    return VHEM_OK;
}

/* Adds the unscaled statistics of the tile to sums [n_sums]. */
static vhem_status statistics(estep_run *x, const vh_cuda_lay *lay, const vh_cuda_tile *t, double *sums)
{
    vhem_ctx *ctx = x->ctx;

    VH_DEVICE(vh_device_zero(t->sums, sizeof *t->sums * (size_t)t->n_chunk * t->n_sums));
    for (int q = 0; q < lay->n_shape; q++)
        for (int g = 0; g < x->groups.n; g++)
            VH_TRY(add_shape(x, t, &lay->shape[q], &x->groups.group[g]));
    VH_DEVICE(vh_cuda_tree(t->sums, t->n_sums, t->n_chunk));
    VH_DEVICE(vh_device_get(sums, t->sums, sizeof *sums * t->n_sums));
    return VHEM_OK;
}

/* ---- 4. a tile ----------------------------------------------------------------------------------------- */

enum { SOME = 32 }; /* rows and columns at a time, so that both tables fit in the cache */

typedef struct { /* converts a device table [Kr][rows] to [Kb][Kr], indexed by number */
    const double *from;
    double *to;
    const int64_t *number;
    size_t Kr, rows;
} turning;

static void transpose_rows(void *arg, int64_t block, int worker)
{
    const turning *t = arg;
    size_t i0 = (size_t)block * SOME;
    (void)worker;
    for (size_t j0 = 0; j0 < t->Kr; j0 += SOME)
        for (size_t i = i0; i < t->rows && i < i0 + SOME; i++)
            for (size_t j = j0; j < t->Kr && j < j0 + SOME; j++)
                t->to[(size_t)t->number[i] * t->Kr + j] = t->from[j * t->rows + i];
}

static vhem_status copy_table(estep_run *x, const vh_cuda_lay *lay, const double *from, double *to)
{
    vhem_ctx *ctx = x->ctx;
    size_t Kr = (size_t)x->step->reduced->K, rows = (size_t)lay->rows;
    VH_AUTOFREE double *table = NULL;

    VH_NEW(table, Kr * rows);
    VH_DEVICE(vh_device_get(table, from, sizeof *table * Kr * rows));
    turning t = { table, to, x->opened->store.source.number + lay->first, Kr, rows };
    vh_parallel(ctx, ((int64_t)rows + SOME - 1) / SOME, x->workers->n, true, transpose_rows, &t);
    return VHEM_OK;
}

static vhem_status copy_labels(estep_run *x, const vh_cuda_lay *lay, const int *from)
{
    vhem_ctx *ctx = x->ctx;
    const int64_t *number = x->opened->store.source.number + lay->first;
    VH_AUTOFREE int *label = NULL;

    VH_NEW(label, lay->rows);
    VH_DEVICE(vh_device_get(label, from, sizeof *label * (size_t)lay->rows));
    for (int i = 0; i < lay->rows; i++)
        x->step->label[number[i]] = label[i];
    return VHEM_OK;
}

/* Adds the heads of all chunks in the tree order; block [n_chunk][head]. */
static void add_heads(const vh_reduce_step *step, int n_chunk, size_t head, double *block)
{
    vh_reduce_step plain = *step;
    plain.statistics = false;
    for (int by = 1; by < n_chunk; by *= 2)
        for (int left = 0; left + by < n_chunk; left += 2 * by)
            vh_reduce_sums_merge(&plain, block + (size_t)left * head, block + (size_t)(left + by) * head);
}

static vhem_status sum_tile(estep_run *x, const vh_cuda_lay *lay, const vh_cuda_tile *t, int index)
{
    vhem_ctx *ctx = x->ctx;
    const vh_reduce_step *step = x->step;
    size_t Kr = (size_t)t->Kr, head = 2 + 5 * Kr;
    const vh_cuda_assign opened = { .N = step->N,
                                    .log_K = log(x->opened->store.source.all),
                                    .log_omega = x->groups.log_omega,
                                    .weighted = step->weighted,
                                    .statistics = step->statistics };
    double *block = x->host + (size_t)VH_CUDA_MOST_CHUNKS * head;

    VH_DEVICE(vh_cuda_assign_run(t, &opened));
    VH_DEVICE(vh_device_get(x->host, t->head, sizeof *x->host * head * (size_t)t->n_chunk));
    add_heads(step, t->n_chunk, head, x->host);
    VH_CHECK(!isnan(x->host[0]), VHEM_ENUMERIC, "the objective is not a number");
    memcpy(block, x->host, sizeof *block * head);
    if (step->statistics) {
        vh_reduce_sums sums = vh_reduce_sums_at(step->reduced, block);
        memset(sums.stats.block, 0, sizeof *block * sums.stats.size);
        VH_DEVICE(vh_device_get(sums.stats.scale, t->scale, sizeof *block * Kr));
        VH_TRY(statistics(x, lay, t, sums.stats.nu1));
    }
    return vh_tree_sum_put(ctx, x->tree, x->opened->store.level, index, block);
}

static vhem_status run_tile(void *arg, const vh_cuda_lay *lay, int index)
{
    estep_run *x = arg;
    vh_cuda_tile t;

    VH_TRY(tile_rooms(x, lay, &t));
    VH_TRY(score(x, lay, &t));
    if (x->step->log_omega)
        VH_TRY(sum_tile(x, lay, &t, index));
    if (x->step->L)
        VH_TRY(copy_table(x, lay, t.L, x->step->L));
    if (x->step->log_omega && x->step->z)
        VH_TRY(copy_table(x, lay, t.z, x->step->z));
    if (x->step->log_omega && x->step->label)
        VH_TRY(copy_labels(x, lay, t.label));
    return VHEM_OK;
}

/* ---- 5. an E-step -------------------------------------------------------------------------------------- */

static int most_components(const vh_packed *r)
{
    int most = 0;
    for (int j = 0; j < r->K; j++)
        most = r->S[j] * r->M[j] > most ? r->S[j] * r->M[j] : most;
    return most;
}

static void release_pass(estep_run *const *x)
{
    vh_cuda_groups_free(&(*x)->groups);
    vh_tree_sum_free((*x)->tree);
    free((*x)->host);
}

static vhem_status run_on_device(estep_run *x, bool stops, vh_reduce_sums *out)
{
    VH_CLEANUP(release_pass) estep_run *used = x; /* frees what this E-step allocates */
    vhem_ctx *ctx = x->ctx;
    const vh_reduce_step *step = x->step;
    vh_reduce_sums shape = vh_reduce_sums_at(step->reduced, NULL);
    size_t size = step->statistics ? shape.size : shape.head;

    VH_DEVICE(vh_device_enter());
    VH_TRY(vh_cuda_store_load(ctx, &x->opened->store, step->reduced->K, most_components(step->reduced),
                              step->statistics ? sums_of(step->reduced) : 0));
    VH_TRY(vh_cuda_groups_new(ctx, step->reduced, step->log_omega, &x->groups));
    VH_TRY(vh_tree_sum_new(ctx, size, vh_reduce_sums_merge, step, &x->tree));
    VH_NEW(x->host, (size_t)VH_CUDA_MOST_CHUNKS * shape.head + shape.size);
    VH_TRY(vh_cuda_store_each(ctx, &x->opened->store, stops, run_tile, x));
    if (step->log_omega && out)
        VH_TRY(vh_tree_sum_close(ctx, x->tree, (int64_t)x->opened->store.n_tile << x->opened->store.level,
                                 out->block));
    return VHEM_OK;
}

/* Runs on the CPU driver.  Only this thread opens it: in shared work the thread might pick up another task
 * that needs the lock it holds. */
static vhem_status run_on_cpu(estep_run *x, bool stops, vh_reduce_sums *out)
{
    vhem_status st = VHEM_OK;
    vhem_ctx alone;

    vh_ctx_child(x->ctx, 1, &alone);
    pthread_mutex_lock(&x->opened->lock);
    if (!x->opened->cpu)
        st = vh_cpu_reduce_open(&alone, &x->opened->store.source, &x->opened->cpu);
    pthread_mutex_unlock(&x->opened->lock);
    if (st != VHEM_OK)
        return vh_fail(x->ctx, st, "%s", alone.error);
    return vh_cpu_reduce_run(x->ctx, x->opened->cpu, x->step, x->workers, stops, out);
}

/* True if the device should run this E-step.  Not if chains are so long that the steps of only a few pairs
 * fit: the CPU stores steps only until they settle, and it can be stopped.  Part of a larger set goes where
 * the whole would go, so that the division does not change results. */
static bool suits(vhem_ctx *ctx, const device_base *opened, const vh_reduce_step *step)
{
    const vh_packed *r = step->reduced;
    double states = 0;
    for (int j = 0; j < r->K; j++)
        states = fmax(states, r->S[j]);
    return vh_cuda_worth(ctx, (double)opened->store.source.all * r->n_state * step->tau) && r->n_direct == 0
           && r->K <= MOST_CENTERS && 2 * sizeof(double) * states * states * step->tau <= LONGEST_BYTES;
}

/* Moves this job off the device and frees its memory there. */
static void leave_device(estep_run *x)
{
    vh_cuda_warn(x->ctx);
    free_device(x->opened);
    atomic_store(&x->opened->refused, true);
}

vhem_status vh_cuda_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                               const vh_workers *workers, bool stops, vh_reduce_sums *out)
{
    estep_run x = { .ctx = ctx, .opened = (device_base *)(uintptr_t)state, .step = step, .workers = workers };
    if (atomic_load(&x.opened->refused) || !suits(ctx, x.opened, step))
        return run_on_cpu(&x, stops, out);
    pthread_mutex_lock(&x.opened->lock);
    vhem_status st = run_on_device(&x, stops, out);
    if (st == VHEM_EBACKEND)
        leave_device(&x);
    pthread_mutex_unlock(&x.opened->lock);
    /* Numbers beyond the range of the kernels: the CPU computes them, or reports the pair at fault. */
    return st == VHEM_EBACKEND || st == VHEM_ENUMERIC ? run_on_cpu(&x, stops, out) : st;
}

/* ---- 6. opening and closing ---------------------------------------------------------------------------- */

vhem_status vh_cuda_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state)
{
    device_base *opened = NULL;

    VH_NEW(opened, 1);
    opened->store.source = *source;
    pthread_mutex_init(&opened->lock, NULL);
    *state = opened;
    return VHEM_OK;
}

void vh_cuda_reduce_close(void *state)
{
    device_base *opened = state;
    if (!opened)
        return;
    free_device(opened);
    vh_cpu_reduce_close(opened->cpu);
    pthread_mutex_destroy(&opened->lock);
    free(opened);
}
