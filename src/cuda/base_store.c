/* SPDX-License-Identifier: BSD-3-Clause */
/* base_store.c - see base_store.h. */
#include "cuda/base_store.h"

#include "cuda/device.h"
#include "cuda/buffer.h"
#include "core/alloc.h"

#include <math.h>
#include <pthread.h>

#define TILE_BYTES  ((double)(512 << 20))       /* limit of a tile, unless a chunk is larger */
#define TABLE_BYTES ((double)((size_t)1 << 30)) /* limit of each table, unless a chunk needs more */
#define TABLE_SHARE 0.05                        /* the same, as a share of the device's free memory */
#define OWN_SHARE   0.6                         /* base HMMs that need more of it stream */
enum { LOOKED_AT = 4 };                         /* chunks inspected to estimate sizes */

static int tile_chunks(const vh_cuda_store *s, int t)
{
    int64_t all = (s->source.K + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK, first = (int64_t)t << s->level;
    return all - first < 1 << s->level ? (int)(all - first) : 1 << s->level;
}

vhem_status vh_cuda_store_take(vhem_ctx *ctx, const vh_cuda_store *s, int t, vh_packed *chunk)
{
    int64_t first = ((int64_t)t << s->level) * VH_REDUCE_CHUNK;
    int n = tile_chunks(s, t);
    for (int c = 0; c < n; c++) {
        int64_t place = first + c * VH_REDUCE_CHUNK, left = s->source.K - place;
        VH_TRY(s->source.block(ctx, s->source.arg, place,
                               left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK, &chunk[c]));
    }
    return VHEM_OK;
}

static void give_back(const vh_cuda_store *s, int n, vh_packed *chunk)
{
    for (int c = 0; c < n && s->source.release; c++)
        if (chunk[c].K > 0)
            s->source.release(s->source.arg, &chunk[c]);
}

void vh_cuda_chunks_end(vh_cuda_chunks *own)
{
    if (own->chunk)
        give_back(own->store, own->n, own->chunk);
    free(own->chunk);
}

/* ---- loading ------------------------------------------------------------------------------------------- */

static void drop_pinned(vh_cuda_passing *x)
{
    vh_device_free_pinned(x->pinned);
    x->pinned = NULL;
    x->pinned_bytes = 0;
}

static void drop_memory(vh_cuda_passing *x)
{
    vh_device_free(x->memory);
    x->memory = NULL;
    x->bytes = 0;
}

/* Makes room for a tile of `bytes` bytes on the host and, if tiles stream, on the device. */
static vhem_status grow_tile_room(vhem_ctx *ctx, vh_cuda_passing *x, size_t bytes, bool streams)
{
    VH_TRY(vh_cuda_pinned_room(ctx, bytes, &x->pinned_bytes, &x->pinned));
    if (streams)
        VH_TRY(vh_cuda_room(ctx, bytes, &x->bytes, &x->memory));
    return VHEM_OK;
}

/* Loads tile t to the device through x: into its own memory, or into x's if tiles stream. */
static vhem_status load_tile(vhem_ctx *ctx, const vh_cuda_store *s, int t, vh_cuda_passing *x,
                             vh_cuda_lay *lay)
{
    int n = tile_chunks(s, t);
    VH_CLEANUP(vh_cuda_chunks_end) vh_cuda_chunks chunks = { s, n, NULL };
    char *memory = NULL;

    vh_cuda_lay_clear(lay);
    lay->first = ((int64_t)t << s->level) * VH_REDUCE_CHUNK;
    lay->n_chunk = n;
    VH_NEW(chunks.chunk, n);
    VH_TRY(vh_cuda_store_take(ctx, s, t, chunks.chunk));
    VH_TRY(vh_cuda_lay_plan(ctx, chunks.chunk, lay));
    VH_TRY(grow_tile_room(ctx, x, lay->bytes, s->streams));
    vh_cuda_lay_fill(ctx, lay, &s->source, chunks.chunk, x->pinned);
    memory = x->memory;
    if (!s->streams)
        VH_DEVICE(vh_device_new(lay->bytes, &memory));
    vh_cuda_lay_move(lay, memory);
    VH_DEVICE(vh_device_put_begin(memory, x->pinned, lay->bytes));
    VH_DEVICE(vh_device_put_wait());
    return VHEM_OK;
}

typedef struct {        /* over the chunks inspected */
    double bytes, mean; /* largest; mean */
    double components;  /* largest number in a base HMM */
} guess;

static vhem_status guess_from_tile(vhem_ctx *ctx, const vh_cuda_store *s, int t, guess *g)
{
    VH_CLEANUP(vh_cuda_lay_clear) vh_cuda_lay lay = { .n_chunk = 1 };
    VH_CLEANUP(vh_cuda_chunks_end) vh_cuda_chunks chunks = { s, 1, NULL };

    VH_NEW(chunks.chunk, 1);
    VH_TRY(vh_cuda_store_take(ctx, s, t, chunks.chunk));
    VH_TRY(vh_cuda_lay_plan(ctx, chunks.chunk, &lay));
    g->bytes = fmax(g->bytes, (double)lay.bytes);
    g->mean += (double)lay.bytes / LOOKED_AT;
    for (int q = 0; q < lay.n_shape; q++)
        g->components = fmax(g->components, (double)lay.shape[q].S * lay.shape[q].M);
    return VHEM_OK;
}

/* True if the tables of a tile of n chunks stay within their limit. */
static bool tables_fit(const vh_cuda_store *s, double n)
{
    double row = fmax(s->Kr, s->components * s->in_centre);
    return sizeof(double) * n * fmax(VH_REDUCE_CHUNK * row, (double)s->n_sums) <= s->table;
}

/* Chooses chunks per tile from some chunk sizes, and whether tiles stream; have_to forces streaming. */
static vhem_status plan(vhem_ctx *ctx, vh_cuda_store *s, bool have_to)
{
    int64_t all = (s->source.K + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    size_t unused, whole;
    guess g = { 0 };

    s->level = 0;
    for (int k = 0; k < LOOKED_AT; k++)
        VH_TRY(guess_from_tile(ctx, s, (int)((all - 1) * k / (LOOKED_AT - 1)), &g));
    VH_DEVICE(vh_device_memory(&unused, &whole));
    double own = OWN_SHARE * (double)unused;
    s->components = g.components;
    s->table = fmin(TABLE_BYTES, TABLE_SHARE * (double)unused);
    s->streams = have_to || g.mean * (double)all > own;
    while (2 << s->level <= VH_CUDA_MOST_CHUNKS && (2 << s->level) * g.bytes <= TILE_BYTES
           && 1 << s->level < all && tables_fit(s, 2 << s->level)
           && (!s->streams || (4 << s->level) * g.bytes <= own / 2))
        s->level++;
    s->n_tile = (int)((all + (1 << s->level) - 1) >> s->level); /* up to 2^31 tiles of at least 512 */
    return VHEM_OK;
}

static void drop_tiles(vh_cuda_store *s)
{
    for (int t = 0; s->tile && t < s->n_tile; t++) {
        vh_device_free(s->tile[t].memory);
        vh_cuda_lay_clear(&s->tile[t]);
    }
    free(s->tile);
    s->tile = NULL;
}

/* Frees what only loading needs, once tiles are planned and, unless they stream, loaded. */
static void end_loading(vh_cuda_store *const *s)
{
    if (!(*s)->streams)
        drop_pinned(&(*s)->passing[0]);
    if (!(*s)->loaded)
        drop_tiles(*s);
}

static vhem_status load_all(vhem_ctx *ctx, vh_cuda_store *s, bool have_to)
{
    VH_CLEANUP(end_loading) vh_cuda_store *loading = s;

    VH_TRY(plan(ctx, s, have_to));
    VH_NEW(s->tile, s->n_tile);
    for (int t = 0; t < s->n_tile && !s->streams; t++)
        VH_TRY(load_tile(ctx, s, t, &s->passing[0], &s->tile[t]));
    s->loaded = true;
    return VHEM_OK;
}

vhem_status vh_cuda_store_load(vhem_ctx *ctx, vh_cuda_store *s, int Kr, int in_centre, size_t n_sums)
{
    vhem_status st = VHEM_OK;
    bool again = s->loaded;
    if (s->loaded && s->Kr >= Kr && s->in_centre >= in_centre && s->n_sums >= n_sums)
        return VHEM_OK;
    s->Kr = Kr > s->Kr ? Kr : s->Kr;
    s->in_centre = in_centre > s->in_centre ? in_centre : s->in_centre;
    s->n_sums = n_sums > s->n_sums ? n_sums : s->n_sums;
    if (s->loaded && (s->level == 0 || tables_fit(s, 1 << s->level)))
        return VHEM_OK;
    drop_tiles(s);
    s->loaded = false;
    st = load_all(ctx, s, false);
    if (st == VHEM_EBACKEND && !s->streams) /* the estimate was too low, or other processes took memory */
        st = load_all(ctx, s, true);
    VH_TRY(st);
    if (!again)
        vh_log(ctx, VHEM_LOG_INFO, "%lld base HMMs on the GPU, %s%s", (long long)s->source.K,
               vh_device_name(), s->streams ? ", a part at a time" : "");
    return VHEM_OK;
}

void vh_cuda_store_free(vh_cuda_store *s)
{
    drop_tiles(s);
    for (int k = 0; k < VH_CUDA_STREAMS; k++) {
        vh_cuda_lay_clear(&s->passing[k].lay);
        drop_memory(&s->passing[k]);
        drop_pinned(&s->passing[k]);
    }
}

/* ---- passes over tiles --------------------------------------------------------------------------------- */

typedef struct { /* the next tile, loaded by its own thread */
    vhem_ctx ctx;
    vh_cuda_store *store;
    int t;
    vhem_status st;
} loader;

static vhem_status load_one(loader *l)
{
    vhem_ctx *ctx = &l->ctx;
    vh_cuda_passing *x = &l->store->passing[l->t % VH_CUDA_STREAMS];

    VH_DEVICE(vh_device_enter());
    return load_tile(ctx, l->store, l->t, x, &x->lay);
}

static void *load_next(void *arg)
{
    loader *l = arg;
    l->st = load_one(l);
    return NULL;
}

/* Processes tile t while tile t+1, if any, is loaded. */
static vhem_status pass_tile(vhem_ctx *ctx, vh_cuda_store *s, int t,
                             vhem_status (*work)(void *, const vh_cuda_lay *, int), void *arg)
{
    bool more = t + 1 < s->n_tile;
    loader next = { .store = s, .t = t + 1 };
    pthread_t thread;

    vh_ctx_child(ctx, ctx->threads, &next.ctx);
    bool begun = more && pthread_create(&thread, NULL, load_next, &next) == 0;
    vhem_status st = work(arg, &s->passing[t % VH_CUDA_STREAMS].lay, t);
    if (begun)
        pthread_join(thread, NULL);
    else if (more)
        load_next(&next);
    if (st == VHEM_OK && next.st != VHEM_OK)
        st = vh_fail(ctx, next.st, "%s", next.ctx.error);
    return st;
}

vhem_status vh_cuda_store_each(vhem_ctx *ctx, vh_cuda_store *s, bool stops,
                               vhem_status (*work)(void *, const vh_cuda_lay *, int), void *arg)
{
    if (s->streams)
        VH_TRY(load_tile(ctx, s, 0, &s->passing[0], &s->passing[0].lay));
    for (int t = 0; t < s->n_tile; t++) {
        VH_CHECK(!(stops ? vh_stopped(ctx) : vh_overdue(ctx)), VHEM_ESTOPPED, "stopped");
        VH_TRY(s->streams ? pass_tile(ctx, s, t, work, arg) : work(arg, &s->tile[t], t));
    }
    return VHEM_OK;
}
