/* SPDX-License-Identifier: BSD-3-Clause */
/* estep_cpu.c - see estep_cpu.h.
 *
 * z_i depends on row i of L only, so each chunk is scored, assigned and accumulated before the next; the Kb x
 * Kr tables exist only if the caller allocated them. */
#include "vhem/estep_cpu.h"

#include "core/backend.h"
#include "vhem/pair_bound.h"
#include "core/alloc.h"
#include "parallel/map.h"
#include "parallel/sum.h"

#include <string.h>

typedef struct { /* a chunk prepared for the kernel */
    vh_packed base;
    void *prepared;
    const struct cpu_base *of; /* the job that frees it, if prepared for one E-step only; else NULL */
} ready;

typedef struct cpu_base {
    vh_base_source source;
    vh_reduce_kernels k; /* prepare, release, kernel */
    int64_t n_chunk;
    ready *chunk; /* [n_chunk]  of a resident source; NULL: prepared on demand */
} cpu_base;

VH_OWNED(cpu_base, vh_cpu_reduce_close)

/* ---- opening ------------------------------------------------------------------------------------------- */

static int chunk_size(const cpu_base *opened, int64_t c)
{
    int64_t left = opened->source.K - c * VH_REDUCE_CHUNK;
    return left < VH_REDUCE_CHUNK ? (int)left : VH_REDUCE_CHUNK;
}

static void let_go(const cpu_base *opened, ready *r)
{
    if (r->prepared)
        opened->k.release(r->prepared);
    if (opened->source.release)
        opened->source.release(opened->source.arg, &r->base);
    *r = (ready){ 0 };
}

static vhem_status make_ready(vhem_ctx *ctx, const cpu_base *opened, int64_t c, ready *r)
{
    VH_TRY(
        opened->source.block(ctx, opened->source.arg, c * VH_REDUCE_CHUNK, chunk_size(opened, c), &r->base));
    if (opened->k.prepare)
        VH_TRY(opened->k.prepare(ctx, &r->base, &r->prepared));
    return VHEM_OK;
}

static vhem_status open_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker)
{
    cpu_base *opened = arg;
    (void)worker;
    return make_ready(ctx, opened, c, &opened->chunk[c]);
}

vhem_status vh_cpu_reduce_open(vhem_ctx *ctx, const vh_base_source *source, void **state)
{
    const vh_reduce_kernels *of = ctx->backend->reduce;
    VH_OWN(cpu_base) *opened = NULL;

    VH_NEW(opened, 1);
    opened->source = *source;
    opened->k = of && of->kernel ? *of : vh_reduce_ref;
    opened->n_chunk = (source->K + VH_REDUCE_CHUNK - 1) / VH_REDUCE_CHUNK;
    if (source->resident) {
        const vh_work all = { .n = opened->n_chunk, .finishes = true, .run = open_chunk, .arg = opened };
        VH_NEW(opened->chunk, opened->n_chunk);
        VH_TRY(vh_map(ctx, &all, NULL));
    }
    *state = vh_take(opened);
    return VHEM_OK;
}

void vh_cpu_reduce_close(void *state)
{
    cpu_base *opened = state;
    if (!opened)
        return;
    for (int c = 0; opened->chunk && c < opened->n_chunk; c++)
        let_go(opened, &opened->chunk[c]);
    free(opened->chunk);
    free(opened);
}

/* ---- an E-step ----------------------------------------------------------------------------------------- */

typedef struct {
    const cpu_base *opened;
    const vh_reduce_step *step;
    vh_scratch *scratch; /* [threads] */
} hmm_estep;

static void let_go_own(ready *own)
{
    if (own->of)
        let_go(own->of, own);
}

static vhem_status run_chunk(vhem_ctx *ctx, void *arg, int64_t c, int worker, double *block)
{
    const hmm_estep *p = arg;
    const cpu_base *opened = p->opened;
    VH_CLEANUP(let_go_own) ready own = { .of = opened->chunk ? NULL : opened };
    const ready *r = opened->chunk ? &opened->chunk[c] : &own;
    vh_reduce_sums sums = vh_reduce_sums_at(p->step->reduced, block);

    if (!opened->chunk)
        VH_TRY(make_ready(ctx, opened, c, &own));
    vh_reduce_sums_begin(p->step, &sums);
    const vh_reduce_chunk chunk = { .source = &opened->source,
                                    .step = p->step,
                                    .place = c * VH_REDUCE_CHUNK,
                                    .base = &r->base,
                                    .prepared = r->prepared };
    return opened->k.kernel(ctx, &chunk, &p->scratch[worker], &sums);
}

vhem_status vh_cpu_reduce_run(vhem_ctx *ctx, const void *state, const vh_reduce_step *step,
                              const vh_workers *workers, bool stops, vh_reduce_sums *out)
{
    const cpu_base *opened = state;
    hmm_estep p = { opened, step, workers->scratch };
    vh_reduce_sums shape = vh_reduce_sums_at(step->reduced, NULL);
    size_t size = step->statistics ? shape.size : shape.head;
    const vh_chunks chunks = {
        .n = opened->n_chunk, .threads = workers->n, .stops = stops, .late = true, .run = run_chunk, .arg = &p
    };
    VH_OWN(vh_tree_sum) *tree = NULL;
    VH_AUTOFREE double *head = NULL;

    VH_TRY(vh_tree_sum_new(ctx, size, vh_reduce_sums_merge, step, &tree));
    if (!out)
        VH_NEW(head, size);
    return vh_sum(ctx, &chunks, NULL, tree, out ? out->block : head);
}
