/* SPDX-License-Identifier: BSD-3-Clause */
/* base.c - see base.h.
 *
 *   1. order: equal shapes side by side      3. blocks for the backend
 *   2. pooled mean and deviation             4. bases
 *
 * Every loop over the base HMMs works chunk by chunk, in memory as on disk, so that both give the same
 * bits. */
#include "vhem/base.h"

#include "core/alloc.h"
#include "core/array2.h"
#include "parallel/sum.h"
#include "math/logsum.h"
#include "hmm/convert.h"
#include "hmm/missing_columns.h"
#include "vhem/base_moments.h"
#include "vhem/still.h"

#include <math.h>
#include <string.h>

#define LEAST_FLOOR 1e-300
#define WHOLE_SHARE 1e-4 /* smallest variance of the pooled component, as a share of the pooled variance */

struct vh_base_node { /* the chunks under one node of the tree that adds them, opened */
    const vh_base *base;
    int64_t first; /* first HMM */
    int level;
    int64_t index; /* of the node within its level */
    vh_opened_base *opened;
};

/* ---- 1. order ------------------------------------------------------------------------------------------ */

typedef struct {
    int S, M;
    int64_t i;
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

static shape shape_of(const vh_base *b, int64_t i)
{
    shape s = { .i = i };
    if (b->shards) {
        vh_shards_shape(b->shards, b->first + i, &s.S, &s.M);
    } else {
        s.S = b->h3m->hmm[b->first + i].S;
        s.M = b->h3m->hmm[b->first + i].M;
    }
    return s;
}

static int chunk_size(int64_t K, int64_t c)
{
    int64_t left = K - c * VH_REDUCE_CHUNK;
    return left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK;
}

/* Sorts within each chunk only: a chunk's contents must not depend on the other HMMs. */
static void sort_by_shape(const vh_base *b)
{
    shape s[VH_REDUCE_CHUNK];
    for (int64_t first = 0; first < b->Kb; first += VH_REDUCE_CHUNK) {
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
    return (base->Kb + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
}

int vh_base_states(const vh_base *base, int64_t i)
{
    return shape_of(base, i).S;
}

/* ---- 2. pooled mean and deviation ---------------------------------------------------------------------- */

static vhem_status survey_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker, double *block)
{
    (void)worker;
    return vh_base_moments_chunk(ctx, arg, c, block);
}

void vh_base_rows(const void *arg, int64_t first, int64_t end, int64_t *lo, int64_t *hi)
{
    const vh_base *b = arg;
    *lo = first * VH_REDUCE_CHUNK;
    *hi = end * VH_REDUCE_CHUNK < b->Kb ? end * VH_REDUCE_CHUNK : b->Kb;
}

/* Mean of one kind of moment over all base components, each weighted by omega c / S.  mean [width]; *lacks
 * becomes the number of HMMs that lack a column. */
static vhem_status average(vhem_ctx *ctx, vh_base *b, vh_base_moment what, double *mean, double *lacks)
{
    vh_base_moments s = { what, b->h3m, b->shards, b->Kb, b->origin, b->scale, b->order, b->omega };
    int n = vh_base_moments_width(&s);
    size_t size = vh_base_moments_size(&s);
    const vh_chunks chunks = {
        .n = vh_base_chunks(b), .threads = ctx->threads, .run = survey_chunk, .arg = &s
    };
    VH_OWN(vh_tree_sum) *tree = NULL;
    const vh_sum_table weights = { what == VH_BASE_SPREAD ? NULL : b->omega, sizeof *b->omega, vh_base_rows,
                                   b };
    const vh_shared shared = { .table = &weights, .tables = 1 };
    VH_AUTOFREE double *sum = NULL;
    char why[128];

    VH_NEW(sum, size);
    if (b->remote.executor) {
        VH_TRY(b->remote.moments(ctx, b->remote.executor, &s, sum));
    } else {
        VH_TRY(vh_tree_sum_new(ctx, size, NULL, NULL, &tree));
        VH_TRY(vh_sum(ctx, &chunks, b->shared ? &shared : NULL, tree, sum));
    }
    for (int k = 0; k < n; k++)
        mean[k] = sum[n + k] > 0 ? sum[k] / sum[n + k] : 0;
    const double *has = sum + 2 * n;
    *lacks = has[s.h3m->d];
    for (int k = 0; b->shards && *lacks > 0 && k < s.h3m->d; k++) /* in memory, the caller has checked */
        VH_CHECK(has[k] > 0, VHEM_EINVAL, "%s", vh_no_column(k, why, sizeof why));
    if (what != VH_BASE_SPREAD)
        b->fingerprint = vh_hash_chain(0, has + s.h3m->d + 1, 2 * sizeof *sum);
    return VHEM_OK;
}

/* The pooled component: starts copy from it the columns that a base HMM lacks. */
static vhem_status find_whole(vhem_ctx *ctx, vh_base *b)
{
    const vh_h3m *h3m = b->h3m;
    const vh_coords x = { .shape = h3m->shape, .origin = b->origin, .scale = b->scale };
    int d = h3m->d;
    VH_AUTOFREE double *work = NULL;

    VH_NEW(work, (size_t)d + vh_emission_room(h3m->family, &h3m->shape));
    for (int k = 0; k < d; k++)
        work[k] = fmax(WHOLE_SHARE * b->scale[k] * b->scale[k], LEAST_FLOOR);
    for (int p = 0; p < h3m->family->n_param; p++)
        VH_NEW(b->whole[p], vh_param_size(h3m->family, p, &h3m->shape));
    VH_CHECK(h3m->family->maximise(&x, b->mean, work, b->whole, work + d) >= 0, VHEM_ENUMERIC,
             "the models together have a singular covariance");
    return VHEM_OK;
}

/* Computes the pooled mean and deviation, which centre the products: 0 for columns without a location, 1 for
 * those without a unit.  Also the mean statistics, if the family has no location or an HMM lacks a column.
 * Fills in the weights. */
static vhem_status find_spread(vhem_ctx *ctx, vh_base *b)
{
    int d = b->h3m->d;
    double lacks = 0;

    for (int k = 0; k < d; k++)
        b->scale[k] = 1;
    if (b->h3m->family->moments) {
        VH_TRY(average(ctx, b, VH_BASE_MEAN, b->origin, &lacks));
        VH_TRY(average(ctx, b, VH_BASE_SPREAD, b->scale, &lacks));
        for (int k = 0; k < d; k++) {
            b->scale[k] = sqrt(b->scale[k]);
            if (!(b->scale[k] > 1e-14 * fabs(b->origin[k])) || !isfinite(b->scale[k]))
                b->scale[k] = 1;
            if (!vh_located(b->h3m->family, &b->h3m->shape, k))
                b->origin[k] = 0;
        }
    }
    if (lacks > 0 && b->sample)
        b->sample->family = b->sample->family->with_gaps;
    if (lacks > 0 || !vh_emission_place(b->h3m->family)) {
        VH_NEW(b->mean, b->h3m->family->n_stat(&b->h3m->shape));
        VH_TRY(average(ctx, b, VH_BASE_STATISTICS, b->mean, &lacks));
    }
    if (lacks > 0)
        VH_TRY(find_whole(ctx, b));
    return VHEM_OK;
}

/* ---- 3. blocks ----------------------------------------------------------------------------------------- */

/* A slice of the packed set; offsets stay those of the whole. */
static vhem_status block(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out)
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
    if (out->lacks)
        out->lacks += vh_row(first, out->d);
    out->n_state = out->state0[n] - out->state0[0];
    out->n_comp = out->comp0[n] - out->comp0[0];
    out->n_trans = out->trans0[n] - out->trans0[0];
    return VHEM_OK;
}

typedef struct { /* a chunk read from disk, which owns the HMMs its packed set points into */
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

VH_OWNED(chunk_on_loan, free_loan)

static vhem_status block_on_loan(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out)
{
    const vh_base *base = arg;
    int64_t number = base->first + first;
    VH_OWN(chunk_on_loan) *loan = NULL;
    int64_t index[VH_REDUCE_CHUNK];

    VH_NEW(loan, 1);
    if (base->shards) {
        vh_shards_expect(base->shards, number + VH_READ_AHEAD * VH_REDUCE_CHUNK, VH_REDUCE_CHUNK);
        VH_TRY(vh_shards_read(ctx, base->shards, number, n, false, &loan->h3m));
        loan->h3m->family = base->h3m->family;
    }
    const vh_h3m *from = loan->h3m ? loan->h3m : base->h3m;
    for (int i = 0; i < n; i++) {
        index[i] = (loan->h3m ? 0 : number) + base->order[first + i] - first;
        if (base->part) /* a part computes no moments, which fill in the weights otherwise */
            base->omega[first + i] = from->omega[index[i]];
    }
    VH_TRY(vh_pack_base(ctx, from, index, n, base->origin, base->scale, &loan->packed));
    *out = *loan->packed;
    out->keep = vh_take(loan);
    return VHEM_OK;
}

static void release_block(const void *arg, vh_packed *packed)
{
    (void)arg;
    free_loan(packed->keep);
    packed->keep = NULL;
}

vhem_status vh_base_block(vhem_ctx *ctx, const vh_base *base, int64_t c, vh_packed *out)
{
    return (base->shards || base->part ? block_on_loan : block)(ctx, base, c * VH_REDUCE_CHUNK,
                                                                chunk_size(base->Kb, c), out);
}

void vh_base_release(const vh_base *base, vh_packed *packed)
{
    release_block(base, packed);
}

/* ---- 4. bases ------------------------------------------------------------------------------------------ */

/* Expects h3m, Kb and the source of the HMMs to be filled in. */
static vhem_status prepare(vhem_ctx *ctx, vh_base *b)
{
    VH_NEW(b->order, b->Kb);
    VH_NEW(b->omega, b->Kb);
    VH_NEW(b->origin, b->h3m->d);
    VH_NEW(b->scale, b->h3m->d);
    sort_by_shape(b);
    VH_TRY(find_spread(ctx, b));
    VH_NEW(b->still, b->h3m->d);
    VH_TRY(vh_still_columns(ctx, b->h3m, b->still, &b->n_telling, &b->rest));
    return vh_pack_base(ctx, b->h3m, b->shards ? NULL : b->order, b->h3m->K, b->origin, b->scale, &b->packed);
}

vhem_status vh_base_pack(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    VH_OWN(vh_base) *b = NULL;

    VH_NEW(b, 1);
    b->h3m = h3m;
    b->Kb = h3m->K;
    VH_TRY(prepare(ctx, b));
    *out = vh_take(b);
    return VHEM_OK;
}

vhem_status vh_base_new(vhem_ctx *ctx, const vh_h3m *h3m, vh_base **out)
{
    VH_OWN(vh_base) *b = NULL;

    VH_TRY(vh_base_pack(ctx, h3m, &b));
    const vh_base_source source = { .K = b->Kb,
                                    .all = b->Kb,
                                    .omega = b->omega,
                                    .number = b->order,
                                    .block = block,
                                    .resident = true,
                                    .arg = b };
    VH_TRY(vh_reduce_open(ctx, &source, &b->opened));
    *out = vh_take(b);
    return VHEM_OK;
}

static vhem_status open_on_loan(vhem_ctx *ctx, int64_t all, vh_base *b)
{
    const vh_base_source source = { .K = b->Kb,
                                    .first = b->first,
                                    .all = all,
                                    .omega = b->omega,
                                    .number = b->order,
                                    .block = block_on_loan,
                                    .release = release_block,
                                    .arg = b };
    return vh_reduce_open(ctx, &source, &b->opened);
}

int vh_base_largest_node(int64_t c, int64_t end)
{
    int level = 0;
    while (c % ((int64_t)2 << level) == 0 && c + ((int64_t)2 << level) <= end)
        level++;
    return level;
}

/* Places count from the node's first HMM, HMMs from the first of the whole set. */
static vhem_status block_of_node(vhem_ctx *ctx, const void *arg, int64_t first, int n, vh_packed *out)
{
    const vh_base_node *x = arg;
    return (x->base->shards ? block_on_loan : block)(ctx, x->base, x->first + first, n, out);
}

static vhem_status open_node(vhem_ctx *ctx, const vh_base *b, int64_t c, int level, vh_base_node *x)
{
    int64_t n = (int64_t)VH_REDUCE_CHUNK << level;
    *x = (vh_base_node){ .base = b, .first = c * VH_REDUCE_CHUNK, .level = level, .index = c >> level };
    const vh_base_source source = { .K = b->Kb - x->first < n ? b->Kb - x->first : n,
                                    .all = b->Kb,
                                    .omega = b->omega + x->first,
                                    .number = b->order + x->first,
                                    .block = block_of_node,
                                    .release = b->shards ? release_block : NULL,
                                    .resident = !b->shards,
                                    .arg = x };
    return vh_reduce_open(ctx, &source, &x->opened);
}

vhem_status vh_base_share(vhem_ctx *ctx, vh_base *base)
{
    int64_t first, end;
    int n = 0;

    base->shared = true;
    vh_sum_range(ctx, vh_base_chunks(base), &first, &end);
    for (int64_t c = first; c < end; c += (int64_t)1 << vh_base_largest_node(c, end))
        n++;
    VH_NEW(base->node, n);
    for (int64_t c = first, level; c < end; c += (int64_t)1 << level) {
        level = vh_base_largest_node(c, end);
        VH_TRY(open_node(ctx, base, c, (int)level, &base->node[base->n_node++]));
    }
    return VHEM_OK;
}

vhem_status vh_base_stream(vhem_ctx *ctx, const vh_shards *shards, const vh_remote *remote, bool shared,
                           vh_base **out)
{
    VH_OWN(vh_base) *b = NULL;
    int64_t n = shards->K < VH_BASE_SAMPLE ? shards->K : VH_BASE_SAMPLE;

    VH_NEW(b, 1);
    VH_TRY(vh_shards_read(ctx, shards, 0, n, false, &b->sample));
    b->h3m = b->sample;
    b->shards = shards;
    b->Kb = shards->K;
    if (remote)
        b->remote = *remote;
    b->shared = shared;
    VH_TRY(prepare(ctx, b));
    VH_TRY(shared ? vh_base_share(ctx, b) : open_on_loan(ctx, b->Kb, b));
    *out = vh_take(b);
    return VHEM_OK;
}

vhem_status vh_base_part(vhem_ctx *ctx, const vh_base_range *p, vh_base **out)
{
    VH_OWN(vh_base) *b = NULL;
    int d = p->h3m->d;

    VH_NEW(b, 1);
    b->part = true;
    b->h3m = p->h3m;
    b->shards = p->shards;
    b->first = p->first;
    b->Kb = p->n;
    VH_NEW(b->order, b->Kb);
    VH_NEW(b->omega, b->Kb);
    VH_NEW(b->origin, d);
    VH_NEW(b->scale, d);
    memcpy(b->origin, p->origin, sizeof *b->origin * (size_t)d);
    memcpy(b->scale, p->scale, sizeof *b->scale * (size_t)d);
    sort_by_shape(b);
    VH_TRY(open_on_loan(ctx, p->all, b));
    *out = vh_take(b);
    return VHEM_OK;
}

vhem_status vh_base_pick(vhem_ctx *ctx, const vh_base *base, const int64_t *pick, int n, vh_h3m **out)
{
    VH_OWN(vh_h3m) *all = NULL, *one = NULL;

    if (!base->shards)
        return vh_h3m_subset(ctx, base->h3m, pick, n, out);
    VH_TRY(vh_shard_slots(ctx, base->shards->shard[0], n, &all));
    for (int k = 0; k < n; k++) {
        VH_TRY(vh_shards_read(ctx, base->shards, pick[k], 1, false, &one));
        all->hmm[k] = one->hmm[0]; /* moves the HMM */
        one->hmm[0] = (vh_hmm){ 0 };
        vh_h3m_move_blocks(one, all);
        all->omega[k] = one->omega[0];
        vh_h3m_free(one);
        one = NULL;
    }
    vh_normalise(n, all->omega);
    vh_h3m_settle_family(all);
    *out = vh_take(all);
    return VHEM_OK;
}

vhem_status vh_base_pack_centers(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                                 const int64_t *index, int64_t K, vh_packed **out)
{
    vh_h3m seen = *centers;
    const vh_emission *family = base->h3m->family;

    if (!vh_h3m_lacks_columns(centers) && vh_family_same(centers->family, family))
        seen.family = family;
    VH_CHECK(seen.family == family, VHEM_EINVAL,
             "a centre lacks a column that the models have; centres must have every column");
    return vh_pack_new(ctx, &seen, index, K, base->origin, base->scale, out);
}

void vh_base_free(vh_base *base)
{
    if (!base)
        return;
    vh_reduce_close(base->opened);
    for (int k = 0; k < base->n_node; k++)
        vh_reduce_close(base->node[k].opened);
    free(base->node);
    free(base->order);
    free(base->omega);
    free(base->origin);
    free(base->scale);
    free(base->still);
    free(base->mean);
    for (int p = 0; p < VH_MAX_PARAM; p++)
        free(base->whole[p]);
    vh_pack_free(base->packed);
    vh_h3m_free(base->sample);
    free(base);
}

vhem_status vh_base_add_nodes(vhem_ctx *ctx, const vh_base *base, const vh_reduce_step *step,
                              const vh_workers *workers, vh_reduce_sums *one, vh_tree_sum *sum)
{
    for (int k = 0; k < base->n_node; k++) {
        VH_TRY(vh_reduce_run(ctx, base->node[k].opened, step, workers, false, one));
        VH_TRY(vh_tree_sum_put(ctx, sum, base->node[k].level, base->node[k].index, one->block));
    }
    return VHEM_OK;
}
