/* expect.c - see expect.h.
 *
 * Work is cut the same way whatever the number of threads: sequences into batches that fit the cache,
 * batches into at most SLOTS runs.  A run adds up its batches in order, and the runs are added in
 * order: the same additions always. */
#include "estimate/expect.h"

#include "core/alloc.h"

#include <omp.h>

enum { SLOTS = 16 };

typedef struct {
    int       n;
    vh_batch *batch;                     /* [n] */
    int      *first;                     /* [n]  place of its first sequence in the list */
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

/* Consecutive sequences share a batch while it fits; a longer one is a batch of its own. */
static vhem_status make_plan(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                             plan *out)
{
    vhem_status st = VHEM_OK;
    int64_t fit = vh_batch_frames(pk);

    VH_NEW(out->batch, n);
    VH_NEW(out->first, n);
    for (int i = 0; i < n; i++) {
        int64_t T = vh_data_length(data, seq[i]);
        vh_batch *b = out->n > 0 ? &out->batch[out->n - 1] : NULL;
        if (!b || b->frames + T > fit) {
            out->first[out->n] = i;
            b = &out->batch[out->n++];
            *b = (vh_batch){ .data = data, .seq = seq + i };
        }
        b->n++;
        b->frames += T;
    }
done:
    return st;
}

static vhem_status run_slot(vhem_ctx *ctx, const vh_packed *pk, const plan *p, int slot, int n_slot,
                            vh_scratch *scratch, double *loglik, vh_stats *stats)
{
    vhem_status st = VHEM_OK;
    int lo = (int)((int64_t)p->n * slot / n_slot), hi = (int)((int64_t)p->n * (slot + 1) / n_slot);
    for (int b = lo; b < hi && st == VHEM_OK; b++)
        st = ctx->backend->forward_backward(ctx, pk, &p->batch[b], scratch,
                                            loglik + (size_t)p->first[b] * (size_t)pk->K, stats);
    return st;
}

vhem_status vh_expect(vhem_ctx *ctx, const vh_packed *pk, const vhem_data *data, const int *seq, int n,
                      vh_workers *workers, double *loglik, vh_stats *total)
{
    vhem_status st = VHEM_OK, slot_st[SLOTS] = { VHEM_OK };
    vh_stats part[SLOTS] = { { 0 } };
    plan p = { 0 };

    VH_TRY(make_plan(ctx, pk, data, seq, n, &p));
    int n_slot = p.n < SLOTS ? p.n : SLOTS;
    if (total)
        vh_stats_zero(total);
    if (n_slot == 1) {                             /* the usual case of a short sequence: nothing to add up */
        st = run_slot(ctx, pk, &p, 0, 1, &workers->scratch[0], loglik, total);
        goto done;
    }
    for (int s = 0; total && s < n_slot; s++)
        VH_TRY(vh_stats_new(ctx, pk, &part[s]));
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers->n) if (workers->n > 1 && n_slot > 1)
    for (int s = 0; s < n_slot; s++)
        slot_st[s] = run_slot(ctx, pk, &p, s, n_slot, &workers->scratch[omp_get_thread_num()], loglik,
                              total ? &part[s] : NULL);
    for (int s = 0; s < n_slot; s++) {
        VH_TRY(slot_st[s]);
        if (total)
            vh_stats_add(total, &part[s]);
    }
done:
    for (int s = 0; s < SLOTS; s++)
        vh_stats_free(&part[s]);
    free(p.batch);
    free(p.first);
    return st;
}
