/* SPDX-License-Identifier: BSD-3-Clause */
/* base.c - see base.h.
 *
 *   1. order: equal shapes side by side      3. blocks for the backend
 *   2. mean and deviation of all             4. bases
 *
 * All that goes over the base HMMs goes chunk by chunk, in memory as well as from disk, so that both give the
 * same bits. */
#include "reduce/base.h"

#include "core/alloc.h"
#include "core/tree_sum.h"
#include "math/logsum.h"
#include "model/convert.h"

#include <math.h>
#include <string.h>

#define LEAST_WEIGHT 1e-300 /* of an HMM without weight: where nothing has any, all count alike */
enum { AHEAD = 8 };         /* chunks that the system is told of before they are read */

/* ---- 1. order ------------------------------------------------------------------------------------------ */

typedef struct {
    int S, M, i;
} shape;

static int by_shape(const void *a, const void *b)
{
    const shape *p = a, *q = b;
    if (p->S != q->S)
        return p->S < q->S ? -1 : 1;
    if (p->M != q->M)
        return p->M < q->M ? -1 : 1;
    return p->i < q->i ? -1 : p->i > q->i;
}

static shape shape_of(const vh_base *b, int i)
{
    shape s = { .i = i };
    if (b->shards) {
        vh_shards_shape(b->shards, i, &s.S, &s.M);
    } else {
        s.S = b->h3m->hmm[i].S;
        s.M = b->h3m->hmm[i].M;
    }
    return s;
}

static int chunk_size(int K, int64_t c)
{
    int64_t left = K - c * VH_REDUCE_CHUNK;
    return left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK;
}

/* Within each chunk alone: which HMMs are in a chunk must not hang on the others. */
static void sort_by_shape(const vh_base *b)
{
    shape s[VH_REDUCE_CHUNK];
    for (int first = 0; first < b->Kb; first += VH_REDUCE_CHUNK) {
        int n = chunk_size(b->Kb, first / VH_REDUCE_CHUNK);
        for (int i = 0; i < n; i++)
            s[i] = shape_of(b, first + i);
        qsort(s, (size_t)n, sizeof *s, by_shape);
        for (int i = 0; i < n; i++)
            b->order[first + i] = s[i].i;
    }
}

int64_t vh_base_chunks(const vh_base *base)
{
    return ((int64_t)base->Kb + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
}

int vh_base_states(const vh_base *base, int i)
{
    return shape_of(base, i).S;
}

/* ---- 2. mean and deviation ----------------------------------------------------------------------------- */

typedef struct {
    vh_base *base;
    const double *about; /* [d]  NULL: sums of means are wanted, else of squares about this */
    bool statistics;     /* or mean statistics, in the coordinates of the base */
} pass;

/* Numbers that are averaged over all base components. */
static int width(const pass *p)
{
    const vh_h3m *h3m = p->base->h3m;
    return p->statistics ? h3m->family->n_stat(&h3m->shape) : h3m->d;
}

/* Adds w times the numbers of a component to sum [width]: mu, cov + (mu - about)^2, or E[T].  work [2][width] is
 * overwritten. */
static void add_component(const pass *p, const double *const *par, double w, double *work, double *sum)
{
    const vh_base *b = p->base;
    const vh_h3m *h3m = b->h3m;
    int n = width(p);
    double *mean = work, *var = work + n;
    const double *about = p->about;

    if (!p->statistics) {
        h3m->family->location->moments(&h3m->shape, par, mean, var);
    } else {
        const vh_coords x = { .shape = h3m->shape, .origin = b->origin, .scale = b->scale };
        h3m->family->stats_of_component(&x, par, mean);
    }
    for (int k = 0; k < n; k++) {
        double u = about ? mean[k] - about[k] : 0;
        sum[k] += w * (about ? u * u + var[k] : mean[k]);
    }
}

/* All components of n HMMs, and their weights to sum[width]. */
static void add_pass(const pass *p, const vh_h3m *h3m, int first, int n, double *work, double *sum)
{
    for (int i = first; i < first + n; i++) {
        const vh_hmm *h = &h3m->hmm[i];
        for (int q = 0; q < h->S * h->M; q++) {
            double *par[VH_MAX_PARAM], w = (h3m->omega[i] + LEAST_WEIGHT) * vh_hmm_c(h)[q] / h->S;
            vh_hmm_component(h3m, h, q / h->M, q % h->M, par);
            add_component(p, (const double *const *)par, w, work, sum);
            sum[width(p)] += w;
        }
    }
}

/* A fingerprint of chunk c, n HMMs from `first` on, as two whole numbers whose sums over all chunks are exact. */
static void add_print(const vh_h3m *h3m, int first, int n, int64_t c, double *sum)
{
    uint64_t h = vh_hash_chain((uint64_t)c, h3m->omega + first, sizeof *h3m->omega * (size_t)n);
    for (int i = first; i < first + n; i++) {
        const vh_hmm *m = &h3m->hmm[i];
        h = vh_hash_chain(h, m->pi, ((size_t)(m->theta - m->pi) + m->n_theta) * sizeof *m->pi);
    }
    sum[0] += (double)(h & UINT32_MAX);
    sum[1] += (double)(h >> 32);
}

/* A chunk of the sums; the weights of HMMs on disk are kept on the way. */
static vhem_status pass_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker, double *block)
{
    vhem_status st = VHEM_OK;
    const pass *p = arg;
    const vh_base *b = p->base;
    int first = (int)c * VH_REDUCE_CHUNK, n = chunk_size(b->Kb, c);
    vh_h3m *own = NULL;
    double *work = NULL;

    (void)worker;
    VH_NEW(work, 2 * width(p));
    if (b->shards) {
        vh_shards_expect(b->shards, first + (int64_t)AHEAD * VH_REDUCE_CHUNK, VH_REDUCE_CHUNK);
        VH_TRY(vh_shards_read(ctx, b->shards, first, n, false, &own));
    }
    const double *omega = own ? own->omega : b->h3m->omega + first;
    for (int i = 0; !p->about && i < n; i++)
        b->omega[first + i] = omega[b->order[first + i] - first];
    add_pass(p, own ? own : b->h3m, own ? 0 : first, n, work, block);
    if (!p->about)
        add_print(own ? own : b->h3m, own ? 0 : first, n, c, block + width(p) + 1);
done:
    vh_h3m_free(own);
    free(work);
    return st;
}

/* The mean of the numbers of a pass over all base components, each counted with omega c / S.  mean [width] */
static vhem_status average(vhem_ctx *ctx, pass *p, double *mean)
{
    vhem_status st = VHEM_OK;
    int n = width(p);
    const vh_sum_kind kind = { .size = (size_t)n + 3 };
    const vh_chunks chunks = {
        .n = vh_base_chunks(p->base), .threads = ctx->threads, .run = pass_chunk, .arg = p
    };
    vh_tree_sum *tree = NULL;
    double *sum = NULL;

    VH_NEW(sum, n + 3);
    VH_TRY(vh_tree_sum_new(ctx, &kind, &tree));
    VH_TRY(vh_tree_sum_all(ctx, &chunks, tree, sum));
    for (int k = 0; k < n; k++)
        mean[k] = sum[k] / sum[n];
    if (!p->about)
        p->base->print = vh_hash_chain(0, sum + n + 1, 2 * sizeof *sum);
done:
    vh_tree_sum_free(tree);
    free(sum);
    return st;
}

/* Mean and deviation of all base components together: where the product is taken; 0 and 1 for families without
 * a location.  And their mean statistics, where components are not moved as a whole.  Also fills in the weights. */
static vhem_status find_spread(vhem_ctx *ctx, vh_base *b)
{
    vhem_status st = VHEM_OK;
    pass p = { .base = b };
    int d = b->h3m->d;

    for (int k = 0; k < d; k++)
        b->scale[k] = 1;
    if (b->h3m->family->location) {
        VH_TRY(average(ctx, &p, b->origin));
        p.about = b->origin;
        VH_TRY(average(ctx, &p, b->scale));
        for (int k = 0; k < d; k++) {
            b->scale[k] = sqrt(b->scale[k]);
            if (!(b->scale[k] > 1e-14 * fabs(b->origin[k])) || !isfinite(b->scale[k]))
                b->scale[k] = 1;
        }
    }
    if (b->mean) {
        p = (pass){ .base = b, .statistics = true };
        VH_TRY(average(ctx, &p, b->mean));
    }
done:
    return st;
}

/* ---- 3. blocks ----------------------------------------------------------------------------------------- */

/* A part of the packed set: its offsets are those of the whole. */
static vhem_status block(vhem_ctx *ctx, const void *arg, int first, int n, vh_packed *out)
{
    const vh_base *base = arg;
    (void)ctx;
    *out = *base->packed;
    out->K = n;
    out->S += first;
    out->M += first;
    out->state0 += first;
    out->comp0 += first;
    out->trans0 += first;
    out->n_state = out->state0[n] - out->state0[0];
    out->n_comp = out->comp0[n] - out->comp0[0];
    out->n_trans = out->trans0[n] - out->trans0[0];
    return VHEM_OK;
}

typedef struct { /* a chunk from disk: packed sets point into their HMMs */
    vh_h3m *h3m;
    vh_packed *packed;
} chunk_on_loan;

static void free_loan(chunk_on_loan *loan)
{
    if (!loan)
        return;
    vh_pack_free(loan->packed);
    vh_h3m_free(loan->h3m);
    free(loan);
}

static vhem_status block_from_disk(vhem_ctx *ctx, const void *arg, int first, int n, vh_packed *out)
{
    vhem_status st = VHEM_OK;
    const vh_base *base = arg;
    chunk_on_loan *loan = NULL;
    int index[VH_REDUCE_CHUNK];

    VH_NEW(loan, 1);
    vh_shards_expect(base->shards, first + (int64_t)AHEAD * VH_REDUCE_CHUNK, VH_REDUCE_CHUNK);
    VH_TRY(vh_shards_read(ctx, base->shards, first, n, false, &loan->h3m));
    for (int i = 0; i < n; i++)
        index[i] = base->order[first + i] - first;
    VH_TRY(vh_pack_base(ctx, loan->h3m, index, n, base->origin, base->scale, &loan->packed));
    *out = *loan->packed;
    out->keep = loan;
    loan = NULL;
done:
    free_loan(loan);
    return st;
}

static void release_block(const void *arg, vh_packed *packed)
{
    (void)arg;
    free_loan(packed->keep);
    packed->keep = NULL;
}

vhem_status vh_base_block(vhem_ctx *ctx, const vh_base *base, int64_t c, vh_packed *out)
{
    return (base->shards ? block_from_disk : block)(ctx, base, (int)c * VH_REDUCE_CHUNK,
                                                    chunk_size(base->Kb, c), out);
}

void vh_base_release(const vh_base *base, vh_packed *packed)
{
    release_block(base, packed);
}

/* ---- 4. bases ------------------------------------------------------------------------------------------ */

/* h3m, Kb and where the HMMs are have been filled in. */
static vhem_status prepare(vhem_ctx *ctx, vh_base *b)
{
    vhem_status st = VHEM_OK;
    VH_NEW(b->order, b->Kb);
    VH_NEW(b->omega, b->Kb);
    VH_NEW(b->origin, b->h3m->d);
    VH_NEW(b->scale, b->h3m->d);
    if (!vh_emission_place(b->h3m->family))
        VH_NEW(b->mean, b->h3m->family->n_stat(&b->h3m->shape));
    sort_by_shape(b);
    VH_TRY(find_spread(ctx, b));
    VH_TRY(
        vh_pack_base(ctx, b->h3m, b->shards ? NULL : b->order, b->h3m->K, b->origin, b->scale, &b->packed));
done:
    return st;
}

vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    vhem_status st = VHEM_OK;
    vh_base *b = NULL;

    VH_NEW(b, 1);
    b->h3m = h3m;
    b->Kb = h3m->K;
    VH_TRY(prepare(ctx, b));
    *out = b;
    b = NULL;
done:
    vh_base_free(b);
    return st;
}

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    vhem_status st = VHEM_OK;
    vh_base *b = NULL;

    VH_TRY(vh_base_pack(ctx, h3m, &b));
    const vh_base_source source = {
        .K = b->Kb, .omega = b->omega, .number = b->order, .block = block, .resident = true, .arg = b
    };
    VH_TRY(vh_reduce_open(ctx, &source, &b->job));
    *out = b;
    b = NULL;
done:
    vh_base_free(b);
    return st;
}

vhem_status vh_base_stream(vhem_ctx *ctx, const vh_shards *shards, vh_base **out)
{
    vhem_status st = VHEM_OK;
    vh_base *b = NULL;
    int64_t n = shards->K < VH_BASE_SAMPLE ? shards->K : VH_BASE_SAMPLE;

    VH_NEW(b, 1);
    VH_TRY(vh_shards_read(ctx, shards, 0, (int)n, false, &b->sample));
    b->h3m = b->sample;
    b->shards = shards;
    b->Kb = (int)shards->K;
    VH_TRY(prepare(ctx, b));
    const vh_base_source source = { .K = b->Kb,
                                    .omega = b->omega,
                                    .number = b->order,
                                    .block = block_from_disk,
                                    .release = release_block,
                                    .arg = b };
    VH_TRY(vh_reduce_open(ctx, &source, &b->job));
    *out = b;
    b = NULL;
done:
    vh_base_free(b);
    return st;
}

vhem_status vh_base_pick(vhem_ctx *ctx, const vh_base *base, const int *pick, int n, vh_h3m **out)
{
    vhem_status st = VHEM_OK;
    vh_h3m *all = NULL, *one = NULL;

    if (!base->shards)
        return vh_h3m_subset(ctx, base->h3m, pick, n, out);
    VH_TRY(vh_shard_slots(ctx, base->shards->shard[0], n, &all));
    for (int k = 0; k < n; k++) {
        VH_TRY(vh_shards_read(ctx, base->shards, pick[k], 1, false, &one));
        all->hmm[k] = one->hmm[0]; /* moves over */
        one->hmm[0] = (vh_hmm){ 0 };
        all->omega[k] = one->omega[0];
        vh_h3m_free(one);
        one = NULL;
    }
    vh_normalise(n, all->omega);
    *out = all;
    all = NULL;
done:
    vh_h3m_free(one);
    vh_h3m_free(all);
    return st;
}

void vh_base_free(vh_base *base)
{
    if (!base)
        return;
    vh_reduce_close(base->job);
    free(base->order);
    free(base->omega);
    free(base->origin);
    free(base->scale);
    free(base->mean);
    vh_pack_free(base->packed);
    vh_h3m_free(base->sample);
    free(base);
}
