/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cache.c - see estep_cache.h.
 *
 * Base HMMs, centres and a few numbers determine the sums of an E-step to the last bit, and these
 * determine the rest of the run.  So to resume a killed run, run it again: finished E-steps are read from
 * the journal. */
#include "vhem/estep_cache.h"

#include "core/alloc.h"
#include "core/journal.h"
#include "parallel/ranks.h"
#include "parallel/sum.h"
#include "math/blas.h"
#include "os/system.h"
#include "vhem.h"

/* Bytes written per second of work, at most: cheaper sums are recomputed. */
#define RATE 1e6

static double seconds(void)
{
    return 1e-9 * (double)vh_nanoseconds();
}

static vhem_status estep_key(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                             const vh_reduce_step *step, vh_key *out)
{
    VH_OWN(vh_hash) *h = NULL;
    const double numbers[] = { base->Kb,         step->tau,      step->N,   centers->K,
                               step->statistics, step->weighted, step->soft };

    VH_TRY(vh_hash_new(ctx, &h));
    vh_hash_text(h, vhem_version());
    vh_hash_text(h, ctx->backend->name);
    vh_hash_text(h, vh_blas_kernel());
    vh_hash_text(h, centers->family->name);
    vh_hash_bytes(h, &base->fingerprint, sizeof base->fingerprint);
    vh_hash_bytes(h, numbers, sizeof numbers);
    vh_hash_bytes(h, step->log_omega, sizeof *step->log_omega * (size_t)centers->K);
    for (int j = 0; j < centers->K; j++) {
        const vh_hmm *c = &centers->hmm[j];
        vh_hash_number(h, c->S);
        vh_hash_number(h, c->M);
        vh_hash_bytes(h, c->pi, vh_hmm_numbers(c) * sizeof *c->pi);
    }
    vh_hash_key(h, out);
    return VHEM_OK;
}

/* ---- by all processes together ------------------------------------------------------------------------- */

typedef struct {
    const vh_base *base;
    const vh_reduce_step *step;
    const vh_workers *workers;
    vh_reduce_sums sums; /* of one node */
} shared_step;

static vhem_status add_nodes(vhem_ctx *ctx, void *arg, int64_t first, int64_t n, vh_tree_sum *sum)
{
    shared_step *x = arg;
    (void)first; /* the nodes of the base cover these chunks */
    (void)n;
    return vh_base_add_nodes(ctx, x->base, x->step, x->workers, &x->sums, sum);
}

static void free_step(shared_step *x)
{
    vh_reduce_sums_free(&x->sums);
}

static vhem_status sum_together(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                                const vh_reduce_step *step, const vh_workers *workers, vh_reduce_sums *sums)
{
    VH_CLEANUP(free_step) shared_step x = { base, step, workers, { 0 } };
    size_t row = sizeof(double) * (size_t)centers->K;
    const vh_sum_table tables[] = { { step->L, row, vh_base_rows, base },
                                    { step->z, row, vh_base_rows, base },
                                    { step->label, sizeof *step->label, vh_base_rows, base } };
    const vh_shared shared = { .table = tables,
                               .tables = 3,
                               .fingerprint = vh_h3m_fingerprint(centers) ^ base->fingerprint,
                               .range = add_nodes,
                               .whole = true };
    size_t size = step->statistics ? sums->size : sums->head;
    const vh_chunks chunks = { .n = vh_base_chunks(base), .arg = &x };
    VH_OWN(vh_tree_sum) *tree = NULL;

    VH_TRY(vh_reduce_sums_new(ctx, step->reduced, &x.sums));
    VH_TRY(vh_tree_sum_new(ctx, size, vh_reduce_sums_merge, step, &tree));
    return vh_sum(ctx, &chunks, &shared, tree, sums->block);
}

/* ---- here, by all processes, or by an executor --------------------------------------------------------- */

vhem_status vh_vhem_sum(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers, const vh_reduce_step *step,
                        const vh_workers *workers, vh_reduce_sums *sums)
{
    if (base->shared)
        return sum_together(ctx, base, centers, step, workers, sums);
    if (base->remote.executor)
        return base->remote.expect(ctx, base, centers, step, sums);
    return vh_reduce_run(ctx, base->opened, step, workers, false, sums);
}

typedef struct { /* sums from the journal of the first process, sent to all */
    bool *known;
    size_t n;
    double *x; /* [n] */
} remembered;

static void walk_known(vhem_ctx *ctx, void *arg, int64_t i, vh_serial *w)
{
    const remembered *r = arg;
    (void)i;
    vh_serial_flag(ctx, w, r->known);
    if (*r->known)
        vh_serial_reals(ctx, w, r->x, r->n);
}

vhem_status vh_vhem_expect(vhem_ctx *ctx, const vh_base *base, const vh_h3m *centers,
                           const vh_reduce_step *step, const vh_workers *workers, vh_reduce_sums *sums,
                           bool *known)
{
    size_t n = step->statistics ? sums->size : sums->head;
    vh_key key;

    *known = false;
    if (base->journal) {
        VH_TRY(estep_key(ctx, base, centers, step, &key));
        *known = vh_journal_find(base->journal, &key, n, sums->block);
    }
    if (base->journalled && base->shared)
        VH_TRY(vh_ranks_hear(ctx, walk_known, &(remembered){ known, n, sums->block }));
    if (*known)
        return VHEM_OK;
    double begin = seconds();
    VH_TRY(vh_vhem_sum(ctx, base, centers, step, workers, sums));
    if (base->journal && (seconds() - begin) * RATE >= (double)(n * sizeof(double)))
        vh_journal_add(ctx, base->journal, &key, n, sums->block);
    return VHEM_OK;
}
