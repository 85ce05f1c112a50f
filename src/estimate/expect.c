/* SPDX-License-Identifier: BSD-3-Clause */
/* expect.c - see expect.h.
 *
 * Work is cut the same way whatever the number of threads: sequences into batches that fit the cache,
 * batches into at most SLOTS runs.  A run adds up its batches in order, and the runs are added in
 * order: the same additions always.
 *
 * The weights of a set hang on the likelihoods of all its sequences.  A set that fits into a batch is weighed
 * inside the batch, between the forward and the backward pass; one that does not is gone through twice. */
#include "estimate/expect.h"

#include "core/alloc.h"

#include <omp.h>
#include <string.h>

enum {
    SLOTS = 16,
    HELD = 8,       /* a set is held whole up to so many times what fits the cache */
    KEPT = 1 << 21, /* numbers that stay in memory from one E-step to the next, and */
    KEPT_SEQ = 32,  /* sequences: what lies around one in a file comes along */
};

typedef struct {
    int n;
    vh_batch *batch; /* [n] */
    int64_t frames, n_seq;
} plan;

vhem_status vh_workers_new(vhem_ctx *ctx, int n, vh_workers *out)
{
    vhem_status st = VHEM_OK;
    VH_NEW(out->scratch, n);
    out->n = n;
done:
    return st;
}

void vh_workers_free(vh_workers *workers)
{
    for (int i = 0; i < workers->n; i++)
        vh_scratch_free(&workers->scratch[i]);
    free(workers->scratch);
    *workers = (vh_workers){ 0 };
}

/* Puts the n sequences from place i on into the last batch, while they fit, or into one of their own.  known:
 * are their weights? */
static void add_to_plan(plan *p, const vhem_data *data, const int *seq, int i, int n, int64_t fit, bool known)
{
    int64_t T = 0;
    for (int k = 0; k < n; k++)
        T += vh_data_length(data, seq[i + k]);
    vh_batch *b = p->n > 0 ? &p->batch[p->n - 1] : NULL;
    if (!b || b->frames + T > fit || b->known != known) {
        b = &p->batch[p->n++];
        *b = (vh_batch){ .data = data, .seq = seq + i, .known = known, .first = i };
    }
    b->n += n;
    b->frames += T;
    p->frames += T;
    p->n_seq += n;
}

/* Consecutive sequences share a batch while it fits; a longer one is a batch of its own. */
static vhem_status make_plan(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                             plan *out)
{
    vhem_status st = VHEM_OK;
    VH_NEW(out->batch, n);
    for (int i = 0; i < n; i++)
        add_to_plan(out, data, seq, i, 1, vh_batch_frames(pk), false);
done:
    return st;
}

static vhem_status run_slot(vhem_ctx *ctx, const vh_packed *pk, const plan *p, int slot, int n_slot,
                            vh_scratch *scratch, double *loglik, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    int lo = (int)((int64_t)p->n * slot / n_slot), hi = (int)((int64_t)p->n * (slot + 1) / n_slot);
    for (int b = lo; b < hi && st == VHEM_OK; b++) {
        const vh_batch *batch = &p->batch[b];
        st = ctx->backend->forward_backward(ctx, pk, batch, scratch,
                                            loglik + (size_t)batch->first * (size_t)pk->K, stats);
        if (p->frames * pk->d > KEPT || p->n_seq > KEPT_SEQ)
            vh_data_release(batch->data, batch->seq, batch->n);
    }
    return st;
}

static vhem_status run_plan(vhem_ctx *ctx, const vh_packed *pk, const plan *p, vh_workers *workers,
                            double *loglik, vh_stats *total)
{
    vhem_status st = VHEM_OK, slot_st[SLOTS] = { VHEM_OK };
    vh_stats part[SLOTS] = { { 0 } };
    int n_slot = p->n < SLOTS ? p->n : SLOTS;

    if (total)
        vh_stats_zero(total);
    if (n_slot == 1) { /* the usual case of a short sequence: nothing to add up */
        st = run_slot(ctx, pk, p, 0, 1, &workers->scratch[0], loglik, total);
        goto done;
    }
    for (int s = 0; total && s < n_slot; s++)
        VH_TRY(vh_stats_new(ctx, pk, &part[s]));
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers->n) if (workers->n > 1 && n_slot > 1)
    for (int s = 0; s < n_slot; s++)
        slot_st[s] = run_slot(ctx, pk, p, s, n_slot, &workers->scratch[omp_get_thread_num()], loglik,
                              total ? &part[s] : NULL);
    for (int s = 0; s < n_slot; s++) {
        VH_TRY(slot_st[s]);
        if (total)
            vh_stats_merge(pk, total->block, part[s].block);
    }
done:
    for (int s = 0; s < SLOTS; s++)
        vh_stats_free(&part[s]);
    return st;
}

vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                      vh_workers *workers, double *loglik, vh_stats *total)
{
    vhem_status st = VHEM_OK;
    plan p = { 0 };

    VH_TRY(make_plan(ctx, pk, data, seq, n, &p));
    VH_TRY(run_plan(ctx, pk, &p, workers, loglik, total));
done:
    free(p.batch);
    return st;
}

/* ---- sets ---------------------------------------------------------------------------------------------- */

typedef struct {
    const vh_weighing *how;
    int K;
    int *set_of;   /* [N]     of the sequence at this place */
    double *known; /* [N][K]  weights of sets that were weighed before; NULL: none */
    bool *large;   /* [sets]  those */
} weighing;

static void weigh_batch(const vh_batch *batch, const double *loglik, double *w)
{
    const weighing *x = batch->arg;
    const vh_sets *sets = x->how->sets;
    size_t K = (size_t)x->K;
    for (int i = 0; i < batch->n;) {
        int place = batch->first + i, g = x->set_of[place];
        if (x->large[g]) {
            memcpy(w + (size_t)i * K, x->known + (size_t)place * K, sizeof *w * K);
            i++;
        } else {
            x->how->weigh(x->how->arg, g, loglik + (size_t)i * K, w + (size_t)i * K);
            i += sets->first[g + 1] - sets->first[g];
        }
    }
}

/* Scores the sets from lo to hi-1 and weighs them. */
static vhem_status weigh_sets(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data,
                              const vh_weighing *how, int lo, int hi, vh_workers *workers, double *loglik,
                              double *w)
{
    vhem_status st = VHEM_OK;
    const int *first = how->sets->first;
    size_t K = (size_t)pk->K;

    VH_TRY(vh_expect(ctx, pk, data, how->sets->seq + first[lo], first[hi] - first[lo], workers,
                     loglik + (size_t)first[lo] * K, NULL));
    for (int g = lo; g < hi; g++)
        how->weigh(how->arg, g, loglik + (size_t)first[g] * K, w + (size_t)first[g] * K);
done:
    return st;
}

/* Batches of whole sets; the sequences of a set that is too large come one by one, with known weights. */
static vhem_status plan_sets(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, weighing *x,
                             vh_workers *workers, double *loglik, plan *out)
{
    vhem_status st = VHEM_OK;
    const vh_sets *sets = x->how->sets;
    int64_t fit = vh_batch_frames(pk);

    VH_NEW(out->batch, data->N);
    VH_NEW(x->set_of, data->N);
    VH_NEW(x->large, sets->n);
    for (int g = 0; g < sets->n; g++) {
        int lo = sets->first[g], n = sets->first[g + 1] - lo;
        for (int i = lo; i < lo + n; i++)
            x->set_of[i] = g;
        x->large[g] = n > 1 && vh_sets_frames(sets, data, g, NULL) > HELD * fit;
        if (x->large[g] && !x->known)
            VH_NEW(x->known, (size_t)data->N * (size_t)pk->K);
        if (x->large[g])
            VH_TRY(weigh_sets(ctx, pk, data, x->how, g, g + 1, workers, loglik, x->known));
        for (int i = 0; x->large[g] && i < n; i++)
            add_to_plan(out, data, sets->seq, lo + i, 1, fit, true);
        if (!x->large[g] && n > 0)
            add_to_plan(out, data, sets->seq, lo, n, fit, false);
    }
    for (int b = 0; b < out->n; b++) {
        out->batch[b].weigh = weigh_batch;
        out->batch[b].arg = x;
    }
done:
    return st;
}

vhem_status vh_expect_sets(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const vh_weighing *how,
                           vh_workers *workers, double *loglik, vh_stats *total)
{
    vhem_status st = VHEM_OK;
    weighing x = { .how = how, .K = pk->K };
    plan p = { 0 };

    if (!total) {
        VH_NEW(x.known, (size_t)data->N * (size_t)pk->K);
        VH_TRY(weigh_sets(ctx, pk, data, how, 0, how->sets->n, workers, loglik, x.known));
        goto done;
    }
    VH_TRY(plan_sets(ctx, pk, data, &x, workers, loglik, &p));
    VH_TRY(run_plan(ctx, pk, &p, workers, loglik, total));
    for (int g = 0; g < how->sets->n; g++) /* a set without sequences is in no batch */
        if (how->sets->first[g] == how->sets->first[g + 1])
            how->weigh(how->arg, g, NULL, NULL);
done:
    free(x.set_of);
    free(x.known);
    free(x.large);
    free(p.batch);
    return st;
}
